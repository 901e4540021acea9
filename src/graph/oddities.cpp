// What cameo is lenient about, in one table: docs/oddities.md has the same rows, and tests/scripts/oddities.py a model
// for each of them, with onnxruntime as the judge.
#include <cameo/graph/model.hpp>

#include "oddities.hpp"

#include <algorithm>
#include <iterator>

CAMEO_BEGIN_NAMESPACE
namespace {

constexpr oddity_row rows[] = {
    {oddity::negative_dim, "negative-dim", false, "a dim of a declared type is negative; Paddle's exporter writes -1",
     "takes it for unknown", "the same"},
    {oddity::other_shape, "other-shape", true,
     "an output or an initializer is declared with another rank or size than it has", "goes by the one that it has",
     "the same, with a warning; it lists such an output as a scalar, or without the size"},
    {oddity::other_shape_between, "other-shape-between", false,
     "value_info declares a value between two nodes with another rank or size than it has; exporters of language "
     "models "
     "write this",
     "goes by the one that it has, and relies on no size that only value_info declares", "the same, with a warning"},
    {oddity::other_shape_in_run, "other-shape-in-run", true,
     "an output is declared with another rank or size than a run finds out", "gives the one that it has; says so once",
     "the same; says so in every run"},
    {oddity::early_constant, "early-constant", false,
     "a Constant holds what its opset does not allow: other types than floats before opset 9, other attributes than "
     "'value' before 12; PyTorch's exporter wrote integers at opset 8",
     "takes it for one of the opset that allows it", "the same"},
    {oddity::output_redeclares_input, "output-redeclares-input", true,
     "an output is an input of the graph, and declared with another type", "goes by the input", "the same, silently"},
    {oddity::initializer_twice, "initializer-twice", true,
     "a file has two initializers of one name; in an .onnx file they are of one type and shape", "takes the last",
     "the same, with a warning"},
    {oddity::no_resolver, "no-resolver", true, "an ORT file of version 5 or later has no kernel_type_str_resolver",
     "needs none", "refuses the file"},
    {oddity::one_name_two_sizes, "one-name-two-sizes", true,
     "dims of inputs that have one name are given two sizes in a run: Paddle's exporter names every open dim '?'",
     "takes each such dim for one of its own, if the name is no word or session.separate_dims is 1; says so once",
     "compares no sizes; where values of such dims share memory, it warns, or ends the run"},
    {oddity::initializer_redeclared, "initializer-redeclared", true,
     "an initializer that is no input is declared with another type", "goes by the initializer", "the same, silently"},
    {oddity::nameless_initializer, "nameless-initializer", true, "an initializer has no name", "leaves it out",
     "the same, silently"},
    {oddity::broken_unused_initializer, "broken-unused-initializer", true,
     "an initializer that nothing reads has not the data that its type and dims need", "leaves it out",
     "the same, with a warning"},
    {oddity::broken_unused_function, "broken-unused-function", true, "a function that nothing calls breaks a rule",
     "keeps it, and checks no more of it", "the same, silently"},
    {oddity::broken_unused_branch, "broken-unused-branch", true,
     "a branch that the constant condition of an If never takes breaks a rule of types or shapes",
     "keeps it, and checks no more of it", "refuses the model"},
    {oddity::opset_twice, "opset-twice", true, "a domain is imported twice, with two opsets", "takes the last",
     "the same, silently"},
    {oddity::opset_below_one, "opset-below-one", true, "an opset below 1 is imported of a domain that no node has",
     "ignores it", "the same, silently"},
    {oddity::opset_missing, "opset-missing", true, "a domain of ONNX or ONNX Runtime has nodes, and is not imported",
     "takes the newest opset that it knows", "the same, silently"},
    {oddity::wide_number, "wide-number", true, "an entry of int32_data or uint64_data does not fit the element type",
     "takes its low bits", "the same, silently"},
    {oddity::data_twice, "data-twice", true, "a tensor has raw_data, and elements in the field of its type",
     "takes raw_data", "the same, silently"},
    {oddity::segment, "segment", true, "a tensor says that it is a segment of another", "takes it for the whole",
     "the same, silently"},
    {oddity::external_length_zero, "external-length-zero", true,
     "external data have a length of 0, and the tensor has elements", "takes as many bytes as the tensor needs",
     "the same, silently"},
    {oddity::sparse_unsorted, "sparse-unsorted", true, "indices of a sparse initializer do not ascend",
     "sorts them; of equal ones the last counts", "the same, silently"},
    {oddity::large_window, "large-window", true,
     "a pooling window is larger than its padded input, by less than two strides",
     "makes no output along that axis, or one if it is by less than one stride", "the same, silently"},
    {oddity::function_named_as_operator, "function-named-as-operator", true,
     "the model has a function with the name of an operator of its opset", "takes the operator", "the same, silently"},
    {oddity::blocked_weights, "blocked-weights", true,
     "weights of convolutions are packed in blocks of 8 or 16 channels, as ONNX Runtime optimized them, and the file "
     "does "
     "not tell which",
     "goes by what counts of channels prove, else by what ONNX Runtime would take here", "takes this processor's size"},
    {oddity::unknown_attribute, "unknown-attribute", true,
     "a node has an attribute that its operator does not have, and ONNX Runtime checks none of that operator's: its "
     "own "
     "generators write 'epsion' to LayerNormalization",
     "ignores it", "the same, silently"},
    {oddity::constant_twice, "constant-twice", true,
     "the main graph has two Constants, or one and an initializer or input, that give one name; they are of one type "
     "and shape",
     "takes the last Constant, which is an input's default", "the same, with a warning"},
    {oddity::constant_attribute, "constant-attribute", true,
     "a Constant of the main graph has an attribute whose name is not that of its kind, as a sparse tensor in 'value', "
     "or several attributes",
     "takes the first for its value", "the same, silently"},
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

CAMEO_END_NAMESPACE
