#pragma once
#include <cameo/session/component_context.hpp>
#include <cameo/session/session.hpp>

namespace CAMEO_NAMESPACE {

namespace detail {
struct format_row;  // format/format.hpp
}  // namespace detail

/// The inputs and outputs of a session in the form of packages.
CAMEO_API package_io interface_of(const session&);

/// The components of a package, each in the variant that runs here, as one model: they run in the order of their
/// declaration, and later components read the outputs of earlier ones by name (package/io.hpp). Thread-safe: run() from
/// any number of threads. Independent of the package once it is loaded.
class pipeline {
 public:
  CAMEO_API pipeline(pipeline&&) noexcept;
  CAMEO_API pipeline& operator=(pipeline&&) noexcept;
  CAMEO_API ~pipeline();

  /// Of the whole: values that no component passes to another, or those that the package declares, in its order.
  CAMEO_API const std::vector<io_info>& inputs() const;
  /// See inputs().
  CAMEO_API const std::vector<io_info>& outputs() const;
  /// Number of components.
  CAMEO_API std::size_t size() const;
  /// `i` is below size(). Lives as long as the pipeline.
  CAMEO_API const session& part(std::size_t i) const;
  /// The selected variant of part(i).
  CAMEO_API const component_context& selected(std::size_t i) const;

  /// Runs all components once; returns the outputs of the whole. Intermediate values are passed on without a change.
  /// Errors as of session::run, with the component in front; the timeout is for all of them together.
  result<named_values> run(std::initializer_list<named_input> inputs, const run_settings& settings = {}) const {
    return run(std::span<const named_input>{inputs.begin(), inputs.size()}, settings);
  }
  CAMEO_API result<named_values> run(std::span<const named_input> inputs, const run_settings& = {}) const;

 private:
  friend struct detail::loader;
  struct impl;
  CAMEO_API explicit pipeline(std::unique_ptr<impl>);
  std::unique_ptr<impl> impl_;
};

/// The inputs and outputs of a package's models: for each component, those of the first variant whose model can be
/// read. `unread`, if given, receives a line for each variant whose model can't be read. INVALID_ARGUMENT when variants
/// of a component differ, naming both.
CAMEO_API result<std::vector<component_io>> interfaces_of(const package&, std::span<const detail::format_row>,
                                                          std::vector<std::string>* unread = nullptr);
/// The same for one model's file, whose external data lies beside it, or in `weights`.
CAMEO_API result<package_io> interface_of_file(const std::string& path, std::span<const detail::format_row>,
                                               const std::string& weights = {});

}  // namespace CAMEO_NAMESPACE
