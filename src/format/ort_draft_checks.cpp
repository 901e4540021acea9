// What is asked of a file that is not trusted, and how files are read that cameo has not written.
#include <cameo/kernel/node_check.hpp>

#include "ort_draft_reader.hpp"
#include "ort_resolver.hpp"

namespace cameo::inline CAMEO_ABI {

using ort::missing;
using ort::wrong;

namespace {

const op_version* version_at(const op_row& op, std::int32_t since) {
  for (const op_version& v : op.versions)
    if (v.since == since) return &v;
  return nullptr;
}

}  // namespace

const ort_draft_checks all_ort_draft_checks{ort::verify,
                                            &ort_draft_reader::check_model,
                                            &ort_draft_reader::check_args,
                                            &ort_draft_reader::find_sorted,
                                            &ort_draft_reader::read_unsorted_nodes,
                                            &ort_draft_reader::check_edges,
                                            &ort_draft_reader::check_names,
                                            &ort_draft_reader::match_checked,
                                            ort::read_sparse_constant};

status ort_draft_reader::check_model(const ort::table_view& root) {
  const result<std::int64_t> version = ort::version_of(root);
  if (!version) return version.error();
  if (*version < ort::first_with_resolver)
    return wrong(status_code::fail, "InferenceSession.ort_version is ", *version,
                 "; without operator schemas 5 is the oldest that can be read: convert the file with all of cameo, "
                 "which writes version 6");
  const ort::table_view resolver = root.table(ort::session::kernel_type_str_resolver);
  if (!resolver) return missing("InferenceSession.kernel_type_str_resolver");
  if (status s = ort::check_resolver(resolver, memory_); !s) return s;
  resolver_ = resolver.vector(ort::resolver::op_kernel_type_str_args);
  const ort::table_view model = root.table(ort::session::model);
  if (!model) return missing("InferenceSession.model");
  if (!model.has(ort::model::opset_import)) return missing("Model.opset_import");
  opsets_ = model.vector(ort::model::opset_import);
  for (std::size_t i = 0; i < opsets_.size(); ++i)
    if (!opsets_.table(i).has(ort::opset::domain)) return missing("OperatorSetId.domain");
  return model.table(ort::model::graph) ? status{} : missing("Model.graph");
}

// --- names ---

status ort_draft_reader::check_args(const ort::table_view& from, scope& in) {
  const auto count = [&](ort::graph::slot slot) { return from.vector(slot).size(); };
  if (!in.args && count(ort::graph::nodes) + count(ort::graph::inputs) + count(ort::graph::outputs) != 0)
    return missing("Graph.node_args");
  for (std::size_t i = 0; i < in.args.size(); ++i) {
    const ort::table_view info = in.args.table(i);
    if (!info.has(ort::value_info::name)) return missing("ValueInfo.name");
    if (!info.text(ort::value_info::name).empty() && !info.has(ort::value_info::type))
      return missing("ValueInfo.type").in(info.text(ort::value_info::name));
  }
  const result<std::span<std::uint32_t>> order = ort::sorted_by_text(in.args, ort::value_info::name, memory_);
  if (!order) return status_code::out_of_memory;
  in.order = *order;
  for (std::size_t i = 1; i < in.order.size(); ++i) {
    const std::string_view name = in.args.table(in.order[i]).text(ort::value_info::name);
    if (name == in.args.table(in.order[i - 1]).text(ort::value_info::name))
      return wrong(status_code::fail, "Graph.node_args: '", name, "' is there twice");
  }
  return {};
}

/// find() by the order that check_args made.
std::uint32_t ort_draft_reader::find_sorted(const scope& in, std::string_view name) const {
  const auto name_of = [&](std::uint32_t i) { return in.args.table(i).text(ort::value_info::name); };
  std::size_t first = 0, last = in.order.size();
  while (first < last) {
    const std::size_t middle = first + (last - first) / 2;
    name_of(in.order[middle]) < name ? first = middle + 1 : last = middle;
  }
  return first < in.order.size() && name_of(in.order[first]) == name ? in.order[first] : none;
}

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
        if (status s = check("EdgeEnd.node_index", ends.number<std::uint32_t>(e, ort::edge_end_bytes)); !s) return s;
    }
  }
  return {};
}

// --- nodes ---

/// Collects the names that nodes make first. No provider is chosen yet.
result<std::span<draft_node>> ort_draft_reader::read_in_any_order(const ort::table_view& from, scope& in) {
  const ort::vector_view nodes = from.vector(ort::graph::nodes);
  const result<std::span<draft_node>> made = memory_.take<draft_node>(nodes.size());
  if (!made) return status_code::out_of_memory;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const ort::table_view n = nodes.table(i);
    status s = n.has(ort::node::outputs) ? define_outputs(n, in, (*made)[i]) : missing("Node.outputs");
    if (!s) return in_node(std::move(s), n);
  }
  const result<std::span<std::uint32_t>> producers = memory_.take<std::uint32_t>(in.net.values.size() + 1);
  if (!producers) return status_code::out_of_memory;
  in.producers = *producers;
  for (std::uint32_t& p : in.producers) p = none;
  for (std::size_t i = 0; i < nodes.size(); ++i)
    for (slot s : (*made)[i].outputs)
      if (s) in.producers[s] = std::uint32_t(i);
  for (std::size_t i = 0; i < nodes.size(); ++i)
    if (status s = read_node(nodes.table(i), in, (*made)[i]); !s) return in_node(std::move(s), nodes.table(i));
  return *made;
}

status ort_draft_reader::choose_providers(const ort::vector_view& from, const scope& in, std::span<draft_node> nodes) {
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const ort::table_view n = from.table(i);
    if (status s = choose_provider(n, n.text(ort::node::domain), in, nodes[i]); !s) return in_node(std::move(s), n);
  }
  return {};
}

status ort_draft_reader::read_unsorted_nodes(const ort::table_view& from, scope& in) {
  if (status s = check_indices(from, in); !s) return s;
  const result<std::span<draft_node>> made = read_in_any_order(from, in);
  if (!made) return made.error();
  if (status s = choose_providers(from.vector(ort::graph::nodes), in, *made); !s) return s;
  return sort_nodes(*made, in);
}

/// Names are where the format wants them, and the domain has an opset.
status ort_draft_reader::check_names(const ort::table_view& from, const scope& in) {
  if (from.text(ort::node::op_type).empty()) return missing("Node.op_type");
  if (const auto type = from.number<std::int32_t>(ort::node::type); type != 0)
    return wrong(status_code::fail, "Node.type is ", type, "; only plain nodes (0) can be in a file");
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
    if (each == domain ? each != "ai.onnx" : each == "ai.onnx" && domain.empty()) return check_counts(from, nullptr);
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

// --- the provider of a node ---

/// The operator's version, where the list knows it, is what the node is held against: the types of all values are the
/// file's, and kernels rely on them. A node that is not in the file has no counts to check.
result<verdict> ort_draft_reader::match_checked(const ort::table_view& from, const draft_node& of,
                                                const node_signature& node, const kernel_table& kernels,
                                                const op_row& op) {
  const op_version* const version = version_at(op, node.since);
  if (status s = version && from ? check_counts(from, version) : status{}; !s) return s;
  status fits = version ? check_node(*version, node, of.attributes) : check_outputs(op.versions.back(), node);
  if (!fits) return fits;
  return version ? result<verdict>{match(node, kernels)} : match_by_file(node, kernels, op);
}

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
