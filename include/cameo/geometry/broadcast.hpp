#pragma once
#include <cameo/geometry/axes.hpp>

namespace CAMEO_NAMESPACE::geometry {

/// The common shape of inputs by ONNX's multidirectional broadcasting, which grows with each input. An input of unknown
/// rank makes it unknown. It starts as a scalar, which broadcasts to any shape.
template <size_kind D>
struct basic_common_shape : output_shape<D> {
  constexpr basic_common_shape() : output_shape<D>{sizes<D>{}} {}
  /// Starts as the shape of the first input, whose rank is max_rank or less.
  constexpr explicit basic_common_shape(shape_view<D> first) : output_shape<D>{first} {}
  /// Adds an input. The error is one of wrong(), with its name and both shapes.
  constexpr status add(shape_view<D> input, operand_name name);
};
/// A common shape whose sizes are known.
using common_shape = basic_common_shape<std::int64_t>;

/// The common shape of inputs, whose names are "input 0" and so on. The error is one of wrong().
template <size_kind D>
constexpr result<output_shape<D>> broadcast_of(std::span<const shape_view<D>> inputs);
/// The common shape of two inputs. The error is one of wrong(), with the name of the second.
template <size_kind D>
constexpr result<output_shape<D>> broadcast_of(shape_view<D> first, shape_view<D> second, operand_name name);

/// Checks that an input broadcasts to a shape without changing it (unidirectional broadcasting), as far as both are
/// known. The error is one of wrong().
template <size_kind D>
constexpr status check_broadcast(shape_view<D> from, shape_view<D> to, operand_name name);

/// The distance in elements of `from`, a dense tensor that broadcasts to `to`, between neighbors along each axis of
/// `to`: 0 where `from` repeats.
constexpr extents repeating_strides(const extents& from, const extents& to) {
  const extents own = row_major_strides(from);
  extents strides;
  strides.resize(to.rank(), 0);
  for (std::size_t i = 1; i <= from.rank() && i <= to.rank(); ++i)
    if (from[from.rank() - i] != 1) strides[to.rank() - i] = own[from.rank() - i];
  return strides;
}

/// How the second input of an operator broadcasts before version 7.
enum class alignment : std::uint8_t {
  none,        // both have the same shape
  by_axis,     // its axes are those of the first from the attribute axis on; from -1 on, the last ones
  to_channel,  // PRelu: a vector that is as long as axis 1 belongs to this axis; else it broadcasts to the first
};
/// The shape of the second input with axes of size 1 after its own, so that unidirectional broadcasting gives the
/// result of the alignment. As models of PyTorch rely on it, axes of size 1 broadcast, too, and one element fits any
/// shape. The error is one of wrong().
template <size_kind D>
constexpr result<sizes<D>> aligned(shape_view<D> first, shape_view<D> second, alignment how, std::int64_t axis,
                                   operand_name name);

namespace detail {
/// The size of an axis that two inputs broadcast to: a number wins over a symbol, and anything over 1. Returns false if
/// both are known, differ, and neither is 1.
template <size_kind D>
constexpr bool broadcast_size(D a, D b, D& size) {
  if (equals(a, 1) || are_same(a, b)) return size = b, true;
  if (equals(b, 1)) return size = a, true;
  size = is_known(a) ? a : is_known(b) ? b : D{};
  return !differ(a, b);
}
/// Makes `joined`, a list of sizes or extents, the common shape of both, of at most max_rank axes each. Returns false,
/// and changes nothing, if they have none.
template <size_kind D, class Joined>
constexpr bool join_shape(shape_view<D> input, Joined& joined) {
  const std::size_t own = joined.rank(), rank = input.rank() < own ? own : input.rank();
  const auto size_at = [&](std::size_t i, D& size) {  // axis i from the end, from 1 on
    if (i > input.rank()) return size = joined[own - i], true;
    if (i > own) return size = input[input.rank() - i], true;
    return broadcast_size<D>(joined[own - i], input[input.rank() - i], size);
  };
  D size{};
  for (std::size_t i = 1; i <= rank; ++i)
    if (!size_at(i, size)) return false;
  joined.resize(rank);
  for (std::size_t i = 1; i <= rank; ++i)
    size_at(i, size), joined[rank - i] = size;  // no axis is moved before it is read
  return true;
}
/// Makes `joined` the common shape of it and an input.
template <size_kind D>
constexpr status add_input(output_shape<D>& joined, shape_view<D> input, operand_name name) {
  if (!input) return joined.is_known = false, status{};
  if (input.rank() > max_rank)
    return wrong_rank<D>(name.text, name.number(), " has rank ", input.rank(), ", must have rank ", max_rank,
                         " or less");
  if (join_shape<D>(input, joined)) return {};
  return wrong<D>(name.text, name.number(), " has shape ", input.sizes, ", must broadcast with ",
                  shape_view<D>{joined}.sizes);
}
template <size_kind D>
constexpr bool fits_without_change(shape_view<D> from, shape_view<D> to) {
  if (from.rank() > to.rank()) return false;
  for (std::size_t i = 1; i <= from.rank(); ++i)
    if (!equals(from[from.rank() - i], 1) && differ(from[from.rank() - i], to[to.rank() - i])) return false;
  return true;
}
}  // namespace detail

template <size_kind D>
constexpr status basic_common_shape<D>::add(shape_view<D> input, operand_name name) {
  return detail::add_input(*this, input, name);
}

template <size_kind D>
constexpr result<output_shape<D>> broadcast_of(std::span<const shape_view<D>> inputs) {
  return {std::in_place, [&](output_shape<D>& made) -> status {
            made.is_known = true;
            for (std::size_t i = 0; i < inputs.size(); ++i)
              if (status s = detail::add_input<D>(made, inputs[i], i); !s) return s;
            return {};
          }};
}

template <size_kind D>
constexpr result<output_shape<D>> broadcast_of(shape_view<D> first, shape_view<D> second, operand_name name) {
  return {std::in_place, [&](output_shape<D>& made) -> status {
            made.is_known = true;
            if (status s = detail::add_input<D>(made, first, "the first input"); !s) return s;
            return detail::add_input<D>(made, second, name);
          }};
}

template <size_kind D>
constexpr status check_broadcast(shape_view<D> from, shape_view<D> to, operand_name name) {
  if (!from || !to || detail::fits_without_change(from, to)) return {};
  return wrong<D>(name.text, name.number(), " has shape ", from.sizes, ", must broadcast to ", to.sizes);
}

template <size_kind D>
constexpr result<sizes<D>> aligned(shape_view<D> first, shape_view<D> second, alignment how, std::int64_t axis,
                                   operand_name name) {
  if (status s = check_rank<D>(second.rank(), name.text); !s) return s;
  sizes<D> fitted(second);
  if (!first || !second) return fitted;
  if (how == alignment::none) {
    if (status s = check_same(second, first, name); !s) return s;
    return fitted;
  }
  const std::size_t rank = first.rank();
  if (how == alignment::to_channel) {
    if (fitted.rank() == 1 && rank > 2 && !differ(fitted[0], first[1]) && (is_known(fitted[0]) || is_known(first[1])))
      fitted.resize(rank - 1);
    if (status s = check_broadcast<D>(fitted, first, name); !s) return s;
    return fitted;
  }
  bool may_be_one = true, is_one = true;
  for (const D size : second.sizes) {
    is_one = is_one && equals(size, 1);
    may_be_one = may_be_one && (!is_known(size) || equals(size, 1));
  }
  if (is_one) return sizes<D>{};
  const auto spare = std::int64_t(rank) - std::int64_t(second.rank());
  const std::int64_t from = axis < 0 ? spare : axis;
  if (spare >= 0 && from <= spare) {
    fitted.resize(rank - std::size_t(from));
    if (detail::fits_without_change<D>(fitted, first)) return fitted;
  }
  if (may_be_one) return sizes<D>(second);
  if (spare < 0 || from > spare)
    return wrong<D>(name.text, name.number(), " has shape ", second.sizes, ", must be one element or axes of ",
                    first.sizes, axis < 0 ? "" : " from the attribute axis on");
  return wrong<D>(name.text, name.number(), " has shape ", second.sizes, ", must broadcast to axes of ", first.sizes,
                  " from axis ", from, " on");
}

// Compiled in geometry/broadcast.cpp, once for loading and once for running.
extern template struct basic_common_shape<dim>;
extern template struct basic_common_shape<std::int64_t>;
extern template result<output_shape<dim>> broadcast_of(std::span<const shape_view<dim>>);
extern template result<output_shape<std::int64_t>> broadcast_of(std::span<const shape_view<std::int64_t>>);
extern template result<output_shape<dim>> broadcast_of(shape_view<dim>, shape_view<dim>, operand_name);
extern template result<output_shape<std::int64_t>> broadcast_of(shape_view<std::int64_t>, shape_view<std::int64_t>,
                                                                operand_name);
extern template status check_broadcast(shape_view<dim>, shape_view<dim>, operand_name);
extern template status check_broadcast(shape_view<std::int64_t>, shape_view<std::int64_t>, operand_name);
extern template result<sizes<dim>> aligned(shape_view<dim>, shape_view<dim>, alignment, std::int64_t, operand_name);
extern template result<sizes<std::int64_t>> aligned(shape_view<std::int64_t>, shape_view<std::int64_t>, alignment,
                                                    std::int64_t, operand_name);

}  // namespace CAMEO_NAMESPACE::geometry
