// Makes models from graphs of ONNX Runtime.
#include "ort_plugin_export/graph.hpp"

#include "file/messages.hpp"

#include <algorithm>
#include <cstring>

namespace CAMEO_NAMESPACE::detail::ort {
namespace {

/// The placeholder for a node that can't be read.
struct declined_op {
  static constexpr std::string_view domain = "cameo.ort", name = "Declined";
  static constexpr parameter inputs[] = {{"inputs", "T", parameter_option::variadic, false, 0}};
  static constexpr parameter outputs[] = {{"outputs", "T", parameter_option::variadic, false, 0}};
  static constexpr type_rule types[] = {
      {"T", ~type_mask{}, ~type_mask{}, ~type_mask{}, ~type_mask{}, ~type_mask{}, true}};
  static constexpr op_version versions[] = {{1, inputs, outputs, types, {}, 0, 0}};
};
using declined_ops = op_list<declined_op>;
using value_infos = std::vector<const ort_value_info*>;

/// Whether constants refer to ONNX Runtime's memory, or are copied.
enum class constants : std::uint8_t { borrowed, copied };

std::string_view plain_domain(std::string_view domain) { return domain == "ai.onnx" ? "" : domain; }

/// Reads one graph. Two kinds of errors are kept until the end of a step: the reason why the current node can't be
/// read, which concerns only this node, and errors of ONNX Runtime or OUT_OF_MEMORY, which end the reading.
class graph_reader {
 public:
  graph_reader(const host& from, const op_table& ops, const ort_graph& in, constants what)
      : host_{from}, ort_{from}, ops_{ops}, in_{in}, what_{what} {
    made_.net = std::make_unique<model>();
  }

  /// Reads node `only`, or all nodes of the graph if it is null. Inputs and outputs are those of node `like`, or of the
  /// graph if it is null. Other values from outside become inputs, too.
  result<read_graph> run(const ort_node* only, const ort_node* like) {
    read_imports();
    graph& g = made_.net->main();
    for (const ort_node* node : only ? std::vector{only} : nodes_of(in_)) add_node(*node, g);
    if (like) add_inputs(g, inputs_of(*like));  // a fused node's value infos do not say which values are constant
    for (std::size_t i = 0; i < g.value_count(); ++i)
      if (g[value_id(i)].producer == node_id::none) add_input(g, value_id(i));
    for (value_id v : values_of(g, like ? outputs_of(*like) : outputs_of(in_))) {
      if (v == value_id::none) continue;
      if (!g[v].is_output) g.add_output(v);
      if (g[v].producer == node_id::none) add_input(g, v);
    }
    if (!ort_.outcome()) return ort_.outcome();
    return std::move(made_);
  }

 private:
  void read_imports() {
    model& m = *made_.net;
    std::vector<const char*> domains(ort_.get<api::Graph_GetNumOperatorSets>(in_));
    std::vector<std::int64_t> versions(domains.size());
    if (!domains.empty()) ort_.call<api::Graph_GetOperatorSets>(&in_, domains.data(), versions.data(), domains.size());
    for (std::size_t i = 0; i < domains.size(); ++i)
      if (domains[i] && versions[i] > 0) m.imports.push_back({kept(plain_domain(domains[i])), versions[i]});
    m.imports.push_back({declined_op::domain, 1});
    // From IR version 4 on, initializers need not be inputs.
    m.ir_version = std::max<std::int64_t>(4, ort_.get<api::Graph_GetOnnxIRVersion>(in_));
    m.producer_name = "onnxruntime";
    m.path = ort_.text<api::Graph_GetModelPath>(in_);
  }

  std::vector<const ort_node*> nodes_of(const ort_graph& g) {
    return ort_.list<api::Graph_GetNumNodes, api::Graph_GetNodes>(g);
  }
  value_infos outputs_of(const ort_graph& g) { return ort_.list<api::Graph_GetNumOutputs, api::Graph_GetOutputs>(g); }
  value_infos inputs_of(const ort_node& n) { return ort_.list<api::Node_GetNumInputs, api::Node_GetInputs>(n); }
  value_infos outputs_of(const ort_node& n) { return ort_.list<api::Node_GetNumOutputs, api::Node_GetOutputs>(n); }

  std::string_view kept(std::string_view words) { return ort_.value_of(made_.net->memory.copy(words)); }
  void decline(std::string words) {
    if (why_.empty()) why_ = std::move(words);
  }

