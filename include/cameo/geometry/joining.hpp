#pragma once
#include <cameo/geometry/axes.hpp>

namespace CAMEO_NAMESPACE::geometry {

/// Parts that are joined along an axis, or with `is_new` along a new axis, which each part has with size 1. It grows
/// with each part, so that there may be any number of them.
template <size_kind D>
class basic_join {
 public:
  constexpr basic_join(std::int64_t axis, bool is_new) : number_{axis}, is_new_{is_new} {}

  /// Adds a part, which has the shape of the first apart from the axis. A part of unknown rank, and a number of parts
  /// that is unknown, make the size along the axis unknown. The error is one of wrong(), with the part's name.
  constexpr status add(shape_view<D> part, operand_name name);
  /// The shape of all parts; unknown if that of each part is.
  constexpr const output_shape<D>& y() const { return y_; }
  /// The axis of y, after a part of known rank has been added.
  constexpr std::size_t axis() const { return axis_; }
  /// The slices of y along the axis.
  constexpr basic_slices<D> slices() const { return slices_at(y_.view(), axis_, axis_ + y_.is_known); }

 private:
  constexpr status begin(shape_view<D> part, operand_name name);
  constexpr D size_of(shape_view<D> part) const { return is_new_ ? fixed<D>(1) : part[axis_]; }

  std::int64_t number_;
  bool is_new_, is_open_ = false;
  std::size_t axis_ = 0;
  output_shape<D> y_;
};
/// Parts of known sizes.
using joined = basic_join<std::int64_t>;

/// A tensor that is split into parts along an axis: into equal ones, of which the last may be smaller, or into ones of
/// listed sizes, to whose list it refers.
template <size_kind D>
struct basic_split : basic_slices<D> {
  sizes<D> x;               // the shape of the tensor
  bool is_known = false;    // whether the tensor's rank is
  bool has_parts = false;   // whether the sizes of parts are known
  bool drops_axis = false;  // whether parts lack the axis
  D count{};                // the number of parts
  std::span<const std::int64_t> listed = {};
  std::int64_t part_size = 0;  // of equal parts

