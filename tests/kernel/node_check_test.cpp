// Checks of nodes of plans that come from files.
#include <cameo/kernel/node_check.hpp>
#include <cameo/op/onnx.hpp>

#include <doctest/doctest.h>

#include <vector>

namespace cameo::test {
namespace {

operand tensor(dtype type) {
  operand made;
  made.kind = type_kind::tensor, made.type = type, made.present = true;
  return made;
}
attribute integers(std::string_view name, std::span<const std::int64_t> numbers) {
  attribute made;
  made.name = name, made.kind = attribute_kind::ints, made.ints = numbers;
  return made;
}
attribute integer(std::string_view name, std::int64_t number) {
  attribute made;
  made.name = name, made.kind = attribute_kind::i, made.i = number;
  return made;
}
/// Checks a node of float tensors in one version of its operator.
template <class Op>
status check(std::size_t version, std::size_t inputs, std::span<const attribute> attributes) {
  const std::vector<operand> in(inputs, tensor(dtype::f32)), out(1, tensor(dtype::f32));
  const op_row row = detail::make_op_row<Op>();
  return check_node(row.versions[version], row.roles, {row.id, row.versions[version].since, in, out}, attributes);
}

}  // namespace

TEST_CASE("a node has no attribute that its version lacks, even if others have it") {
  constexpr std::int64_t two[] = {2, 2}, zero[] = {0, 0};
  const attribute kernel = integers("kernel_shape", two), dilations = integers("dilations", zero);
  const attribute both[] = {kernel, dilations};
  CHECK(check<op::AveragePool>(0, 1, {&kernel, 1}));
  const status refused = check<op::AveragePool>(0, 1, both);
  CHECK(refused.code() == status_code::invalid_graph);
  CHECK(refused.words().find("dilations") != std::string_view::npos);
  const attribute hint[] = {kernel, integer("__hint", 1)};  // a name for programs that write models
  CHECK(check<op::AveragePool>(0, 1, hint));
  const attribute any = integer("no_such", 1);  // ONNX Runtime loads such files
  CHECK(check<op::LayerNormalization>(0, 2, {&any, 1}));
}

}  // namespace cameo::test
