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
  /// Loads the model in the version's folder with the parameters of the model's configuration. INVALID_ARGUMENT for an
  /// unknown parameter, or a value that it does not accept; otherwise the errors of runtime::load.
  static result<std::unique_ptr<served_model>> load(const std::string& folder, const nlohmann::json& config);

  const std::vector<io_info>& inputs() const { return whole_ ? whole_->inputs() : one_->inputs(); }
  const std::vector<io_info>& outputs() const { return whole_ ? whole_->outputs() : one_->outputs(); }
  result<named_values> run(std::span<const named_input> given, const run_settings& how) const {
    return whole_ ? whole_->run(given, how) : one_->run(given, how);
  }
  /// The limit of the time of a run, from the parameter timeout_ms.
  std::optional<detail::duration> timeout() const { return timeout_; }

  /// Adds inputs, outputs, the largest batch and its scheduler to a configuration that lacks them. False if it lacks
  /// nothing.
  bool complete(nlohmann::json& config) const;
  /// Takes from the configuration, as Triton uses it, whether requests are batched.
  void serve_as(const nlohmann::json& config);
  /// Whether the first size of every input and output counts rows, so that several requests can be one run.
  bool batches() const { return batches_; }

 private:
  bool has_batches() const;

  std::optional<session> one_;
  std::optional<pipeline> whole_;
  std::optional<detail::duration> timeout_;
  bool batches_ = false;
};

/// An element type: its number and name in Triton, and ours. Types that Triton lacks have the number 0 (INVALID).
struct type_row {
  TRITONSERVER_DataType number;
  const char* name;
  dtype id;
};
const type_row& type_of(dtype);
dtype dtype_of_number(TRITONSERVER_DataType);

/// Runs requests, sends their responses and releases them.
void serve(TRITONBACKEND_ModelInstance*, const served_model&, std::span<TRITONBACKEND_Request*> requests);

/// Converts a status to an error of Triton; null for OK.
TRITONSERVER_Error* to_error(const status&);
/// Converts an error of Triton to a status, and deletes it.
status to_status(TRITONSERVER_Error*);

}  // namespace cameo::triton
