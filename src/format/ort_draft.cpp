#include "ort_draft_reader.hpp"

namespace cameo::inline CAMEO_ABI {

using ort::missing;
using ort::wrong;

namespace {

/// Shape of a tensor's type: -1 where a dim is no number.
status read_shape(const ort::table_view& from, operand& to) {
  const ort::vector_view dims = from.vector(ort::shape::dim);
  if (dims.size() > max_rank)
    return wrong(status_code::not_implemented, "rank ", std::int64_t(dims.size()), " is more than cameo's limit of 12");
  to.has_rank = true;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const ort::table_view d = dims.table(i).table(ort::dimension::value);
    const auto kind = d.number<std::int8_t>(ort::dimension_value::dim_type);
    const auto size = d.number<std::int64_t>(ort::dimension_value::dim_value);
    if (kind < 0 || kind > 2) return wrong(status_code::fail, "DimensionValue.dim_type is ", kind, ", none of 0 to 2");
    if (kind == 2 && !d.has(ort::dimension_value::dim_param)) return missing("DimensionValue.dim_param");
    to.shape.push_back(kind == 1 && size >= 0 ? size : -1);  // a negative one says as little as none
  }
  return {};
}

/// A static type, as kernels see one. Recursion is as deep as the tables are, which verify() has bounded.
status read_type(const ort::table_view& from, operand& to) {
  const auto member = from.number<std::uint8_t>(ort::type_info::value_type);
  const ort::table_view value = from.table(ort::type_info::value);
  if (!value) return missing("TypeInfo.value");
  operand inner;
  switch (member) {
    case ort::type_info_value::tensor_type:
      to.kind = type_kind::tensor;
      if (!ort::element_type_of(value.number<std::int32_t>(ort::tensor_type::elem_type), to.type))
        return wrong(status_code::invalid_argument, "TensorTypeAndShape.elem_type is none of the format's");
      if (!value.has(ort::tensor_type::shape)) return {};
      return read_shape(value.table(ort::tensor_type::shape), to);
    case ort::type_info_value::sequence_type: {
      const ort::table_view held = value.table(ort::sequence_type::elem_type);
      status s = held ? read_type(held, inner) : missing("SequenceType.elem_type");
      to.kind = type_kind::sequence;
      if (inner.kind == type_kind::tensor) to.type = inner.type;
      return s;
    }
    case ort::type_info_value::map_type: {
      to.kind = type_kind::map;
      if (!ort::element_type_of(value.number<std::int32_t>(ort::map_type::key_type), to.type))
        return wrong(status_code::invalid_argument, "MapType.key_type is none of the format's");
      const ort::table_view held = value.table(ort::map_type::value_type);
      return held ? read_type(held, inner) : missing("MapType.value_type");
    }
    default:
      return wrong(status_code::fail, "TypeInfo.value_type is ", member,
                   ": neither a tensor (1), a sequence (2) nor a map (3)");
  }
}

}  // namespace

result<draft*> ort_draft_reader::read(const ort::table_view& root) {
  if (checks_)
    if (status s = (this->*checks_->model)(root); !s) return s;
  return read_graph(root.table(ort::session::model).table(ort::model::graph), nullptr);
}

result<draft*> ort_draft_reader::read_graph(const ort::table_view& from, scope* outer) {
  void* const place = memory_.allocate(sizeof(draft), alignof(draft));
  if (!place) return status_code::out_of_memory;
  draft* const net = ::new (place) draft{memory_};
  scope in{*net, outer, from.vector(ort::graph::node_args)};
  if (status s = read_node_args(from, in); !s) return s;
  if (status s = read_inputs(from, in); !s) return s;
  if (status s = read_initializers(from, in); !s) return s;
  if (status s = checks_ ? (this->*checks_->nodes)(from, in) : read_nodes(from, in); !s) return s;
  if (checks_)
    if (status s = (this->*checks_->edges)(from, in); !s) return s;
  if (status s = read_outputs(from, in); !s) return s;
  return net;
}

// --- names ---

status ort_draft_reader::read_node_args(const ort::table_view& from, scope& in) {
  const result<std::span<slot>> slots = memory_.take<slot>(in.args.size());
  if (!slots || !in.net.values.reserve(in.args.size() + 1)) return status_code::out_of_memory;
  in.slots = *slots;
  return checks_ ? (this->*checks_->args)(from, in) : status{};
}

/// The number of a name among node_args, or none.
std::uint32_t ort_draft_reader::find(const scope& in, std::string_view name) const {
  return checks_ ? (this->*checks_->find)(in, name) : find_unsorted(in, name);
}

std::uint32_t ort_draft_reader::find_unsorted(const scope& in, std::string_view name) const {
  for (std::uint32_t i = 0; i < in.args.size(); ++i)
    if (in.args.table(i).text(ort::value_info::name) == name) return i;
  return none;
}

/// A new value with the type that the file says.
result<slot> ort_draft_reader::define(scope& in, std::string_view name, std::string_view what) {
  if (name.empty()) return wrong(status_code::invalid_graph, what, " has no name");
  const std::uint32_t found = find(in, name);
  if (found == none) return wrong(status_code::fail, what, ": Graph.node_args has no '", name, "'");
  if (in.slots[found])
    return wrong(status_code::invalid_graph, "'", name, "' is defined twice, here as ", what,
                 "; a graph defines a name once");
  draft_value made{name, {}};
  made.info.present = true;
  if (status s = read_type(in.args.table(found).table(ort::value_info::type), made.info); !s)
    return std::move(s).in(name);
  const result<slot> added = in.net.add_value(made);
  if (added) in.slots[found] = *added;
  return added ? result<slot>{*added} : result<slot>{status_code::out_of_memory};
}

