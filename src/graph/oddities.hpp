#pragma once
#include <cameo/graph/model.hpp>

#include "messages.hpp"

CAMEO_BEGIN_NAMESPACE

/// What files have that ONNX does not allow and that does no harm, by its row of oddities().
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

/// One thing that cameo is lenient about. docs/oddities.md has the same table.
struct oddity_row {
  oddity id;
  std::string_view name;          // in lower case, with dashes: warnings begin with it
  bool is_told;                   // as a warning; else only at severity info
  std::string_view what;          // is odd
  std::string_view cameo;         // what cameo does
  std::string_view onnx_runtime;  // what ONNX Runtime does
};

/// All of them, by number.
std::span<const oddity_row> oddities();
/// The row of an oddity.
inline const oddity_row& row_of(oddity of) { return oddities()[std::size_t(of)]; }
/// The row of one of model::warnings; null if the warning is not about an oddity.
const oddity_row* oddity_of(std::string_view warning);

/// The text of a warning of an oddity. The words give the place.
template <class... Args>
std::string warning_of(oddity of, fmt::format_string<Args...> format, Args&&... args) {
  return fmt::format("{}: {}", row_of(of).name, fmt::format(format, std::forward<Args>(args)...));
}

/// The most warnings of one kind for a model; a file may have a million.
inline constexpr std::size_t most_of_an_oddity = 8;
/// Whether one more of the kind is worth its words; the first that is not becomes "and more of this".
bool is_worth_telling(model&, oddity);

/// Notes among the model's warnings that it has something odd, and lets it pass.
template <class... Args>
void tolerate(model& m, oddity of, fmt::format_string<Args...> format, Args&&... args) {
  if (is_worth_telling(m, of)) m.warnings.push_back(warning_of(of, format, std::forward<Args>(args)...));
}

CAMEO_END_NAMESPACE
