#pragma once
#include <cameo/kernel/run_context.hpp>

#include <cstring>
#include <limits>

namespace CAMEO_NAMESPACE::eps {

/// Bytes of an element that takes whole ones; a string is a std::string_view and moves like any 16 bytes.
inline std::size_t element_bytes(dtype type) { return bits_of(type) / 8; }

/// The one loop nest that all data movement is: from a place that steps by `from` to one that steps by `to`, for each
/// loop, the outermost first. Steps are in elements; a step of 0 repeats, a negative one goes backwards. Neighbouring
/// loops that are one run become one, so callers say what they mean and leave it at that.
class strided_copy {
 public:
  explicit strided_copy(std::size_t bytes_per_element) : bytes_{bytes_per_element} {}

  void loop(std::int64_t count, std::int64_t from, std::int64_t to);
  /// Loops over `shape`, whose places step by `from` and `to`.
  void loops(const extents& shape, const extents& from, const extents& to) {
    for (std::size_t i = 0; i < shape.rank(); ++i) loop(shape[i], from[i], to[i]);
  }
  /// Copies, perhaps on several threads. The places don't overlap; the first elements are at `from` and `to`.
  void run(run_context&, const void* from, void* to) const;

 private:
  struct step {
    std::int64_t count, from, to;
  };
  static constexpr std::size_t max_loops = 2 * max_rank;
  std::size_t bytes_, count_ = 0;
  bool empty_ = false;
  step loops_[max_loops];
};

/// Makes output 0, and moves elements of x into it by loops that `add` adds: from element `first` on, to the output's
/// first one. Nothing is asked of an empty output.
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

/// In a table of copy_by_tables(): what lies at this place comes from nowhere in x.
inline constexpr std::int64_t no_place = std::numeric_limits<std::int64_t>::min();
/// Fills y, of one axis at least, with elements of x. tables[i] has for each place along axis i how many elements it
/// adds to where that is in x, or no_place: then `filler` is put there. Places [first, last) of the last axis are a run
/// in x.
void copy_by_tables(run_context&, const value& x, const value& y, const std::int64_t* const* tables,
                    const std::byte* filler, std::int64_t first, std::int64_t last);

/// `count` times the element of `bytes` bytes at `element`.
void fill(run_context&, void* to, std::int64_t count, const void* element, std::size_t bytes);
/// `bytes` bytes; perhaps on several threads. Nothing to do when both are the same place.
void copy_bytes(run_context&, void* to, const void* from, std::size_t bytes);

/// Moves element i of `from` for callers that compute places one by one: a load and a store for usual sizes.
template <std::size_t Bytes>
inline void move_element(std::byte* to, const std::byte* from) {
  std::memcpy(to, from, Bytes);
}
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
