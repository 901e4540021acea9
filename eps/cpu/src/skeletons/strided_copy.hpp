#pragma once
#include <cameo/kernel/run_context.hpp>

#include <cstring>
#include <limits>

namespace CAMEO_NAMESPACE::eps {

/// The bytes of an element of a type of whole bytes. A string is a std::string_view, which is copied like any 16 bytes.
inline std::size_t element_bytes(dtype type) { return bits_of(type) / 8; }

/// The loop nest that all data movement uses. Each loop has a count, a stride `from` in the source and a stride `to` in
/// the target, in elements; loops are added from the outermost to the innermost. A stride of 0 repeats elements, and a
/// negative one goes backwards. Neighboring loops that amount to one are merged, so callers don't have to simplify
/// them.
class strided_copy {
 public:
  explicit strided_copy(std::size_t bytes_per_element) : bytes_{bytes_per_element} {}

  void loop(std::int64_t count, std::int64_t from, std::int64_t to);
  /// Adds a loop for each axis of `shape`, with the strides `from` and `to`.
  void loops(const extents& shape, const extents& from, const extents& to) {
    for (std::size_t i = 0; i < shape.rank(); ++i) loop(shape[i], from[i], to[i]);
  }
  /// Copies, on several threads if that is faster. `from` and `to` are the first elements. Source and target must not
  /// overlap.
  void run(run_context&, const void* from, void* to) const;

 private:
  struct step {
    std::int64_t count, source, target;
  };
  static constexpr std::size_t max_loops = 2 * max_rank;
  std::size_t bytes_, count_ = 0;
  bool empty_ = false;
  step loops_[max_loops];
};

/// Makes output 0 with `shape`, and copies elements of x into it, from element `first` on, with the loops that `add`
/// adds to a strided_copy. `add` is not called if the output is empty.
template <class F>
status move_to_output(run_context& c, const value& x, std::int64_t first, const extents& shape, const F& add) {
  const result<value*> y = c.output(0, shape);
  if (!y) return y.error();
  if (shape.count() == 0) return {};
  const std::size_t bytes = element_bytes(x.type);
  strided_copy copy{bytes};
  add(copy);
  copy.run(c, static_cast<const std::byte*>(x.data) + std::size_t(first) * bytes, (*y)->data);
  return {};
}

/// An entry of a table of copy_by_tables(): no element of x belongs to this position.
inline constexpr std::int64_t no_place = std::numeric_limits<std::int64_t>::min();
/// Fills y, of rank 1 or more, with elements of x. For each position along axis i, tables[i] has the number that it
/// adds to the index of the element of x; or no_place, which makes the element of y `filler`. Positions [first, last)
/// of the last axis are contiguous in x.
void copy_by_tables(run_context&, const value& x, const value& y, const std::int64_t* const* tables,
                    const std::byte* filler, std::int64_t first, std::int64_t last);

/// Writes `count` copies of the element of `bytes` bytes at `element`, on several threads if that is faster.
void fill(run_context&, void* to, std::int64_t count, const void* element, std::size_t bytes);
/// Copies `bytes` bytes, on several threads if that is faster; does nothing if `to` equals `from`.
void copy_bytes(run_context&, void* to, const void* from, std::size_t bytes);

/// Copies one element, with a load and a store.
template <std::size_t Bytes>
inline void move_element(std::byte* to, const std::byte* from) {
  std::memcpy(to, from, Bytes);
}
/// Copies one element of any size; the usual sizes take a load and a store.
inline void move_block(std::byte* to, const std::byte* from, std::size_t bytes) {
  switch (bytes) {
    case 1: return move_element<1>(to, from);
    case 2: return move_element<2>(to, from);
    case 4: return move_element<4>(to, from);
    case 8: return move_element<8>(to, from);
    case 16: return move_element<16>(to, from);
    default: std::memcpy(to, from, bytes);
  }
}

inline std::byte* bytes_of(const value& v) { return static_cast<std::byte*>(v.data); }

}  // namespace CAMEO_NAMESPACE::eps