  enum class found : bool { anywhere, here };
  /// The value of a graph by its name. A new value gets its type, and its elements if it is constant. A body also finds
  /// the values of the enclosing graphs (`anywhere`). A value that the body defines (`here`) hides those.
  value_id value_of(graph& g, const ort_value_info* info, found where = found::anywhere) {
    const std::string_view name = info ? ort_.text<api::GetValueInfoName>(*info) : "";
    if (name.empty()) return value_id::none;
    const value_id known = g.outer() && where == found::anywhere ? g.resolve(name) : g.find(name);
    return known != value_id::none ? known : new_value(g, name, *info);
  }
  std::vector<value_id> values_of(graph& g, const value_infos& from, found where = found::anywhere) {
    std::vector<value_id> made;
    for (const ort_value_info* v : from) made.push_back(value_of(g, v, where));
    return made;
  }

  static void add_input(graph& g, value_id v) {
    if (v != value_id::none && !g[v].constant && !g[v].is_input) g.add_input(v);
  }
  void add_inputs(graph& g, const value_infos& from, found where = found::anywhere) {
    for (value_id v : values_of(g, from, where)) add_input(g, v);
  }

  value_id new_value(graph& g, std::string_view name, const ort_value_info& info) {
    const value_id made = g.add_value(name);
    if (const std::optional<value_type> type = type_of(info)) g[made].type = g.owner().keep(*type);
    if (!ort_.get<api::ValueInfo_IsConstantInitializer>(info)) return made;
    const ort_value* const elements = ort_.get<api::ValueInfo_GetInitializerValue>(info);
    const value* const constant = elements ? constant_of(*elements, what_ == constants::copied) : nullptr;
    if (constant) g.add_initializer(made, constant);
    return made;
  }

  /// The type of a value; std::nullopt if it is not a numeric tensor.
  std::optional<value_type> type_of(const ort_value_info& info) {
    const ort_type_info* type = nullptr;
    if (!host_.invoke<api::GetValueInfoTypeInfo>(&info, &type) || !type) return {};
    const ort_tensor_info* const tensor = ort_.get<api::CastTypeInfoToTensorInfo>(*type);
    const std::int32_t elements = tensor ? ort_.get<api::GetTensorElementType>(*tensor) : 0;
    if (!is_number(elements)) return {};
    const std::size_t rank = ort_.get<api::GetDimensionsCount>(*tensor);
    // Before 1.24 a scalar can't be distinguished from a tensor of unknown rank; type inference may find the shape.
    const bool has_shape = rank > 0 || (host_.version() >= 24 && host_.call<api::TensorTypeAndShape_HasShape>(tensor));
    if (!has_shape) return value_type::tensor(dtype(elements));
    std::vector<std::int64_t> sizes(rank, -1);
    std::vector<const char*> names(rank);
    if (rank > 0) {
      ort_.call<api::GetDimensions>(tensor, sizes.data(), rank);
      ort_.call<api::GetSymbolicDimensions>(tensor, names.data(), rank);
    }
    std::vector<dim> dims;
    for (std::size_t i = 0; i < rank; ++i)
      dims.push_back(sizes[i] >= 0             ? dim::fixed(sizes[i])
                     : names[i] && names[i][0] ? dim::named(made_.net->symbol(names[i]))
                                               : dim{});
    return value_type::tensor(dtype(elements), std::move(dims));
  }

  /// A constant in the model's memory; null if the value is not a numeric tensor.
  const value* constant_of(const ort_value& from, bool is_copied) {
    result<value> made = view_of(host_, from);
    if (!made) return nullptr;
    if (is_copied && made->bytes() > 0) {
      void* const memory = made_.net->memory.allocate(made->bytes(), 64);
      if (!memory) return ort_.fail(status_code::out_of_memory), nullptr;
      std::memcpy(memory, made->data, made->bytes());
      made->data = memory;
    }
    const value* const kept_value = made_.net->memory.keep(*made);
    if (!kept_value) ort_.fail(status_code::out_of_memory);
    return kept_value;
  }

  /// Adds a node. A node of the main graph that can't be read is added as a placeholder.
  void add_node(const ort_node& node, graph& g) {
    const bool is_main = !g.outer();
    node_spec to;
    to.name = ort_.text<api::Node_GetName>(node), to.op_type = ort_.text<api::Node_GetOperatorType>(node);
    to.domain = plain_domain(ort_.text<api::Node_GetDomain>(node));
    to.opset = made_.net->opset(to.domain);
    if (to.opset < 1) to.opset = ort_.get<api::Node_GetSinceVersion>(node);
    std::vector<value_id> inputs = values_of(g, inputs_of(node));
    std::vector<value_id> outputs = values_of(g, outputs_of(node), found::here);
    // The values that bodies capture must be in this graph before the bodies are read.
    std::vector<value_id> captured;
    if (is_main) captured = values_of(g, ort_.list<api::Node_GetNumImplicitInputs, api::Node_GetImplicitInputs>(node));
    const op_row* const row = ops_.find(to.domain, to.op_type);
    const op_version* const version = row ? row->at(to.opset) : nullptr;
    if (is_main) require_tensors(g, inputs), require_tensors(g, outputs), require_given(g, inputs, captured);
    if (!version || version->deprecated)
      decline(fmt::format("operator '{}' of domain '{}' is not known at opset {}", to.op_type, to.domain, to.opset));
    std::vector<attribute> attributes;
    std::vector<graph*> bodies;
    if (why_.empty()) read_attributes(node, g, attributes, bodies);
    if (is_main && !why_.empty()) {
      attributes.clear(), bodies.clear();
      to.op_type = declined_op::name, to.domain = declined_op::domain, to.opset = 1;
      inputs.insert(inputs.end(), captured.begin(), captured.end());
      std::erase(inputs, value_id::none);
      while (!outputs.empty() && outputs.back() == value_id::none) outputs.pop_back();
    }
    to.inputs = inputs, to.outputs = outputs, to.attributes = attributes, to.subgraphs = bodies;
    g.add_node(to);
    if (is_main) made_.nodes.push_back(&node), made_.declined.push_back(std::exchange(why_, {}));
  }

