#pragma once
#include <cameo/format/ort.hpp>
#include <cameo/graph/model.hpp>

#include "../graph/messages.hpp"
#include "ort_walk.hpp"

namespace CAMEO_NAMESPACE {

/// Makes graphs of one model from an ORT file: a value's number is its value_id plus 1. One use, one thread; after an
/// error the model may be incomplete.
class ort_graph_sink : public ort::sink_base {
 public:
  ort_graph_sink(model& to, const load_limits& limits, arena& rough)
      : sink_base{to.memory, rough, &ort::all_checks}, model_{to}, limits_{limits} {}
  status read(const ort::table_view& root);

  struct scope : ort::scope {
    scope(const ort::table_view& from, scope* around, arena&)
        : ort::scope{from, around}, depth{around ? around->depth + 1 : 0} {}
    graph* made = nullptr;
    std::size_t depth;
    std::vector<node_id> ids = {};  // of the nodes in the file
  };
  /// A node that is being added to a graph.
  struct node_type {
    std::span<const std::uint32_t> inputs, outputs;
    std::span<const attribute> attributes;
    std::span<graph* const> subgraphs;
  };

  // The sink
  static constexpr bool keeps_documents = true;
  status begin(scope&, std::string_view name);
  result<std::uint32_t> define(scope&, std::string_view name, const ort::table_view& info);
  status input(scope&, std::uint32_t);
  status constant(scope&, std::uint32_t, const value&);
  std::uint32_t passed(scope&, std::string_view name) const;
  result<std::uint32_t> take_in(scope&, std::string_view name, std::uint32_t outside, bool listed);
  result<std::span<node_type>> nodes(scope&);
  status node(scope&, const ort::table_view&, node_type&);
  status place(value&);
  std::size_t most() const;
  status end_of_nodes(scope&) { return {}; }
  status output(scope&, std::uint32_t);
  status end(scope&);

 private:
  void read_model(const ort::file_head&);
  status read_optimizations(scope&);
  result<bool> read_record(const ort::table_view&, const scope&, detail::saved_optimization&);
  template <class T>
  std::span<const T> kept(const std::vector<T>& items) {
    return or_throw(model_.memory.copy(std::span<const T>{items}));
  }

  model& model_;
  const load_limits& limits_;
  std::int64_t version_ = 0;
};
static_assert(ort::sink<ort_graph_sink>);

}  // namespace CAMEO_NAMESPACE
