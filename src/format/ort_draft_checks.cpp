// Checks of untrusted files, and support for files that cameo did not write.
#include <cameo/kernel/node_check.hpp>

#include "ort_draft_sink.hpp"

namespace CAMEO_NAMESPACE {

using ort::wrong;

namespace {

const op_version* version_at(const op_row& op, std::int32_t since) {
  for (const op_version& v : op.versions)
    if (v.since == since) return &v;
  return nullptr;
}

/// Checks the numbers of arguments. Kernels count inputs in order: every parameter but a variadic one has one, and
/// absent ones are last.
status check_parameters(const ort::table_view& from, const op_version* version) {
  const ort::vector_view counts = from.vector(ort::node::input_arg_counts);
  if (version && counts.size() != version->inputs.size())
    return wrong(status_code::fail, "Node.input_arg_counts has ", std::int64_t(counts.size()),
                 " entries, the operator ", std::int64_t(version->inputs.size()), " parameters");
  bool ended = false, in_order = true;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const auto count = counts.number<std::int32_t>(i);
    const bool is_variadic = version ? version->inputs[i].option == parameter_option::variadic : i + 1 == counts.size();
    in_order &= (!ended || count == 0) && (count <= 1 || is_variadic);
    ended |= count == 0;
  }
  return in_order ? status{} : wrong(status_code::fail, "Node.input_arg_counts does not follow the parameters");
}

}  // namespace

const ort_draft_checks all_ort_draft_checks{&ort::all_checks, &ort_draft_sink::check_head,
                                            &ort_draft_sink::choose_and_sort, &ort_draft_sink::match_checked};

status ort_draft_sink::check_head(const ort::table_view& root) {
  ort::file_head head;
  if (status s = ort::read_head(root, memory, head); !s) return s;
  if (head.version < ort::first_with_resolver)
    return wrong(status_code::fail, "InferenceSession.ort_version is ", head.version,
                 "; without operator schemas 5 is the oldest that can be read: convert the file with all of cameo, "
                 "which writes version 6");
  if (!head.resolver) return ort::missing("InferenceSession.kernel_type_str_resolver");
  resolver_ = head.resolver.vector(ort::resolver::op_kernel_type_str_args);
  opsets = head.opsets;
  return {};
}

status ort_draft_sink::choose_and_sort(scope& in) {
  status s = choose_providers(in);
  return s ? sort_nodes(in.made->nodes.span(), in) : std::move(s);
}

// --- the provider of a node ---

/// Matches a node after checking it against its operator's version, if the list has it: the types of all values come
/// from the file, and kernels rely on them. A node that replaced others has no counts to check.
result<verdict> ort_draft_sink::match_checked(const ort::table_view& from, const detail::draft_node& of,
                                              const detail::node_signature& node, const detail::kernel_table& kernels,
                                              const op_row& op) {
  const op_version* const version = version_at(op, node.since);
  if (status s = from ? check_parameters(from, version) : status{}; !s) return s;
  if (status fits = check_node(version ? *version : op.versions.back(), node, of.attributes); !fits) return fits;
  return version ? result<verdict>{match(node, kernels)} : match_by_file(node, kernels, op);
}

/// match() with the resolver in the file.
result<verdict> ort_draft_sink::match_by_file(const detail::node_signature& node, const detail::kernel_table& kernels,
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
  return match(node, kernels, [&](std::string_view type_string, detail::bound_parameters& bound) {
    constexpr std::size_t cut = sizeof(detail::kernel_rule::type_string) - 1;
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

/// Replaces the draft's nodes by these, in an order in which each follows the nodes that it reads from; otherwise the
/// order is kept. INVALID_GRAPH for a cycle.
status ort_draft_sink::sort_nodes(std::span<const detail::draft_node> from, scope& in) {
  enum state : std::uint8_t { untouched, open, done };
  struct visit {
    std::uint32_t node, next;  // the next dependency to visit
  };
  const result<std::span<detail::draft_node>> copy = memory.copy(from);
  const result<std::span<std::uint8_t>> states = memory.take<std::uint8_t>(from.size());
  const result<std::span<visit>> path = memory.take<visit>(from.size());  // a node is on it at most once
  const result<std::span<std::uint32_t>> producers = memory.take<std::uint32_t>(in.made->values.size() + 1);
  if (!copy || !states || !path || !producers) return status_code::out_of_memory;
  const std::span<const detail::draft_node> nodes = *copy;
  in.made->nodes.clear();
  for (std::uint32_t i = 0; i < nodes.size(); ++i)
    for (slot s : nodes[i].outputs) (*producers)[s] = i + 1;
  const auto dependency = [&](const detail::draft_node& n, std::uint32_t i, slot& s) {
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
        if (!in.made->nodes.push_back(nodes[top.node])) return status_code::out_of_memory;
        --depth;
        continue;
      }
      if (!s || !(*producers)[s]) continue;
      const std::uint32_t producer = (*producers)[s] - 1;
      if ((*states)[producer] == done) continue;
      if ((*states)[producer] == open)
        return wrong(status_code::invalid_graph, "nodes read what they make themselves: '", in.made->values[s].name,
                     "' is part of a cycle");
      (*states)[producer] = open;
      (*path)[depth++] = {producer, 0};
    }
  }
  return {};
}

}  // namespace CAMEO_NAMESPACE
