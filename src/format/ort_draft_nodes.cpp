#include "ort_draft_reader.hpp"

namespace cameo::inline CAMEO_ABI {

using ort::missing;
using ort::wrong;

// --- nodes ---

/// In the file's order: a name that no earlier node makes is unknown.
status ort_draft_reader::read_nodes(const ort::table_view& from, scope& in) {
  const ort::vector_view nodes = from.vector(ort::graph::nodes);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    draft_node made;
    status s = define_outputs(nodes.table(i), in, made);
    if (s) s = read_node(nodes.table(i), in, made);
    if (s) s = choose_provider(nodes.table(i), nodes.table(i).text(ort::node::domain), in, made);
    if (!s) return in_node(std::move(s), nodes.table(i));
    if (!in.net.nodes.push_back(made)) return status_code::out_of_memory;
  }
  return {};
}

status ort_draft_reader::define_outputs(const ort::table_view& from, scope& in, draft_node& to) {
  const ort::vector_view names = from.vector(ort::node::outputs);
  const result<std::span<slot>> outputs = memory_.take<slot>(names.size());
  if (!outputs) return status_code::out_of_memory;
  for (std::size_t o = 0; o < names.size(); ++o) {
    if (names.text(o).empty()) continue;
    const result<slot> made = define(in, names.text(o), "Node.outputs");
    if (!made) return made.error();
    (*outputs)[o] = *made;
  }
  to.outputs = *outputs;
  return {};
}

status ort_draft_reader::read_node(const ort::table_view& from, scope& in, draft_node& to) {
  to.name = from.text(ort::node::name);
  to.op_type = from.text(ort::node::op_type);
  to.since = from.number<std::int32_t>(ort::node::since_version);
  if (checks_)
    if (status s = (this->*checks_->names)(from, in); !s) return s;
  const ort::vector_view names = from.vector(ort::node::inputs);
  const result<std::span<slot>> inputs = memory_.take<slot>(names.size());
  if (!inputs) return status_code::out_of_memory;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names.text(i).empty()) continue;
    const result<slot> found = resolve(in, names.text(i), "Node.inputs");
    if (!found) return found.error();
    (*inputs)[i] = *found;
  }
  to.inputs = *inputs;
  return read_attributes(from, in, to);
}

// --- attributes ---

/// The list in place, or a copy of it where the file has it at an address that it can't be read at.
result<const void*> ort_draft_reader::aligned(const ort::vector_view& from, std::size_t width) {
  const std::span<const std::byte> bytes = from.bytes();
  if (reinterpret_cast<std::uintptr_t>(bytes.data()) % width == 0) return static_cast<const void*>(bytes.data());
  void* const copy = memory_.allocate(from.size() * width, width);
  if (!copy) return status_code::out_of_memory;
  return static_cast<const void*>(std::memcpy(copy, bytes.data(), from.size() * width));
}

/// Of two with one name the last counts.
status ort_draft_reader::read_attributes(const ort::table_view& from, scope& in, draft_node& to) {
  constexpr std::size_t most = 256;
  const ort::vector_view all = from.vector(ort::node::attributes);
  if (all.size() > most) return wrong(status_code::not_implemented, "more than 256 attributes");
  arena_vector<attribute> made{memory_};
  arena_vector<draft*> subgraphs{memory_};
  if (all.size() && !made.reserve(all.size())) return status_code::out_of_memory;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::string_view name = all.table(i).text(ort::attribute::name);
    if (name.empty()) return wrong(status_code::invalid_graph, "Node.attributes: Attribute.name is missing");
    bool is_last = true;
    for (std::size_t j = i + 1; j < all.size() && is_last; ++j)
      is_last = all.table(j).text(ort::attribute::name) != name;
    if (!is_last) continue;
    attribute a;
    a.name = name;
    if (status s = read_attribute(all.table(i), in, a, subgraphs); !s) return std::move(s).in(name);
    if (!made.push_back(a)) return status_code::out_of_memory;
  }
  to.attributes = made.span();
  to.subgraphs = subgraphs.span();
  return {};
}

