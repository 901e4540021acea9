#pragma once
#include <cameo/ep/peak.hpp>

namespace CAMEO_NAMESPACE::eps {

/// Implements cpu::measure_peak().
machine_peak measure_peak(std::size_t threads, std::size_t bytes, double seconds);

}  // namespace CAMEO_NAMESPACE::eps
