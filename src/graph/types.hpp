#pragma once
#include <cameo/graph/model.hpp>

namespace CAMEO_NAMESPACE {

/// "tensor(float)", without a shape.
std::string type_name(const value_type&);
/// True for types that are equal but for shapes; an unknown type equals every type.
bool same_kind(const value_type&, const value_type&);
/// True for types that are equal, shapes included.
bool same_type(const value_type&, const value_type&);
/// The type of a constant.
value_type type_of(const value&);
/// Replaces symbols by unknown dims, for a type that leaves the function where its symbols are valid.
value_type without_symbols(value_type);

/// Removes shapes, also of the elements of a sequence or an optional, and keeps element types.
value_type without_shapes(value_type);

enum class rank_conflict : bool { tolerated, is_error };
/// Combines two types: known dims win over symbols, symbols over unknown dims, and `inferred` over `declared`.
/// `differ`, if given, becomes true when ranks or known dims contradict each other. INVALID_GRAPH when kinds or element
/// types contradict each other, or ranks if those are errors.
result<value_type> merge_types(const value_type& inferred, const value_type& declared, rank_conflict,
                               bool* differ = nullptr);

/// The types to which the type strings of one node are bound. Inputs are checked first and bind type strings; outputs
/// are then compared with these types.
class type_bindings {
 public:
  /// Checks the type of an argument and binds its type string to it. `what` is "input" or "output", and `argument` the
  /// name of the value; both are for messages.
  status bind(const op_version&, const parameter&, const value_type&, std::string_view what, std::string_view argument);
  /// The type that a parameter must have, without a shape, if its type string is bound or allows only one; otherwise
  /// unknown.
  value_type expected(const op_version&, const parameter&) const;
  void clear() { bound_.clear(); }

 private:
  struct binding {
    std::string_view type_string, parameter;
    const value_type* type;
  };
  const binding* find(std::string_view type_string) const;
  std::vector<binding> bound_;
};

/// The formal parameter of the i-th argument, or null if there are fewer.
inline const parameter* formal(std::span<const parameter> parameters, std::size_t i) {
  if (i < parameters.size()) return &parameters[i];
  return !parameters.empty() && parameters.back().option == parameter_option::variadic ? &parameters.back() : nullptr;
}

/// The version of a resolved constant node (role::is_constant) that allows its attributes: that of its opset, or else
/// the first later one that does; if none does, that of its opset.
const op_version* version_of_constant(const detail::graph_node&);

/// The value of a constant node (role::is_constant), in the model's memory; `none` if its attribute is the caller's
/// (inside a function). Sparse values stay sparse. INVALID_GRAPH unless exactly one attribute has a value.
result<value> constant_of_node(model&, const detail::graph_node&);

/// The value of an attribute of a Constant, whatever its name, in the model's memory. Sparse values stay sparse.
/// INVALID_GRAPH for kinds of attributes that have no value.
result<value> constant_of_attribute(model&, const attribute&);

/// A sparse tensor as a dense one, in the model's memory. INVALID_GRAPH, or OUT_OF_MEMORY above 2 GB or the model's
/// limit. `what` names the tensor in messages.
result<value> dense_form(model&, const value& sparse, std::string_view what);

}  // namespace CAMEO_NAMESPACE
