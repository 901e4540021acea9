#pragma once
#include "triton/server.hpp"

#include <cameo/packages.hpp>
#include <cameo/session/session.hpp>

#include <nlohmann/json_fwd.hpp>

#include <memory>

namespace cameo::triton {

/// A served model: one session, or the components of a package, which all instances share with its packed weights.
class served_model {
 public:
  /// Loads what lies in the version's folder, as the model's configuration says. INVALID_ARGUMENT for parameters that
  /// are none; otherwise as runtime::load.
  static result<std::unique_ptr<served_model>> load(const std::string& folder, const nlohmann::json& config);

  const std::vector<io_info>& inputs() const { return whole_ ? whole_->inputs() : one_->inputs(); }
  const std::vector<io_info>& outputs() const { return whole_ ? whole_->outputs() : one_->outputs(); }
  result<named_values> run(std::span<const named_input> given, const run_settings& how) const {
    return whole_ ? whole_->run(given, how) : one_->run(given, how);
  }
  /// Of one run; from the parameter timeout_ms.
  std::optional<detail::duration> timeout() const { return timeout_; }

  /// Fills in what the configuration leaves out: inputs, outputs, the largest batch and its scheduler. False when there
  /// is nothing to add.
  bool complete(nlohmann::json& config) const;
  /// Says how the model is served, from the configuration that Triton goes by.
  void serve_as(const nlohmann::json& config);
  /// True if the first size of every input and output counts requests' rows, so that several can be one run.
  bool batches() const { return batches_; }

 private:
  bool has_batches() const;

  std::optional<session> one_;
  std::optional<pipeline> whole_;
  std::optional<detail::duration> timeout_;
  bool batches_ = false;
};

/// An element type of Triton's: its number, its name in configurations, and ours. INVALID (0) for what it lacks.
struct type_row {
  TRITONSERVER_DataType number;
  const char* name;
  dtype id;
};
const type_row& type_of(dtype);
dtype dtype_of_number(TRITONSERVER_DataType);

/// Runs requests, sends their responses and releases them.
void serve(TRITONBACKEND_ModelInstance*, const served_model&, std::span<TRITONBACKEND_Request*> requests);

/// A status as an error of Triton's; null for OK.
TRITONSERVER_Error* to_error(const status&);
/// An error of Triton's as a status; it is deleted.
status to_status(TRITONSERVER_Error*);

}  // namespace cameo::triton
