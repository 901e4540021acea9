#include "infer_list.hpp"
#include "tools.hpp"

#include <cameo/core/checked.hpp>
#include <cameo/op/attributes/onnx.hpp>

#include <cmath>

namespace CAMEO_NAMESPACE::infer {
namespace {

/// The shape that the elements of an input describe, as far as it is known; std::nullopt if not even its rank is known.
result<std::optional<dims>> shape_in_input(const infer_context& c, std::size_t input) {
  if (std::optional<std::vector<std::int64_t>> sizes = c.constant_ints(input)) {
    dims shape;
    for (std::int64_t size : *sizes) {
      if (size < 0) return invalid("input ", input, " has a dim of size ", size, ", must be 0 or more");
      shape.push_back(dim::fixed(size));
    }
    return std::optional<dims>{std::move(shape)};
  }
  if (const dims* elements = elements_at(c, input)) return copy_of(elements);
  const dims* shape = c.shape(input);
  constexpr std::int64_t largest_rank = 64;  // a longer list is not a shape, and would waste memory
  if (shape && shape->size() == 1 && (*shape)[0].known() && (*shape)[0].size <= largest_rank)
    return std::optional<dims>{dims(std::size_t((*shape)[0].size))};
  return std::optional<dims>{};
}

dims elements_of(std::span<const std::int64_t> numbers) {
  dims elements;
  for (std::int64_t n : numbers) elements.push_back(n >= 0 ? dim::fixed(n) : dim{});
  return elements;
}

void give_list(infer_context& c, dtype type, std::size_t count) {
  give(c, 0, type, dims{dim::fixed(std::int64_t(count))});
}

/// A sparse constant has a dense type: nodes that read it take dense tensors.
void give_tensor(infer_context& c, const value& v) {
  const value_type type = value_type::tensor(v.type, elements_of(v.shape.dims()));
  give(c, 0, &type);
  constexpr std::int64_t longest = 1024;
  if (v.kind != value_kind::tensor || v.shape.count() > longest || (v.type != dtype::i64 && v.type != dtype::i32))
    return;
  if (const std::optional<std::vector<std::int64_t>> numbers = integers_of(v))
    give_elements(c, 0, elements_of(*numbers));
}

}  // namespace

status constant(infer_context& c) {
  const attributes_of<op::Constant> a{c.attributes()};
  if (a.value) {
    give_tensor(c, *a.value);
  } else if (a.sparse_value) {
    give_tensor(c, *a.sparse_value);
  } else if (a.value_float) {
    give(c, 0, dtype::f32, dims{});
  } else if (a.value_int) {
    give(c, 0, dtype::i64, dims{});
    give_elements(c, 0, elements_of({&*a.value_int, 1}));
  } else if (a.value_floats.given) {
    give_list(c, dtype::f32, a.value_floats.size());
  } else if (a.value_ints.given) {
    give_list(c, dtype::i64, a.value_ints.size());
    give_elements(c, 0, elements_of(a.value_ints));
  } else if (a.value_strings.given) {
    give_list(c, dtype::string, a.value_strings.size());
  } else if (detail::find_attribute(c.attributes(), "value_string")) {  // which may be empty
    give(c, 0, dtype::string, dims{});
  }
  return status_code::ok;
}

status constant_of_shape(infer_context& c) {
  const attributes_of<op::ConstantOfShape> a{c.attributes()};
  const dtype type = a.value ? a.value->type : dtype::f32;
  result<std::optional<dims>> shape = shape_in_input(c, 0);
  if (!shape) return shape.error();
  if (*shape)
    if (result<dim> count = product(**shape); !count) return count.error();
  return give(c, 0, type, std::move(*shape));
}

namespace {
/// The number of elements in a range: max(ceil((limit - start) / delta), 0).
result<dim> range_count(std::int64_t start, std::int64_t limit, std::int64_t delta) {
  if (delta == 0) return invalid("delta is 0, must not be");
  if (delta > 0 ? start >= limit : start <= limit) return dim::fixed(0);
  const std::uint64_t low = std::uint64_t(delta > 0 ? start : limit), high = std::uint64_t(delta > 0 ? limit : start);
  const std::uint64_t step = delta > 0 ? std::uint64_t(delta) : -std::uint64_t(delta);
  const std::uint64_t count = (high - low - 1) / step + 1;
  if (count > std::uint64_t(INT64_MAX)) return invalid("the range has more elements than 63 bits count");
  return dim::fixed(std::int64_t(count));
}

/// The number of elements in a range of floats, counted in double, which is exact for a number that fits a float.
result<dim> range_count(float start, float limit, float delta) {
  const double count = std::ceil((double{limit} - double{start}) / double{delta});
  if (delta == 0 || std::isnan(count)) return invalid("start, limit or delta is not a number, or delta is 0");
  if (!(count < 9e18)) return invalid("the range has more elements than 63 bits count");
  return dim::fixed(count > 0 ? std::int64_t(count) : 0);
}

/// The element of a list that has exactly one; std::nullopt for any other list, and for an unknown one.
template <class T>
std::optional<T> only_element(const std::optional<std::vector<T>>& list) {
  return list && list->size() == 1 ? std::optional<T>{list->front()} : std::nullopt;
}
}  // namespace

status range(infer_context& c) {
  const std::optional<float> first = only_element(constant_floats(c, 0)), last = only_element(constant_floats(c, 1)),
                             step = only_element(constant_floats(c, 2));
  if (first && last && step) {
    result<dim> count = range_count(*first, *last, *step);
    if (!count) return count.error();
    return give(c, 0, dtype::f32, dims{*count});
  }
  const std::optional<std::int64_t> start = only_element(c.constant_ints(0)), limit = only_element(c.constant_ints(1)),
                                    delta = only_element(c.constant_ints(2));
  dims shape{dim{}};
  if (start && limit && delta) {
    result<dim> count = range_count(*start, *limit, *delta);
    if (!count) return count.error();
    shape[0] = *count;
    if (count->size <= 64) {
      std::vector<std::int64_t> numbers;
      for (std::int64_t i = 0, n = *start; i < count->size; ++i) {
        numbers.push_back(n);
        if (!checked_add(n, *delta, n)) break;  // only after the last element
      }
      if (c.element(0) == dtype::i64 || c.element(0) == dtype::i32) give_elements(c, 0, elements_of(numbers));
    }
  } else if (start == 0 && delta == 1) {  // the limit may be a symbol
    if (const dims* n = elements_at(c, 1); n && n->size() == 1) shape[0] = (*n)[0];
  }
  return give(c, 0, c.element(0), std::move(shape));
}

status eye_like(infer_context& c) {
  result<dtype> type = dtype_of("dtype", attributes_of<op::EyeLike>{c.attributes()}.dtype, c.element(0));
  if (!type) return type.error();
  return give(c, 0, *type, copy_of(c.shape(0)));
}

status random(infer_context& c) {
  const attributes_of<op::RandomNormal> a{c.attributes()};
  result<dtype> type = dtype_of("dtype", a.dtype);
  if (!type) return type.error();
  return give(c, 0, *type, elements_of(a.shape));
}

status random_like(infer_context& c) {
  result<dtype> type = dtype_of("dtype", attributes_of<op::RandomNormalLike>{c.attributes()}.dtype, c.element(0));
  if (!type) return type.error();
  return give(c, 0, *type, copy_of(c.shape(0)));
}

status multinomial(infer_context& c) {
  const attributes_of<op::Multinomial> a{c.attributes()};
  result<dtype> type = dtype_of("dtype", a.dtype);
  if (!type) return type.error();
  std::optional<dims> out;
  if (const dims* in = c.shape(0)) out = dims{(*in)[0], dim::fixed(a.sample_size)};
  return give(c, 0, *type, std::move(out));
}

status window(infer_context& c) {
  result<dtype> type = dtype_of("output_datatype", attributes_of<op::HannWindow>{c.attributes()}.output_datatype);
  if (!type) return type.error();
  const std::optional<std::vector<std::int64_t>> size = c.constant_ints(0);
  const bool known = size && size->size() == 1;
  if (known && (*size)[0] < 0) return invalid("size is ", (*size)[0], ", must be 0 or more");
  return give(c, 0, *type, dims{known ? dim::fixed((*size)[0]) : dim{}});
}

status expand(infer_context& c) {
  result<std::optional<dims>> to = shape_in_input(c, 1);
  if (!to) return to.error();
  std::optional<dims> out;
  if (const dims* in = c.shape(0); in && *to) {
    const dims* both[] = {in, &**to};
    result<dims> joined = infer_broadcast(both);
    if (!joined) return joined.error();
    out = std::move(*joined);
  }
  return give(c, 0, c.element(0), std::move(out));
}

}  // namespace CAMEO_NAMESPACE::infer
