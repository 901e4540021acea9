#pragma once
#include <cameo/ep/provider_row.hpp>
#include <cameo/ort_abi/tables.hpp>

namespace CAMEO_NAMESPACE::detail::ort {

/// For CAMEO_EXPORT_ORT_PLUGIN: the functions that ONNX Runtime looks up, of a provider that `make` makes.
CAMEO_API ort_status* create_factories(provider (*make)(), const char* registered_name, const ort_api_base*,
                                       const ort_logger*, ort_ep_factory** factories, std::size_t most,
                                       std::size_t* count);
/// See create_factories().
CAMEO_API ort_status* release_factory(ort_ep_factory*);

/// The provider P, checked, with an object of its own.
template <class P>
provider exported() {
  static_assert(sizeof(provider_check<P>));
  static_assert(execution_provider<P> && std::default_initializable<P>,
                "cameo: a provider that is exported as a plugin needs a default constructor");
  return {&row_of<P>(), std::make_shared<const P>()};
}

}  // namespace CAMEO_NAMESPACE::detail::ort

/// Makes the library that this file is linked into a plugin of ONNX Runtime 1.23 and newer
/// (`register_execution_provider_library`): the provider's long name is the name of the execution provider, which must
/// not be one that ONNX Runtime has itself. Once per library, outside any namespace. cameo_add_ort_plugin (CMake)
/// writes a file with it. See docs/ort_plugin_export.md.
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