  void require_tensors(const graph& g, std::span<const value_id> values) {
    for (value_id v : values)
      if (v != value_id::none && !g[v].type) decline(fmt::format("'{}' is not a tensor of numbers", g[v].name));
  }

  /// Declines a node whose subgraphs read outer values that are not inputs of the node, in ONNX Runtime before 1.27,
  /// which does not pass such values to a fused node.
  void require_given(const graph& g, std::span<const value_id> inputs, std::span<const value_id> captured) {
    for (value_id v : captured)
      if (host_.version() < 27 && v != value_id::none && !g[v].constant &&
          std::find(inputs.begin(), inputs.end(), v) == inputs.end())
        decline(fmt::format("its bodies read '{}' from outside, which takes ONNX Runtime 1.27", g[v].name));
  }

  void read_attributes(const ort_node& node, graph& g, std::vector<attribute>& to, std::vector<graph*>& bodies) {
    for (const ort_attribute* a : ort_.list<api::Node_GetNumAttributes, api::Node_GetAttributes>(node)) {
      const ort_attribute_kind kind{ort_.get<api::OpAttr_GetType>(*a)};
      if (kind == ort_attribute_kind::g) continue;  // added below, with the graphs
      attribute& made = to.emplace_back();
      made.name = ort_.text<api::OpAttr_GetName>(*a);
      read_attribute(*a, kind, made);
    }
    std::vector<const ort_graph*> graphs(ort_.get<api::Node_GetNumSubgraphs>(node));
    std::vector<const char*> names(graphs.size());
    if (!graphs.empty()) ort_.call<api::Node_GetSubgraphs>(&node, graphs.data(), graphs.size(), names.data());
    for (std::size_t i = 0; i < graphs.size() && graphs[i]; ++i) {
      bodies.push_back(&made_.net->add_graph(&g));
      read_body(*graphs[i], *bodies.back());
      attribute& made = to.emplace_back();
      made.name = kept(names[i] ? names[i] : ""), made.kind = attribute_kind::g, made.i = std::int64_t(i);
    }
  }

  void read_attribute(const ort_attribute& from, ort_attribute_kind kind, attribute& to) {
    switch (kind) {
      case ort_attribute_kind::i: to.kind = attribute_kind::i, to.i = read_number<std::int64_t>(from, kind); break;
      case ort_attribute_kind::f: to.kind = attribute_kind::f, to.f = read_number<float>(from, kind); break;
      case ort_attribute_kind::s: to.kind = attribute_kind::s, to.s = read_text(from, kind); break;
      case ort_attribute_kind::ints:
        to.kind = attribute_kind::ints, to.ints = read_list<std::int64_t>(from, kind);
        break;
      case ort_attribute_kind::floats:
        to.kind = attribute_kind::floats, to.floats = read_list<float>(from, kind);
        break;
      case ort_attribute_kind::strings:
        to.kind = attribute_kind::strings, to.strings = split(read_text(from, kind));
        break;
      case ort_attribute_kind::t: to.kind = attribute_kind::t, to.tensors = read_tensor(from, to.name); break;
      default: decline(fmt::format("attribute '{}' is of a kind that plugins are not given", to.name));
    }
  }

  /// The elements of a list attribute, in the model's memory.
  template <class T>
  std::span<const T> read_list(const ort_attribute& from, ort_attribute_kind kind) {
    std::size_t bytes = 0;
    if (ort_status* const too_small = host_.call<api::ReadOpAttr>(&from, std::int32_t(kind), nullptr, 0, &bytes))
      host_.call<api::ReleaseStatus>(too_small);  // expected: the call only returns the size
    const std::span<T> made = ort_.value_of(made_.net->memory.take<T>(bytes / sizeof(T)));
    if (!made.empty()) ort_.call<api::ReadOpAttr>(&from, std::int32_t(kind), made.data(), made.size_bytes(), &bytes);
    return made;
  }

