#pragma once
#include <cameo/core/result.hpp>
#include <cameo/geometry/sizes.hpp>

namespace CAMEO_NAMESPACE::geometry {

/// The shape that an output has, or nothing where its rank is unknown.
template <size_kind D>
struct output_shape : sizes<D> {
  bool is_known = false;

  constexpr output_shape() = default;
  constexpr output_shape(const sizes<D>& all) : sizes<D>{all}, is_known{true} {}
  /// The shape of an input that the output has, too.
  constexpr output_shape(shape_view<D> shape) : sizes<D>(shape), is_known{shape.is_known} {}
  /// Makes it the shape of an input, in place: a copy of a list that has just been made waits for its stores.
  constexpr void assign(std::span<const D> shape) { this->resize(0), this->append(shape), is_known = true; }
  /// The shape, which refers to this; one of unknown rank if this is unknown.
  constexpr shape_view<D> view() const { return is_known ? shape_view<D>{*this} : shape_view<D>{}; }
};

/// Integers that are an attribute or an input of a node: absent, unknown (of an input, before a run), or a list.
struct number_list {
  std::span<const std::int64_t> numbers = {};
  bool is_given = false, is_known = false;

  constexpr number_list() = default;
  template <std::convertible_to<std::span<const std::int64_t>> L>
  constexpr number_list(const L& all) : numbers{all}, is_given{true}, is_known{true} {}
  /// An input whose numbers are only given in a run.
  static constexpr number_list unknown() {
    number_list made;
    made.is_given = true;
    return made;
  }
};

/// The name of an operand in messages: a formal name, or "input 3".
struct operand_name {
  std::string_view text;
  std::int64_t index = -1;

  constexpr operand_name(std::string_view name) : text{name} {}
  constexpr operand_name(const char* name) : text{name} {}
  constexpr operand_name(std::size_t input) : operand_name{"input ", input} {}
  constexpr operand_name(std::string_view kind, std::size_t i) : text{kind}, index{std::int64_t(i)} {}
  /// The number after the text, if there is one.
  constexpr cameo::detail::message_part number() const {
    using part = cameo::detail::message_part;
    return index < 0 ? part{std::string_view{}} : part{index};
  }
};

namespace detail {
template <size_kind D>
[[gnu::cold, gnu::noinline]] constexpr status no_such_axis(std::int64_t number, std::int64_t least, std::int64_t most,
                                                           std::size_t rank, std::string_view name) {
  if (most < least) return wrong<D>(name, " is ", number, ", but the input is a scalar and has no axes");
  return wrong<D>(name, " is ", number, ", must be from ", least, " to ", most, " for rank ", rank);
}
}  // namespace detail

/// The index of the axis that a number stands for, which counts from the end if it is negative. For a new axis, `rank`
/// is that of the output. The error is one of wrong(), with the attribute's or input's name.
template <size_kind D>
constexpr result<std::size_t> axis_of(std::int64_t number, std::size_t rank, std::string_view name = "attribute axis") {
  const auto count = std::int64_t(rank);
  std::int64_t axis = number;
  if (!normalize_axis(axis, rank)) return detail::no_such_axis<D>(number, -count, count - 1, rank, name);
  return std::size_t(axis);
}
/// The place between axes that a number stands for: axis_of(), or the rank, which is the end.
template <size_kind D>
constexpr result<std::size_t> cut_of(std::int64_t number, std::size_t rank, std::string_view name = "attribute axis") {
  const auto count = std::int64_t(rank);
  if (number == count) return rank;
  std::int64_t axis = number;
  if (!normalize_axis(axis, rank)) return detail::no_such_axis<D>(number, -count, count, rank, name);
  return std::size_t(axis);
}

/// Axes of a tensor, each once, in the order in which they are listed. Bit i of `mask` is set for axis i.
struct axis_list {
  std::uint32_t mask = 0;
  std::uint8_t count = 0, axes[max_rank]{};

