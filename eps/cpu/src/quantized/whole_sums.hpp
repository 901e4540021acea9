#pragma once
#include <cameo/kernel/bind_context.hpp>

#include "code_rows.hpp"
#include "microkernels/integer_loops.hpp"

namespace CAMEO_NAMESPACE::eps {

/// Sums of codes by whole numbers, which take half the time of floats: every pair of codes was compared with the
/// definition before.
struct proven_sum {
  whole_code_sum by;
  std::int64_t (*add)(const whole_code_sum&, const std::uint8_t* a, const std::uint8_t* b, std::uint8_t* y,
                      std::int64_t n);
};

/// For codes of u8 or s8; null where this processor has nothing for it, or too many pairs are exceptions.
template <class T>
result<const proven_sum*> prove_sum(bind_context&, const code_zip&);

}  // namespace CAMEO_NAMESPACE::eps
