#include <cameo/geometry/repeat.hpp>
#include <cameo/op/attributes/onnx.hpp>

#include "infer_list.hpp"
#include "tools.hpp"

#include <cmath>

namespace CAMEO_NAMESPACE::infer {
namespace {

/// The shape in an input, as far as it is known. A constant is refused if it is none.
result<output_shape> shape_in_input(const infer_context& c, std::size_t input) {
  const std::optional<std::vector<std::int64_t>> constant = c.constant_ints(input);
  if (!constant) return shape_in_elements(c, input);
  const auto sizes = geometry::sizes_in<dim>(*constant, "the shape");
  if (!sizes) return sizes.error();
  return output_shape{*sizes};
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
  const result<output_shape> shape = shape_in_input(c, 0);
  if (shape && shape->is_known)
    if (status s = product(*shape).error(); !s) return s;
  return give(c, 0, type, shape);
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

/// The float in a constant input that has exactly one.
std::optional<float> constant_float(const infer_context& c, std::size_t input) {
  const std::optional<std::vector<float>> list = constant_floats(c, input);
  return list && list->size() == 1 ? std::optional{list->front()} : std::nullopt;
}
}  // namespace

status range(infer_context& c) {
  const std::optional<float> first = constant_float(c, 0), last = constant_float(c, 1), step = constant_float(c, 2);
  if (first && last && step) {
    result<dim> count = range_count(*first, *last, *step);
    if (!count) return count.error();
    return give(c, 0, dtype::f32, dims{*count});
  }
  const std::optional<std::int64_t> start = constant_int(c, 0), limit = constant_int(c, 1), delta = constant_int(c, 2);
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
    shape[0] = only_element(c, 1);
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
  const std::optional<std::int64_t> size = constant_int(c, 0);
  if (size && *size < 0) return invalid("size is ", *size, ", must be 0 or more");
  return give(c, 0, *type, dims{size ? dim::fixed(*size) : dim{}});
}

status expand(infer_context& c) {
  const result<output_shape> to = shape_in_input(c, 1);
  if (!to) return give(c, 0, c.element(0), to);
  return give(c, 0, c.element(0), geometry::expand_of(shape_of(c, 0), to->view()));
}

}  // namespace CAMEO_NAMESPACE::infer