  constexpr std::size_t size() const { return count; }
  constexpr const std::uint8_t* begin() const { return axes; }
  constexpr const std::uint8_t* end() const { return axes + count; }
  constexpr std::size_t operator[](std::size_t i) const { return axes[i]; }
  constexpr bool has(std::size_t axis) const { return mask >> axis & 1; }
  constexpr void add(std::size_t axis) { mask |= std::uint32_t{1} << axis, axes[count++] = std::uint8_t(axis); }
  /// All axes of a rank, which is max_rank or less.
  static constexpr axis_list all(std::size_t rank) {
    axis_list made;
    for (std::size_t i = 0; i < rank; ++i) made.add(i);
    return made;
  }
};
/// The axes that numbers stand for. Each may be listed once, or with `may_repeat` several times, of which the first
/// counts. The error is one of wrong().
template <size_kind D>
constexpr result<axis_list> axes_of(std::span<const std::int64_t> numbers, std::size_t rank,
                                    std::string_view name = "axes", bool may_repeat = false);

/// A shape, seen along one axis: `outer` times `size` slices of `inner` elements. Where the product of sizes overflows,
/// as it may in a shape without elements, it is unknown, or 0.
template <size_kind D>
struct basic_slices {
  std::size_t axis = 0;
  D outer{}, size{}, inner{};
};
/// Slices whose sizes are known.
using slices = basic_slices<std::int64_t>;

/// The slices along the axis that a number stands for. The error is one of wrong().
template <size_kind D>
constexpr result<basic_slices<D>> slices_of(shape_view<D> shape, std::int64_t number,
                                            std::string_view name = "attribute axis");

/// The product of sizes, unknown or 0 where it overflows.
template <size_kind D>
constexpr D product_of(std::span<const D> all) {
  D product{};
  return checked_product(all, product) ? product : D{};
}
/// The slices along the axes [first, next), which count as one.
template <size_kind D>
constexpr basic_slices<D> slices_at(shape_view<D> shape, std::size_t first, std::size_t next) {
  return {first, product_of(shape.sizes.first(first)), product_of(shape.sizes.subspan(first, next - first)),
          product_of(shape.sizes.subspan(next))};
}

/// Checks that the elements of a shape of known sizes can be counted.
template <size_kind D>
constexpr status check_count([[maybe_unused]] shape_view<D> shape, [[maybe_unused]] operand_name name = "the input") {
  if constexpr (std::same_as<D, std::int64_t>) {
    std::int64_t count = 0;
    if (!checked_product(shape.sizes, count))
      return wrong<D>(name.text, name.number(), " has shape ", shape.sizes, ", more elements than 64 bits count");
  }
  return {};
}

/// Checks that two shapes are the same, as far as they are known.
template <size_kind D>
constexpr status check_same(shape_view<D> shape, shape_view<D> wanted, operand_name name) {
  if (!shape || !wanted) return {};
  bool fits = shape.rank() == wanted.rank();
  for (std::size_t i = 0; fits && i < shape.rank(); ++i) fits = !differ(shape[i], wanted[i]);
  if (fits) return {};
  return wrong<D>(name.text, name.number(), " has shape ", shape.sizes, ", must be ", wanted.sizes);
}

namespace detail {
/// Adds the axes that numbers stand for.
template <size_kind D>
constexpr status add_axes(axis_list& found, std::span<const std::int64_t> numbers, std::size_t rank,
                          std::string_view name, bool may_repeat) {
  if (status s = check_rank<D>(rank, "the tensor"); !s) return s;
  for (const std::int64_t number : numbers) {
    const result<std::size_t> axis = axis_of<D>(number, rank, name);
    if (!axis) return axis.error();
    if (!found.has(*axis)) found.add(*axis);
    else if (!may_repeat) return wrong<D>(name, " lists axis ", *axis, " twice, must list each once");
  }
  return {};
}
}  // namespace detail

template <size_kind D>
constexpr result<axis_list> axes_of(std::span<const std::int64_t> numbers, std::size_t rank, std::string_view name,
                                    bool may_repeat) {
  return {std::in_place, [&](axis_list& made) { return detail::add_axes<D>(made, numbers, rank, name, may_repeat); }};
}

template <size_kind D>
constexpr result<basic_slices<D>> slices_of(shape_view<D> shape, std::int64_t number, std::string_view name) {
  const result<std::size_t> axis = axis_of<D>(number, shape.rank(), name);
  if (!axis) return axis.error();
  if (status s = check_count(shape); !s) return s;
  return slices_at(shape, *axis, *axis + 1);
}

// Compiled in geometry/axes.cpp, once for loading and once for running.
extern template result<axis_list> axes_of<dim>(std::span<const std::int64_t>, std::size_t, std::string_view, bool);
extern template result<axis_list> axes_of<std::int64_t>(std::span<const std::int64_t>, std::size_t, std::string_view,
                                                        bool);
extern template result<basic_slices<dim>> slices_of(shape_view<dim>, std::int64_t, std::string_view);
extern template result<slices> slices_of(shape_view<std::int64_t>, std::int64_t, std::string_view);

}  // namespace CAMEO_NAMESPACE::geometry
