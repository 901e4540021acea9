#include <cameo/op/microsoft.hpp>
#include <cameo/op/ml.hpp>
#include <cameo/op/onnx.hpp>
#include <cameo/op/training.hpp>
#include <cameo/transform/transform.hpp>

#include <doctest/doctest.h>
#include <cameo/op/function_bodies.hpp>

#include <algorithm>
#include <iterator>

using namespace cameo;

namespace {

template <declared_op Op>
constexpr bool since_versions_are(std::initializer_list<int> expected) {
  return std::ranges::equal(Op::versions, expected, {}, &op_version::since);
}

constexpr const type_rule* rule_of(const op_version& v, std::string_view type_string) {
  for (const type_rule& rule : v.types)
    if (rule.type_string == type_string) return &rule;
  return nullptr;
}

constexpr const attribute_rule* attribute_of(const op_version& v, std::string_view name) {
  for (const attribute_rule& rule : v.attributes)
    if (rule.name == name) return &rule;
  return nullptr;
}

constexpr op_row add = detail::make_op_row<op::Add>(), conv = detail::make_op_row<op::Conv>(),
                 loop = detail::make_op_row<op::Loop>();

static_assert(since_versions_are<op::Add>({1, 6, 7, 13, 14}));
static_assert(!add.at(0) && add.at(1)->since == 1 && add.at(12)->since == 7 && add.at(1000)->since == 14);
static_assert(rule_of(*add.at(14), "T")->tensors ==
              mask_of<std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t, std::int8_t, std::int16_t,
                      std::int32_t, std::int64_t, float16, float, double, bfloat16>);
static_assert(rule_of(*add.at(7), "T")->tensors ==
              mask_of<std::uint32_t, std::uint64_t, std::int32_t, std::int64_t, float16, float, double>);
static_assert(add.at(14)->inputs.size() == 2 && add.at(14)->inputs[1].name == "B" && add.at(14)->min_inputs == 2);

static_assert(conv.at(11)->inputs[2].option == parameter_option::optional && conv.at(11)->min_inputs == 2);
static_assert(attribute_of(*conv.at(11), "auto_pad")->default_string == "NOTSET");
static_assert(attribute_of(*conv.at(11), "group")->has_default &&
              attribute_of(*conv.at(11), "group")->default_int == 1);
static_assert(!attribute_of(*conv.at(11), "strides")->has_default);
static_assert(attribute_of(*detail::make_op_row<op::LRN>().at(13), "alpha")->default_float == 0.0001F);
static_assert(attribute_of(*detail::make_op_row<op::Concat>().at(13), "axis")->required);

static_assert(loop.at(11)->inputs[2].option == parameter_option::variadic && !loop.at(11)->inputs[2].homogeneous &&
              loop.at(11)->inputs[2].min_arity == 0);
static_assert(detail::has_role(op::Loop::roles, role::has_subgraphs) &&
              detail::has_role(op::If::roles, role::has_subgraphs));
static_assert(detail::has_role(op::RandomNormal::roles, role::is_random) &&
              detail::has_role(op::Constant::roles, role::is_constant));
static_assert(detail::has_role(op::microsoft::EPContext::roles, role::is_compiled_context));
static_assert(detail::has_role(op::training::Gradient::roles, role::needs_training));
static_assert(!detail::has_roles<op::MatMul> && detail::make_op_row<op::MatMul>().roles == role::none);
static_assert(add.roles == (role::broadcasts | role::commutes) && !detail::has_role(op::Sub::roles, role::commutes));
static_assert(detail::has_role(op::Swish::roles, role::is_pointwise) &&
              detail::has_role(op::StringConcat::roles, role::broadcasts));
static_assert(!detail::has_roles<op::SwiGLU> &&
              !detail::has_roles<op::PRelu>);  // one requires equal shapes, one broadcasts in one direction only
static_assert(detail::has_role(op::ReduceL1::roles, role::reduces) && !detail::has_roles<op::ArgMax>);
static_assert(op::Squeeze::roles == (role::moves | role::permutes | role::reshapes));
static_assert(op::Transpose::roles == (role::moves | role::permutes) && op::Gather::roles == role::moves);

// A parameter's type may be its own type string; it has a rule like others.
static_assert(rule_of(*detail::make_op_row<op::Reshape>().at(14), "tensor(int64)")->tensors == mask_of<std::int64_t>);
static_assert(rule_of(*detail::make_op_row<op::SequenceAt>().at(11), "S")->sequences & detail::bit_of(dtype::f32));
static_assert(rule_of(*detail::make_op_row<op::Optional>().at(15), "O")->optional_sequences &
              detail::bit_of(dtype::string));
static_assert(detail::make_op_row<op::Upsample>().at(10)->deprecated &&
              !detail::make_op_row<op::Upsample>().at(9)->deprecated);
static_assert(op::ml::LabelEncoder::domain == "ai.onnx.ml" && op::microsoft::FusedConv::domain == "com.microsoft");

/// The numbers of operators and of versions in a domain.
std::pair<std::ptrdiff_t, std::size_t> counts(std::string_view domain) {
  std::pair<std::ptrdiff_t, std::size_t> found{};
  for (const op_row& row : detail::standard_ops())
    if (row.domain == domain) ++found.first, found.second += row.versions.size();
  return found;
}

}  // namespace

