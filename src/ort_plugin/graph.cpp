// Graphs of ONNX Runtime's as models.
#include "ort_plugin/graph.hpp"

#include "file/messages.hpp"

#include <algorithm>
#include <cstring>

namespace cameo::inline CAMEO_ABI::detail::ort {
namespace {

/// Stands for a node that can't cross.
struct declined_op {
  static constexpr std::string_view domain = "cameo.ort", name = "Declined";
  static constexpr parameter inputs[] = {{"inputs", "T", parameter_option::variadic, false, 0}};
  static constexpr parameter outputs[] = {{"outputs", "T", parameter_option::variadic, false, 0}};
  static constexpr type_rule types[] = {
      {"T", ~type_mask{}, ~type_mask{}, ~type_mask{}, ~type_mask{}, ~type_mask{}, true}};
  static constexpr op_version versions[] = {{1, inputs, outputs, types, {}, 0, 0}};
};
using declined_ops = op_list<declined_op>;

/// A status that says why a node can't cross, and no error of the whole.
status declines(std::string words) { return {status_code::not_found, words}; }
bool is_declined(const status& s) { return s.code() == status_code::not_found; }

class graph_reader {
 public:
  graph_reader(const host& from, const op_table& ops, const ort_graph& in, constants what)
      : host_{from}, ops_{ops}, in_{in}, what_{what} {
    made_.net = std::make_unique<model>();
  }

  result<read_graph> run(std::span<const ort_node* const> nodes, const boundary* wanted) {
    model& m = *made_.net;
    if (status s = read_imports(); !s) return s;
    graph& g = m.main();
    if (wanted)
      for (const ort_value_info* v : wanted->inputs)
        if (status s = add_input(g, v); !s) return s;
    for (const ort_node* node : nodes)
      if (status s = add_main_node(*node); !s) return s;
    for (std::size_t i = 0; i < g.value_count(); ++i) {
      const value_id v{std::uint32_t(i)};
      if (g[v].producer == node_id::none && !g[v].constant && !g[v].is_input) g.add_input(v);
    }
    std::vector<const ort_value_info*> outputs;
    if (wanted) {
      outputs = wanted->outputs;
    } else {
      auto all = host_.list<api::Graph_GetNumOutputs, api::Graph_GetOutputs, ort_value_info>(in_);
      if (!all) return std::move(all).error();
      outputs = std::move(*all);
    }
    for (const ort_value_info* v : outputs) {
      const result<value_id> id = value_of(g, v);
      if (!id) return id.error();
      if (!g[*id].is_output) g.add_output(*id);
      if (g[*id].producer == node_id::none && !g[*id].constant && !g[*id].is_input) g.add_input(*id);
    }
    return std::move(made_);
  }

 private:
  status read_imports() {
    model& m = *made_.net;
    std::size_t count = 0;
    if (status s = host_.ask<api::Graph_GetNumOperatorSets>(&in_, &count); !s) return s;
    std::vector<const char*> domains(count);
    std::vector<std::int64_t> versions(count);
    if (count > 0)
      if (status s = host_.ask<api::Graph_GetOperatorSets>(&in_, domains.data(), versions.data(), count); !s) return s;
    for (std::size_t i = 0; i < count; ++i)
      if (domains[i] && versions[i] > 0) m.imports.push_back({kept(plain_domain(domains[i])), versions[i]});
    m.imports.push_back({declined_op::domain, 1});
    if (status s = host_.ask<api::Graph_GetOnnxIRVersion>(&in_, &m.ir_version); !s) return s;
    if (m.ir_version < 4) m.ir_version = 4;  // initializers are constants, and no inputs
    m.producer_name = "onnxruntime";
    const result<std::string_view> path = host_.text<api::Graph_GetModelPath>(in_);
    if (path) m.path = *path;
    return {};
  }

  static std::string_view plain_domain(std::string_view domain) { return domain == "ai.onnx" ? "" : domain; }
  std::string_view kept(std::string_view words) {
    const result<std::string_view> copy = made_.net->memory.copy(words);
    return copy ? *copy : std::string_view{};
  }

  status add_input(graph& g, const ort_value_info* v) {
    const result<value_id> id = value_of(g, v);
    if (!id) return id.error();
    if (!g[*id].constant && !g[*id].is_input) g.add_input(*id);
    return {};
  }

