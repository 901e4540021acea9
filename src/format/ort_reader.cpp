#include "ort_reader.hpp"

#include "../graph/oddities.hpp"
#include "core/node_words.hpp"
#include "dim_denotations.hpp"
#include "ort_resolver.hpp"

#include <algorithm>

namespace cameo::inline CAMEO_ABI {
namespace {

std::string describe(const ort::table_view& n) {
  node_words words{n.text(ort::node::name), n.text(ort::node::domain), n.text(ort::node::op_type)};
  const ort::vector_view outputs = n.vector(ort::node::outputs);
  for (std::size_t i = 0; i < outputs.size() && words.output.empty(); ++i) words.output = outputs.text(i);
  if (!words.name.empty() || !words.output.empty()) return words.text();
  return fmt::format("node {} ({})", n.number<std::uint32_t>(ort::node::index), words.op_type);
}

/// What the type's dims are said to be; empty if nothing.
std::string denotations_of(const ort::table_view& type) {
  if (type.number<std::uint8_t>(ort::type_info::value_type) != ort::type_info_value::tensor_type) return {};
  const ort::table_view shape = type.table(ort::type_info::value).table(ort::tensor_type::shape);
  const ort::vector_view dims = shape.vector(ort::shape::dim);
  std::vector<std::string_view> words;
  for (std::size_t i = 0; i < dims.size(); ++i) words.push_back(dims.table(i).text(ort::dimension::denotation));
  return keep_dim_denotations(words);
}

status unknown_name(std::string_view field, std::string_view name) {
  return failed(status_code::fail, "{}: Graph.node_args has no '{}'", field, name);
}

}  // namespace

// --- model ---

status ort_reader::read(const ort::table_view& root) {
  result<std::int64_t> version = ort::version_of(root);
  if (!version) return std::move(version).error();
  version_ = *version;
  const ort::table_view resolver = root.table(ort::session::kernel_type_str_resolver);
  heap_arena scratch;
  if (resolver)
    if (status s = ort::check_resolver(resolver, scratch); !s) return s;
  if (!resolver && version_ >= ort::first_with_resolver)
    tolerate(model_, oddity::no_resolver,
             "InferenceSession.kernel_type_str_resolver is missing; ONNX Runtime refuses the file");
  const ort::table_view from = root.table(ort::session::model);
  return from ? read_model(from) : missing_field("InferenceSession.model");
}

status ort_reader::read_opsets(const ort::table_view& from) {
  if (!from.has(ort::model::opset_import)) return missing_field("Model.opset_import");
  const ort::vector_view opsets = from.vector(ort::model::opset_import);
  for (std::size_t i = 0; i < opsets.size(); ++i) {
    const ort::table_view each = opsets.table(i);
    if (!each.has(ort::opset::domain)) return missing_field("OperatorSetId.domain");
    std::string_view domain = each.text(ort::opset::domain);
    if (domain == "ai.onnx") domain = {};
    const auto opset = each.number<std::int64_t>(ort::opset::version);
    const auto same = std::find_if(model_.imports.begin(), model_.imports.end(),
                                   [&](const opset_import& import) { return import.domain == domain; });
    if (same != model_.imports.end()) same->version = opset;  // the last one counts
    else model_.imports.push_back({domain, opset});
  }
  return {};
}

/// Of two entries with one key the first counts.
status ort_reader::read_metadata(const ort::table_view& from) {
  const ort::vector_view entries = from.vector(ort::model::metadata_props);
  std::map<std::string_view, std::size_t> seen;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const std::string_view key = entries.table(i).text(ort::entry::key);
    if (seen.try_emplace(key, i).second) model_.metadata.emplace_back(key, entries.table(i).text(ort::entry::value));
  }
  return {};
}

status ort_reader::read_model(const ort::table_view& from) {
  if (status s = read_opsets(from); !s) return s;
  if (status s = read_metadata(from); !s) return s;
  model_.ir_version = from.number<std::int64_t>(ort::model::ir_version);
  model_.model_version = from.number<std::int64_t>(ort::model::model_version);
  model_.producer_name = from.text(ort::model::producer_name);
  model_.producer_version = from.text(ort::model::producer_version);
  model_.domain = from.text(ort::model::domain);
  model_.doc_string = from.text(ort::model::doc_string);
  const ort::table_view graph = from.table(ort::model::graph);
  if (!graph) return missing_field("Model.graph");
  model_.main().name = "main";  // the file has no names of graphs, and ONNX wants some
  model_.main().doc_string = from.text(ort::model::graph_doc_string);
  return read_graph(graph, model_.main(), nullptr, 0);
}