status ort_draft_reader::read_attribute(const ort::table_view& from, scope& in, attribute& to,
                                        arena_vector<draft*>& subgraphs) {
  namespace field = ort::attribute;
  static constexpr std::uint8_t slots[] = {field::name, field::f,      field::i,    field::s,       field::t,
                                           field::g,    field::floats, field::ints, field::strings, field::tensors};
  const auto type = from.number<std::int32_t>(field::type);
  if (type < 1 || std::size_t(type) >= std::size(slots))
    return wrong(status_code::invalid_graph, "Attribute.type ", type, " can't be in a file, 1 to 9 can");
  to.kind = attribute_kind(type);
  const std::size_t slot = slots[type];
  const ort::vector_view many = from.vector(slot);
  if (type > 2 && !from.has(slot)) return missing("the Attribute's value");
  switch (to.kind) {
    case attribute_kind::f: to.f = from.number<float>(slot); return {};
    case attribute_kind::i: to.i = from.number<std::int64_t>(slot); return {};
    case attribute_kind::s: to.s = from.text(slot); return {};
    case attribute_kind::floats: {
      const result<const void*> made = aligned(many, sizeof(float));
      if (made) to.floats = {static_cast<const float*>(*made), many.size()};
      return made.error();
    }
    case attribute_kind::ints: {
      const result<const void*> made = aligned(many, sizeof(std::int64_t));
      if (made) to.ints = {static_cast<const std::int64_t*>(*made), many.size()};
      return made.error();
    }
    case attribute_kind::strings: {
      const result<std::span<std::string_view>> made = memory_.take<std::string_view>(many.size());
      if (!made) return made.error();
      for (std::size_t i = 0; i < many.size(); ++i) (*made)[i] = many.text(i);
      to.strings = *made;
      return {};
    }
    case attribute_kind::g: {
      to.i = std::int64_t(subgraphs.size());
      const result<draft*> made = read_graph(from.table(slot), &in);
      if (!made) return made.error();
      return subgraphs.push_back(*made) ? status{} : status{status_code::out_of_memory};
    }
    default: break;  // one tensor, or several
  }
  const bool single = to.kind == attribute_kind::t;
  const result<std::span<value>> made = memory_.take<value>(single ? 1 : many.size());
  if (!made) return made.error();
  for (std::size_t i = 0; i < made->size(); ++i) {
    result<value> each = ort::read_constant(single ? from.table(slot) : many.table(i), to.name, memory_);
    if (!each) return each.error();
    if (!is_aligned(*each)) {
      void* const copy = memory_.allocate(each->bytes(), 16);
      if (!copy) return status_code::out_of_memory;
      each->data = std::memcpy(copy, each->data, each->bytes());
    }
    (*made)[i] = *each;
  }
  to.tensors = *made;
  return {};
}

// --- the provider of a node ---

/// The first provider with a kernel for the node, which is of `domain`. `from` is absent for a node that is not in the
/// file.
status ort_draft_reader::choose_provider(const ort::table_view& from, std::string_view domain, const scope& in,
                                         draft_node& to) {
  operands_.clear();
  for (std::span<const slot> slots : {to.inputs, to.outputs})
    for (slot s : slots)
      if (!operands_.push_back(s ? in.net.values[s].info : operand{})) return status_code::out_of_memory;
  const std::span<const operand> all = operands_.span();
  node_signature node{{}, to.since, all.first(to.inputs.size()), all.subspan(to.inputs.size())};
  status why = status_code::not_implemented;
  if constexpr (status::has_words) why = {status_code::not_implemented, "no list of kernels has the operator"};
  for (std::size_t p = 0; p < providers_.size(); ++p) {
    const kernel_table& kernels = *providers_[p];
    const op_row* const op = find_op(kernels.ops, domain, to.op_type);
    if (!op || op->versions.empty()) continue;
    node.op = op->id;
    const result<verdict> found =
        checks_ ? (this->*checks_->match)(from, to, node, kernels, *op) : result<verdict>{match(node, kernels)};
    if (!found) return found.error();
    if (*found && found->row->choosy) {
      arena_vector<output_hint> hints{memory_};
      bind_context context{.op_type = to.op_type,
                           .node_name = to.name,
                           .since = to.since,
                           .attributes = to.attributes,
                           .inputs = node.inputs,
                           .outputs = node.outputs,
                           .subgraph_count = to.subgraphs.size(),
                           .state = memory_,
                           .hints = hints};
      if (!found->row->bind(context, true)) continue;
    }
    if (*found) return to.op = op, to.row = found->row, to.provider = std::uint8_t(p), status{};
    if constexpr (status::has_words) {
      char line[160];
      why = {status_code::not_implemented, explain(*found, line)};
    }
  }
  return why;
}

}  // namespace cameo::inline CAMEO_ABI
