#pragma once
#include <cameo/core/refuse.hpp>
#include <cameo/op/attributes/read_attribute.hpp>
#include <cameo/op/infer.hpp>

namespace CAMEO_NAMESPACE::infer {

using dims = std::vector<dim>;

/// Returns INVALID_GRAPH, with the concatenated parts as its message.
template <class... Parts>
status invalid(const Parts&... parts) {
  return detail::refuse(status_code::invalid_graph, parts...);
}

/// Sets an output, if the node has it and the element type is known. Returns OK, as the functions below do, so that a
/// rule can end with it.
status_code give(infer_context&, std::size_t output, dtype, std::optional<dims> shape = {});
status_code give(infer_context&, std::size_t output, const value_type*);
/// Sets an output to the type of an input, if the node has both.
status_code give_type_of(infer_context&, std::size_t output, std::size_t input);
/// Sets what is known of an output's elements. Long lists are dropped: they are not shapes, and lists that double from
/// node to node would use up the memory.
status_code give_elements(infer_context&, std::size_t output, dims elements);

std::optional<dims> copy_of(const dims* shape);

/// The index of an axis, which may count from the end. `what` is its name in the error.
result<std::size_t> axis_in(std::int64_t axis, std::size_t rank, std::string_view what = "attribute axis");
/// The indices of several axes, which must all differ.
result<std::vector<std::size_t>> axes_in(std::span<const std::int64_t> axes, std::size_t rank,
                                         std::string_view what = "axes");
/// All axes, in order.
std::vector<std::size_t> axes_of(std::size_t rank);

/// The elements of an input as far as they are known; null if not, or if there is no such input.
inline const dims* elements_at(const infer_context& c, std::size_t input) {
  return input < c.input_count() ? c.elements(input) : nullptr;
}

/// Integers that are an attribute in some versions of an operator and an input in others.
struct int_list {
  enum { absent, unknown, known } state = absent;
  std::vector<std::int64_t> values = {};
};
int_list ints_of(const attribute_list<std::int64_t>&);
/// The integers of an input, also those computed from shapes. An input of unknown type counts as unknown, not as
/// absent.
int_list ints_of_input(const infer_context&, std::size_t input);
/// The integers of the attribute if the node has it, else those of the input.
inline int_list ints_of(const attribute_list<std::int64_t>& a, const infer_context& c, std::size_t input) {
  return a.given ? ints_of(a) : ints_of_input(c, input);
}

/// The numbers of an integer tensor of rank 0 or 1; std::nullopt for any other value.
std::optional<std::vector<std::int64_t>> integers_of(const value&);
/// The floats of a constant input of rank 0 or 1; std::nullopt for any other input.
std::optional<std::vector<float>> constant_floats(const infer_context&, std::size_t input);

result<dim> product(std::span<const dim>);
result<dim> sum(dim, dim);
/// Returns the better known of two dims that must be equal; INVALID_GRAPH if they differ.
result<dim> unify(dim, dim, std::string_view what);
/// Checks that the rank is from `least` to `most`.
status check_rank(const dims& shape, std::size_t least, std::size_t most, std::string_view what);
inline status check_rank(const dims& shape, std::size_t rank, std::string_view what) {
  return check_rank(shape, rank, rank, what);
}
/// Checks the rank of a shape that may be unknown (null), which is not an error.
inline status check_rank(const dims* shape, std::size_t least, std::size_t most, std::string_view what) {
  return shape ? check_rank(*shape, least, most, what) : status{};
}
inline status check_rank(const dims* shape, std::size_t rank, std::string_view what) {
  return check_rank(shape, rank, rank, what);
}

/// The type of a value that may have either type. Dims that differ become unknown, and so does the type if only one of
/// both is an optional. INVALID_GRAPH when kinds or element types differ otherwise.
result<value_type> merge(const value_type&, const value_type&);

/// The dtype whose ONNX number the attribute `name` has; INVALID_GRAPH for any other number.
result<dtype> dtype_of(std::string_view name, std::int64_t number);
inline result<dtype> dtype_of(std::string_view name, std::optional<std::int64_t> number, dtype otherwise) {
  return number ? dtype_of(name, *number) : otherwise;
}

}  // namespace CAMEO_NAMESPACE::infer
