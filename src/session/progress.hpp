#pragma once
#include <cameo/graph/model.hpp>

#include "session/settings.hpp"

namespace CAMEO_NAMESPACE {

struct loaded;

/// Reports to the caller while a model is loaded: progress, and messages in the log.
class load_reporter {
 public:
  explicit load_reporter(const load_settings& how) : how_{how} {}

  /// Begins a stage, whose estimated share of the whole is `percent`, and logs the model's warnings so far.
  /// MODEL_LOAD_CANCELED if a stop was requested; INVALID_GRAPH if a warning is an error under the settings.
  status begin(std::string_view stage, unsigned percent);
  /// Reports that a fraction of the stage (0 to 1) is done.
  void part(double of_stage) const;
  /// Reports that the model is loaded, and logs the model's remaining warnings. INVALID_GRAPH if a warning is an error
  /// under the settings.
  status end();

  /// Sets the model, whose warnings are logged from then on.
  void follow(const model& net) { net_ = &net; }
  void report_model() const;
  void report_placements(const loaded&) const;
  void report_plan(const loaded&) const;

 private:
  status report_warnings();
  const load_settings& how_;
  const model* net_ = nullptr;
  std::size_t warnings_reported_ = 0;
  std::string_view stage_;
  double percent_before_ = 0, percent_ = 0;  // shares of all earlier stages, and of this one
  mutable double reported_ = 0;              // the last reported fraction
};

/// The words, preceded by the model's file if it has one.
std::string of_model(const model&, std::string_view words);

}  // namespace CAMEO_NAMESPACE