// --- graphs ---

status ort_reader::read_graph(const ort::table_view& from, graph& to, const scope* outer, std::size_t depth) {
  if (depth > limits_.graph_depth)
    return failed(status_code::invalid_graph, "subgraphs are nested more than {} deep", limits_.graph_depth);
  scope in{to, outer, from.vector(ort::graph::node_args)};
  if (status s = read_node_args(from, in); !s) return s;
  if (status s = read_inputs(from, in); !s) return s;
  if (status s = read_initializers(from, in); !s) return s;
  if (status s = read_nodes(from, in, depth); !s) return s;
  if (status s = check_edges(from, in); !s) return s;
  if (status s = read_outputs(from, in); !s) return s;
  return read_optimizations(from, in);
}

status ort_reader::read_node_args(const ort::table_view& from, scope& in) {
  const auto count = [&](ort::graph::slot slot) { return from.vector(slot).size(); };
  if (!in.args && count(ort::graph::nodes) + count(ort::graph::inputs) + count(ort::graph::outputs) != 0)
    return missing_field("Graph.node_args");
  const auto name_of = [&](std::uint32_t i) { return in.args.table(i).text(ort::value_info::name); };
  in.by_name.reserve(in.args.size());
  for (std::uint32_t i = 0; i < in.args.size(); ++i) {
    const ort::table_view info = in.args.table(i);
    const std::string_view name = info.text(ort::value_info::name);
    if (!info.has(ort::value_info::name)) return missing_field(fmt::format("Graph.node_args[{}]: ValueInfo.name", i));
    if (!name.empty() && !info.has(ort::value_info::type))
      return missing_field(fmt::format("ValueInfo.type of '{}'", name));
    if (in.by_name.find(name, name_of) != name_index::none)
      return failed(status_code::fail, "Graph.node_args: '{}' is there twice", name);
    in.by_name.insert(name, i, name_of);
  }
  return {};
}

bool ort_reader::type_of(const scope& in, std::string_view name, ort::table_view& info) const {
  const auto name_of = [&](std::uint32_t i) { return in.args.table(i).text(ort::value_info::name); };
  const std::uint32_t found = in.by_name.find(name, name_of);
  if (found != name_index::none) info = in.args.table(found);
  return found != name_index::none;
}

/// A value with the type that the file says.
result<value_id> ort_reader::define(scope& in, std::string_view name, std::string_view what) {
  if (name.empty()) return failed(status_code::invalid_graph, "{} has no name", what);
  ort::table_view info;
  if (!type_of(in, name, info)) return unknown_name(what, name);
  if (in.g.find(name) != value_id::none)
    return failed(status_code::invalid_graph, "'{}' is defined twice, here as {}; a graph defines a name once", name,
                  what);
  result<value_type> type = read_ort_type(info.table(ort::value_info::type), model_);
  if (!type) return std::move(type).error().in(fmt::format("ValueInfo.type of '{}'", name));
  const value_id made = in.g.add_value(name, model_.keep(*std::move(type)));
  in.g[made].doc_string = info.text(ort::value_info::doc_string);
  if (const std::string words = denotations_of(info.table(ort::value_info::type)); !words.empty())
    in.g[made].unknown = or_throw(model_.memory.copy(std::string_view{words}));
  return made;
}

status ort_reader::read_inputs(const ort::table_view& from, scope& in) {
  const ort::vector_view names = from.vector(ort::graph::inputs);
  for (std::size_t i = 0; i < names.size(); ++i) {
    result<value_id> v = define(in, names.text(i), "Graph.inputs");
    if (!v) return std::move(v).error();
    in.g.add_input(*v);
  }
  return {};
}

