#pragma once
#include <cameo/ep/provider.hpp>

#include <memory>

#include "objects.hpp"
#include "os/libraries.hpp"

namespace CAMEO_NAMESPACE::eps::ort_plugin_host_detail {

namespace ort = cameo::detail::ort;

/// Calls a function of a plugin; an exception becomes EP_FAIL.
template <class Call>
auto catch_all(std::string_view whose, Call call) -> decltype(call()) {
  try {
    return call();
  } catch (const std::exception& thrown) {
    return status{status_code::ep_fail, std::string{whose} + " threw: " + thrown.what()};
  } catch (...) {
    return status{status_code::ep_fail, std::string{whose} + " threw something"};
  }
}

/// Calls a function of a plugin that returns an ort_status* or nothing. A function that is null succeeds.
template <class R, class... Parameters, class... Args>
status invoke(std::string_view whose, R (*function)(Parameters...), Args... args) {
  return catch_all(whose, [&]() -> status {
    if constexpr (std::is_void_v<R>) return function ? function(args...) : void(), status{};
    else return function ? ort::status_of(function(args...), whose) : status{};
  });
}

/// A plugin's library and its factory. load() keeps one object per path until the process ends.
class library {
 public:
  /// Loads a plugin, or returns the object of a path that was loaded before. NO_SUCHFILE if there is no such file;
  /// EP_FAIL with the message of the system or of the plugin.
  static result<const library*> load(const std::string& path, const std::string& registered);
  /// Removes the object of a path from those that load() keeps; null if there is none. The caller must keep it as long
  /// as sessions use it.
  static std::unique_ptr<library> take(const std::string& path);
  library() = default;
  library(const library&) = delete;
  library& operator=(const library&) = delete;
  ~library();

  /// Releases the factory. Its execution providers may be released later.
  void release_factory();

  std::string_view name() const { return name_; }  // of the execution provider
  std::string_view vendor() const { return vendor_; }
  ort::ort_ep_factory& factory() const { return *factory_; }

  /// The devices that the plugin states for the processor of this machine, and for `more` unless it is null.
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
/// Parses option `hardware`, such as "npu:0x8086". INVALID_ARGUMENT if it is malformed.
result<std::unique_ptr<ort::ort_hardware_device>> hardware_named(std::string_view words);

/// A plugin's execution provider, made for one session. Thread-safe: calls to the plugin are made one at a time, but
/// for runs.
class execution {
 public:
  static result<std::shared_ptr<execution>> make(const library&, const detail::text_pairs& options,
                                                 std::string_view hardware, bool contexts, bool weightless);
  execution(const execution&) = delete;
  execution& operator=(const execution&) = delete;
  ~execution();

  const library& plugin() const { return library_; }
  /// The layout of images that the plugin prefers.
  data_layout layout() const { return layout_; }
  /// The groups of a graph that the plugin supports.
  result<std::vector<ort::ort_support_info::group>> claims(const ort::ort_graph&);
  /// Compiles one group. `context` receives the node with its context, or null if the plugin made none.
  result<ort::ort_node_compute_info*> compile(const ort::ort_graph&, const ort::ort_node& fused,
                                              std::unique_ptr<ort::ort_node>* context);
  void release(ort::ort_node_compute_info*);

 private:
  explicit execution(const library& of) : library_{of} {}
  void set_options(const detail::text_pairs& options, bool contexts, bool weightless);
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

/// The execution provider of a configured provider; null until it is first needed.
struct lazy_execution {
  std::mutex guard;
  std::shared_ptr<execution> made;
};

}  // namespace CAMEO_NAMESPACE::eps::ort_plugin_host_detail
