#pragma once
#include <cameo/format/ort_draft.hpp>
#include <cameo/kernel/match.hpp>

#include "ort_walk.hpp"

namespace CAMEO_NAMESPACE {

/// Makes a draft from an ORT file: the numbers of values are slots. One use, one thread; incomplete after an error.
class ort_draft_sink : public ort::sink_base {
 public:
  ort_draft_sink(std::span<const detail::kernel_table* const> providers, arena& memory, const ort_draft_checks* checks);

  /// A value of an outer scope that only a nested subgraph reads: node_args of the scopes between need not list it.
  struct passed_value {
    std::string_view name;
    slot at;
  };
  struct scope : ort::scope {
    scope(const ort::table_view& from, scope* around, arena& memory) : ort::scope{from, around}, others{memory} {}
    draft* made = nullptr;
    detail::arena_vector<passed_value> others;
  };

  // The functions of a sink: ort_draft.cpp
  using node_type = detail::draft_node;
  static constexpr bool keeps_documents = false;
  status begin(scope&, std::string_view name);
  result<slot> define(scope&, std::string_view name, const ort::table_view& info);
  status input(scope&, slot);
  status constant(scope&, slot, const value&);
  slot passed(scope&, std::string_view name) const;
  result<slot> take_in(scope&, std::string_view name, slot outside, bool listed);
  result<std::span<detail::draft_node>> nodes(scope&);
  status node(scope&, const ort::table_view&, detail::draft_node&);
  status place(value&);
  static constexpr std::size_t most() { return std::size_t(-1); }
  status end_of_nodes(scope&);
  status output(scope&, slot);
  status end(scope&);

  // Kernels: ort_draft_kernels.cpp
  status choose_provider(const ort::table_view& node, std::string_view domain, const scope&, detail::draft_node&);
  status choose_providers(const scope&);

  // Checks: ort_draft_checks.cpp
  status check_head(const ort::table_view& root);
  status choose_and_sort(scope&);
  result<verdict> match_checked(const ort::table_view& node, const detail::draft_node&, const detail::node_signature&,
                                const detail::kernel_table&, const op_row&);
  result<verdict> match_by_file(const detail::node_signature&, const detail::kernel_table&, const op_row&);
  status sort_nodes(std::span<const detail::draft_node>, scope&);

  // Saved optimizations: ort_draft_replay.cpp
  struct replaying;
  status replay_and_sort(scope&);

 private:
  std::span<const detail::kernel_table* const> providers_;
  const ort_draft_checks* checks_;
  ort::vector_view resolver_;
  detail::arena_vector<operand> operands_{memory};
};

static_assert(ort::sink<ort_draft_sink>);

/// The checks of an untrusted file that the sink calls. Null: none.
struct ort_draft_checks {
  const ort::checks* of_tables;
  status (ort_draft_sink::*head)(const ort::table_view& root);
  status (ort_draft_sink::*end_of_nodes)(ort_draft_sink::scope&);
  result<verdict> (ort_draft_sink::*match)(const ort::table_view& node, const detail::draft_node&,
                                           const detail::node_signature&, const detail::kernel_table&, const op_row&);
};

inline ort_draft_sink::ort_draft_sink(std::span<const detail::kernel_table* const> providers, arena& where,
                                      const ort_draft_checks* checks)
    : sink_base{where, where, checks ? checks->of_tables : nullptr}, providers_{providers}, checks_{checks} {}

}  // namespace CAMEO_NAMESPACE
