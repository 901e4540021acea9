#pragma once
#include "onnx_proto.hpp"
#include "onnx_wire.hpp"

#include <array>
#include <set>

namespace cameo::inline CAMEO_ABI {

/// Turns messages into graphs of one model. One use, one thread; the model may be half-made after an error.
class onnx_reader {
 public:
  onnx_reader(model& to, const onnx_read_options& options, tensor_reader tensors)
      : model_{to}, limits_{options.limits}, tensors_{std::move(tensors)} {}

  /// What the installed onnx does not know is taken out of the messages.
  status read(onnx::ModelProto&);
  /// Without the body; a body may call any function of the model.
  status read_head(onnx::FunctionProto&, function& to);
  status read_body(onnx::FunctionProto&, function& to);

 private:
  using opset_map = std::map<std::string_view, std::int64_t>;  // by domain
  using entries = pb::RepeatedPtrField<onnx::StringStringEntryProto>;
  /// The definer of each value of a graph, for messages; by value_id.
  /// The definer of a value, for messages: a node, or the text in `words`.
  struct definer {
    const char* words = "";
    const onnx::NodeProto* node = nullptr;
  };
  struct scope {
    graph& g;
    const opset_map& opsets;
    std::vector<definer> definers = {};
  };

  status read_graph(onnx::GraphProto&, graph& to, const opset_map&);
  status read_initializers(onnx::GraphProto&, scope&);
  status read_outputs(onnx::GraphProto&, scope&);
  status read_value_infos(pb::RepeatedPtrField<onnx::ValueInfoProto>&, graph& to, onnx::GraphProto& rest);
  status read_nodes(pb::RepeatedPtrField<onnx::NodeProto>&, scope&);
  status read_node(onnx::NodeProto&, scope&, std::span<const value_id> outputs);
  status read_attributes(onnx::NodeProto&, scope&, std::vector<attribute>&, std::vector<graph*>&);
  status read_attribute(onnx::AttributeProto&, scope*, attribute&, std::vector<graph*>&);
  status read_attribute_graph(onnx::GraphProto&, scope*, std::vector<graph*>&, std::int64_t& number);
  status read_attribute_tensors(const onnx::AttributeProto&, attribute&);
  status read_attribute_types(const onnx::AttributeProto&, attribute&);
  std::string_view rest_of_attribute(const onnx::AttributeProto&);
  status read_value_info(onnx::ValueInfoProto&, graph_value&);
  void keep_input_type(const value_type& also, graph_value& input);

  result<value_id> define(scope&, const std::string& name, definer by, bool may_be_input = false);
  result<std::span<const opset_import>> read_imports(const pb::RepeatedPtrField<onnx::OperatorSetIdProto>&);
  result<std::int64_t> opset_of(const onnx::NodeProto&, std::string_view domain, const opset_map&) const;
  std::string_view text(std::string_view);
  std::span<const property> properties(const entries&);
  std::span<const property> take_properties(pb::UnknownFieldSet&, int number);
  template <class T>
  std::span<const T> kept(const std::vector<T>& items) {
    return or_throw(model_.memory.copy(std::span<const T>{items}));
  }

  model& model_;
  const load_limits& limits_;
  tensor_reader tensors_;
  std::set<std::array<std::string_view, 3>> local_functions_ = {};  // domain, name, overload
};

/// "node 'conv1' (Conv)"; a node without a name is named by its first output.
std::string describe(const onnx::NodeProto&);

}  // namespace cameo::inline CAMEO_ABI