  /// The value of a graph by its name; made with its type, and its elements if it is constant, when it is new. A body
  /// finds those of the graphs around it.
  result<value_id> value_of(graph& g, const ort_value_info* info) {
    if (!info) return value_id::none;
    const result<std::string_view> name = host_.text<api::GetValueInfoName>(*info);
    if (!name) return name.error();
    if (name->empty()) return value_id::none;
    if (const value_id found = g.outer() ? g.resolve(*name) : g.find(*name); found != value_id::none) return found;
    return new_value(g, *name, *info);
  }

  result<value_id> new_value(graph& g, std::string_view name, const ort_value_info& info) {
    const value_id made = g.add_value(name);
    const result<value_type> type = type_of(info);
    if (!type && !is_declined(type.error())) return type.error();
    if (type) g[made].type = g.owner().keep(*type);
    bool is_constant = false;
    if (status s = host_.ask<api::ValueInfo_IsConstantInitializer>(&info, &is_constant); !s) return s;
    if (!is_constant) return made;
    const ort_value* elements = nullptr;
    if (status s = host_.ask<api::ValueInfo_GetInitializerValue>(&info, &elements); !s) return s;
    const result<const value*> constant =
        elements ? constant_of(*elements, what_ == constants::copied) : declines("has no elements");
    if (!constant && !is_declined(constant.error())) return constant.error();
    if (constant) g.add_initializer(made, *constant);
    return made;
  }

  result<value_type> type_of(const ort_value_info& info) {
    const ort_type_info* type = nullptr;
    const ort_tensor_info* tensor = nullptr;
    if (status s = host_.ask<api::GetValueInfoTypeInfo>(&info, &type); !s || !type) return declines("has no type");
    if (status s = host_.ask<api::CastTypeInfoToTensorInfo>(type, &tensor); !s) return s;
    if (!tensor) return declines("is no tensor");
    std::int32_t elements = 0;
    std::size_t rank = 0;
    if (status s = host_.ask<api::GetTensorElementType>(tensor, &elements); !s) return s;
    if (!is_number(elements)) return declines("is no tensor of numbers");
    if (status s = host_.ask<api::GetDimensionsCount>(tensor, &rank); !s) return s;
    // Before 1.24 a scalar and a tensor of unknown rank look the same; inference finds out what it can.
    const bool has_shape = rank > 0 || (host_.version() >= 24 && host_.call<api::TensorTypeAndShape_HasShape>(tensor));
    if (!has_shape) return value_type::tensor(dtype(elements));
    std::vector<std::int64_t> sizes(rank);
    std::vector<const char*> names(rank);
    if (rank > 0)
      if (status s = host_.ask<api::GetDimensions>(tensor, sizes.data(), rank); !s) return s;
    if (rank > 0)
      if (status s = host_.ask<api::GetSymbolicDimensions>(tensor, names.data(), rank); !s) return s;
    std::vector<dim> dims;
    for (std::size_t i = 0; i < rank; ++i)
      dims.push_back(sizes[i] >= 0             ? dim::of(sizes[i])
                     : names[i] && names[i][0] ? dim::named(made_.net->symbol(names[i]))
                                               : dim{});
    return value_type::tensor(dtype(elements), std::move(dims));
  }

  result<const value*> constant_of(const ort_value& from, bool is_copied) {
    result<value> made = view_of(host_, from);
    if (!made) return declines(std::string{made.error().words()});
    if (is_copied && made->bytes() > 0) {
      void* const memory = made_.net->memory.allocate(made->bytes(), 64);
      if (!memory) return status_code::out_of_memory;
      std::memcpy(memory, made->data, made->bytes());
      made->data = memory;
    }
    const value* const kept_value = made_.net->memory.keep(*made);
    if (!kept_value) return status_code::out_of_memory;
    return kept_value;
  }

  /// What a node is, before it is in a graph.
  struct parts {
    std::string_view name, type, domain;
    std::int64_t opset = 0;
    std::vector<const ort_value_info*> inputs, captured, outputs;
    std::vector<attribute> attributes;
    std::vector<graph*> bodies;
  };

