#pragma once
#include <cameo/graph/check.hpp>

#include <unordered_map>

#include "types.hpp"

namespace CAMEO_NAMESPACE {

/// Infers types in a graph and its subgraphs, and checks every node's types against its operator's.
class inference {
 public:
  /// `ops` is given for the first inference of a model, by check_model(). That inference warns where the file declares
  /// other shapes, and infers calls of functions by copying their bodies to a scratch graph.
  explicit inference(model& m, const op_table* ops = nullptr) : model_{m}, ops_{ops} {}

  /// Infers a graph. `elements` receives what is known of its small integer tensors.
  status run(graph& g, known_elements* elements = nullptr);
  /// Infers one node whose inputs have types.
  status run(graph& g, node_id n);

 private:
  class node_context;
  friend class node_context;

  /// One graph, with what is known of it beyond the types of its values.
  struct scope {
    graph& g;
    scope* outer;
    known_elements elements = {};
  };

  status run(scope&);
  bool begin(scope&);
  void forget(graph&);
  void drop_types(graph&);
  status infer_node(scope&, node_id);
  status set_outputs(graph&, node_id, type_bindings&, node_context&);
  status infer_bodies(scope&, node_id, const std::vector<bool>& done);
  status infer_call(scope&, node_id);
  status set_constant(graph&, node_id);
  bool is_wanted_dense(const graph&, value_id) const;
  status make_dense_if_wanted(graph&, value_id, std::string_view what);
  status set_output(graph&, value_id, const value_type& inferred);
  void note_contradiction(const detail::graph_value&, const value_type& inferred);
  void name_dims(value_type&, const detail::graph_value& of) const;
  result<std::vector<const value_type*>> run_body(scope&, node_id, std::size_t index,
                                                  std::span<const value_type* const> inputs);
  const std::vector<dim>* elements_of(scope&, value_id);

  model& model_;
  const op_table* ops_;
  /// The types of values before the first inference of a graph. A body is inferred again when its node passes less
  /// certain types than before, and must not keep the types of the earlier inference.
  std::unordered_map<const graph*, std::vector<const value_type*>> original_types_;
  /// How many more nodes may be inferred again. Nested bodies, each inferred twice, would take exponential time.
  std::size_t again_left_ = 200'000;
  /// How many more nodes of functions may be copied only to infer their types.
  std::size_t scratch_left_ = 20'000;
  static constexpr std::size_t deepest_call = 64;
  std::size_t call_depth_ = 0;
};

}  // namespace CAMEO_NAMESPACE
