// Deviations from ONNX that cameo accepts, in one table. docs/oddities.md has the same rows; tests/scripts/oddities.py
// compares a model for each with onnxruntime.
#include <cameo/graph/model.hpp>

#include "oddities.hpp"

#include <algorithm>
#include <iterator>

namespace CAMEO_NAMESPACE {
namespace {

constexpr oddity_row rows[] = {
    {oddity::negative_dim, "negative-dim", false, "a dim of a declared type is negative; Paddle's exporter writes -1",
     "treats it as unknown", "the same"},
    {oddity::other_shape, "other-shape", true,
     "an output or an initializer is declared with another rank or size than it has", "uses the actual one",
     "the same, with a warning; it lists such an output as a scalar, or without the size"},
    {oddity::other_shape_between, "other-shape-between", false,
     "value_info declares a value between two nodes with another rank or size than it has; exporters of language "
     "models "
     "write this",
     "uses the actual one, and relies on no size that only value_info declares", "the same, with a warning"},
    {oddity::other_shape_in_run, "other-shape-in-run", true,
     "an output is declared with another rank or size than it has in a run", "returns the actual one; warns once",
     "the same; warns in every run"},
    {oddity::early_constant, "early-constant", false,
     "a Constant has an attribute or type that its opset does not allow: other types than floats before opset 9, other "
     "attributes than 'value' before 12; PyTorch's exporter wrote integers at opset 8",
     "treats it as one of the opset that allows it", "the same"},
    {oddity::output_redeclares_input, "output-redeclares-input", true,
     "an output is an input of the graph, and declared with another type", "uses the input's type",
     "the same, silently"},
    {oddity::initializer_twice, "initializer-twice", true,
     "a file has two initializers with one name; in an .onnx file they have the same type and shape", "uses the last",
     "the same, with a warning"},
    {oddity::no_resolver, "no-resolver", true, "an ORT file of version 5 or later has no kernel_type_str_resolver",
     "does not need it", "refuses the file"},
    {oddity::one_name_two_sizes, "one-name-two-sizes", true,
     "dims of inputs that have one name get two sizes in a run: Paddle's exporter names every open dim '?'",
     "treats each such dim as a separate one, if the name is not a word or session.separate_dims is 1; warns once",
     "compares no sizes; where values of such dims share memory, it warns, or ends the run"},
    {oddity::initializer_redeclared, "initializer-redeclared", true,
     "an initializer that is not an input is declared with another type", "uses the initializer's type",
     "the same, silently"},
    {oddity::nameless_initializer, "nameless-initializer", true, "an initializer has no name", "leaves it out",
     "the same, silently"},
    {oddity::broken_unused_initializer, "broken-unused-initializer", true,
     "an initializer that nothing reads does not have the data that its type and dims need", "leaves it out",
     "the same, with a warning"},
    {oddity::broken_unused_function, "broken-unused-function", true, "a function that nothing calls breaks a rule",
     "keeps it, and stops checking it", "the same, silently"},
    {oddity::broken_unused_branch, "broken-unused-branch", true,
     "a branch that the constant condition of an If never takes breaks a rule of types or shapes",
     "keeps it, and stops checking it", "refuses the model"},
    {oddity::opset_twice, "opset-twice", true, "a domain is imported twice, with two opsets", "uses the last",
     "the same, silently"},
    {oddity::opset_below_one, "opset-below-one", true, "an opset below 1 is imported for a domain that no node has",
     "ignores it", "the same, silently"},
    {oddity::opset_missing, "opset-missing", true, "a domain of ONNX or ONNX Runtime has nodes, and is not imported",
     "uses the newest opset that it has", "the same, silently"},
    {oddity::wide_number, "wide-number", true, "an entry of int32_data or uint64_data does not fit the element type",
     "uses its low bits", "the same, silently"},
    {oddity::data_twice, "data-twice", true, "a tensor has raw_data, and elements in the field of its type",
     "uses raw_data", "the same, silently"},
    {oddity::segment, "segment", true, "a tensor is marked as a segment of another", "treats it as the whole tensor",
     "the same, silently"},
    {oddity::external_length_zero, "external-length-zero", true,
     "external data has a length of 0, and the tensor has elements", "reads as many bytes as the tensor needs",
     "the same, silently"},
    {oddity::sparse_unsorted, "sparse-unsorted", true, "indices of a sparse initializer do not ascend",
     "sorts them; of equal ones the last counts", "the same, silently"},
    {oddity::large_window, "large-window", true,
     "a pooling window is larger than its padded input, by less than two strides",
     "makes no output along that axis, or one if the window is larger by less than one stride", "the same, silently"},
    {oddity::function_named_as_operator, "function-named-as-operator", true,
     "the model has a function with the name of an operator of its opset", "uses the operator", "the same, silently"},
    {oddity::blocked_weights, "blocked-weights", true,
     "weights of convolutions are packed in blocks of 8 or 16 channels, as ONNX Runtime optimized them, and the file "
     "does not contain which",
     "infers the block size from the numbers of channels, else uses the one that ONNX Runtime would use here",
     "uses this processor's size"},
    {oddity::unknown_attribute, "unknown-attribute", true,
     "a node has an attribute that its operator does not have, and ONNX Runtime does not check attributes of that "
     "operator: its own generators write 'epsion' to LayerNormalization",
     "ignores it", "the same, silently"},
    {oddity::constant_twice, "constant-twice", true,
     "the main graph has two Constants, or a Constant and an initializer or input, with the same output name; they "
     "have the same type and shape",
     "uses the last Constant, which is an input's default", "the same, with a warning"},
    {oddity::constant_attribute, "constant-attribute", true,
     "a Constant of the main graph has an attribute whose name does not fit its kind, as a sparse tensor in 'value', "
     "or several attributes",
     "uses the first as its value", "the same, silently"},
    {oddity::unused_coefficients, "unused-coefficients", true,
     "a LinearClassifier or LinearRegressor has more coefficients than its input's columns need", "ignores the others",
     "the same, silently"},
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

bool should_warn(model& m, oddity id) {
  const std::string more = warning_of(id, "and more of this, {}", row_of(id).what);
  std::size_t given = 0;
  for (const std::string& each : m.warnings) {
    if (each == more) return false;
    given += oddity_of(each) == &row_of(id);
  }
  if (given == most_of_an_oddity) m.warnings.push_back(more);
  return given < most_of_an_oddity;
}

}  // namespace CAMEO_NAMESPACE
