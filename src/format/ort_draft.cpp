#include "ort_draft_sink.hpp"

namespace CAMEO_NAMESPACE {

using ort::wrong;

namespace {

/// Reads a static type as an operand. Recursion is as deep as the tables, whose depth verify() limits.
status read_type(const ort::table_view& from, operand& to) {
  ort::type_parts parts;
  operand inner;
  if (status s = ort::read_type(from, to.kind, to.type, parts); !s) return s;
  if (parts.held)
    if (status s = read_type(parts.held, inner); !s) return s;
  if (to.kind == type_kind::sequence && inner.kind == type_kind::tensor) to.type = inner.type;
  to.has_rank = bool(parts.shape);
  const ort::vector_view dims = parts.shape.vector(ort::shape::dim);
  for (std::size_t i = 0; i < dims.size(); ++i) {
    std::int64_t size = 0;
    if (status s = ort::read_dim(dims.table(i), size); !s) return s;
    to.shape.push_back(size);
  }
  return {};
}

}  // namespace

// --- values ---

status ort_draft_sink::begin(scope& in, std::string_view) {
  void* const place = memory.allocate(sizeof(draft), alignof(draft));
  if (!place) return status_code::out_of_memory;
  in.made = ::new (place) draft{memory};
  return in.made->values.reserve(in.args.size() + 1) ? status_code::ok : status_code::out_of_memory;
}

result<slot> ort_draft_sink::define(scope& in, std::string_view name, const ort::table_view& info) {
  draft_value made{name, {}};
  made.info.present = true;
  if (status s = read_type(info.table(ort::value_info::type), made.info); !s) return std::move(s).in(name);
  return in.made->add_value(made);
}

status ort_draft_sink::input(scope& in, slot s) { return in.made->values[s].is_input = true, status{}; }

status ort_draft_sink::constant(scope& in, slot s, const value& constant) {
  draft_value& v = in.made->values[s];
  if (status fits = ort::check_declared(v.info.kind, v.info.type, constant, v.name); !fits) return fits;
  v.info.type = constant.type;
  if (v.is_input && in.outer) return {};  // an input of a subgraph gets its value from the node
  v.info.constant = memory.keep(constant);
  if (!v.info.constant) return status_code::out_of_memory;
  v.info.has_rank = true, v.info.shape = constant.shape;  // a declared shape is a hint; this is the actual shape
  return {};
}

slot ort_draft_sink::passed(scope& in, std::string_view name) const {
  for (const passed_value& each : in.others)
    if (each.name == name) return each.at;
  return 0;
}

result<slot> ort_draft_sink::take_in(scope& in, std::string_view name, slot outside, bool listed) {
  constexpr std::size_t most_others = 1024;
  draft_value made = static_cast<scope*>(in.outer)->made->values[outside];  // the type in the inner scope does not
                                                                            // count
  made.is_input = made.is_output = false;
  const result<slot> inside = in.made->add_value(made);
  if (!inside || !in.made->captures.push_back({*inside, outside})) return status_code::out_of_memory;
  if (listed) return *inside;
  if (in.others.size() == most_others)
    return wrong(status_code::not_implemented, "a subgraph reads more than 1024 values of the graphs around it");
  return in.others.push_back({name, *inside}) ? result<slot>{*inside} : result<slot>{status_code::out_of_memory};
}

/// Copies a constant that the file has at an address that the processor cannot read.
status ort_draft_sink::place(value& v) {
  if (detail::is_aligned(v)) return {};
  void* const copy = memory.allocate(v.bytes(), 16);
  if (!copy) return status_code::out_of_memory;
  v.data = std::memcpy(copy, v.data, v.bytes());
  return {};
}

// --- nodes and outputs ---

result<std::span<detail::draft_node>> ort_draft_sink::nodes(scope& in) {
  detail::arena_vector<detail::draft_node>& made = in.made->nodes;
  for (std::size_t i = 0; i < in.nodes.size(); ++i)
    if (!made.reserve(in.nodes.size()) || !made.push_back({})) return status_code::out_of_memory;
  return made.span();
}

status ort_draft_sink::node(scope& in, const ort::table_view& from, detail::draft_node& to) {
  to.name = from.text(ort::node::name);
  to.op_type = from.text(ort::node::op_type);
  to.since = from.number<std::int32_t>(ort::node::since_version);
  return checks_ ? status{} : choose_provider(from, from.text(ort::node::domain), in, to);
}

status ort_draft_sink::end_of_nodes(scope& in) { return checks_ ? (this->*checks_->end_of_nodes)(in) : status{}; }

status ort_draft_sink::output(scope& in, slot s) {
  in.made->values[s].is_output = true;
  return in.made->outputs.push_back(s) ? status_code::ok : status_code::out_of_memory;
}

/// The draft's inputs are the inputs of the file that are not constant. They are the first values.
status ort_draft_sink::end(scope& in) {
  for (slot s = 1; s < in.made->values.size() && in.made->values[s].is_input; ++s)
    if (!in.made->values[s].info.constant && !in.made->inputs.push_back(s)) return status_code::out_of_memory;
  return {};
}

// --- entry point ---

result<draft*> read_ort_draft(std::span<const std::byte> file, std::span<const detail::kernel_table* const> providers,
                              arena& memory, const ort_draft_checks* checks) {
  ort_draft_sink sink{providers, memory, checks};
  if (sink.file_checks) {
    const result<ort::table_view> root = sink.file_checks->verify(file);
    if (!root) return root.error();
    if (status s = (sink.*checks->head)(*root); !s) return s;
  }
  const ort::table_view graph = ort::root_of(file).table(ort::session::model).table(ort::model::graph);
  return ort::walk<ort_draft_sink>::graph(sink, graph, nullptr, {});
}

}  // namespace CAMEO_NAMESPACE
