#pragma once
#include <cameo/core/callback.hpp>
#include <cameo/graph/model.hpp>

#include "../graph/messages.hpp"
#include "ort_builder.hpp"

#include <deque>
#include <functional>

namespace CAMEO_NAMESPACE {

/// Writes a checked model into the tables of an ORT file. One use, one thread; the model outlives the result.
class ort_writer {
 public:
  /// `report`, if not empty, receives messages about content that ONNX Runtime refuses.
  ort_writer(const model& from, detail::callback<void(std::string_view)> report)
      : model_{from}, report_{std::move(report)} {}

  result<wire_pieces> write();

 private:
  using ref = ort_builder::slot_ref;

  /// One graph that is being written.
  struct scope {
    const graph& g;
    std::vector<node_id> nodes = {};          // the nodes that are written, by their new number
    std::vector<std::uint32_t> numbers = {};  // by node_id
    std::vector<value_id> constants = {};     // initializers, and values of Constant nodes
    bool has_absent = false;                  // among inputs or outputs
    std::uint32_t number_of(node_id n) const { return n == node_id::none ? ort::no_node : numbers[index_of(n)]; }
  };

  // Model
  status write_model(ref);
  status write_name(ref, std::string_view what, std::string_view name);
  // Graphs
  status write_graph(ref, const graph&);
  status collect(scope&);
  status write_constants(ref dense, ref sparse, const scope&);
  status write_node_args(ref, const scope&);
  status write_type(ref, const value_type&, const detail::graph_value& of);
  status write_tensor_type(ref, const value_type&, const detail::graph_value& of);
  void write_edges(ref, const scope&);
  bool keeps_optimizations(const scope&) const;
  void write_optimizations(ref, const scope&);
  // Nodes
  status write_node(ref, const scope&, node_id);
  status write_attributes(ref, const detail::graph_node&);
  status write_attribute(ref, const attribute&, const detail::graph_node&);
  std::vector<std::int32_t> argument_counts(const scope&, node_id) const;
  // Tensors
  status write_tensor(ref, const value&, std::string_view name);
  status write_sparse(ref, const value&, std::string_view name);
  // Resolver
  void need(std::string id, const op_version& version) { ops_.try_emplace(std::move(id), &version); }
  void write_resolver(ref);

  const model& model_;
  detail::callback<void(std::string_view)> report_;
  ort_builder builder_;
  std::map<std::string, const op_version*, std::less<>> ops_;  // by op id, sorted by bytes
  std::deque<std::vector<std::byte>> made_;                    // indices of sparse tensors
  std::deque<value_type> types_;                               // of values; texts are borrowed until the file is
                                                               // complete
  std::deque<std::vector<std::string>> denotations_;           // of dims; texts are borrowed until the file is complete
};

/// An error about content that the format cannot represent.
template <class... Args>
status not_in_ort(fmt::format_string<Args...> format, Args&&... args) {
  return failed(status_code::invalid_argument, format, std::forward<Args>(args)...);
}

}  // namespace CAMEO_NAMESPACE