  status read_parts(const ort_node& node, parts& p) {
    const auto take_text = [&](result<std::string_view>&& from, std::string_view& to) {
      if (from) to = *from;
      return std::move(from).error();
    };
    if (status s = take_text(host_.text<api::Node_GetName>(node), p.name); !s) return s;
    if (status s = take_text(host_.text<api::Node_GetOperatorType>(node), p.type); !s) return s;
    if (status s = take_text(host_.text<api::Node_GetDomain>(node), p.domain); !s) return s;
    p.domain = plain_domain(p.domain);
    const auto take = [&](auto&& from, std::vector<const ort_value_info*>& to) {
      if (from) to = std::move(*from);
      return std::move(from).error();
    };
    using info = ort_value_info;
    if (status s = take(host_.list<api::Node_GetNumInputs, api::Node_GetInputs, info>(node), p.inputs); !s) return s;
    if (status s = take(host_.list<api::Node_GetNumOutputs, api::Node_GetOutputs, info>(node), p.outputs); !s) return s;
    if (status s =
            take(host_.list<api::Node_GetNumImplicitInputs, api::Node_GetImplicitInputs, info>(node), p.captured);
        !s)
      return s;
    p.opset = made_.net->opset(p.domain);
    int since = 0;
    if (p.opset < 1 && host_.ask<api::Node_GetSinceVersion>(&node, &since)) p.opset = since;
    return {};
  }

  status add_main_node(const ort_node& node) {
    graph& g = made_.net->main();
    parts p;
    if (status s = read_parts(node, p); !s) return s;
    std::vector<value_id> inputs, captured, outputs;
    for (auto [from, to] : {std::pair{&p.inputs, &inputs}, {&p.captured, &captured}, {&p.outputs, &outputs}})
      for (const ort_value_info* v : *from) {
        const result<value_id> id = value_of(g, v);
        if (!id) return id.error();
        to->push_back(*id);
      }
    status fine = crosses(g, inputs, outputs);
    if (fine) fine = require_known(p);
    if (fine) fine = read_attributes(node, g, p);
    if (!fine && !is_declined(fine)) return fine;
    if (!fine) {
      p.attributes.clear(), p.bodies.clear(), p.type = declined_op::name, p.domain = declined_op::domain, p.opset = 1;
      inputs.insert(inputs.end(), captured.begin(), captured.end());
      std::erase(inputs, value_id::none);
      while (!outputs.empty() && outputs.back() == value_id::none) outputs.pop_back();
    }
    add(g, p, inputs, outputs);
    made_.nodes.push_back(&node);
    made_.declined.emplace_back(fine.words());
    return {};
  }

  static void add(graph& g, const parts& p, std::span<const value_id> inputs, std::span<const value_id> outputs) {
    node_spec spec;
    spec.name = p.name, spec.domain = p.domain, spec.op_type = p.type, spec.opset = p.opset;
    spec.inputs = inputs, spec.outputs = outputs, spec.attributes = p.attributes, spec.subgraphs = p.bodies;
    g.add_node(spec);
  }

  /// Whether all values of a node are tensors of numbers.
  static status crosses(const graph& g, std::span<const value_id> inputs, std::span<const value_id> outputs) {
    for (const auto& ids : {inputs, outputs})
      for (value_id v : ids)
        if (v != value_id::none && !g[v].type) return declines(fmt::format("'{}' is no tensor of numbers", g[v].name));
    return {};
  }

  status require_known(const parts& p) const {
    const op_row* const row = ops_.find(p.domain, p.type);
    const op_version* const version = row ? row->at(p.opset) : nullptr;
    if (version && !version->deprecated) return {};
    return declines(fmt::format("operator '{}' of domain '{}' is not known at opset {}", p.type, p.domain, p.opset));
  }

  status read_attributes(const ort_node& node, graph& g, parts& p) {
    const auto all = host_.list<api::Node_GetNumAttributes, api::Node_GetAttributes, ort_attribute>(node);
    if (!all) return all.error();
    for (const ort_attribute* a : *all) {
      std::int32_t kind = 0;
      if (status s = host_.ask<api::OpAttr_GetType>(a, &kind); !s) return s;
      const result<std::string_view> name = host_.text<api::OpAttr_GetName>(*a);
      if (!name) return name.error();
      if (ort_attribute_kind(kind) == ort_attribute_kind::g) continue;  // below, by their names
      attribute made;
      made.name = *name;
      status s = read_attribute(*a, ort_attribute_kind(kind), made);
      if (!s) return is_declined(s) ? std::move(s).in(fmt::format("attribute '{}'", *name)) : s;
      p.attributes.push_back(made);
    }
    return read_bodies(node, g, p);
  }

  /// A list of elements of one size, in the model's memory.
  template <class T>
  status read_list(const ort_attribute& from, ort_attribute_kind kind, std::span<const T>& to) {
    std::size_t bytes = 0;
    if (ort_status* const room = host_.call<api::ReadOpAttr>(&from, std::int32_t(kind), nullptr, 0, &bytes))
      host_.call<api::ReleaseStatus>(room);  // says how much it needs
    const result<std::span<T>> made = made_.net->memory.take<T>(bytes / sizeof(T));
    if (!made) return made.error();
    if (status s = bytes == 0 ? status{}
                              : host_.ask<api::ReadOpAttr>(&from, std::int32_t(kind), static_cast<void*>(made->data()),
                                                           bytes, &bytes);
        !s)
      return s;
    to = *made;
    return {};
  }

