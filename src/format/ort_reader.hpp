#pragma once
#include <cameo/format/ort.hpp>
#include <cameo/graph/name_index.hpp>

#include "../graph/messages.hpp"
#include "ort_schema.hpp"
#include "ort_view.hpp"

#include <map>

namespace cameo::inline CAMEO_ABI {

/// Reads tensors of a verified file into values. Large ones stay where they lie, the rest is copied into `memory`.
struct ort_tensors {
  arena& memory;
  std::size_t budget;  // of `memory`, bytes

  /// `what` identifies one without a name in messages.
  result<value> read(const ort::table_view& tensor, std::string_view what);
  /// The dense form of a sparse tensor.
  result<value> read_sparse(const ort::table_view& sparse, std::string_view what);

 private:
  result<value> read_strings(const ort::table_view&, value made, std::size_t count);
  result<value> place(value made, std::span<const std::byte>);
  status scatter(const value& values, const value& indices, value& dense, std::string_view name);
};

inline status missing_field(std::string_view field) { return failed(status_code::fail, "{} is missing", field); }
/// An element type of the file; `undefined` for 0. INVALID_ARGUMENT for a number that is no type.
result<dtype> ort_element_type(std::int32_t number);
/// A static type. FAIL where a part of it is missing.
result<value_type> read_ort_type(const ort::table_view& type_info, model&);

/// Turns verified tables into graphs of one model. One use, one thread; the model may be half-made after an error.
class ort_reader {
 public:
  ort_reader(model& to, const load_limits& limits)
      : model_{to}, limits_{limits}, tensors_{to.memory, limits.model_bytes} {}
  status read(const ort::table_view& root);

 private:
  struct scope {
    graph& g;
    const scope* outer;
    ort::vector_view args;                        // Graph.node_args
    name_index by_name = {};                      // of them
    std::map<std::uint32_t, node_id> nodes = {};  // by their index in the file
    std::uint32_t end_of_indices = 0;
  };

  status read_model(const ort::table_view&);
  status read_opsets(const ort::table_view& model);
  status read_metadata(const ort::table_view& model);
  status read_graph(const ort::table_view&, graph& to, const scope* outer, std::size_t depth);
  status read_node_args(const ort::table_view&, scope&);
  status read_inputs(const ort::table_view&, scope&);
  status read_outputs(const ort::table_view&, scope&);
  status read_initializers(const ort::table_view&, scope&);
  status add_initializer(scope&, std::string_view name, const value&);
  status read_nodes(const ort::table_view&, scope&, std::size_t depth);
  result<std::vector<ort::table_view>> nodes_in_order(const ort::table_view&, scope&);
  status read_node(const ort::table_view&, scope&, std::span<const value_id> outputs, std::size_t depth);
  status read_values_of_node(const ort::table_view&, scope&, std::vector<value_id>& inputs);
  status check_argument_counts(const ort::table_view&);
  status check_edges(const ort::table_view&, const scope&);
  status read_attributes(const ort::table_view&, scope&, std::size_t depth, std::vector<attribute>&,
                         std::vector<graph*>& subgraphs);
  status read_attribute(const ort::table_view&, scope&, std::size_t depth, attribute&, std::vector<graph*>& subgraphs);
  status read_optimizations(const ort::table_view&, scope&);
  status read_all_optimizations(const ort::table_view&, scope&);
  status read_record(const ort::table_view&, const scope&, saved_optimization&, bool& is_whole);

  /// The type of a name of this scope; false if node_args does not have it.
  bool type_of(const scope&, std::string_view name, ort::table_view& info) const;
  result<value_id> define(scope&, std::string_view name, std::string_view what);
  template <class T>
  std::span<const T> kept(const std::vector<T>& items) {
    return or_throw(model_.memory.copy(std::span<const T>{items}));
  }

  model& model_;
  const load_limits& limits_;
  ort_tensors tensors_;
  std::int64_t version_ = 0;
  bool has_blocked_layout_ = false;
};

}  // namespace cameo::inline CAMEO_ABI
