#pragma once
#include <cameo/core/abi.hpp>

#include <cstddef>
#include <span>
#include <utility>

namespace CAMEO_NAMESPACE::detail {
/// True if row i describes enumerator i and no row is missing, so that a table stays in step with its enum.
template <class Row, std::size_t N>
consteval bool complete_and_in_order(const Row (&rows)[N]) {
  for (std::size_t i = 0; i < N; ++i)
    if (std::size_t(rows[i].id) != i) return false;
  return N == std::size_t(decltype(rows[0].id)::count);
}

/// Shell sort: short, and within the compilers' limits of steps for constant evaluation.
template <class Row, class Less>
constexpr void sort_rows(Row* rows, std::size_t count, Less less) {
  for (std::size_t gap = count / 2; gap > 0; gap = gap == 2 ? 1 : gap * 5 / 11)
    for (std::size_t i = gap; i < count; ++i)
      for (std::size_t j = i; j >= gap && less(rows[j], rows[j - gap]); j -= gap) std::swap(rows[j], rows[j - gap]);
}

/// The rows whose `key` is `id`; `rows` is sorted by that key.
template <class Row, class Id>
constexpr std::span<const Row> rows_with(Id id, Id Row::* key, std::span<const Row> rows) {
  std::size_t first = 0, last = rows.size();
  while (first < last) {
    const std::size_t middle = first + (last - first) / 2;
    rows[middle].*key < id ? first = middle + 1 : last = middle;
  }
  while (last < rows.size() && rows[last].*key == id) ++last;
  return {rows.data() + first, last - first};
}
}  // namespace CAMEO_NAMESPACE::detail
