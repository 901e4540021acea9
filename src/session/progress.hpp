#pragma once
#include <cameo/graph/model.hpp>

#include "session/settings.hpp"

namespace CAMEO_NAMESPACE {

struct loaded;

/// What a caller hears while a model is loaded: progress, and the log.
class load_teller {
 public:
  explicit load_teller(const load_settings& how) : how_{how} {}

  /// A stage begins, with its share of the whole in percent, an estimate. MODEL_LOAD_CANCELED if the caller asked to
  /// stop. The model's warnings until here go to the log; INVALID_GRAPH if one of them is an error under the settings.
  status begin(std::string_view stage, unsigned percent);
  /// So much of the stage is done.
  void part(double of_stage) const;
  /// The model is loaded. Its last warnings: see begin().
  status end();

  /// The model has been read; its warnings are told from here on.
  void follow(const model& net) { net_ = &net; }
  void tell_model() const;
  void tell_placements(const loaded&) const;
  void tell_plan(const loaded&) const;

 private:
  status tell_warnings();
  const load_settings& how_;
  const model* net_ = nullptr;
  std::size_t warnings_told_ = 0;
  std::string_view stage_;
  double percent_before_ = 0, percent_ = 0;  // of the stages before this one, and of this one
  mutable double told_ = 0;                  // fraction of the last progress
};

/// With the model's file in front, if it has one.
std::string of_model(const model&, std::string_view words);

}  // namespace CAMEO_NAMESPACE