/// A value that is there already, or one of an outer scope, which becomes a capture.
result<slot> ort_draft_reader::resolve(scope& in, std::string_view name, std::string_view what) {
  constexpr std::size_t most_others = 1024;
  const std::uint32_t found = find(in, name);
  if (found != none && in.slots[found]) return in.slots[found];
  if (found == none)
    for (const passed& each : in.others)
      if (each.name == name) return each.at;
  if (!in.outer || name.empty())
    return wrong(status_code::invalid_graph, what, ": no node, input or initializer makes '", name, "'");
  const result<slot> outside = resolve(*in.outer, name, what);
  if (!outside) return outside.error();
  draft_value made = in.outer->net.values[*outside];  // what the inner scope says of its type does not count
  made.is_input = made.is_output = false;
  const result<slot> inside = in.net.add_value(made);
  if (!inside || !in.net.captures.push_back({*inside, *outside})) return status_code::out_of_memory;
  if (found != none) in.slots[found] = *inside;
  else if (in.others.size() == most_others) return wrong(status_code::not_implemented, "too much passes a subgraph");
  else if (!in.others.push_back({name, *inside})) return status_code::out_of_memory;
  return *inside;
}

// --- inputs, initializers, outputs ---

status ort_draft_reader::read_inputs(const ort::table_view& from, scope& in) {
  const ort::vector_view names = from.vector(ort::graph::inputs);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const result<slot> made = define(in, names.text(i), "Graph.inputs");
    if (!made) return made.error();
    in.net.values[*made].is_input = true;
  }
  return {};
}

status ort_draft_reader::add_initializer(scope& in, std::string_view name, const result<value>& constant) {
  if (!constant) return status{constant.error()}.in("Graph.initializers");
  const std::uint32_t found = find(in, name);
  if (found == none)
    return wrong(status_code::invalid_graph, "initializer '", name, "': Graph.node_args does not have it");
  if (!in.slots[found])
    if (const result<slot> made = define(in, name, "an initializer"); !made) return made.error();
  draft_value& v = in.net.values[in.slots[found]];
  if (v.info.kind != type_kind::tensor || (v.info.type != dtype::undefined && v.info.type != constant->type))
    return wrong(status_code::invalid_graph, "initializer '", name, "' is of another type than Graph.node_args says");
  v.info.type = constant->type;
  if (v.is_input && in.outer) return {};  // a subgraph's: its node gives the value
  v.info.constant = memory_.keep(*constant);
  if (!v.info.constant) return status_code::out_of_memory;
  v.info.has_rank = true, v.info.shape = constant->shape;  // a declared shape is a hint; this is what it is
  return {};
}

/// Initializers, and after them the inputs that are none.
status ort_draft_reader::read_initializers(const ort::table_view& from, scope& in) {
  const ort::vector_view dense = from.vector(ort::graph::initializers);
  for (std::size_t i = 0; i < dense.size(); ++i) {
    const std::string_view name = dense.table(i).text(ort::tensor::name);
    if (name.empty()) return missing("Graph.initializers: Tensor.name");
    if (status s = add_initializer(in, name, ort::read_constant(dense.table(i), name, memory_)); !s) return s;
  }
  const ort::vector_view sparse = from.vector(ort::graph::sparse_initializers);
  for (std::size_t i = 0; checks_ && i < sparse.size(); ++i) {
    const std::string_view name = sparse.table(i).table(ort::sparse_tensor::values).text(ort::tensor::name);
    if (name.empty()) return missing("Graph.sparse_initializers: SparseTensor.values, or its Tensor.name,");
    if (status s = add_initializer(in, name, checks_->sparse(sparse.table(i), name, memory_)); !s) return s;
  }
  const ort::vector_view names = from.vector(ort::graph::inputs);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const slot s = in.slots[find(in, names.text(i))];
    if (!in.net.values[s].info.constant && !in.net.inputs.push_back(s)) return status_code::out_of_memory;
  }
  return {};
}

status ort_draft_reader::read_outputs(const ort::table_view& from, scope& in) {
  const ort::vector_view names = from.vector(ort::graph::outputs);
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (find(in, names.text(i)) == none)
      return wrong(status_code::fail, "Graph.outputs: Graph.node_args has no '", names.text(i), "'");
    const result<slot> s = resolve(in, names.text(i), "Graph.outputs");
    if (!s) return s.error();
    in.net.values[*s].is_output = true;
    if (!in.net.outputs.push_back(*s)) return status_code::out_of_memory;
  }
  return {};
}

// --- door ---

result<draft*> read_ort_draft(std::span<const std::byte> file, std::span<const kernel_table* const> providers,
                              arena& memory, const ort_draft_checks* checks) {
  ort_draft_reader reader{providers, memory, checks};
  if (!checks) return reader.read(ort::root_of(file));
  const result<ort::table_view> root = checks->verify(file);
  return root ? reader.read(*root) : result<draft*>{root.error()};
}

}  // namespace cameo::inline CAMEO_ABI
