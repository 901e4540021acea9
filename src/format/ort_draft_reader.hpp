#pragma once
#include <cameo/format/ort_draft.hpp>

#include "ort_constant.hpp"
#include "ort_schema.hpp"

namespace cameo::inline CAMEO_ABI {

/// Turns verified tables into a draft. One use, one thread; half-made after an error.
class ort_draft_reader {
 public:
  struct scope;
  /// Does what the file has saved, then looks for kernels for the nodes that are left. By pointer: only a program that
  /// names it has it.
  using replayer = status (ort_draft_reader::*)(const ort::table_view& graph, scope&, std::span<draft_node>&);

  ort_draft_reader(std::span<const kernel_table* const> providers, arena& memory, replayer replay = nullptr)
      : providers_{providers}, memory_{memory}, replay_{replay} {}
  result<draft*> read(const ort::table_view& root);
  status replay(const ort::table_view& graph, scope&, std::span<draft_node>&);  // ort_draft_replay.cpp

 private:
  static constexpr std::uint32_t none = 0xFFFFFFFF;
  /// A value of an outer scope that only a subgraph's subgraph reads: node_args of the scope between need not have it.
  struct passed {
    std::string_view name;
    slot at;
  };

 public:
  struct scope {
    draft& net;
    scope* outer;
    ort::vector_view args;                // Graph.node_args
    std::span<std::uint32_t> order = {};  // numbers of them, sorted by name
    std::span<slot> slots = {};           // of them; 0: nobody has defined or read it yet
    arena_vector<passed> others;
    std::span<std::uint32_t> producers = {};  // per slot: the number of a node, or none
    std::span<std::uint8_t> indices = {};     // bits: a node has this Node.index

    scope(draft& made, scope* around, ort::vector_view of) : net{made}, outer{around}, args{of}, others{made.memory} {}
    bool has(std::uint32_t index) const { return index / 8 < indices.size() && (indices[index / 8] >> index % 8 & 1); }
  };

 private:
  struct replaying;
  // Values: ort_draft.cpp
  result<draft*> read_graph(const ort::table_view&, scope* outer);
  status read_node_args(const ort::table_view&, scope&);
  status read_inputs(const ort::table_view&, scope&);
  status read_initializers(const ort::table_view&, scope&);
  status add_initializer(scope&, std::string_view name, const result<value>&);
  status read_outputs(const ort::table_view&, scope&);
  std::uint32_t find(const scope&, std::string_view name) const;
  result<slot> define(scope&, std::string_view name, std::string_view what);
  result<slot> resolve(scope&, std::string_view name, std::string_view what);

  // Nodes: ort_draft_nodes.cpp
  status read_nodes(const ort::table_view&, scope&);
  status check_indices(const ort::table_view&, scope&);
  status check_edges(const ort::table_view&, const scope&);
  status define_outputs(const ort::vector_view& nodes, scope&);
  status read_node(const ort::table_view&, scope&, draft_node&);
  status check_names(const ort::table_view&, const scope&);
  status check_counts(const ort::table_view&, const op_version*);
  status read_attributes(const ort::table_view&, scope&, draft_node&);
  status read_attribute(const ort::table_view&, scope&, attribute&, arena_vector<draft*>& subgraphs);
  status choose_providers(const ort::vector_view& nodes, const scope&, std::span<draft_node>);
  status choose_provider(const ort::table_view&, std::string_view domain, const scope&, draft_node&);
  result<verdict> match_by_file(const node_signature&, const kernel_table&, const op_row&);
  status sort_nodes(std::span<const draft_node>, scope&);
  result<const void*> aligned(const ort::vector_view&, std::size_t width);

  std::span<const kernel_table* const> providers_;
  arena& memory_;
  replayer replay_;
  ort::vector_view opsets_, resolver_;
  arena_vector<operand> operands_{memory_};
};

}  // namespace cameo::inline CAMEO_ABI
