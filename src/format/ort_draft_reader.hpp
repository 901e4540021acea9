#pragma once
#include <cameo/format/ort_draft.hpp>
#include <cameo/kernel/match.hpp>

#include "core/node_words.hpp"
#include "ort_constant.hpp"
#include "ort_schema.hpp"

namespace cameo::inline CAMEO_ABI {

/// Words for a node: its name, or what it makes, and its operator.
inline status in_node(status s, const ort::table_view& n) {
  if constexpr (!status::has_words) return s;
  const ort::vector_view outputs = n.vector(ort::node::outputs);
  ort::short_text where;
  node_words{n.text(ort::node::name), {}, n.text(ort::node::op_type), outputs.size() ? outputs.text(0) : ""}.say(
      [&](std::string_view part) { where << part; });
  return std::move(s).in(where);
}

/// Turns verified tables into a draft. One use, one thread; half-made after an error.
class ort_draft_reader {
 public:
  ort_draft_reader(std::span<const kernel_table* const> providers, arena& memory, const ort_draft_checks* checks)
      : providers_{providers}, memory_{memory}, checks_{checks} {}
  result<draft*> read(const ort::table_view& root);

  static constexpr std::uint32_t none = 0xFFFFFFFF;
  /// A value of an outer scope that only a subgraph's subgraph reads: node_args of the scope between need not have it.
  struct passed {
    std::string_view name;
    slot at;
  };
  struct scope {
    draft& net;
    scope* outer;
    ort::vector_view args;                // Graph.node_args
    std::span<std::uint32_t> order = {};  // numbers of them, sorted by name
    std::span<slot> slots = {};           // of them; 0: not yet defined or read
    arena_vector<passed> others;
    std::span<std::uint32_t> producers = {};  // per slot: the number of a node, or none
    std::span<std::uint8_t> indices = {};     // bits: a node has this Node.index

    scope(draft& made, scope* around, ort::vector_view of) : net{made}, outer{around}, args{of}, others{made.memory} {}
    bool has(std::uint32_t index) const { return index / 8 < indices.size() && (indices[index / 8] >> index % 8 & 1); }
  };

  // Values: ort_draft.cpp
  result<draft*> read_graph(const ort::table_view&, scope* outer);
  status read_node_args(const ort::table_view&, scope&);
  status read_inputs(const ort::table_view&, scope&);
  status read_initializers(const ort::table_view&, scope&);
  status add_initializer(scope&, std::string_view name, const result<value>&);
  status read_outputs(const ort::table_view&, scope&);
  std::uint32_t find(const scope&, std::string_view name) const;
  std::uint32_t find_unsorted(const scope&, std::string_view name) const;
  result<slot> define(scope&, std::string_view name, std::string_view what);
  result<slot> resolve(scope&, std::string_view name, std::string_view what);

  // Nodes: ort_draft_nodes.cpp
  status read_nodes(const ort::table_view&, scope&);
  status define_outputs(const ort::table_view& node, scope&, draft_node&);
  status read_node(const ort::table_view&, scope&, draft_node&);
  status read_attributes(const ort::table_view&, scope&, draft_node&);
  status read_attribute(const ort::table_view&, scope&, attribute&, arena_vector<draft*>& subgraphs);
  status choose_provider(const ort::table_view&, std::string_view domain, const scope&, draft_node&);
  result<const void*> aligned(const ort::vector_view&, std::size_t width);

  // Checks: ort_draft_checks.cpp
  status check_model(const ort::table_view& root);
  status check_args(const ort::table_view& graph, scope&);
  std::uint32_t find_sorted(const scope&, std::string_view name) const;
  result<std::span<draft_node>> read_in_any_order(const ort::table_view& graph, scope&);
  status choose_providers(const ort::vector_view& nodes, const scope&, std::span<draft_node>);
  status read_unsorted_nodes(const ort::table_view& graph, scope&);
  status check_indices(const ort::table_view& graph, scope&);
  status check_edges(const ort::table_view& graph, const scope&);
  status check_names(const ort::table_view& node, const scope&);
  status check_counts(const ort::table_view& node, const op_version*);
  result<verdict> match_checked(const ort::table_view& node, const draft_node&, const node_signature&,
                                const kernel_table&, const op_row&);
  result<verdict> match_by_file(const node_signature&, const kernel_table&, const op_row&);
  status sort_nodes(std::span<const draft_node>, scope&);

  // What was saved for later: ort_draft_replay.cpp
  struct replaying;
  status replay(const ort::table_view& graph, scope&, std::span<draft_node>&);
  status replay_nodes(const ort::table_view& graph, scope&);
  status check_and_replay_nodes(const ort::table_view& graph, scope&);
  // The checks of a file that is trusted: none.
  status trust_model(const ort::table_view&) { return {}; }
  status trust_args(const ort::table_view&, scope&) { return {}; }
  status trust_edges(const ort::table_view&, const scope&) { return {}; }
  status trust_names(const ort::table_view&, const scope&) { return {}; }
  result<verdict> match_trusted(const ort::table_view&, const draft_node&, const node_signature& node,
                                const kernel_table& kernels, const op_row&) {
    return match(node, kernels);
  }

 private:
  std::span<const kernel_table* const> providers_;
  arena& memory_;
  const ort_draft_checks* checks_;
  ort::vector_view opsets_, resolver_;
  arena_vector<operand> operands_{memory_};
};

/// What is asked of a file that is not trusted, where the reader comes by.
struct ort_draft_checks {
  result<ort::table_view> (*verify)(std::span<const std::byte> file);
  status (ort_draft_reader::*model)(const ort::table_view& root);
  status (ort_draft_reader::*args)(const ort::table_view& graph, ort_draft_reader::scope&);
  std::uint32_t (ort_draft_reader::*find)(const ort_draft_reader::scope&, std::string_view name) const;
  status (ort_draft_reader::*nodes)(const ort::table_view& graph, ort_draft_reader::scope&);
  status (ort_draft_reader::*edges)(const ort::table_view& graph, const ort_draft_reader::scope&);
  status (ort_draft_reader::*names)(const ort::table_view& node, const ort_draft_reader::scope&);
  result<verdict> (ort_draft_reader::*match)(const ort::table_view& node, const draft_node&, const node_signature&,
                                             const kernel_table&, const op_row&);
  result<value> (*sparse)(const ort::table_view& sparse, std::string_view name, arena&);
};

}  // namespace cameo::inline CAMEO_ABI
