#pragma once
#include <cameo/graph/model.hpp>

#include "messages.hpp"

namespace CAMEO_NAMESPACE {

/// Deviations of files from ONNX that do no harm, and that cameo accepts; the index of a row of oddities().
enum class oddity : std::uint8_t {
  negative_dim,
  other_shape,
  other_shape_between,
  other_shape_in_run,
  early_constant,
  output_redeclares_input,
  initializer_twice,
  no_resolver,
  one_name_two_sizes,
  initializer_redeclared,
  nameless_initializer,
  broken_unused_initializer,
  broken_unused_function,
  broken_unused_branch,
  opset_twice,
  opset_below_one,
  opset_missing,
  wide_number,
  data_twice,
  segment,
  external_length_zero,
  sparse_unsorted,
  large_window,
  function_named_as_operator,
  blocked_weights,
  unknown_attribute,
  constant_twice,
  constant_attribute,
  unused_coefficients,
};

/// One accepted deviation. docs/oddities.md has the same table.
struct oddity_row {
  oddity id;
  std::string_view name;          // in lower case, with dashes; begins its warnings
  bool is_warning;                // false: reported only at severity info
  std::string_view what;          // the deviation
  std::string_view cameo;         // what cameo does
  std::string_view onnx_runtime;  // what ONNX Runtime does
};

/// All accepted deviations, by number.
std::span<const oddity_row> oddities();
/// The row of an accepted deviation.
inline const oddity_row& row_of(oddity id) { return oddities()[std::size_t(id)]; }
/// The row of one of model::warnings; null if the warning is not about an accepted deviation.
const oddity_row* oddity_of(std::string_view warning);

/// The text of a warning: the name of the deviation, then where it is.
template <class... Args>
std::string warning_of(oddity id, fmt::format_string<Args...> format, Args&&... args) {
  return fmt::format("{}: {}", row_of(id).name, fmt::format(format, std::forward<Args>(args)...));
}

/// The most warnings about one deviation in a model; a file may have a million.
inline constexpr std::size_t most_of_an_oddity = 8;
/// Whether to add one more warning about a deviation. The first that is one too many becomes "and more of this".
bool should_warn(model&, oddity);

/// Accepts a deviation: adds a warning to the model, unless it has enough of this kind.
template <class... Args>
void tolerate(model& m, oddity id, fmt::format_string<Args...> format, Args&&... args) {
  if (should_warn(m, id)) m.warnings.push_back(warning_of(id, format, std::forward<Args>(args)...));
}

}  // namespace CAMEO_NAMESPACE
