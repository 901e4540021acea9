#pragma once
#include <cameo/transform/transform.hpp>

#include <algorithm>

namespace CAMEO_NAMESPACE {

/// Calls `work` with surroundings that take a new node only if it also meets the conditions of these tables
/// (transform_table::takes).
template <class Work>
auto with_conditions_of(std::span<const transform_table* const> tables, const rewriter::surroundings& around,
                        const Work& work) {
  const auto takes = [&](const node_view& made) {
    return around.takes(made) && std::ranges::all_of(tables, [&](const transform_table* table) {
             return !table->takes || table->takes(made);
           });
  };
  rewriter::surroundings with_conditions = around;
  with_conditions.takes = takes;
  return work(with_conditions);
}

}  // namespace CAMEO_NAMESPACE
