#include "tools.hpp"

#include <cameo/core/elements.hpp>

#include <algorithm>

namespace CAMEO_NAMESPACE::infer {

status_code give(infer_context& c, std::size_t output, dtype type, std::optional<dims> shape) {
  if (output >= c.output_count() || type == dtype::undefined) return status_code::ok;
  value_type made = value_type::tensor(type);
  made.shape = std::move(shape);
  c.set_output(output, std::move(made));
  return status_code::ok;
}

status_code give(infer_context& c, std::size_t output, const value_type* type) {
  if (output < c.output_count() && type && type->kind != type_kind::unknown) c.set_output(output, *type);
  return status_code::ok;
}

status_code give_type_of(infer_context& c, std::size_t output, std::size_t input) {
  return give(c, output, c.has_input(input) ? c.input(input) : nullptr);
}

status_code give_elements(infer_context& c, std::size_t output, dims elements) {
  constexpr std::size_t longest = 1024;
  if (output < c.output_count() && elements.size() <= longest) c.set_elements(output, std::move(elements));
  return status_code::ok;
}

std::optional<dims> copy_of(const dims* shape) { return shape ? std::optional<dims>{*shape} : std::nullopt; }

std::optional<dims> copy_of(shape_view shape) {
  return shape ? std::optional{dims(shape.sizes.begin(), shape.sizes.end())} : std::nullopt;
}

std::optional<std::int64_t> constant_int(const infer_context& c, std::size_t input) {
  const std::optional<std::vector<std::int64_t>> numbers = c.constant_ints(input);
  return numbers && numbers->size() == 1 ? std::optional{numbers->front()} : std::nullopt;
}

output_shape shape_in_elements(const infer_context& c, std::size_t input) {
  const dims* const elements = elements_at(c, input);
  if (elements) return elements->size() <= max_rank ? output_shape{view_of(elements)} : output_shape{};
  const shape_view list = shape_of(c, input);
  if (list.rank() != 1 || !list[0].known() || list[0].size > std::int64_t(max_rank)) return {};
  return output_shape{geometry::sizes<dim>(std::size_t(list[0].size), dim{})};
}

int_list ints_of(const attribute_list<std::int64_t>& a) {
  return {a.given ? int_list::known : int_list::absent, {a.begin(), a.end()}};
}

int_list ints_of_input(const infer_context& c, std::size_t input) {
  if (input >= c.input_count()) return {};
  if (std::optional<std::vector<std::int64_t>> constant = c.constant_ints(input))
    return {int_list::known, std::move(*constant)};
  int_list list{int_list::unknown};
  const dims* elements = c.elements(input);
  if (!elements || !std::ranges::all_of(*elements, &dim::known)) return list;
  list.state = int_list::known;
  for (dim d : *elements) list.values.push_back(d.size);
  return list;
}

std::optional<std::vector<std::int64_t>> integers_of(const value& v) {
  if (v.kind != value_kind::tensor || v.memory != 0 || v.shape.rank() > 1) return {};
  using found = std::optional<std::vector<std::int64_t>>;
  return detail::integer_elements::visit(v.type, found{}, [&]<class T>(std::type_identity<T>) -> found {
    if constexpr (std::same_as<T, std::uint64_t>) return {};
    else return detail::all_at<T>(v);
  });
}

std::optional<std::vector<float>> constant_floats(const infer_context& c, std::size_t input) {
  const value* constant = input < c.input_count() ? c.constant(input) : nullptr;
  if (!constant || constant->kind != value_kind::tensor || constant->type != dtype::f32 || constant->memory != 0 ||
      constant->shape.rank() > 1)
    return {};
  std::vector<float> numbers(std::size_t(constant->shape.count()));
  if (!numbers.empty()) std::memcpy(numbers.data(), constant->data, numbers.size() * sizeof(float));
  return numbers;
}

result<dim> product(std::span<const dim> all) {
  dim made;
  if (geometry::checked_product(all, made)) return made;
  return invalid("the sizes of ", all, " multiply to more than 64 bits hold");
}

result<dim> unify(dim a, dim b, std::string_view what) {
  if (geometry::differ(a, b)) return invalid(what, " are ", a, " and ", b, ", must be equal");
  return geometry::unified(a, b);
}

status check_rank(const dims* shape, std::size_t least, std::size_t most, std::string_view what) {
  if (!shape || (shape->size() >= least && shape->size() <= most)) return status_code::ok;
  if (least != most && most != std::size_t(-1))
    return invalid(what, " has shape ", *shape, " of rank ", shape->size(), ", must have rank ", least, " to ", most);
  return invalid(what, " has shape ", *shape, " of rank ", shape->size(), ", must have rank ", least,
                 least == most ? "" : " or more");
}

result<value_type> merge(const value_type& a, const value_type& b) {
  if (a.kind == type_kind::unknown || b.kind == type_kind::unknown) return value_type{};
  if (a.kind != b.kind && (a.kind == type_kind::optional || b.kind == type_kind::optional)) return value_type{};
  if (a.kind != b.kind || a.type != b.type)
    return invalid("types ", a.to_string(), " and ", b.to_string(), " differ, must be the same");
  value_type merged{a.kind, a.type, {}, {}, a.denotation};
  if (a.shape && b.shape && a.shape->size() == b.shape->size()) {
    merged.shape = *a.shape;
    for (std::size_t i = 0; i < a.shape->size(); ++i)
      if (!(*a.shape)[i].same((*b.shape)[i])) (*merged.shape)[i] = dim{};
  }
  if (a.element && b.element) {
    result<value_type> of = merge(*a.element, *b.element);
    if (!of) return of.error();
    merged.element = std::make_shared<const value_type>(std::move(*of));
  }
  return merged;
}

result<dtype> dtype_of(std::string_view name, std::int64_t number) {
  if (number >= 0 && number < std::int64_t(dtype::count)) return dtype(number);
  return invalid("attribute ", name, " is ", number, ", must be the number of an element type, 1 to ",
                 std::int64_t(dtype::count) - 1);
}

}  // namespace CAMEO_NAMESPACE::infer
