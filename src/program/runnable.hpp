#pragma once
#include "program/options.hpp"

#include <cameo/session/pipeline.hpp>

#include <array>

namespace cameo::program {

/// The help text of the argument MODEL.
inline constexpr const char* model_words =
    "The model's file, \"-\" (standard input), a pipe, or the folder of a model package";

/// Adds the options --component and --no-ranked, for commands that take models and model packages.
void add_package_options(const command&, std::string& component, common_options&);

/// Loads a model from a file, from a pipe ("-" is standard input), or from a component of the model package in a
/// folder: the named component, or the only one. If no option of the session is given, the package's own options apply,
/// and any provider of the program may run it.
result<session> load_session(const std::string& model, const std::string& component, const common_options&);

/// A model's file, or the model package in a folder: all of its components as one, or one of them.
class runnable {
 public:
  /// An empty one, to which another can be moved. No other member may be called.
  runnable() = default;
  static result<runnable> load(const std::string& model, const std::string& component, const common_options&);
  /// Loads one model under two settings. A pipe, which can be read only once, is copied.
  static result<std::array<runnable, 2>> load_twice(const std::string& model, const common_options& a,
                                                    const common_options& b);

  const std::vector<io_info>& inputs() const { return whole_ ? whole_->inputs() : single_.front().inputs(); }
  const std::vector<io_info>& outputs() const { return whole_ ? whole_->outputs() : single_.front().outputs(); }
  result<named_values> run(std::span<const named_input> given, const run_settings& settings) const {
    return whole_ ? whole_->run(given, settings) : single_.front().run(given, settings);
  }
  std::size_t size() const { return whole_ ? whole_->size() : 1; }
  const session& part(std::size_t i) const { return whole_ ? whole_->part(i) : single_.front(); }
  /// The components, if it is a package.
  const pipeline* whole() const { return whole_ ? &*whole_ : nullptr; }

 private:
  std::vector<session> single_;  // one session, or none if whole_ is set
  std::optional<pipeline> whole_;
};

}  // namespace cameo::program
