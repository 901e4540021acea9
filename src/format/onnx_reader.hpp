#pragma once
#include "onnx_reading.hpp"

#include <array>
#include <optional>
#include <set>

namespace CAMEO_NAMESPACE {

/// Makes graphs of one model from messages. One use, one thread; after an error the model may be incomplete.
class onnx_reader {
 public:
  onnx_reader(model& to, tensor_reader tensors) : model_{to}, tensors_{std::move(tensors)} {}

  status read(const wire::model_message&);

 private:
  using opset_map = std::map<std::string_view, std::int64_t>;  // by domain
  using entries = wire::chain<wire::entry_message>;
  /// What defines a value, for messages: a node, or the text in `words`.
  struct definer {
    const char* words = "";
    const wire::node_message* node = nullptr;
  };
  struct scope {
    graph& g;
    const opset_map& opsets;
    std::vector<definer> definers = {};                         // by value_id
    std::set<value_id> constants_twice = {};                    // names that Constants define twice
    std::optional<std::set<std::string_view>> names_read = {};  // by nodes and outputs of the graph, if that was needed
  };

  /// Reads a function without its body, since a body may call any function of the model.
  status read_head(const wire::function_message&, function& to);
  status read_body(const wire::function_message&, function& to);
  status read_graph(const wire::graph_message&, graph& to, const opset_map&);
  status read_initializers(const wire::graph_message&, scope&);
  template <class Message>
  status read_initializer(const wire::graph_message& around, const Message&, std::string_view name, scope&);
  status replace_initializer(detail::graph_value&, const value&);
  bool may_give_twice(const wire::node_message&, const scope&, value_id there) const;
  status add_constant(const wire::node_message&, scope&, std::span<const attribute>, value_id);
  status read_outputs(const wire::graph_message&, scope&);
  status read_value_infos(const wire::chain<wire::value_info_message>&, graph& to, std::string& rest);
  status read_nodes(const wire::chain<wire::node_message>&, scope&);
  status read_node(const wire::node_message&, scope&, std::span<const value_id> outputs);
  status read_attributes(const wire::node_message&, scope&, std::vector<attribute>&, std::vector<graph*>&);
  status read_attribute(const wire::attribute_message&, scope*, attribute&, std::vector<graph*>&);
  static status read_kind(const wire::attribute_message&, attribute&);
  status read_attribute_graph(const wire::graph_message&, scope*, std::vector<graph*>&, std::int64_t& number);
  status read_attribute_tensors(const wire::attribute_message&, attribute&);
  status read_attribute_types(const wire::attribute_message&, attribute&);
  std::string_view rest_of_attribute(const wire::attribute_message&);
  status read_value_info(const wire::value_info_message&, detail::graph_value&);
  void keep_input_type(const value_type& also, detail::graph_value& input);
  bool keeps_own_type(const value_type& also, const detail::graph_value& initializer);

  result<value_id> define(scope&, std::string_view name, definer by, bool may_be_input = false);
  result<std::span<const opset_import>> read_imports(const wire::chain<wire::opset_message>&);
  result<std::int64_t> opset_of(const wire::node_message&, std::string_view domain, const opset_map&);
  std::string_view text(std::string_view);
  std::string_view text_of(const wire::pieces&);
  std::span<const detail::property> properties(const entries&);
  template <class T>
  std::span<const T> kept(const std::vector<T>& items) {
    return or_throw(model_.memory.copy(std::span<const T>{items}));
  }

  model& model_;
  tensor_reader tensors_;
  std::set<std::array<std::string_view, 3>> local_functions_ = {};  // domain, name, overload
};

/// "node 'conv1' (Conv)"; a node without a name is identified by its first output.
std::string describe(const wire::node_message&);

}  // namespace CAMEO_NAMESPACE
