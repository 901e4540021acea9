#pragma once
#include <cameo/ep/peak.hpp>

CAMEO_BEGIN_NAMESPACE
namespace eps {

/// See cpu::measure_peak().
machine_peak measure_peak(std::size_t threads, std::size_t bytes, double seconds);

}  // namespace eps
CAMEO_END_NAMESPACE
