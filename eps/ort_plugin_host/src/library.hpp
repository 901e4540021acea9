#pragma once
#include <cameo/ep/provider.hpp>

#include <memory>

#include "objects.hpp"
#include "os/libraries.hpp"

namespace CAMEO_NAMESPACE::eps::ort_plugin_host_detail {

namespace ort = cameo::detail::ort;

/// What a plugin throws out of its functions becomes EP_FAIL.
template <class Call>
auto called(std::string_view whose, Call call) -> decltype(call()) {
  try {
    return call();
  } catch (const std::exception& thrown) {
    return status{status_code::ep_fail, std::string{whose} + " threw: " + thrown.what()};
  } catch (...) {
    return status{status_code::ep_fail, std::string{whose} + " threw something"};
  }
}

/// Calls one of its functions, if it is there; what it returns is an error or nothing.
template <class R, class... Parameters, class... Args>
status asked(std::string_view whose, R (*function)(Parameters...), Args... args) {
  return called(whose, [&]() -> status {
    if constexpr (std::is_void_v<R>) return function ? function(args...) : void(), status{};
    else return function ? ort::taken(function(args...), whose) : status{};
  });
}

/// A plugin's library and its factory, which end with it; load() keeps one for each path, for good.
class library {
 public:
  /// NO_SUCHFILE, EP_FAIL with the system's words or the plugin's.
  static result<const library*> load(const std::string& path, const std::string& registered);
  /// What load() has kept for the path; null for nothing. Who takes it away keeps it as long as sessions use it.
  static std::unique_ptr<library> take(const std::string& path);
  library() = default;
  library(const library&) = delete;
  library& operator=(const library&) = delete;
  ~library();

  /// Execution providers that the factory has made may be released later.
  void release_factory();

  std::string_view name() const { return name_; }  // of the execution provider
  std::string_view vendor() const { return vendor_; }
  ort::ort_ep_factory& factory() const { return *factory_; }

  /// The devices that the plugin states for this machine's processor, and for `more`, if there is one.
  result<std::vector<std::unique_ptr<ort::ort_ep_device>>> devices(const ort::ort_hardware_device* more) const;

 private:
  std::string name_, vendor_;
  os::library handle_;
  ort::ort_ep_factory* factory_ = nullptr;
  bool is_released_ = false;
  ort::ort_logger log_;
  static result<std::unique_ptr<library>> open(const std::string& path, const std::string& registered);
};

/// The processor of this machine.
const ort::ort_hardware_device& processor();
/// "npu:0x8086".
result<std::unique_ptr<ort::ort_hardware_device>> hardware_named(std::string_view words);

/// An execution provider of a plugin's, made for one session. One thread at a time compiles; any number run.
class execution {
 public:
  static result<std::shared_ptr<execution>> make(const library&, const detail::text_pairs& options,
                                                 std::string_view hardware, bool contexts, bool weightless);
  execution(const execution&) = delete;
  execution& operator=(const execution&) = delete;
  ~execution();

  const library& of() const { return library_; }
  /// The layout that the plugin wants images in.
  data_layout layout() const { return layout_; }
  /// What the plugin takes of a graph.
  result<std::vector<ort::ort_support_info::group>> claims(const ort::ort_graph&);
  /// Compiles one group. `context` gets the node that the plugin made of it, if any.
  result<ort::ort_node_compute_info*> compile(const ort::ort_graph&, const ort::ort_node& fused,
                                              std::unique_ptr<ort::ort_node>* context);
  void release(ort::ort_node_compute_info*);

 private:
  explicit execution(const library& of) : library_{of} {}
  void release_one(ort::ort_node_compute_info*);
  const library& library_;
  std::vector<std::unique_ptr<ort::ort_ep_device>> devices_;
  std::unique_ptr<ort::ort_hardware_device> more_;
  ort::ort_session_options options_;
  ort::ort_logger log_;
  ort::ort_ep* ep_ = nullptr;
  data_layout layout_ = data_layout::nchw;
  std::mutex guard_;
};

/// What a configured provider has; made when it is first needed.
struct lazy_execution {
  std::mutex guard;
  std::shared_ptr<execution> made;
};

}  // namespace CAMEO_NAMESPACE::eps::ort_plugin_host_detail
