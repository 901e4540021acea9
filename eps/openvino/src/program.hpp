#pragma once
#include "sdk.hpp"

#include <cameo/graph/views.hpp>
#include <cameo/kernel/run_context.hpp>
#include <cameo/partition/lower.hpp>

#include <mutex>
#include <optional>

namespace CAMEO_NAMESPACE::eps::openvino_detail {

/// An input or output of a fused node as the model has it.
struct boundary {
  std::string_view name;
  dtype type = dtype::undefined;
  std::optional<extents> shape = {};  // what the model declares of a node that was compiled before; -1: any size
};

/// What the SDK makes of one group, to run any number of times, also at once.
class program {
 public:
  /// Takes over what the SDK compiled or imported with this core for a node with these inputs and outputs, and keeps
  /// the core: what HETERO compiled asks it for devices when it is exported. EP_FAIL when number, element types or
  /// shapes of inputs or outputs are others.
  static result<program> make(const sdk&, std::shared_ptr<const ov_core_t>, handle<ov_compiled_model_t>,
                              std::span<const boundary> inputs, std::span<const boundary> outputs);

  /// Inputs are read and outputs of known extents written where they lie; other outputs are copied. EP_FAIL with the
  /// SDK's words; CANCELED when the run is to end.
  status run(run_context&) const;
  /// The blob that the SDK can import again. EP_FAIL with its words.
  result<std::vector<std::byte>> exported() const;

 private:
  /// Where an output comes from. What the SDK hands through has one tensor for several ports, of which only one can be
  /// given memory.
  enum class origin : std::uint8_t { own, input, output };
  struct port {
    handle<ov_output_const_port_t> of;
    std::string name;    // one of those that the SDK has for its tensor, the same for each port of that
    std::size_t at = 0;  // of the node's inputs or outputs
    dtype type = dtype::undefined;
    bool is_fixed = false;
    extents shape = {};  // of a fixed one
    origin from = origin::own;
    std::size_t origin_at = 0;  // of the node's inputs or outputs
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
  void find_origins();
  result<request> take_request() const;
  status infer(ov_infer_request_t&, run_context&) const;
  status attach(ov_infer_request_t&, const port&, const extents&, void* data) const;
  status read_shape(const ov_tensor_t&, bool may_be_scalar, extents& to) const;
  status fetch(ov_infer_request_t&, const port&, run_context&) const;
  static status hand_through(const port&, run_context&);

  const sdk* sdk_;
  std::shared_ptr<const ov_core_t> core_;  // goes after what it compiled
  handle<ov_compiled_model_t> compiled_;
  std::vector<port> inputs_, outputs_;
  std::unique_ptr<idle_requests> idle_;  // go before what made them
};

/// The inputs or outputs of a body, which the SDK is about to compile.
template <class Values>
std::vector<boundary> boundaries_of(const Values& values) {
  std::vector<boundary> made;
  for (const value_view v : values) made.push_back(v ? boundary{v.name(), v.element()} : boundary{});
  return made;
}
/// Those of a node that was compiled before: what it was compiled from may have been another model.
template <class Values>
std::vector<boundary> declared_boundaries_of(const graph& in, const Values& values) {
  std::vector<boundary> made = boundaries_of(values);
  for (std::size_t i = 0; i < made.size(); ++i)
    if (values[i] && values[i].type())
      if (const operand info = describe(in[values[i].id()]); info.has_rank) made[i].shape = info.shape;
  return made;
}

}  // namespace CAMEO_NAMESPACE::eps::openvino_detail
