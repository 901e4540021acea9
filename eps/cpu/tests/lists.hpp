#pragma once
#include <cstdint>
#include <vector>

namespace cameo::test {

using floats = std::vector<float>;
using ints = std::vector<std::int64_t>;

}  // namespace cameo::test