status ort_reader::read_outputs(const ort::table_view& from, scope& in) {
  const ort::vector_view names = from.vector(ort::graph::outputs);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string_view name = names.text(i);
    ort::table_view info;
    if (!type_of(in, name, info)) return unknown_name("Graph.outputs", name);
    const value_id v = name.empty() ? value_id::none : in.g.resolve(name);
    if (v == value_id::none)
      return failed(status_code::invalid_graph, "Graph.outputs: no node, input or initializer makes '{}'", name);
    in.g.add_output(v);
  }
  return {};
}

// --- initializers ---

status ort_reader::add_initializer(scope& in, std::string_view name, const value& constant) {
  ort::table_view info;
  if (!type_of(in, name, info))
    return failed(status_code::invalid_graph, "initializer '{}': Graph.node_args does not have it", name);
  value_id v = in.g.find(name);
  if (v == value_id::none) {
    result<value_id> made = define(in, name, "an initializer");
    if (!made) return std::move(made).error();
    v = *made;
  }
  const value_type* const declared = in.g[v].type;
  if (declared->kind != type_kind::tensor || (declared->type != dtype::undefined && declared->type != constant.type))
    return failed(status_code::invalid_graph, "initializer '{}' is a tensor of {}, its type in Graph.node_args {}",
                  name, row_of(constant.type).name, declared->to_string());
  const value* const kept_value = kept(std::vector<value>{constant}).data();
  if (in.g[v].constant) {
    tolerate(model_, oddity::initializer_twice, "initializer '{}' is there twice; the last one counts", name);
    in.g[v].constant = kept_value;
    return {};
  }
  in.g.add_initializer(v, kept_value);
  if (in.g[v].is_input) return {};
  value_type type;  // a declared shape is a hint; this is what it is
  type.kind = type_kind::tensor;
  type.type = constant.type;
  type.denotation = declared->denotation;
  type.shape.emplace();
  for (std::int64_t d : constant.shape) type.shape->push_back(dim::of(d));
  in.g[v].type = model_.keep(std::move(type));
  return {};
}

status ort_reader::read_initializers(const ort::table_view& from, scope& in) {
  const ort::vector_view dense = from.vector(ort::graph::initializers);
  for (std::size_t i = 0; i < dense.size(); ++i) {
    const std::string_view name = dense.table(i).text(ort::tensor::name);
    if (name.empty()) return missing_field(fmt::format("Graph.initializers[{}]: Tensor.name", i));
    result<value> data = tensors_.read(dense.table(i), name);
    status s = data ? add_initializer(in, name, *data) : std::move(data).error().in("Graph.initializers");
    if (!s) return s;
  }
  const ort::vector_view sparse = from.vector(ort::graph::sparse_initializers);
  for (std::size_t i = 0; i < sparse.size(); ++i) {
    const ort::table_view values = sparse.table(i).table(ort::sparse_tensor::values);
    if (!values) return missing_field(fmt::format("Graph.sparse_initializers[{}]: SparseTensor.values", i));
    const std::string_view name = values.text(ort::tensor::name);
    if (name.empty())
      return missing_field(fmt::format("Graph.sparse_initializers[{}]: SparseTensor.values: Tensor.name", i));
    result<value> data = tensors_.read_sparse(sparse.table(i), name);
    status s = data ? add_initializer(in, name, *data) : std::move(data).error().in("Graph.sparse_initializers");
    if (!s) return s;
  }
  return {};
}

// --- nodes ---

/// By index, which is checked as ONNX Runtime does: unique, below max_node_index, and not absurd for so few nodes.
result<std::vector<ort::table_view>> ort_reader::nodes_in_order(const ort::table_view& from, scope& in) {
  const ort::vector_view nodes = from.vector(ort::graph::nodes);
  in.end_of_indices = from.number<std::uint32_t>(ort::graph::max_node_index);
  const std::size_t absurd =
      std::max<std::size_t>(1024, 64 * (nodes.size() + from.vector(ort::graph::node_edges).size()));
  std::vector<ort::table_view> made;
  made.reserve(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const ort::table_view& n = made.emplace_back(nodes.table(i));
    const auto index = n.number<std::uint32_t>(ort::node::index);
    if (index >= in.end_of_indices)
      return failed(status_code::fail, "{}: Node.index {} is not below Graph.max_node_index {}", describe(n), index,
                    in.end_of_indices);
    if (index >= absurd)
      return failed(status_code::fail, "{}: Node.index {} is too large for a graph of {} nodes", describe(n), index,
                    nodes.size());
    if (!in.nodes.try_emplace(index, node_id::none).second)
      return failed(status_code::fail, "{}: Node.index {} is there twice", describe(n), index);
  }
  std::stable_sort(made.begin(), made.end(), [](const ort::table_view& a, const ort::table_view& b) {
    return a.number<std::uint32_t>(ort::node::index) < b.number<std::uint32_t>(ort::node::index);
  });
  return made;
}

