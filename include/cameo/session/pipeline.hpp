#pragma once
#include <cameo/session/component_context.hpp>
#include <cameo/session/session.hpp>

namespace CAMEO_NAMESPACE {

namespace detail {
struct format_row;  // format/format.hpp
}  // namespace detail

/// The inputs and outputs of a session, as packages describe them.
CAMEO_API package_io interface_of(const session&);

/// The components of a package as one model, each in the variant selected for this machine. Components run in the order
/// of their declaration, and later ones read the outputs of earlier ones by name (package/io.hpp). Thread-safe: any
/// number of threads may call run(). The package may be destroyed once the pipeline is loaded.
class pipeline {
 public:
  CAMEO_API pipeline(pipeline&&) noexcept;
  CAMEO_API pipeline& operator=(pipeline&&) noexcept;
  CAMEO_API ~pipeline();

  /// The inputs of the pipeline: those that the package declares, in its order; otherwise those that no earlier
  /// component produces.
  CAMEO_API const std::vector<io_info>& inputs() const;
  /// The outputs of the pipeline: those that the package declares, in its order; otherwise those that no later
  /// component reads.
  CAMEO_API const std::vector<io_info>& outputs() const;
  /// The number of components.
  CAMEO_API std::size_t size() const;
  /// The session of a component; `i` is below size(). Lives as long as the pipeline.
  CAMEO_API const session& part(std::size_t i) const;
  /// The selected variant of part(i).
  CAMEO_API const component_context& selected(std::size_t i) const;

  /// Runs all components once and returns the outputs of the pipeline. Values between components are passed unchanged.
  /// Errors are those of session::run, preceded by the component's name; the timeout applies to all components
  /// together.
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

/// The inputs and outputs of a package's components: those of the first variant whose model can be read. `unread`, if
/// given, receives a line for each variant whose model can't be read. INVALID_ARGUMENT, naming both variants, if the
/// variants of a component differ.
CAMEO_API result<std::vector<component_io>> interfaces_of(const package&, std::span<const detail::format_row>,
                                                          std::vector<std::string>* unread = nullptr);
/// The inputs and outputs of one model file, whose external data is in its folder, or in the folder `weights`.
CAMEO_API result<package_io> interface_of_file(const std::string& path, std::span<const detail::format_row>,
                                               const std::string& weights = {});

}  // namespace CAMEO_NAMESPACE
