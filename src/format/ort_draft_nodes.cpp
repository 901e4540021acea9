#include <cameo/kernel/match.hpp>
#include <cameo/kernel/node_check.hpp>

#include "ort_draft_reader.hpp"
#include "ort_resolver.hpp"

namespace cameo::inline CAMEO_ABI {

using ort::wrong;

namespace {

status missing(std::string_view field) { return wrong(status_code::fail, field, " is missing"); }

/// Words for a node: its name, or what it makes, and its operator.
status in_node(status s, const ort::table_view& n) {
  if constexpr (!status::has_words) return s;
  std::string_view name = n.text(ort::node::name);
  const ort::vector_view outputs = n.vector(ort::node::outputs);
  if (name.empty() && outputs.size()) name = outputs.text(0);
  ort::short_text where;
  where << "node '" << name << "' (" << n.text(ort::node::op_type) << ")";
  return std::move(s).in(where);
}

const op_version* version_at(const op_row& op, std::int32_t since) {
  for (const op_version& v : op.versions)
    if (v.since == since) return &v;
  return nullptr;
}

}  // namespace

// --- what the file says of order, which is checked and not used ---

/// Indices are unique, below max_node_index, and not absurd for so few nodes: what ONNX Runtime wants.
status ort_draft_reader::check_indices(const ort::table_view& from, scope& in) {
  const ort::vector_view nodes = from.vector(ort::graph::nodes);
  const auto end = from.number<std::uint32_t>(ort::graph::max_node_index);
  const std::size_t absurd =
      std::max<std::size_t>(1024, 64 * (nodes.size() + from.vector(ort::graph::node_edges).size()));
  const result<std::span<std::uint8_t>> seen = memory_.take<std::uint8_t>(std::min<std::size_t>(end, absurd) / 8 + 1);
  if (!seen) return status_code::out_of_memory;
  in.indices = *seen;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const auto index = nodes.table(i).number<std::uint32_t>(ort::node::index);
    if (index >= end) return wrong(status_code::fail, "Node.index ", index, " is not below Graph.max_node_index ", end);
    if (index >= absurd) return wrong(status_code::fail, "Node.index ", index, " is too large for so few nodes");
    if (in.has(index)) return wrong(status_code::fail, "Node.index ", index, " is there twice");
    in.indices[index / 8] = std::uint8_t(in.indices[index / 8] | 1u << index % 8);
  }
  return {};
}

/// Edges are made from names; those of the file only have to name nodes that are there.
status ort_draft_reader::check_edges(const ort::table_view& from, const scope& in) {
  const auto check = [&](std::string_view field, std::uint32_t index) -> status {
    if (in.has(index)) return {};
    return wrong(status_code::fail, "Graph.node_edges: ", field, ": there is no node ", index);
  };
  const ort::vector_view all = from.vector(ort::graph::node_edges);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (status s = check("NodeEdge.node_index", all.table(i).number<std::uint32_t>(ort::node_edges::node_index)); !s)
      return s;
    for (const auto slot : {ort::node_edges::input_edges, ort::node_edges::output_edges}) {
      const ort::vector_view ends = all.table(i).vector(slot);
      for (std::size_t e = 0; e < ends.size(); ++e)
        if (status s = check("EdgeEnd.node_index", ends.number<std::uint32_t>(e, ort::edge_bytes)); !s) return s;
    }
  }
  return {};
}

// --- nodes ---

status ort_draft_reader::read_nodes(const ort::table_view& from, scope& in) {
  const ort::vector_view nodes = from.vector(ort::graph::nodes);
  if (status s = check_indices(from, in); !s) return s;
  // Every name first: nodes may be in any order.
  const slot first_made = slot(std::max<std::size_t>(in.net.values.size(), 1));
  if (status s = define_outputs(nodes, in); !s) return s;
  const result<std::span<std::uint32_t>> producers = memory_.take<std::uint32_t>(in.net.values.size() + 1);
  const result<std::span<draft_node>> made = memory_.take<draft_node>(nodes.size());
  if (!producers || !made) return status_code::out_of_memory;
  in.producers = *producers;
  for (std::uint32_t& p : in.producers) p = none;
  slot next = first_made;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const ort::vector_view names = nodes.table(i).vector(ort::node::outputs);
    const result<std::span<slot>> outputs = memory_.take<slot>(names.size());
    if (!outputs) return status_code::out_of_memory;
    for (std::size_t o = 0; o < names.size(); ++o)
      if (!names.text(o).empty()) in.producers[next] = std::uint32_t(i), (*outputs)[o] = next++;
    (*made)[i].outputs = *outputs;
  }
  for (std::size_t i = 0; i < nodes.size(); ++i)
    if (status s = read_node(nodes.table(i), in, (*made)[i]); !s) return in_node(std::move(s), nodes.table(i));
  std::span<draft_node> all = *made;
  if (status s = replay_ ? (this->*replay_)(from, in, all) : choose_providers(nodes, in, all); !s) return s;
  return sort_nodes(all, in);
}