  status read_attribute(const ort_attribute& from, ort_attribute_kind kind, attribute& to) {
    std::size_t bytes = 0;
    std::span<const char> text;
    switch (kind) {
      case ort_attribute_kind::i:
        to.kind = attribute_kind::i;
        return host_.ask<api::ReadOpAttr>(&from, std::int32_t(kind), static_cast<void*>(&to.i), sizeof to.i, &bytes);
      case ort_attribute_kind::f:
        to.kind = attribute_kind::f;
        return host_.ask<api::ReadOpAttr>(&from, std::int32_t(kind), static_cast<void*>(&to.f), sizeof to.f, &bytes);
      case ort_attribute_kind::ints: to.kind = attribute_kind::ints; return read_list(from, kind, to.ints);
      case ort_attribute_kind::floats: to.kind = attribute_kind::floats; return read_list(from, kind, to.floats);
      case ort_attribute_kind::s:
        to.kind = attribute_kind::s;
        if (status s = read_list(from, kind, text); !s) return s;
        to.s = {text.data(), text.size()};
        return {};
      case ort_attribute_kind::strings:
        to.kind = attribute_kind::strings;
        if (status s = read_list(from, kind, text); !s) return s;
        return split(text, to.strings);
      case ort_attribute_kind::t: return read_tensor(from, to);
      default: return declines("is of a kind that plugins are not given");
    }
  }