status ort_reader::read_nodes(const ort::table_view& from, scope& in, std::size_t depth) {
  result<std::vector<ort::table_view>> nodes = nodes_in_order(from, in);
  if (!nodes) return std::move(nodes).error();
  std::size_t made = 0, read = 0;
  for (const ort::table_view& n : *nodes) {
    made += n.vector(ort::node::outputs).size();
    read += n.vector(ort::node::inputs).size();
  }
  in.g.reserve(made, nodes->size(), read);
  // Every name first: indices need not follow the flow of values.
  std::vector<value_id> outputs;
  for (const ort::table_view& n : *nodes) {
    if (!n.has(ort::node::outputs)) return missing_field("Node.outputs").in(describe(n));
    const ort::vector_view names = n.vector(ort::node::outputs);
    for (std::size_t i = 0; i < names.size(); ++i) {
      result<value_id> v = value_id::none;
      if (!names.text(i).empty()) v = define(in, names.text(i), "Node.outputs");
      if (!v) return std::move(v).error().in(describe(n));
      outputs.push_back(*v);
    }
  }
  std::size_t first = 0;
  for (const ort::table_view& n : *nodes) {
    const std::size_t count = n.vector(ort::node::outputs).size();
    status s = read_node(n, in, std::span{outputs}.subspan(first, count), depth);
    if (!s) return std::move(s).in(describe(n));
    first += count;
  }
  return {};
}

status ort_reader::read_values_of_node(const ort::table_view& from, scope& in, std::vector<value_id>& inputs) {
  if (!from.has(ort::node::inputs)) return missing_field("Node.inputs");
  if (!from.has(ort::node::implicit_inputs)) return missing_field("Node.implicit_inputs");
  const ort::vector_view names = from.vector(ort::node::inputs);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string_view name = names.text(i);
    ort::table_view info;
    if (!name.empty() && !type_of(in, name, info)) return unknown_name("Node.inputs", name);
    const value_id v = name.empty() ? value_id::none : in.g.resolve(name);
    if (v == value_id::none && !name.empty())
      return failed(status_code::invalid_graph,
                    "input {} '{}' is not defined: no node, input or initializer of this graph or one around it has "
                    "that name",
                    i, name);
    inputs.push_back(v);
  }
  // What subgraphs read is found in them; the list only has to name what is there.
  const ort::vector_view implicit = from.vector(ort::node::implicit_inputs);
  for (std::size_t i = 0; i < implicit.size(); ++i) {
    ort::table_view info;
    const scope* at = &in;
    while (at && !type_of(*at, implicit.text(i), info)) at = at->outer;
    if (!at) return unknown_name("Node.implicit_inputs", implicit.text(i));
  }
  return {};
}

status ort_reader::check_argument_counts(const ort::table_view& from) {
  if (!from.has(ort::node::input_arg_counts)) return missing_field("Node.input_arg_counts");
  const ort::vector_view counts = from.vector(ort::node::input_arg_counts);
  const std::size_t inputs = from.vector(ort::node::inputs).size();
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const auto count = counts.number<std::int32_t>(i);
    if (count < 0) return failed(status_code::fail, "Node.input_arg_counts[{}] is {}", i, count);
    sum += count;
  }
  if (sum != std::int64_t(inputs))
    return failed(status_code::fail, "Node.input_arg_counts adds up to {}, Node.inputs has {}", sum, inputs);
  return {};
}

