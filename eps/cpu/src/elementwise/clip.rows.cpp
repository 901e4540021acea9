#include <cameo/eps/cpu/clip.hpp>
#include <cameo/eps/cpu/detail/narrow_rows.hpp>
#include <cameo/eps/cpu/detail/number_sets.hpp>
#include <cameo/op/attributes/onnx.hpp>

#include <algorithm>
#include <limits>

#include "operands/refuse.hpp"
#include "skeletons/float_values.hpp"

namespace CAMEO_NAMESPACE::eps {
namespace {

template <class T>
void clip_numbers(T low, T high, const T* x, T* y, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) {
    const T raised = x[i] < low ? low : x[i];
    y[i] = raised > high ? high : raised;
  }
}

/// Returns a bound, or the default if it is absent.
template <class T, class C>
C bound_or(const void* bound, C otherwise) {
  return bound ? C(*static_cast<const T*>(bound)) : otherwise;
}

template <class T>
void clip_row(const void* low, const void* high, const void* x, void* y, std::int64_t n) {
  using C = computed_in<T>;
  // The default of a bound is the last finite number of the type, which infinities become.
  constexpr C most = std::is_same_v<T, float16>    ? C(65504)
                     : std::is_same_v<T, bfloat16> ? C(0x1.FEp127)
                                                   : std::numeric_limits<C>::max();
  constexpr C least = std::is_integral_v<T> ? std::numeric_limits<C>::min() : C(-most);
  const C from = bound_or<T, C>(low, least), to = bound_or<T, C>(high, most);
  if constexpr (is_narrow_v<T>) {
    float wide[narrow_block];
    for (std::int64_t done = 0; done < n; done += narrow_block) {
      const std::int64_t m = std::min(narrow_block, n - done);
      widen_row(static_cast<const T*>(x) + done, wide, m);
      clip_numbers(from, to, wide, wide, m);
      narrow_row(wide, static_cast<T*>(y) + done, m);
    }
  } else {
    clip_numbers(from, to, static_cast<const T*>(x), static_cast<T*>(y), n);
  }
}

/// Reads the scalar input i; leaves `bound` unchanged if it is absent.
status read_bound(run_context& c, std::size_t i, const void*& bound) {
  if (!c.has_input(i)) return {};
  const value& v = c.input(i);
  if (!v) return {};
  if (status s = check_count(i == 1 ? "min" : "max", v.shape.count(), 1); !s) return s;
  bound = v.data;
  return {};
}

}  // namespace

result<clip> clip::bind(bind_context& c) {
  clip made;
  const dtype type = c.inputs[0].type;
  made.row =
      number_elements::visit(type, clip::row_function{}, []<class T>(std::type_identity<T>) { return clip_row<T>; });
  made.bytes = detail::row_of(type).bits / 8;
  const attributes_of<op::Clip> a{c.attributes};
  made.has_low = a.min.has_value(), made.low = float_element(type, a.min.value_or(0));
  made.has_high = a.max.has_value(), made.high = float_element(type, a.max.value_or(0));
  c.may_overwrite(0, 0);
  return made;
}

status clip::run(run_context& c) const {
  const value& x = c.input(0);
  const void *from = has_low ? &low : nullptr, *to = has_high ? &high : nullptr;
  if (status read = read_bound(c, 1, from); !read) return read;
  if (status read = read_bound(c, 2, to); !read) return read;
  const result<value*> out = c.output(0, x.shape);
  if (!out) return out.error();
  const auto* const in = static_cast<const std::byte*>(x.data);
  auto* const y = static_cast<std::byte*>((*out)->data);
  parallel_elements(c, x.shape.count(), 1 << 15, [&](std::int64_t first, std::int64_t last) {
    row(from, to, in + first * bytes, y + first * bytes, last - first);
  });
  return {};
}

}  // namespace CAMEO_NAMESPACE::eps