  /// Texts that each end with a zero.
  status split(std::span<const char> text, std::span<const std::string_view>& to) {
    std::vector<std::string_view> parts;
    for (std::string_view rest{text.data(), text.size()}; !rest.empty();) {
      const std::size_t end = std::min(rest.find('\0'), rest.size());
      parts.push_back(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    const auto copy = made_.net->memory.copy(std::span<const std::string_view>{parts});
    if (!copy) return copy.error();
    to = *copy;
    return {};
  }

  status read_tensor(const ort_attribute& from, attribute& to) {
    ort_value* tensor = nullptr;
    if (status s = host_.ask<api::OpAttr_GetTensorAttributeAsOrtValue>(&from, &tensor); !s) return s;
    if (!tensor) return declines("has no tensor");
    const result<const value*> made = constant_of(*tensor, true);  // the tensor is a copy of ours
    host_.call<api::ReleaseValue>(tensor);
    if (!made) return made.error();
    to.kind = attribute_kind::t, to.tensors = {*made, 1};
    return {};
  }

  status read_bodies(const ort_node& node, graph& g, parts& p) {
    std::size_t count = 0;
    if (status s = host_.ask<api::Node_GetNumSubgraphs>(&node, &count); !s || count == 0) return s;
    std::vector<const ort_graph*> bodies(count);
    std::vector<const char*> names(count);
    if (status s = host_.ask<api::Node_GetSubgraphs>(&node, bodies.data(), count, names.data()); !s) return s;
    for (std::size_t i = 0; i < count; ++i) {
      graph& body = made_.net->add_graph(&g);
      if (status s = read_body(*bodies[i], body); !s) return s;
      attribute made;
      made.name = kept(names[i] ? names[i] : ""), made.kind = attribute_kind::g, made.i = std::int64_t(i);
      p.attributes.push_back(made);
      p.bodies.push_back(&body);
    }
    return {};
  }

  status read_body(const ort_graph& from, graph& to) {
    using info = ort_value_info;
    const auto inputs = host_.list<api::Graph_GetNumInputs, api::Graph_GetInputs, info>(from);
    const auto fixed = host_.list<api::Graph_GetNumInitializers, api::Graph_GetInitializers, info>(from);
    const auto outputs = host_.list<api::Graph_GetNumOutputs, api::Graph_GetOutputs, info>(from);
    const auto nodes = host_.list<api::Graph_GetNumNodes, api::Graph_GetNodes, ort_node>(from);
    if (!inputs) return inputs.error();
    if (!fixed) return fixed.error();
    if (!outputs) return outputs.error();
    if (!nodes) return nodes.error();
    for (const bool is_input : {true, false})
      for (const info* v : is_input ? *inputs : *fixed) {
        const result<value_id> made = own_value(to, v);
        if (!made) return made.error();
        if (is_input && !to[*made].is_input) to.add_input(*made);
        if (!is_input && !to[*made].constant) return declines("a body has a constant that is no tensor of numbers");
      }
    for (const ort_node* node : *nodes)
      if (status s = add_body_node(*node, to); !s) return s;
    for (const info* v : *outputs) {
      const result<value_id> made = value_of(to, v);
      if (!made) return made.error();
      to.add_output(*made);
    }
    return {};
  }

  /// A value that a body defines: it hides one of the same name outside.
  result<value_id> own_value(graph& body, const ort_value_info* info) {
    if (!info) return value_id::none;
    const result<std::string_view> name = host_.text<api::GetValueInfoName>(*info);
    if (!name) return name.error();
    if (name->empty()) return value_id::none;
    if (const value_id found = body.find(*name); found != value_id::none) return found;
    return new_value(body, *name, *info);
  }

  status add_body_node(const ort_node& node, graph& body) {
    parts p;
    if (status s = read_parts(node, p); !s) return s;
    if (status s = require_known(p); !s) return s;
    std::vector<value_id> inputs, outputs;
    for (const ort_value_info* v : p.inputs) {
      const result<value_id> id = value_of(body, v);
      if (!id) return id.error();
      inputs.push_back(*id);
    }
    for (const ort_value_info* v : p.outputs) {
      const result<value_id> id = own_value(body, v);
      if (!id) return id.error();
      outputs.push_back(*id);
    }
    if (status s = read_attributes(node, body, p); !s) return s;
    add(body, p, inputs, outputs);
    return {};
  }

  const host& host_;
  const op_table& ops_;
  const ort_graph& in_;
  constants what_;
  read_graph made_;
};

}  // namespace

bool is_number(std::int32_t type) {
  return type > 0 && type < std::int32_t(dtype::f8e8m0) && dtype(type) != dtype::string;  // numbered as ONNX's
}

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
  if (from.version() >= 24) {
    if (status s = from.ask<api::GetTensorElementTypeAndShapeDataReference>(&v, &type, &dims, &rank); !s) return s;
  } else {
    ort_tensor_info* info = nullptr;
    if (status s = from.ask<api::GetTensorTypeAndShape>(&v, &info); !s) return s;
    const ort_tensor_info* const known = info;
    status s = from.ask<api::GetTensorElementType>(known, &type);
    if (s) s = from.ask<api::GetDimensionsCount>(known, &rank);
    if (s && rank > 0 && rank <= max_rank) s = from.ask<api::GetDimensions>(known, sizes, rank);
    from.call<api::ReleaseTensorTypeAndShapeInfo>(info);
    if (!s) return s;
  }
  if (!is_number(type) || rank > max_rank)
    return failed(status_code::invalid_graph, "is no tensor of numbers with at most {} axes", max_rank);
  const extents shape{std::span<const std::int64_t>{dims, rank}};
  std::int64_t count = 0;
  std::uint64_t bytes = 0;
  if (!shape.checked_count(count) || !checked_bytes(dtype(type), std::uint64_t(count), bytes))
    return status{status_code::invalid_graph, "has an impossible shape"};
  const void* data = nullptr;
  if (status s = from.ask<api::GetTensorData>(&v, &data); !s) return s;
  if (!data && bytes > 0) return status{status_code::invalid_graph, "has no elements"};
  return value::tensor(dtype(type), shape, data);
}

result<read_graph> read_nodes(const host& from, const op_table& ops, const ort_graph& in,
                              std::span<const ort_node* const> nodes, const boundary* wanted, constants what) {
  return graph_reader{from, ops, in, what}.run(nodes, wanted);
}

result<read_graph> read_whole(const host& from, const op_table& ops, const ort_graph& in) {
  const auto nodes = from.list<api::Graph_GetNumNodes, api::Graph_GetNodes, ort_node>(in);
  if (!nodes) return nodes.error();
  return read_nodes(from, ops, in, *nodes, nullptr, constants::borrowed);
}

result<read_graph> read_one(const host& from, const op_table& ops, const ort_graph& in, const ort_node& node) {
  const auto outputs = from.list<api::Node_GetNumOutputs, api::Node_GetOutputs, ort_value_info>(node);
  if (!outputs) return outputs.error();
  boundary wanted;
  for (const ort_value_info* v : *outputs)
    if (v) wanted.outputs.push_back(v);
  const ort_node* const only = &node;
  return read_nodes(from, ops, in, {&only, 1}, &wanted, constants::borrowed);
}

}  // namespace cameo::inline CAMEO_ABI::detail::ort
