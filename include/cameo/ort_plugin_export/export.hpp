#pragma once
#include <cameo/ep/provider_row.hpp>
#include <cameo/ort_abi/tables.hpp>

namespace CAMEO_NAMESPACE::detail::ort {

/// The body of CreateEpFactories, for CAMEO_EXPORT_ORT_PLUGIN: makes a factory for the provider that `make` returns.
CAMEO_API ort_status* create_factories(provider (*make)(), const char* registered_name, const ort_api_base*,
                                       const ort_logger*, ort_ep_factory** factories, std::size_t most,
                                       std::size_t* count);
/// The body of ReleaseEpFactory, for CAMEO_EXPORT_ORT_PLUGIN.
CAMEO_API ort_status* release_factory(ort_ep_factory*);

/// A new object of the provider P. Compilation fails if P lacks what a provider needs.
template <class P>
provider exported() {
  static_assert(sizeof(provider_check<P>));
  static_assert(execution_provider<P> && std::default_initializable<P>,
                "cameo: a provider that is exported as a plugin needs a default constructor");
  return {&row_of<P>(), std::make_shared<const P>()};
}

}  // namespace CAMEO_NAMESPACE::detail::ort

/// Makes a shared library a plugin of ONNX Runtime 1.23 and newer (`register_execution_provider_library`) that exports
/// the given provider. The execution provider has the provider's long name, which must not be that of one of ONNX
/// Runtime's own. Use it once per library, outside of any namespace; CMake's cameo_add_ort_plugin() writes a file that
/// uses it. See docs/ort_plugin_export.md.
#define CAMEO_EXPORT_ORT_PLUGIN(...)                                                                                   \
  extern "C" CAMEO_EXPORT cameo::detail::ort::ort_status* CreateEpFactories(                                           \
      const char* registered_name, const cameo::detail::ort::ort_api_base* base,                                       \
      const cameo::detail::ort::ort_logger* log, cameo::detail::ort::ort_ep_factory** factories, std::size_t most,     \
      std::size_t* count) {                                                                                            \
    return cameo::detail::ort::create_factories(cameo::detail::ort::exported<__VA_ARGS__>, registered_name, base, log, \
                                                factories, most, count);                                               \
  }                                                                                                                    \
  extern "C" CAMEO_EXPORT cameo::detail::ort::ort_status* ReleaseEpFactory(                                            \
      cameo::detail::ort::ort_ep_factory* factory) {                                                                   \
    return cameo::detail::ort::release_factory(factory);                                                               \
  }                                                                                                                    \
  static_assert(true, "a semicolon follows")
