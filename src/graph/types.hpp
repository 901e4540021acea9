#pragma once
#include <cameo/graph/model.hpp>

CAMEO_BEGIN_NAMESPACE

/// "tensor(float)", without a shape.
std::string type_name(const value_type&);
/// Equal but for shapes; an unknown type equals every type.
bool same_kind(const value_type&, const value_type&);
/// Equal, shapes included.
bool same_type(const value_type&, const value_type&);
/// The type of a constant.
value_type type_of(const value&);
/// Replaces symbols by unknown dims, for a type that leaves the function that its symbols belong to.
value_type without_symbols(value_type);

/// Drops shapes, also of what a sequence or an optional holds, and keeps element types.
value_type without_shapes(value_type);

enum class rank_conflict : bool { tolerated, is_error };
/// Combines both types: known dims come before symbols, symbols before unknown dims, and `inferred` before `declared`.
/// `differ`, if given, becomes true when ranks or known dims contradict each other. INVALID_GRAPH when kinds or element
/// types do, or ranks if those matter; the message says which.
result<value_type> merge_types(const value_type& inferred, const value_type& declared, rank_conflict,
                               bool* differ = nullptr);

/// The types that a node's type strings are bound to, taken from its inputs and then compared with its outputs.
class type_bindings {
 public:
  /// Checks the type of an actual parameter and remembers it for its type string. `what` is "input" or "output".
  status bind(const op_version&, const parameter&, const value_type&, std::string_view what);
  /// What a parameter must be, if its type string is bound or allows one type only: with no shape. Else unknown.
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

/// The formal parameter of the i-th actual one, or null if there are fewer.
inline const parameter* formal(std::span<const parameter> parameters, std::size_t i) {
  if (i < parameters.size()) return &parameters[i];
  return !parameters.empty() && parameters.back().option == parameter_option::variadic ? &parameters.back() : nullptr;
}

/// The version of a resolved node with role::is_constant that allows what it holds: that of its opset, or the first
/// after it that does; if none does, that of its opset.
const op_version* version_of_constant(const detail::graph_node&);

/// The value of a node with role::is_constant, in the model's memory; none if its attribute is the
/// caller's (inside a function). Sparse ones become dense. INVALID_GRAPH unless exactly one attribute holds a value.
result<value> constant_of_node(model&, const detail::graph_node&);

/// The value that an attribute of a Constant holds, whatever its name, in the model's memory. Sparse ones become dense.
/// INVALID_GRAPH if it is of a kind that holds none.
result<value> constant_of_attribute(model&, const attribute&);

/// The dense form of a sparse tensor, in the model's memory. INVALID_GRAPH and OUT_OF_MEMORY (over 2 GB, or past what
/// the model may take) say `what` it is.
result<value> dense_form(model&, const value& sparse, std::string_view what);

CAMEO_END_NAMESPACE
