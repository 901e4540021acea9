// What cameo is lenient about, in one table: docs/oddities.md has the same rows, and tests/scripts/oddities.py a model
// for each of them, with onnxruntime as the judge.
#include <cameo/graph/model.hpp>

#include "oddities.hpp"

#include <algorithm>
#include <iterator>

namespace cameo::inline CAMEO_ABI {
namespace {

constexpr oddity_row rows[] = {
    {oddity::negative_dim, "negative-dim", false, "a dim of a declared type is negative; Paddle's exporter writes -1",
     "takes it for unknown", "the same"},
    {oddity::question_mark, "question-mark", false,
     "dims of different sizes have the name '?'; Paddle's exporter writes it for what it does not know",
     "takes them for unknown", "the same: it holds no sizes of one name to each other"},
    {oddity::other_shape, "other-shape", true, "a value is declared with another rank or size than it has",
     "goes by the one that it has",
     "the same, with a warning; it lists such an output as a scalar, or without the size"},
    {oddity::other_shape_in_run, "other-shape-in-run", true,
     "an output is declared with another rank or size than a run finds out", "gives the one that it has; says so once",
     "the same; says so in every run"},
    {oddity::early_constant, "early-constant", false,
     "a Constant holds what its opset does not allow: other types than floats before opset 9, other attributes than "
     "'value' before 12; PyTorch's exporter wrote integers at opset 8",
     "takes it for one of the opset that allows it", "the same"},
    {oddity::output_redeclares_input, "output-redeclares-input", true,
     "an output is an input of the graph, and declared with another type", "goes by the input", "the same, silently"},
    {oddity::initializer_twice, "initializer-twice", true, "an ORT file has two initializers of one name",
     "takes the last", "the same, with a warning"},
    {oddity::no_resolver, "no-resolver", true, "an ORT file of version 5 or later has no kernel_type_str_resolver",
     "needs none", "refuses the file"},
};
static_assert(std::all_of(std::begin(rows), std::end(rows),
                          [](const oddity_row& row) { return std::size_t(row.id) == std::size_t(&row - rows); }));

}  // namespace

std::span<const oddity_row> oddities() { return rows; }

const oddity_row* oddity_of(std::string_view warning) {
  for (const oddity_row& row : rows)
    if (warning.starts_with(row.name) && warning.substr(row.name.size()).starts_with(": ")) return &row;
  return nullptr;
}

bool is_worth_telling(model& m, oddity of) {
  const std::string more = warning_of(of, "and more of this, {}", row_of(of).what);
  std::size_t told = 0;
  for (const std::string& each : m.warnings) {
    if (each == more) return false;
    told += oddity_of(each) == &row_of(of);
  }
  if (told == most_of_an_oddity) m.warnings.push_back(more);
  return told < most_of_an_oddity;
}

}  // namespace cameo::inline CAMEO_ABI
