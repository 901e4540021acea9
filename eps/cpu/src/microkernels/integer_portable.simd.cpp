// Integer products in portable C++, for processors without a special implementation.
#include "integer_loops.hpp"
#include "machine/target.hpp"
#include "nbits_loops.hpp"

#include <algorithm>
#include <cmath>

namespace CAMEO_NAMESPACE::eps {
namespace portable {
namespace {

#include "integer_line-inl.hpp"
#include "nbits_line-inl.hpp"
#include "nbits_portable-inl.hpp"

struct shorts {
  static constexpr int per_cell = 2, lanes = 4, tile_rows = 4;
  struct sum {
    std::uint32_t lane[lanes];
  };
  struct cells {
    std::int16_t lane[lanes][2];
  };

  static CAMEO_INLINE cells load(const std::byte* p) {
    cells made;
    std::memcpy(&made, p, sizeof made);
    return made;
  }
  static CAMEO_INLINE cells broadcast(const std::byte* p) {
    cells made;
    for (auto& each : made.lane) std::memcpy(each, p, sizeof each);
    return made;
  }
  static CAMEO_INLINE sum load_sums(const std::int32_t* p) {
    sum made;
    std::memcpy(&made, p, sizeof made);
    return made;
  }
  static CAMEO_INLINE sum nothing() { return {}; }
  static CAMEO_INLINE sum add(sum a, sum b) {
    for (int i = 0; i < lanes; ++i) a.lane[i] += b.lane[i];
    return a;
  }
  static CAMEO_INLINE sum add_products(sum s, cells a, cells b) {
    for (int i = 0; i < lanes; ++i)  // elements have 9 bits, so that the sum of two products fits in int
      s.lane[i] += std::uint32_t(a.lane[i][0] * b.lane[i][0] + a.lane[i][1] * b.lane[i][1]);
    return s;
  }
  static CAMEO_INLINE void store(sum s, int count, std::int32_t* to) {
    std::memcpy(to, s.lane, std::size_t(count) * sizeof *to);
  }

  struct codes {
    const integer_line& p;
    int column;
    CAMEO_INLINE codes(const integer_line& line, int first) : p{line}, column{first} {}
    CAMEO_INLINE void put(sum s, int count, std::uint8_t* to) const {
      for (int i = 0; i < count; ++i) {
        const float v = float(std::int32_t(s.lane[i])) * p.scale[column + i];
        to[i] = std::uint8_t(std::int32_t(std::nearbyint(std::clamp(v, p.low, p.high))) + p.zero);
      }
    }
  };
};

}  // namespace
}  // namespace portable

extern const integer_loops portable_integers;
constinit const integer_loops portable_integers{"portable", portable::arithmetic_of<portable::shorts>,
                                                portable::arithmetic_of<portable::shorts>};
extern const nbits_loops portable_nbits;
constinit const nbits_loops portable_nbits = portable::nbits_of<portable::nbits_vectors>;

}  // namespace CAMEO_NAMESPACE::eps
