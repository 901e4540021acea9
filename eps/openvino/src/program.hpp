#pragma once
#include "sdk.hpp"

#include <cameo/graph/views.hpp>
#include <cameo/kernel/run_context.hpp>

#include <mutex>

namespace cameo::inline CAMEO_ABI::eps::openvino_detail {

/// An input or output of a fused node as the model has it.
struct boundary {
  std::string_view name;
  dtype type = dtype::undefined;
};

/// What the SDK makes of one group, to run any number of times, also at once.
class program {
 public:
  /// Takes over what the SDK compiled or imported for a node with these inputs and outputs. EP_FAIL when their number
  /// or element types are others.
  static result<program> make(const sdk&, handle<ov_compiled_model_t>, std::span<const boundary> inputs,
                              std::span<const boundary> outputs);

  /// Inputs are read and outputs of known extents written where they lie; other outputs are copied. EP_FAIL with the
  /// SDK's words; CANCELED when the run is to end.
  status run(run_context&) const;
  /// The blob that the SDK can import again. EP_FAIL with its words.
  result<std::vector<std::byte>> exported() const;

 private:
  struct port {
    handle<ov_output_const_port_t> of;
    std::size_t at = 0;  // of the node's inputs or outputs
    dtype type = dtype::undefined;
    bool is_fixed = false;
    extents shape = {};  // of a fixed one
  };
  using request = handle<ov_infer_request_t>;
  struct idle_requests {
    std::mutex guard;
    std::vector<request> waiting;
  };
  explicit program(const sdk& api, handle<ov_compiled_model_t> compiled)
      : sdk_{&api}, compiled_{std::move(compiled)}, idle_{std::make_unique<idle_requests>()} {}

  result<port> read_port(ov_output_const_port_t*, std::string& name) const;
  result<std::vector<port>> read_ports(bool inputs, std::span<const boundary>) const;
  result<request> take_request() const;
  status infer(ov_infer_request_t&, run_context&) const;
  status attach(ov_infer_request_t&, const port&, const extents&, void* data) const;
  status fetch(ov_infer_request_t&, const port&, run_context&) const;

  const sdk* sdk_;
  handle<ov_compiled_model_t> compiled_;
  std::vector<port> inputs_, outputs_;
  std::unique_ptr<idle_requests> idle_;  // go before what made them
};

/// The inputs or outputs of a body, or of a node.
template <class Values>
std::vector<boundary> boundaries_of(const Values& values) {
  std::vector<boundary> made;
  for (const value_view v : values) made.push_back(v ? boundary{v.name(), v.element()} : boundary{});
  return made;
}

}  // namespace cameo::inline CAMEO_ABI::eps::openvino_detail