status ort_reader::read_node(const ort::table_view& from, scope& in, std::span<const value_id> outputs,
                             std::size_t depth) {
  node_spec spec;
  spec.op_type = from.text(ort::node::op_type);
  spec.domain = from.text(ort::node::domain);
  if (spec.op_type.empty()) return missing_field("Node.op_type");
  if (const auto type = from.number<std::int32_t>(ort::node::type); type != 0)
    return failed(status_code::fail, "Node.type is {}; only plain nodes (0) can be in a file", type);
  if (status s = check_argument_counts(from); !s) return s;
  spec.opset = model_.opset(spec.domain);
  if (spec.opset < 1)
    return failed(status_code::invalid_graph, "Node.domain '{}' is not among Model.opset_import{}", spec.domain,
                  spec.domain == "ai.onnx" ? "; nodes spell ONNX's own domain ''" : "");
  if (spec.domain == "com.microsoft.nchwc" && !has_blocked_layout_) {
    has_blocked_layout_ = true;
    model_.warnings.push_back(
        "there are nodes of com.microsoft.nchwc: their constants lie as suits the library and the processor that "
        "wrote the file, and elsewhere the answers are wrong");
  }
  std::vector<value_id> inputs;
  if (status s = read_values_of_node(from, in, inputs); !s) return s;
  std::vector<attribute> attributes;
  std::vector<graph*> subgraphs;
  if (status s = read_attributes(from, in, depth, attributes, subgraphs); !s) return s;
  spec.name = from.text(ort::node::name);
  spec.doc_string = from.text(ort::node::doc_string);
  spec.inputs = inputs;
  spec.outputs = outputs;
  spec.attributes = attributes;
  spec.subgraphs = subgraphs;
  in.nodes[from.number<std::uint32_t>(ort::node::index)] = in.g.add_node(spec);
  return {};
}

/// Edges are made from names; those of the file only have to name nodes that are there.
status ort_reader::check_edges(const ort::table_view& from, const scope& in) {
  const ort::vector_view all = from.vector(ort::graph::node_edges);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto index = all.table(i).number<std::uint32_t>(ort::node_edges::node_index);
    if (!in.nodes.contains(index))
      return failed(status_code::fail, "Graph.node_edges[{}]: NodeEdge.node_index: there is no node {}", i, index);
    for (const auto slot : {ort::node_edges::input_edges, ort::node_edges::output_edges}) {
      const ort::vector_view ends = all.table(i).vector(slot);
      for (std::size_t e = 0; e < ends.size(); ++e)
        if (const auto other = ends.number<std::uint32_t>(e, ort::edge_end_bytes); !in.nodes.contains(other))
          return failed(status_code::fail, "Graph.node_edges[{}]: EdgeEnd.node_index: there is no node {}", i, other);
    }
  }
  return {};
}

// --- attributes ---

status ort_reader::read_attributes(const ort::table_view& from, scope& in, std::size_t depth,
                                   std::vector<attribute>& to, std::vector<graph*>& subgraphs) {
  const ort::vector_view all = from.vector(ort::node::attributes);
  std::map<std::string_view, std::size_t> numbers;  // of a name: the last one counts
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all.table(i).text(ort::attribute::name).empty())
      return failed(status_code::invalid_graph, "Node.attributes[{}]: Attribute.name is missing", i);
    numbers[all.table(i).text(ort::attribute::name)] = i;
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::string_view name = all.table(i).text(ort::attribute::name);
    if (numbers[name] != i) continue;
    if (status s = read_attribute(all.table(i), in, depth, to.emplace_back(), subgraphs); !s)
      return std::move(s).in(fmt::format("attribute '{}'", name));
  }
  return {};
}

