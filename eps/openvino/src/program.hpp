#pragma once
#include "sdk.hpp"

#include <cameo/graph/views.hpp>
#include <cameo/kernel/run_context.hpp>
#include <cameo/partition/lower.hpp>

#include <mutex>
#include <optional>

namespace CAMEO_NAMESPACE::eps::openvino_detail {

/// An input or output of a fused node, as the model declares it.
struct boundary {
  std::string_view name;
  dtype type = dtype::undefined;
  std::optional<extents> shape = {};  // only for a node that was compiled before; -1: any size
};

/// One group that the SDK compiled or imported. Thread-safe.
class program {
 public:
  /// Makes a program of a compiled model for a node with these inputs and outputs. It keeps the core, which a model
  /// compiled for HETERO needs when it is exported. EP_FAIL if the inputs or outputs of the model differ from the
  /// node's in number, element type or shape.
  static result<program> make(const sdk&, std::shared_ptr<const ov_core_t>, handle<ov_compiled_model_t>,
                              std::span<const boundary> inputs, std::span<const boundary> outputs);

  /// Runs the model. Inputs, and outputs of known shapes, are accessed in place; other outputs are copied. EP_FAIL with
  /// the SDK's message; CANCELED if the run is stopped.
  status run(run_context&) const;
  /// Exports the blob. EP_FAIL with the SDK's message.
  result<std::vector<std::byte>> exported() const;

 private:
  /// Where an output's elements come from. If an output is also an input or another output, the SDK has one tensor for
  /// both ports, and only one of the ports can be given memory.
  enum class origin : std::uint8_t { own, input, output };
  static constexpr std::size_t unplaced = SIZE_MAX;
  struct port {
    handle<ov_output_const_port_t> sdk_port;
    std::string name;           // one of the SDK's names of its tensor, the same for all ports of the tensor
    std::size_t at = unplaced;  // position among the node's inputs or outputs
    dtype type = dtype::undefined;
    bool is_fixed = false;
    extents shape = {};  // only if it is fixed
    origin source = origin::own;
    std::size_t origin_at = 0;  // position of the source among the node's inputs or outputs
  };
  using request = handle<ov_infer_request_t>;
  struct idle_requests {
    std::mutex guard;
    std::vector<request> waiting;
  };
  program(const sdk& api, std::shared_ptr<const ov_core_t> core, handle<ov_compiled_model_t> compiled)
      : sdk_{&api}, core_{std::move(core)}, compiled_{std::move(compiled)}, idle_{std::make_unique<idle_requests>()} {}

  std::string any_name(const ov_output_const_port_t*) const;
  std::string name_behind(bool is_input, std::string_view name) const;
  result<port> read_port(ov_output_const_port_t*) const;
  result<std::vector<port>> list_ports(bool inputs) const;
  status place_ports(bool inputs, std::span<const boundary>, std::vector<port>&) const;
  static status check_ports(bool inputs, std::span<const boundary>, std::span<const port>);
  void find_origins();
  result<request> take_request() const;
  status infer(ov_infer_request_t&, run_context&) const;
  status attach(ov_infer_request_t&, const port&, const extents&, void* data) const;
  status read_shape(const ov_tensor_t&, bool may_be_scalar, extents& to) const;
  status fetch(ov_infer_request_t&, const port&, run_context&) const;
  static status forward(const port&, run_context&);

  const sdk* sdk_;
  std::shared_ptr<const ov_core_t> core_;  // destroyed after the model that it compiled
  handle<ov_compiled_model_t> compiled_;
  std::vector<port> inputs_, outputs_;
  std::unique_ptr<idle_requests> idle_;  // destroyed before the model that made them
};

/// The inputs or outputs of a body that the SDK will compile.
template <class Values>
std::vector<boundary> boundaries_of(const Values& values) {
  std::vector<boundary> made;
  for (const value_view v : values) made.push_back(v ? boundary{v.name(), v.element()} : boundary{});
  return made;
}
/// The inputs or outputs of a node that was compiled before, with their shapes, since the blob may be that of another
/// model.
template <class Values>
std::vector<boundary> declared_boundaries_of(const graph& in, const Values& values) {
  std::vector<boundary> made = boundaries_of(values);
  for (std::size_t i = 0; i < made.size(); ++i)
    if (values[i] && values[i].type())
      if (const operand info = describe(in[values[i].id()]); info.has_rank) made[i].shape = info.shape;
  return made;
}

}  // namespace CAMEO_NAMESPACE::eps::openvino_detail