  /// The size of part i along the axis; unknown if sizes are.
  constexpr D size_at(std::int64_t i) const {
    if (!has_parts) return D{};
    if (!listed.empty()) return fixed<D>(listed[std::size_t(i)]);
    if (!geometry::is_known(this->size)) return fixed<D>(part_size);
    const std::int64_t whole = number_of(this->size);
    if (part_size == 0) return fixed<D>(0);
    const std::int64_t full = whole / part_size;
    return fixed<D>(i < full ? part_size : i == full ? whole % part_size : 0);
  }
  /// The size that all parts have; unknown if they differ.
  constexpr D common_size() const {
    if (!has_parts) return D{};
    if (listed.empty()) {
      const bool divides =
          part_size == 1 || (part_size && geometry::is_known(this->size) && number_of(this->size) % part_size == 0);
      return divides ? fixed<D>(part_size) : D{};
    }
    for (const std::int64_t size : listed)
      if (size != listed[0]) return D{};
    return fixed<D>(listed[0]);
  }
  /// The shape of a part of this size along the axis.
  constexpr output_shape<D> shape_of(D part) const {
    if (!is_known) return {};
    sizes<D> made = x;
    if (drops_axis) made.erase(this->axis);
    else made[this->axis] = part;
    return output_shape<D>{made};
  }
};
/// A split of known sizes.
using split = basic_split<std::int64_t>;

/// How Split determines its parts. `listed` (split): their sizes. Else they are equal; from version 18 on, the last may
/// be smaller (`may_differ`). num_outputs is 0 if it is absent.
struct split_sizes {
  number_list listed = {};
  std::int64_t num_outputs = 0;
  bool may_differ = false;
};
/// Checks a Split into `count` parts. The error is one of wrong().
template <size_kind D>
constexpr result<basic_split<D>> split_of(shape_view<D> x, std::int64_t axis, std::size_t count,
                                          const split_sizes& how);
/// Checks a SplitToSequence. Without sizes each part has size 1, or lacks the axis, unless `keeps_axis`. `is_number`:
/// the list is one number, a scalar, and parts have this size, of which the last may be smaller. The error is one of
/// wrong().
template <size_kind D>
constexpr result<basic_split<D>> split_to_sequence_of(shape_view<D> x, std::int64_t axis, const number_list& listed,
                                                      bool is_number, bool keeps_axis);

namespace detail {
/// Checks listed sizes of parts of an axis of size `whole`, which may be unknown.
template <size_kind D>
constexpr status check_parts(std::span<const std::int64_t> listed, D whole, std::size_t axis) {
  std::int64_t all = 0;
  for (const std::int64_t size : listed) {
    if (size < 0) return wrong<D>("split has a size of ", size, ", must be 0 or more");
    if (!checked_add(all, size, all)) return wrong<D>("the sizes in split add up to more than 64 bits count");
  }
  if (differ(whole, fixed<D>(all)))
    return wrong<D>("the sizes in split add up to ", all, ", must add up to ", whole, ", the size of axis ", axis);
  return {};
}
template <size_kind D>
constexpr result<basic_split<D>> begin_split(shape_view<D> x, std::int64_t axis) {
  basic_split<D> made;
  if (!x) return made;
  if (status s = check_rank<D>(x.rank(), "the input"); !s) return s;
  const result<basic_slices<D>> along = slices_of<D>(x, axis);
  if (!along) return along.error();
  static_cast<basic_slices<D>&>(made) = *along;
  made.x = sizes<D>(x), made.is_known = true;
  return made;
}
}  // namespace detail

template <size_kind D>
constexpr status basic_join<D>::begin(shape_view<D> part, operand_name name) {
  if (part.rank() + is_new_ > max_rank)
    return wrong_rank<D>(name.text, name.number(), " has rank ", part.rank(), ", must have rank ", max_rank - is_new_,
                         " or less");
  const result<std::size_t> found = axis_of<D>(number_, part.rank() + is_new_);
  if (!found) return found.error();
  axis_ = *found;
  y_.assign(part.sizes);
  if (is_new_) y_.insert(axis_, fixed<D>(1));
  if (is_open_) y_[axis_] = D{};
  return {};
}

template <size_kind D>
constexpr status basic_join<D>::add(shape_view<D> part, operand_name name) {
  if (!part) {
    is_open_ = true;
    if (y_.is_known) y_[axis_] = D{};
    return {};
  }
  if (!y_.is_known) return begin(part, name);
  if (part.rank() + is_new_ != y_.rank())
    return wrong<D>(name.text, name.number(), " has shape ", part.sizes, " of rank ", part.rank(), ", must have rank ",
                    y_.rank() - is_new_, ", as those before");
  for (std::size_t i = 0, own = 0; i < y_.rank(); ++i) {
    if (i == axis_) {
      own += !is_new_;
      continue;
    }
    const D size = part[own++];
    if (differ(size, y_[i]))
      return wrong<D>(name.text, name.number(), " has ", size, " elements along axis ", own - 1, ", must have ", y_[i],
                      ", as those before");
    y_[i] = unified(y_[i], size);
  }
  if (is_open_) return {};
  D& along = y_[axis_];
  if (!checked_sum(along, size_of(part), along))
    return wrong<D>(name.text, name.number(), " has ", size_of(part), " elements along axis ", axis_,
                    ", more than 64 bits count together with those before");
  return {};
}

template <size_kind D>
constexpr result<basic_split<D>> split_of(shape_view<D> x, std::int64_t axis, std::size_t count,
                                          const split_sizes& how) {
  const auto parts = std::int64_t(count);
  if (how.num_outputs != 0 && how.num_outputs != parts)
    return wrong_attribute("attribute num_outputs is ", how.num_outputs, ", must be ", parts,
                           ", the number of outputs");
  if (how.listed.is_known && how.listed.numbers.size() != count)
    return wrong<D>("split has ", how.listed.numbers.size(), " sizes, must have one for each of ", parts, " outputs");
  const result<basic_split<D>> begun = detail::begin_split(x, axis);
  if (!begun) return begun.error();
  basic_split<D> made = *begun;
  if (!x) return made;
  made.count = fixed<D>(parts);
  if (how.listed.is_known) {
    if (status s = detail::check_parts(how.listed.numbers, made.size, made.axis); !s) return s;
    made.listed = how.listed.numbers, made.has_parts = true;
  } else if (!how.listed.is_given && is_known(made.size) && parts > 0) {
    const std::int64_t whole = number_of(made.size);
    if (!how.may_differ && whole % parts != 0)
      return wrong<D>("the input has ", whole, " elements along axis ", made.axis, ", must have a multiple of ", parts,
                      ", the number of outputs");
    made.part_size = whole / parts + (whole % parts != 0), made.has_parts = true;
  }
  return made;
}

template <size_kind D>
constexpr result<basic_split<D>> split_to_sequence_of(shape_view<D> x, std::int64_t axis, const number_list& listed,
                                                      bool is_number, bool keeps_axis) {
  const result<basic_split<D>> begun = detail::begin_split(x, axis);
  if (!begun) return begun.error();
  basic_split<D> made = *begun;
  if (!x) return made;
  made.drops_axis = !listed.is_given && !keeps_axis;
  if (listed.is_given && !listed.is_known) return made;
  if (listed.is_known && (!is_number || listed.numbers.empty())) {
    if (status s = detail::check_parts(listed.numbers, made.size, made.axis); !s) return s;
    made.listed = listed.numbers, made.has_parts = true;
    made.count = fixed<D>(std::int64_t(listed.numbers.size()));
    return made;
  }
  made.part_size = listed.is_known ? listed.numbers[0] : 1;
  if (made.part_size < 1) return wrong<D>("split is ", made.part_size, ", must be 1 or more");
  made.has_parts = is_known(made.size) || made.part_size == 1;
  if (is_known(made.size)) {
    const std::int64_t whole = number_of(made.size);
    made.count = fixed<D>(whole / made.part_size + (whole % made.part_size != 0));
  } else if (made.part_size == 1) {
    made.count = made.size;
  }
  return made;
}

// Compiled in geometry/joining.cpp, once for loading and once for running.
extern template class basic_join<dim>;
extern template class basic_join<std::int64_t>;
extern template result<basic_split<dim>> split_of(shape_view<dim>, std::int64_t, std::size_t, const split_sizes&);
extern template result<split> split_of(shape_view<std::int64_t>, std::int64_t, std::size_t, const split_sizes&);
extern template result<basic_split<dim>> split_to_sequence_of(shape_view<dim>, std::int64_t, const number_list&, bool,
                                                              bool);
extern template result<split> split_to_sequence_of(shape_view<std::int64_t>, std::int64_t, const number_list&, bool,
                                                   bool);

}  // namespace CAMEO_NAMESPACE::geometry