status ort_reader::read_attribute(const ort::table_view& from, scope& in, std::size_t depth, attribute& to,
                                  std::vector<graph*>& subgraphs) {
  namespace slots = ort::attribute;
  struct kind_row {
    attribute_kind kind;
    slots::slot slot;
    const char* field;
  };
  static constexpr kind_row rows[] = {{attribute_kind::undefined, slots::name, ""},
                                      {attribute_kind::f, slots::f, "f"},
                                      {attribute_kind::i, slots::i, "i"},
                                      {attribute_kind::s, slots::s, "s"},
                                      {attribute_kind::t, slots::t, "t"},
                                      {attribute_kind::g, slots::g, "g"},
                                      {attribute_kind::floats, slots::floats, "floats"},
                                      {attribute_kind::ints, slots::ints, "ints"},
                                      {attribute_kind::strings, slots::strings, "strings"},
                                      {attribute_kind::tensors, slots::tensors, "tensors"}};
  const auto number = from.number<std::int32_t>(slots::type);
  if (number < 1 || std::size_t(number) >= std::size(rows))
    return failed(status_code::invalid_graph, "Attribute.type {} can't be in a file, 1 to {} can", number,
                  std::size(rows) - 1);
  const kind_row& row = rows[number];
  to.name = from.text(slots::name);
  to.doc_string = from.text(slots::doc_string);
  to.kind = row.kind;
  if (row.kind != attribute_kind::f && row.kind != attribute_kind::i && !from.has(row.slot))
    return missing_field(fmt::format("Attribute.{}", row.field));
  const ort::vector_view many = from.vector(row.slot);
  switch (row.kind) {
    case attribute_kind::f: to.f = from.number<float>(row.slot); break;
    case attribute_kind::i: to.i = from.number<std::int64_t>(row.slot); break;
    case attribute_kind::s: to.s = from.text(row.slot); break;
    case attribute_kind::floats: {
      std::vector<float> numbers;
      for (std::size_t i = 0; i < many.size(); ++i) numbers.push_back(many.number<float>(i));
      to.floats = kept(numbers);
      break;
    }
    case attribute_kind::ints: {
      std::vector<std::int64_t> numbers;
      for (std::size_t i = 0; i < many.size(); ++i) numbers.push_back(many.number<std::int64_t>(i));
      to.ints = kept(numbers);
      break;
    }
    case attribute_kind::strings: {
      std::vector<std::string_view> texts;
      for (std::size_t i = 0; i < many.size(); ++i) texts.push_back(many.text(i));
      to.strings = kept(texts);
      break;
    }
    case attribute_kind::g:
      to.i = std::int64_t(subgraphs.size());
      subgraphs.push_back(&model_.add_graph(&in.g));
      subgraphs.back()->name = to.name;
      return read_graph(from.table(row.slot), *subgraphs.back(), &in, depth + 1);
    default: {
      std::vector<value> values;
      for (std::size_t i = 0; i < (row.kind == attribute_kind::t ? 1 : many.size()); ++i) {
        result<value> made =
            tensors_.read(row.kind == attribute_kind::t ? from.table(row.slot) : many.table(i), to.name);
        if (!made) return std::move(made).error();
        values.push_back(*made);
      }
      to.tensors = kept(values);
    }
  }
  return {};
}

// --- doors ---

namespace {

status read_bytes(model& to, std::span<const std::byte> bytes, const read_options& options) {
  result<ort::table_view> root = ort::verify(bytes);
  if (!root) return std::move(root).error();
  return ort_reader{to, options.limits}.read(*root);
}

}  // namespace

result<std::unique_ptr<model>> read_ort(const std::string& path, const read_options& options) {
  return guarded([&]() -> result<std::unique_ptr<model>> {
    auto file = options.file ? result<std::shared_ptr<const file_bytes>>{options.file} : file_bytes::map(path);
    if (!file) return file.error();
    auto made = std::make_unique<model>();
    made->files.push_back(*file);
    made->path = path;
    status s = read_bytes(*made, (*file)->bytes(), options);
    return s ? result<std::unique_ptr<model>>{std::move(made)} : std::move(s).in(path);
  });
}

result<std::unique_ptr<model>> read_ort(std::span<const std::byte> bytes, std::string_view name,
                                        const read_options& options) {
  return guarded([&]() -> result<std::unique_ptr<model>> {
    auto made = std::make_unique<model>();
    status s = read_bytes(*made, bytes, options);
    return s ? result<std::unique_ptr<model>>{std::move(made)} : std::move(s).in(name);
  });
}

bool ort_format::recognises(std::span<const std::byte> bytes, std::string_view path) {
  if (path.empty()) return bytes.size() > 8 && ort::has_identifier(bytes);
  const std::string_view end = path.substr(path.size() - std::min<std::size_t>(4, path.size()));
  return end.size() == 4 && end[0] == '.' && (end[1] | 32) == 'o' && (end[2] | 32) == 'r' && (end[3] | 32) == 't';
}

}  // namespace cameo::inline CAMEO_ABI
