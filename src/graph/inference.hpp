#pragma once
#include <cameo/graph/check.hpp>

#include <unordered_map>

#include "types.hpp"

CAMEO_BEGIN_NAMESPACE

/// Infers types in a graph and those below it, and holds every node's types against its operator's while at it.
class inference {
 public:
  /// With `ops` it is the first inference of a model, by check_model. It warns where the file declares other shapes,
  /// and looks into calls of functions: their bodies are copied to a scratch graph and inferred there.
  explicit inference(model& of, const op_table* ops = nullptr) : model_{of}, ops_{ops} {}

  /// `elements` gets what is known of the graph's small integer tensors.
  status run(graph& g, known_elements* elements = nullptr);
  /// One node whose inputs have their types.
  status run(graph& g, node_id n);

 private:
  class node_context;
  friend class node_context;

  /// What is known of one graph beyond the types of its values.
  struct scope {
    graph& of;
    scope* outer;
    known_elements elements = {};
  };

  status run(scope&);
  bool begin(scope&);
  void forget(graph&);
  void drop_types(graph&);
  status infer_node(scope&, node_id);
  status infer_bodies(scope&, node_id, const std::vector<bool>& done);
  status infer_call(scope&, node_id);
  status set_constant(graph&, node_id);
  static bool is_wanted_dense(const graph&, value_id);
  status set_output(graph&, value_id, const value_type& inferred);
  void note_contradiction(const detail::graph_value&, const value_type& inferred);
  void name_dims(value_type&, const detail::graph_value& of) const;
  result<std::vector<const value_type*>> run_body(scope&, node_id, std::size_t index,
                                                  std::span<const value_type* const> inputs);
  const std::vector<dim>* elements_of(scope&, value_id);

  model& model_;
  const op_table* ops_;
  /// The types that values had before the first inference of a graph: a body is inferred again when its node
  /// passes less certain types than before, and must not keep the former ones.
  std::unordered_map<const graph*, std::vector<const value_type*>> before_;
  /// How many more nodes may be inferred again: bodies in bodies, each inferred twice, would take forever.
  std::size_t again_left_ = 200'000;
  /// How many more nodes of functions may be copied only to look at their types.
  std::size_t scratch_left_ = 20'000;
  static constexpr std::size_t deepest_call = 64;
  std::size_t call_depth_ = 0;
};

CAMEO_END_NAMESPACE
