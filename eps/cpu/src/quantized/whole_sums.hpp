#pragma once
#include <cameo/kernel/bind_context.hpp>

#include "code_rows.hpp"
#include "microkernels/integer_loops.hpp"

namespace CAMEO_NAMESPACE::eps {

/// A QLinearAdd in fixed point, which takes half the time of floats. Its result for every pair of values was compared
/// with the definition.
struct proven_sum {
  whole_code_sum factors;
  std::int64_t (*add)(const whole_code_sum&, const std::uint8_t* a, const std::uint8_t* b, std::uint8_t* y,
                      std::int64_t n);
};

/// Prepares a QLinearAdd of uint8 or int8, in memory that lives as long as the plan. Null if this processor has no such
/// loop, or if too many pairs have another result than the definition.
template <class T>
result<const proven_sum*> prove_sum(bind_context&, const code_zip&);

}  // namespace CAMEO_NAMESPACE::eps
