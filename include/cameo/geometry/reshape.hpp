#pragma once
#include <cameo/geometry/axes.hpp>

#include <optional>

namespace CAMEO_NAMESPACE::geometry {

/// The shape that Reshape gives to `x`, whose rank may be unknown. In `target`, 0 copies the size of the input's axis,
/// unless allowzero is set; one -1 is the size that is left over. As in ONNX Runtime, a run refuses -1 beside a size of
/// 0, also where equal sizes of both shapes would determine it.
template <size_kind D>
constexpr result<sizes<D>> reshape_of(shape_view<D> x, std::span<const std::int64_t> target, bool allow_zero);
/// The shape that Reshape gives to `x` where elements of `target` are unknown. A symbol is a size; it is neither -1 nor
/// 0.
constexpr result<sizes<dim>> reshape_of_unknown(shape_view<dim> x, std::span<const dim> target, bool allow_zero);

/// The shape that Flatten gives to `x`, whose rank may be unknown: the product of the axes before `axis`, and that of
/// the others. `axis` may be the rank.
template <size_kind D>
constexpr result<sizes<D>> flatten_of(shape_view<D> x, std::int64_t axis);

/// The shape of `x` without the axes named, whose sizes must be 1; if `axes` is absent, without all axes of size 1. An
/// axis may be named twice. The rank is unknown if that of x or `axes` is, or if `axes` is absent and a size is
/// unknown.
template <size_kind D>
constexpr result<output_shape<D>> squeeze_of(shape_view<D> x, number_list axes);
/// The shape of `x` with additional axes of size 1, which `axes` names as axes of the output. The rank is unknown if
/// that of x or `axes` is.
template <size_kind D>
constexpr result<output_shape<D>> unsqueeze_of(shape_view<D> x, number_list axes);

namespace detail {
/// Removes from both lists the sizes that are certainly equal.
template <size_kind D>
constexpr void cancel(sizes<D>& a, sizes<D>& b) {
  for (std::size_t i = a.rank(); i-- > 0;)
    for (std::size_t j = b.rank(); j-- > 0;)
      if (are_same(a[i], b[j])) {
        a.erase(i), b.erase(j);
        break;
      }
}
/// Removes from a list the sizes that are known, and sets `product` to theirs. Returns false when it overflows.
template <size_kind D>
[[nodiscard]] constexpr bool take_known(sizes<D>& list, std::int64_t& product) {
  sizes<D> unknown;
  bool fits = true;
  product = 1;
  for (const D& size : list)
    if (!is_known(size)) unknown.push_back(size);
    else fits = fits && checked_multiply(product, number_of(size), product);
  list = unknown;
  return fits;
}
template <size_kind D>
constexpr status too_many_elements(std::string_view name, std::span<const D> shape) {
  return wrong<D>(name, " has shape ", shape, ", more elements than 64 bits count");
}

/// Does what fit_elements() does for sizes that are numbers above 0 and fit, as most do. False if they are others.
template <size_kind D>
constexpr bool fit_numbers(shape_view<D> x, sizes<D>& out, std::optional<std::size_t> left_over) {
  if (left_over) out[*left_over] = fixed<D>(1);
  D all{}, rest{};
  bool fits = checked_product<D>(x.sizes, all) && checked_product<D>(out, rest) && is_known(all) && is_known(rest) &&
              number_of(rest) > 0 && number_of(all) % number_of(rest) == 0;
  if (left_over) out[*left_over] = fits ? fixed<D>(number_of(all) / number_of(rest)) : D{};
  else fits = fits && number_of(all) == number_of(rest);
  return fits;
}

/// Sets the size at `left_over` of a reshape's output so that it has as many elements as x; or, if there is no such
/// axis, checks that it has. `target` is for errors.
template <size_kind D>
constexpr status fit_elements(shape_view<D> x, std::span<const std::int64_t> target, sizes<D>& out,
                              std::optional<std::size_t> left_over) {
  if (fit_numbers(x, out, left_over)) return {};
  sizes<D> from{x}, to = out;
  bool is_empty = false;
  if (left_over) to.erase(*left_over);
  for (const D& size : to) is_empty = is_empty || equals(size, 0);
  // Equal sizes of both shapes cancel, so that a size of 0 that is copied does not make -1 ambiguous. Without -1, an
  // empty output fits any empty input, so its sizes must not cancel.
  if (left_over || !is_empty) cancel(from, to);
  D all{}, rest{};
  if (!checked_product<D>(from, all)) return too_many_elements<D>("the input", x.sizes);
  if (!checked_product<D>(to, rest)) return too_many_elements<D>("the output", out);
  if (!is_known(rest)) return {};
  if (!left_over) {
    if (differ(all, rest))
      return wrong<D>("the input has shape ", x.sizes, ", must have as many elements as shape ", target);
    return {};
  }
  if constexpr (std::same_as<D, std::int64_t>)
    if (is_empty) return wrong<D>("shape has -1 beside a size of 0, so that -1 could be any size");
  const std::int64_t divisor = number_of(rest);  // not 0: sizes of 0 beside -1 are copied, so they have canceled
  if (is_known(all)) {
    if (number_of(all) % divisor != 0)
      return wrong<D>("the input has shape ", x.sizes, ", must have a multiple of ", divisor,
                      " elements for that of shape ", target);
    out[*left_over] = fixed<D>(number_of(all) / divisor);
    return {};
  }
  // From [batch,3,4] to [-1,12], the known sizes of both cancel.
  const sizes<D> whole = from;
  std::int64_t known = 1;
  if (!take_known(from, known)) return too_many_elements<D>("the input", x.sizes);
  if (known != divisor) from = whole;
  if ((known == divisor || divisor == 1) && from.rank() == 1) out[*left_over] = from[0];
  return {};
}
}  // namespace detail

template <size_kind D>
constexpr result<sizes<D>> reshape_of(shape_view<D> x, std::span<const std::int64_t> target, bool allow_zero) {
  if (status s = check_rank<D>(x.rank(), "the input"); !s) return s;
  if (status s = check_rank<D>(target.size()); !s) return s;
  sizes<D> out;
  std::optional<std::size_t> left_over;
  bool has_zero = false;
  for (std::size_t i = 0; i < target.size(); ++i) {
    if (target[i] == -1) {
      if (left_over) return wrong<D>("shape has -1 at ", *left_over, " and ", i, ", must have it once");
      left_over = i;
      out.push_back(D{});
    } else if (target[i] < 0) {
      return wrong<D>("shape has ", target[i], " at ", i, ", must be -1 or more");
    } else if (target[i] == 0 && !allow_zero) {
      if (x && i >= x.rank())
        return wrong<D>("shape has 0 at ", i, ", the size of an axis that the input of shape ", x.sizes,
                        " does not have");
      out.push_back(x ? x[i] : D{});
    } else {
      has_zero = has_zero || target[i] == 0;
      out.push_back(fixed<D>(target[i]));
    }
  }
  if (has_zero && left_over) return wrong<D>("shape has 0 and -1 while allowzero is 1, must not have both");
  if (x)
    if (status s = detail::fit_elements(x, target, out, left_over); !s) return s;
  // As everywhere, the sizes above 0 of a shape without elements must fit, too.
  if constexpr (std::same_as<D, std::int64_t>)
    if (std::int64_t count = 0; !extents{out}.checked_count(count))
      return detail::too_many_elements<D>("the output", out);
  return out;
}

constexpr result<sizes<dim>> reshape_of_unknown(shape_view<dim> x, std::span<const dim> target, bool allow_zero) {
  if (status s = check_rank<dim>(target.size()); !s) return s;
  sizes<dim> out{shape_view<dim>{target}};
  for (std::size_t i = 0; i < target.size(); ++i)
    if (target[i].size == 0 && !allow_zero) out[i] = x && i < x.rank() ? x[i] : dim{};
  return out;
}

template <size_kind D>
constexpr result<sizes<D>> flatten_of(shape_view<D> x, std::int64_t axis) {
  if (!x) return sizes<D>{D{}, D{}};
  const result<std::size_t> cut = cut_of<D>(axis, x.rank());
  if (!cut) return cut.error();
  D rows{}, columns{};
  if (!checked_product<D>(x.sizes.first(*cut), rows) || !checked_product<D>(x.sizes.subspan(*cut), columns))
    return detail::too_many_elements<D>("the input", x.sizes);
  return sizes<D>{rows, columns};
}

template <size_kind D>
constexpr result<output_shape<D>> squeeze_of(shape_view<D> x, number_list axes) {
  if (!x || (axes.is_given && !axes.is_known)) return output_shape<D>{};
  if (status s = check_rank<D>(x.rank(), "the input"); !s) return s;
  const result<axis_list> gone = axes_of<D>(axes.numbers, x.rank(), "axes", true);
  if (!gone) return gone.error();
  sizes<D> out;
  for (std::size_t i = 0; i < x.rank(); ++i) {
    if (!axes.is_given && !is_known(x[i])) return output_shape<D>{};
    if (!(axes.is_given ? gone->has(i) : equals(x[i], 1))) out.push_back(x[i]);
    else if (is_known(x[i]) && number_of(x[i]) != 1)
      return wrong<D>("the input has ", x[i], " elements along axis ", i, ", must have 1 to be squeezed");
  }
  return output_shape<D>{out};
}

template <size_kind D>
constexpr result<output_shape<D>> unsqueeze_of(shape_view<D> x, number_list axes) {
  if (!x || !axes.is_known) return output_shape<D>{};
  const std::size_t rank = x.rank() + axes.numbers.size();
  if (status s = check_rank<D>(rank); !s) return s;
  const result<axis_list> added = axes_of<D>(axes.numbers, rank);
  if (!added) return added.error();
  sizes<D> out;
  for (std::size_t i = 0, next = 0; i < rank; ++i) out.push_back(added->has(i) ? fixed<D>(1) : x[next++]);
  return output_shape<D>{out};
}

// Compiled in geometry/reshape.cpp, once for loading and once for running.
extern template result<sizes<dim>> reshape_of(shape_view<dim>, std::span<const std::int64_t>, bool);
extern template result<sizes<std::int64_t>> reshape_of(shape_view<std::int64_t>, std::span<const std::int64_t>, bool);
extern template result<sizes<dim>> flatten_of(shape_view<dim>, std::int64_t);
extern template result<sizes<std::int64_t>> flatten_of(shape_view<std::int64_t>, std::int64_t);
extern template result<output_shape<dim>> squeeze_of(shape_view<dim>, number_list);
extern template result<output_shape<std::int64_t>> squeeze_of(shape_view<std::int64_t>, number_list);
extern template result<output_shape<dim>> unsqueeze_of(shape_view<dim>, number_list);
extern template result<output_shape<std::int64_t>> unsqueeze_of(shape_view<std::int64_t>, number_list);

}  // namespace CAMEO_NAMESPACE::geometry