  template <class T>
  T read_number(const ort_attribute& from, ort_attribute_kind kind) {
    const std::span<const T> one = read_list<T>(from, kind);
    return one.empty() ? T{} : one[0];
  }

  std::string_view read_text(const ort_attribute& from, ort_attribute_kind kind) {
    const std::span<const char> text = read_list<char>(from, kind);
    return {text.data(), text.size()};
  }

  /// Splits a text at its zero bytes.
  std::span<const std::string_view> split(std::string_view text) {
    std::vector<std::string_view> parts;
    for (std::size_t begin = 0, end = 0; begin < text.size(); begin = end + 1) {
      end = std::min(text.find('\0', begin), text.size());
      parts.push_back(text.substr(begin, end - begin));
    }
    return ort_.value_of(made_.net->memory.copy(std::span<const std::string_view>{parts}));
  }

  std::span<const value> read_tensor(const ort_attribute& from, std::string_view name) {
    ort_value* const tensor = ort_.get<api::OpAttr_GetTensorAttributeAsOrtValue>(from);  // a copy
    const value* const made = tensor ? constant_of(*tensor, true) : nullptr;
    if (tensor) host_.call<api::ReleaseValue>(tensor);
    if (!made) decline(fmt::format("attribute '{}' is not a tensor of numbers", name));
    return {made, made ? 1u : 0u};
  }

  void read_body(const ort_graph& from, graph& to) {
    add_inputs(to, ort_.list<api::Graph_GetNumInputs, api::Graph_GetInputs>(from), found::here);
    const value_infos initializers = ort_.list<api::Graph_GetNumInitializers, api::Graph_GetInitializers>(from);
    for (value_id v : values_of(to, initializers, found::here))
      if (v != value_id::none && !to[v].constant) decline("a body has a constant that is not a tensor of numbers");
    for (const ort_node* node : nodes_of(from)) add_node(*node, to);
    for (value_id v : values_of(to, outputs_of(from))) to.add_output(v);
  }

  const host& host_;
  call_sequence ort_;
  const op_table& ops_;
  const ort_graph& in_;
  constants what_;
  read_graph made_;
  std::string why_;
};

}  // namespace

op_table operators(const provider_row& of) {
  op_table made;
  made.more.push_back(of.kernels().ops);
  made.more.push_back(of.own_ops);
  made.more.push_back(declined_ops::rows);
  return made;
}

result<value> view_of(const host& from, const ort_value& v) {
  std::int32_t type = 0;
  std::size_t rank = 0;
  std::int64_t sizes[max_rank];
  const std::int64_t* dims = sizes;
  call_sequence calls{from};
  if (from.version() >= 24) {
    calls.call<api::GetTensorElementTypeAndShapeDataReference>(&v, &type, &dims, &rank);
  } else if (ort_tensor_info* const info = calls.get<api::GetTensorTypeAndShape>(v)) {
    calls.call<api::GetTensorElementType>(info, &type);
    calls.call<api::GetDimensionsCount>(info, &rank);
    if (rank > 0 && rank <= max_rank) calls.call<api::GetDimensions>(info, sizes, rank);
    from.call<api::ReleaseTensorTypeAndShapeInfo>(info);
  }
  if (!calls.outcome()) return calls.outcome();
  if (!is_number(type) || rank > max_rank)
    return failed(status_code::invalid_graph, "is not a tensor of numbers with at most {} axes", max_rank);
  const extents shape{std::span<const std::int64_t>{dims, rank}};
  std::int64_t count = 0;
  std::uint64_t bytes = 0;
  if (!shape.checked_count(count) || !checked_bytes(dtype(type), std::uint64_t(count), bytes))
    return status{status_code::invalid_graph, "has an impossible shape"};
  const void* const data = calls.get<api::GetTensorData>(v);
  if (!calls.outcome()) return calls.outcome();
  if (!data && bytes > 0) return status{status_code::invalid_graph, "has no elements"};
  return value::tensor(dtype(type), shape, data);
}

result<read_graph> read_whole(const host& from, const op_table& ops, const ort_graph& in) {
  return graph_reader{from, ops, in, constants::borrowed}.run(nullptr, nullptr);
}

result<read_graph> read_one(const host& from, const op_table& ops, const ort_graph& in, const ort_node& node) {
  return graph_reader{from, ops, in, constants::borrowed}.run(&node, &node);
}

result<read_graph> read_fused(const host& from, const op_table& ops, const ort_graph& body, const ort_node& fused) {
  return graph_reader{from, ops, body, constants::copied}.run(nullptr, &fused);
}

}  // namespace CAMEO_NAMESPACE::detail::ort
