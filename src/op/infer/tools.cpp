#include "tools.hpp"

#include <cameo/core/checked.hpp>
#include <cameo/core/elements.hpp>

#include <algorithm>
#include <numeric>

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

result<std::size_t> axis_in(std::int64_t axis, std::size_t rank, std::string_view what) {
  const auto size = std::int64_t(rank);
  if (axis >= -size && axis < size) return std::size_t(axis < 0 ? axis + size : axis);
  if (rank == 0) return invalid(what, " is ", axis, ", but the input is a scalar and has no axes");
  return invalid(what, " is ", axis, ", must be from ", -size, " to ", size - 1, " for rank ", rank);
}

std::vector<std::size_t> axes_of(std::size_t rank) {
  std::vector<std::size_t> all(rank);
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

result<std::vector<std::size_t>> axes_in(std::span<const std::int64_t> axes, std::size_t rank, std::string_view what) {
  std::vector<std::size_t> found;
  std::vector<bool> seen(rank);
  for (std::int64_t axis : axes) {
    result<std::size_t> one = axis_in(axis, rank, what);
    if (!one) return one.error();
    if (seen[*one]) return invalid(what, " lists axis ", *one, " twice, must list each once");
    seen[*one] = true;
    found.push_back(*one);
  }
  return found;
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
  for (dim d : all)
    if (d.size == 0) return dim::fixed(0);
  std::int64_t size = 1;
  dim unknown;
  std::size_t unknowns = 0;
  for (dim d : all) {
    if (!d.known()) unknown = d, ++unknowns;
    else if (!checked_multiply(size, d.size, size))
      return invalid("the sizes of ", dims(all.begin(), all.end()), " multiply to more than 64 bits hold");
  }
  if (unknowns == 0) return dim::fixed(size);
  return unknowns == 1 && size == 1 ? unknown : dim{};
}

result<dim> sum(dim a, dim b) {
  if (a.size == 0) return b;
  if (b.size == 0) return a;
  if (!a.known() || !b.known()) return dim{};
  std::int64_t size = 0;
  if (!checked_add(a.size, b.size, size)) return invalid("sizes ", a, " and ", b, " add up to more than 64 bits hold");
  return dim::fixed(size);
}

result<dim> unify(dim a, dim b, std::string_view what) {
  if (a.known() && b.known() && a.size != b.size) return invalid(what, " are ", a, " and ", b, ", must be equal");
  if (a.known()) return a;
  return b.known() || !a.symbol ? b : a;
}

status check_rank(const dims& shape, std::size_t least, std::size_t most, std::string_view what) {
  if (shape.size() >= least && shape.size() <= most) return status_code::ok;
  if (least == most) return invalid(what, " has shape ", shape, " of rank ", shape.size(), ", must have rank ", least);
  if (most == std::size_t(-1))
    return invalid(what, " has shape ", shape, " of rank ", shape.size(), ", must have rank ", least, " or more");
  return invalid(what, " has shape ", shape, " of rank ", shape.size(), ", must have rank ", least, " to ", most);
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
