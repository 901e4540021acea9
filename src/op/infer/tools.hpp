#pragma once
#include <cameo/geometry/axes.hpp>
#include <cameo/op/attributes/read_attribute.hpp>
#include <cameo/op/infer.hpp>

namespace CAMEO_NAMESPACE::infer {

using dims = std::vector<dim>;
using shape_view = geometry::shape_view<dim>;
using output_shape = geometry::output_shape<dim>;

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

/// A shape that may be unknown (null), as contracts take it.
inline shape_view view_of(const dims* shape) { return shape ? shape_view{*shape} : shape_view{}; }
/// The shape of an input; unknown also if it has more axes than any tensor of a run: the node may never run.
inline shape_view shape_of(const infer_context& c, std::size_t input) {
  const dims* const shape = c.shape(input);
  return view_of(shape && shape->size() <= max_rank ? shape : nullptr);
}
std::optional<dims> copy_of(const dims* shape);
std::optional<dims> copy_of(shape_view);

/// The error of a contract. It is none if only a rank is larger than that of any tensor of a run.
inline status refused(const status& s) { return s.code() == status_code::not_implemented ? status{} : s; }
/// The shape of an output that a contract computed.
template <class Made>
shape_view output_of(const Made& made) {
  if constexpr (requires { made.view(); }) return made.view();
  else if constexpr (requires { made.y.view(); }) return made.y.view();
  else if constexpr (requires { made.out.view(); }) return made.out.view();
  else return made;
}
/// Sets an output to the shape that a contract computed, or returns why it refused the inputs.
template <class Made>
status give(infer_context& c, std::size_t output, dtype type, const result<Made>& made) {
  if (status s = refused(made.error()); !s) return s;
  return give(c, output, type, made ? copy_of(output_of(*made)) : std::nullopt);
}

/// The elements of an input as far as they are known; null if not, or if there is no such input.
inline const dims* elements_at(const infer_context& c, std::size_t input) {
  return input < c.input_count() ? c.elements(input) : nullptr;
}
/// The element of an input that has exactly one, as far as it is known.
inline dim only_element(const infer_context& c, std::size_t input) {
  const dims* const elements = elements_at(c, input);
  return elements && elements->size() == 1 ? elements->front() : dim{};
}
/// The number in a constant input that has exactly one.
std::optional<std::int64_t> constant_int(const infer_context&, std::size_t input);
/// The shape that the elements of an input describe, as far as they are known; unknown if not even its rank is known.
output_shape shape_in_elements(const infer_context&, std::size_t input);

/// Integers that are an attribute in some versions of an operator and an input in others.
struct int_list {
  enum { absent, unknown, known } state = absent;
  std::vector<std::int64_t> values = {};

  operator geometry::number_list() const {
    if (state == known) return values;
    return state == unknown ? geometry::number_list::unknown() : geometry::number_list{};
  }
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
/// Returns the better known of two dims that must be equal; INVALID_GRAPH if they differ.
result<dim> unify(dim, dim, std::string_view what);
/// Checks that the rank is from `least` to `most`. A shape that is unknown (null) is not an error.
status check_rank(const dims* shape, std::size_t least, std::size_t most, std::string_view what);

/// The type of a value that may have either type. Dims that differ become unknown, and so does the type if only one of
/// both is an optional. INVALID_GRAPH when kinds or element types differ otherwise.
result<value_type> merge(const value_type&, const value_type&);

/// The dtype whose ONNX number the attribute `name` has; INVALID_GRAPH for any other number.
result<dtype> dtype_of(std::string_view name, std::int64_t number);
inline result<dtype> dtype_of(std::string_view name, std::optional<std::int64_t> number, dtype otherwise) {
  return number ? dtype_of(name, *number) : otherwise;
}

}  // namespace CAMEO_NAMESPACE::infer