status ort_draft_reader::choose_providers(const ort::vector_view& from, const scope& in, std::span<draft_node> nodes) {
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const ort::table_view n = from.table(i);
    if (status s = choose_provider(n, n.text(ort::node::domain), in, nodes[i]); !s) return in_node(std::move(s), n);
  }
  return {};
}

status ort_draft_reader::define_outputs(const ort::vector_view& nodes, scope& in) {
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const ort::table_view n = nodes.table(i);
    if (!n.has(ort::node::outputs)) return in_node(missing("Node.outputs"), n);
    const ort::vector_view names = n.vector(ort::node::outputs);
    for (std::size_t o = 0; o < names.size(); ++o) {
      if (names.text(o).empty()) continue;
      const result<slot> made = define(in, names.text(o), "Node.outputs");
      if (!made) return in_node(made.error(), n);
    }
  }
  return {};
}

status ort_draft_reader::read_node(const ort::table_view& from, scope& in, draft_node& to) {
  to.name = from.text(ort::node::name);
  to.op_type = from.text(ort::node::op_type);
  to.since = from.number<std::int32_t>(ort::node::since_version);
  if (to.op_type.empty()) return missing("Node.op_type");
  if (const auto type = from.number<std::int32_t>(ort::node::type); type != 0)
    return wrong(status_code::fail, "Node.type is ", type, "; only plain nodes (0) can be in a file");
  if (status s = check_names(from, in); !s) return s;
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

/// Names are where the format wants them, and the domain has an opset.
status ort_draft_reader::check_names(const ort::table_view& from, const scope& in) {
  if (!from.has(ort::node::inputs)) return missing("Node.inputs");
  if (!from.has(ort::node::input_arg_counts)) return missing("Node.input_arg_counts");
  if (!from.has(ort::node::implicit_inputs)) return missing("Node.implicit_inputs");
  const ort::vector_view names = from.vector(ort::node::inputs), implicit = from.vector(ort::node::implicit_inputs);
  for (std::size_t i = 0; i < names.size(); ++i)
    if (!names.text(i).empty() && find(in, names.text(i)) == none)
      return wrong(status_code::fail, "Node.inputs: Graph.node_args has no '", names.text(i), "'");
  // What subgraphs read is found in them; the list only has to name what is there.
  for (std::size_t i = 0; i < implicit.size(); ++i) {
    const scope* at = &in;
    while (at && find(*at, implicit.text(i)) == none) at = at->outer;
    if (!at) return wrong(status_code::fail, "Node.implicit_inputs: Graph.node_args has no '", implicit.text(i), "'");
  }
  const std::string_view domain = from.text(ort::node::domain);
  for (std::size_t i = 0; i < opsets_.size(); ++i) {
    const std::string_view each = opsets_.table(i).text(ort::opset::domain);
    if (each == domain ? each != "ai.onnx" : each == "ai.onnx" && domain.empty()) return {};
  }
  return wrong(status_code::invalid_graph, "Node.domain '", domain, "' is not among Model.opset_import");
}

/// How many inputs each parameter takes: none negative, in all as many as there are. Kernels count inputs as they come,
/// so that every parameter but a variadic one takes one, and those that take none are last.
status ort_draft_reader::check_counts(const ort::table_view& from, const op_version* version) {
  const ort::vector_view counts = from.vector(ort::node::input_arg_counts);
  std::int64_t sum = 0;
  bool ended = false, in_order = true;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const auto count = counts.number<std::int32_t>(i);
    if (count < 0) return wrong(status_code::fail, "Node.input_arg_counts has ", count);
    const bool is_variadic = version
                                 ? i < version->inputs.size() && version->inputs[i].option == parameter_option::variadic
                                 : i + 1 == counts.size();
    in_order &= (!ended || count == 0) && (count <= 1 || is_variadic);
    ended |= count == 0;
    sum += count;
  }
  const auto inputs = std::int64_t(from.vector(ort::node::inputs).size());
  if (sum != inputs)
    return wrong(status_code::fail, "Node.input_arg_counts adds up to ", sum, ", Node.inputs has ", inputs);
  if (version && counts.size() != version->inputs.size())
    return wrong(status_code::fail, "Node.input_arg_counts has ", std::int64_t(counts.size()),
                 " entries, the operator ", std::int64_t(version->inputs.size()), " parameters");
  return in_order ? status{} : wrong(status_code::fail, "Node.input_arg_counts does not follow the parameters");
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

// --- who runs it ---

/// match() by the resolver in the file.
result<verdict> ort_draft_reader::match_by_file(const node_signature& node, const kernel_table& kernels,
                                                const op_row& op) {
  constexpr std::size_t most = 4096;
  if (resolver_.size() > most) return wrong(status_code::not_implemented, "the resolver has more than 4096 operators");
  ort::table_view entry;
  for (std::size_t i = 0; i < resolver_.size() && !entry; ++i) {
    const result<ort::op_name> id = ort::parse_op_name(resolver_.table(i).text(ort::op_entry::op_id));
    if (id && id->domain == op.domain && id->op_type == op.name && id->since == node.since) entry = resolver_.table(i);
  }
  if (!entry)
    return wrong(status_code::fail, "kernel_type_str_resolver lacks op id '", op.domain, ":", op.name, ":", node.since,
                 "'");
  const ort::vector_view strings = entry.vector(ort::op_entry::kernel_type_str_args);
  return match(node, kernels, [&](std::string_view type_string, bound_parameters& bound) {
    constexpr std::size_t cut = sizeof(kernel_rule::type_string) - 1;
    for (std::size_t i = 0; i < strings.size(); ++i) {
      const std::string_view each = strings.table(i).text(ort::type_entry::kernel_type_str);
      if (type_string.size() == cut && each.size() > cut ? std::string_view{each.data(), cut} != type_string
                                                         : each != type_string)
        continue;
      const ort::vector_view args = strings.table(i).vector(ort::type_entry::args);
      for (std::size_t a = 0; a < args.size(); ++a) {
        const auto index = args.table(a).number<std::uint32_t>(ort::argument::index);
        const bool is_input = args.table(a).number<std::int8_t>(ort::argument::arg_type) == 0;
        if (is_input && index < 32) bound.inputs |= std::uint32_t{1} << index;
        if (!is_input && index < 16) bound.outputs = std::uint16_t(bound.outputs | 1u << index);
      }
      return true;
    }
    return false;
  });
}

/// The first provider with a kernel for the node. Its operator's version, where one of the lists knows it, is what the
/// node is held against: the types of all values are the file's, and kernels rely on them.
/// `from` is absent for a node that is not in the file.
status ort_draft_reader::choose_provider(const ort::table_view& from, std::string_view domain, const scope& in,
                                         draft_node& to) {
  operands_.clear();
  for (std::span<const slot> slots : {to.inputs, to.outputs})
    for (slot s : slots)
      if (!operands_.push_back(s ? in.net.values[s].info : operand{})) return status_code::out_of_memory;
  const std::span<const operand> all = operands_.span();
  node_signature node{{}, to.since, all.first(to.inputs.size()), all.subspan(to.inputs.size())};
  if (status s = from ? check_counts(from, nullptr) : status{}; !s) return s;
  status why = status_code::not_implemented;
  if constexpr (status::has_words) why = {status_code::not_implemented, "no list of kernels has the operator"};
  for (std::size_t p = 0; p < providers_.size(); ++p) {
    const kernel_table& kernels = *providers_[p];
    const op_row* const op = find_op(kernels.ops, domain, to.op_type);
    if (!op || op->versions.empty()) continue;
    node.op = op->id;
    const op_version* const version = version_at(*op, to.since);
    if (status s = version && from ? check_counts(from, version) : status{}; !s) return s;
    status fits = version ? check_node(*version, node, to.attributes) : check_outputs(op->versions.back(), node);
    if (!fits) return fits;
    const result<verdict> found = version ? result<verdict>{match(node, kernels)} : match_by_file(node, kernels, *op);
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

// --- order ---

/// Appends the nodes so that each comes after those it reads from; otherwise as in the file. INVALID_GRAPH for a cycle.
status ort_draft_reader::sort_nodes(std::span<const draft_node> nodes, scope& in) {
  enum state : std::uint8_t { untouched, open, done };
  struct visit {
    std::uint32_t node, next;  // the next dependency to look at
  };
  const result<std::span<std::uint8_t>> states = memory_.take<std::uint8_t>(nodes.size());
  const result<std::span<visit>> path = memory_.take<visit>(nodes.size());  // a node is on it once
  if (!states || !path || (nodes.size() && !in.net.nodes.reserve(nodes.size()))) return status_code::out_of_memory;
  const auto dependency = [&](const draft_node& n, std::uint32_t i, slot& s) {
    if (i < n.inputs.size()) return s = n.inputs[i], true;
    std::size_t left = i - n.inputs.size();
    for (const draft* sub : n.subgraphs) {
      if (left < sub->captures.size()) return s = sub->captures[left].outer, true;
      left -= sub->captures.size();
    }
    return false;
  };
  for (std::uint32_t first = 0; first < nodes.size(); ++first) {
    if ((*states)[first] != untouched) continue;
    (*states)[first] = open;
    std::size_t depth = 0;
    (*path)[depth++] = {first, 0};
    while (depth) {
      visit& top = (*path)[depth - 1];
      slot s = 0;
      if (!dependency(nodes[top.node], top.next++, s)) {
        (*states)[top.node] = done;
        if (!in.net.nodes.push_back(nodes[top.node])) return status_code::out_of_memory;
        --depth;
        continue;
      }
      const std::uint32_t producer = s && s < in.producers.size() ? in.producers[s] : none;
      if (producer == none || (*states)[producer] == done) continue;
      if ((*states)[producer] == open)
        return wrong(status_code::invalid_graph, "nodes read what they make themselves: '", in.net.values[s].name,
                     "' is part of a cycle");
      (*states)[producer] = open;
      (*path)[depth++] = {producer, 0};
    }
  }
  return {};
}

}  // namespace cameo::inline CAMEO_ABI