TEST_CASE("the standard operators are those of the schemas") {
  CHECK(detail::standard_ops().size() == 398);
  // ONNX's own operators and those that ONNX Runtime adds: SimplifiedLayerNormalization, LayerNormalization before
  // opset 17, and of ONNX's experiments until opset 10 seven that were removed (each with the version that ends it) and
  // two that were not.
  CHECK(counts("") == std::pair{std::ptrdiff_t{203 + 1 + 7}, std::size_t{629 + 2 + 2 * 7 + 2}});
  CHECK(counts("ai.onnx.ml") == std::pair{std::ptrdiff_t{19}, std::size_t{25}});
  CHECK(counts("ai.onnx.preview") == std::pair{std::ptrdiff_t{1}, std::size_t{1}});
  CHECK(counts("ai.onnx.preview.training") == std::pair{std::ptrdiff_t{4}, std::size_t{4}});
  CHECK(counts("com.microsoft") == std::pair{std::ptrdiff_t{136}, std::size_t{136}});
  CHECK(counts("com.microsoft.nchwc") == std::pair{std::ptrdiff_t{8}, std::size_t{8}});
  CHECK(counts("com.ms.internal.nhwc") == std::pair{std::ptrdiff_t{19}, std::size_t{41}});
}

TEST_CASE("every operator is complete: versions ascend, every parameter has a rule, minimums fit, infer is set") {
  for (const op_row& row : detail::standard_ops()) {
    CAPTURE(row.name);
    CHECK(row.id == detail::make_op_id(row.domain, row.name));
    CHECK((row.infer != nullptr));
    CHECK(!row.versions.empty());
    CHECK(std::ranges::is_sorted(row.versions, std::ranges::less_equal{}, &op_version::since));
    for (const op_version& v : row.versions) {
      CAPTURE(v.since);
      for (std::span<const parameter> side : {v.inputs, v.outputs})
        for (const parameter& p : side) CHECK(rule_of(v, p.type_string));
      for (const type_rule& r : v.types)
        CHECK((r.tensors | r.sequences | r.optionals | r.optional_sequences | r.sparse_tensors | r.maps) != 0);
      const bool many = !v.inputs.empty() && v.inputs.back().option == parameter_option::variadic;
      CHECK((many || v.min_inputs <= v.inputs.size()));
    }
  }
}

TEST_CASE("an operator is found by domain and name together") {
  const op_row* found = detail::find_op(detail::standard_ops(), "", "Add");
  REQUIRE(found);
  CHECK(found->id == detail::op_id_of<op::Add>);
  CHECK(found->versions.data() == op::Add::versions);
  CHECK((found->infer != &detail::infer_nothing));
  CHECK(detail::find_op(detail::standard_ops(), "com.microsoft", "FusedConv"));
  CHECK(detail::find_op(detail::standard_ops(), "ai.onnx.ml", "TreeEnsemble"));
  CHECK(!detail::find_op(detail::standard_ops(), "com.microsoft", "Add"));
  CHECK(!detail::find_op(detail::standard_ops(), "ai.onnx", "Add"));
  CHECK(!detail::find_op(detail::standard_ops(), "", "add"));
}

TEST_CASE("domains have a newest opset, and no operator is newer") {
  for (const detail::domain_row& domain : detail::standard_domains())
    for (const op_row& row : detail::standard_ops())
      if (row.domain == domain.name) CHECK(row.versions.back().since <= domain.newest_opset);
  CHECK(detail::standard_domains()[0].name.empty());
  CHECK(detail::standard_domains()[0].newest_opset == 28);
}

TEST_CASE("function bodies belong to versions that exist") {
  CHECK(standard_function_bodies().size() == 43);
  for (const function_body_row& body : standard_function_bodies()) {
    const auto row = std::ranges::find(detail::standard_ops(), body.op, &op_row::id);
    REQUIRE(row != detail::standard_ops().end());
    CAPTURE(row->name);
    CHECK(std::ranges::count(row->versions, body.since, &op_version::since) == 1);
    CHECK(body.graph.name == row->name);
    for (const function_body_row::node_row& n : body.graph.nodes) {
      CAPTURE(n.op_type);
      CHECK(std::ranges::any_of(detail::standard_ops(),
                                [&](const op_row& op) { return op.domain == "" && op.name == n.op_type; }));
    }
  }
  const auto by_id = [](const function_body_row& row) { return row.op; };
  CHECK(std::ranges::count(standard_function_bodies(), detail::op_id_of<op::MeanVarianceNormalization>, by_id) == 3);
  CHECK(std::ranges::count(standard_function_bodies(), detail::op_id_of<op::Relu>, by_id) == 1);
}
