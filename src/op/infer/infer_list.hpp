#pragma once
#include <cameo/op/microsoft.hpp>
#include <cameo/op/onnx.hpp>

namespace cameo::inline CAMEO_ABI {

struct infer_row {
  op_id id{};
  infer_function infer = nullptr;
};

/// The only list of shape functions: one line per operator. Operators without one leave their outputs unknown.
inline constexpr std::array<infer_row, 0> infer_rows{};

/// The rows with their shape functions filled in. A row of `infer_rows` that names no operator does not compile.
template <std::size_t N>
consteval std::array<op_row, N> with_infer_functions(std::array<op_row, N> rows) {
  auto sorted = infer_rows;
  sort_rows(sorted.data(), sorted.size(), [](const infer_row& a, const infer_row& b) { return a.id < b.id; });
  std::size_t used = 0;
  for (op_row& row : rows)
    if (used < sorted.size() && sorted[used].id == row.id) row.infer = sorted[used++].infer;
  if (used != sorted.size()) throw "cameo: infer_rows names an operator twice, or one that is not in the list";
  return rows;
}

}  // namespace cameo::inline CAMEO_ABI
