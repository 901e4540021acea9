#include <cameo/eps/cpu/time_warping.hpp>

#include <algorithm>
#include <limits>

#include "operands/operand_values.hpp"

namespace CAMEO_NAMESPACE::eps {
namespace {

/// Writes the path to the last element, from its end to its start, by the predecessors in `ways`. Returns its length.
std::int64_t trace(std::span<const std::uint8_t> ways, std::int64_t rows, std::int64_t columns,
                   std::span<std::int32_t> path) {
  std::int64_t steps = 0, r = rows - 1, j = columns - 1;
  while (r >= 0 && j >= 0) {  // both reach -1 at the first element; with NaN costs, one of them may do so earlier
    path[std::size_t(2 * steps)] = std::int32_t(r), path[std::size_t(2 * steps + 1)] = std::int32_t(j);
    ++steps;
    const int way = ways[std::size_t(r * columns + j)];
    if (way != 2) --r;
    if (way != 1) --j;
  }
  return steps;
}

}  // namespace

status time_warping::run(run_context& c) const {
  const value& x = c.input(0);
  const std::size_t rank = x.shape.rank();
  const std::int64_t rows = x.shape[rank - 2], columns = x.shape[rank - 1], width = columns + 1;
  if (status s = check_fits("input", rows <= 1 << 30 && columns <= 1 << 30); !s) return s;
  // The least costs of two rows, with one element before the first; and the predecessor of each element on its path: 0
  // the one above and left, 1 the one above, 2 the one on the left.
  const result<std::span<float>> sums = c.scratch<float>(2 * std::size_t(width));
  const result<std::span<std::uint8_t>> ways = c.scratch<std::uint8_t>(std::size_t(rows * columns));
  const result<std::span<std::int32_t>> path = c.scratch<std::int32_t>(2 * std::size_t(rows + columns));
  if (!sums || !ways || !path) return status_code::out_of_memory;
  float *above = sums->data(), *now = above + width;
  constexpr float far = std::numeric_limits<float>::infinity();
  std::fill_n(above, width, far);
  above[0] = 0;
  detail::stop_pace pace;
  for (std::int64_t r = 0; r < rows; ++r, std::swap(above, now)) {
    if (c.stopped(pace)) return status_code::canceled;
    const float* const cost = static_cast<const float*>(x.data) + r * columns;
    now[0] = far;
    for (std::int64_t j = 0; j < columns; ++j) {
      const float diagonal = above[j], down = above[j + 1], right = now[j];
      const int way = diagonal < down && diagonal < right ? 0 : down < diagonal && down < right ? 1 : 2;
      now[j + 1] = cost[j] + (way == 0 ? diagonal : way == 1 ? down : right);
      (*ways)[std::size_t(r * columns + j)] = std::uint8_t(way);
    }
  }
  const std::int64_t steps = trace(*ways, rows, columns, *path);
  const result<tensor_view<std::int32_t>> y = c.output<std::int32_t>(0, {2, steps});
  if (!y) return y.error();
  for (std::int64_t i = 0; i < steps; ++i)
    for (std::int64_t k = 0; k < 2; ++k) (*y)[k * steps + i] = (*path)[std::size_t(2 * (steps - 1 - i) + k)];
  return {};
}

}  // namespace CAMEO_NAMESPACE::eps
