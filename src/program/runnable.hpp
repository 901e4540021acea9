#pragma once
#include "program/options.hpp"

#include <cameo/session/pipeline.hpp>

#include <array>

namespace cameo::program {

/// What MODEL can be, for the help.
inline constexpr const char* model_words =
    "The model's file, \"-\" or a pipe that it comes from, or the folder of a model package";

/// "--component NAME" and "--no-ranked", for commands that take models and model packages.
void add_package_options(const command&, std::string& component, common_options&);

/// A session of a model's file, of what a pipe gives ("-" is standard input), or of a component of the model package in
/// a folder: the named one, or its only one. Without --ep, --threads, --config and --optimize a package's own options
/// hold, and any provider of the program may run it.
result<session> load_session(const std::string& model, const std::string& component, const common_options&);

/// A model's file, or the model package in a folder: all of its components as one, or one of them.
class runnable {
 public:
  /// One that holds nothing, for another to be moved into.
  runnable() = default;
  static result<runnable> load(const std::string& model, const std::string& component, const common_options&);
  /// One model under two settings. A pipe gives it once.
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
  std::vector<session> single_;  // one, or none with `whole_`
  std::optional<pipeline> whole_;
};

}  // namespace cameo::program
