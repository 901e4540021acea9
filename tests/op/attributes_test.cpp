#include <doctest/doctest.h>
#include <cameo/op/attributes/contrib.hpp>
#include <cameo/op/attributes/microsoft.hpp>
#include <cameo/op/attributes/ml.hpp>
#include <cameo/op/attributes/nchwc.hpp>
#include <cameo/op/attributes/onnx.hpp>
#include <cameo/op/attributes/preview.hpp>
#include <cameo/op/attributes/training.hpp>
#include <cameo/op/onnx.hpp>
#include <cameo/op/value_type.hpp>

#include <algorithm>

namespace attribute_structs {

using namespace cameo;

template <class Op>
constexpr attributes_of<Op> none{};

constexpr attribute number(std::string_view name, std::int64_t i) {
  return {.name = name, .kind = attribute_kind::i, .i = i};
}
constexpr attribute real(std::string_view name, float f) { return {.name = name, .kind = attribute_kind::f, .f = f}; }
constexpr attribute text(std::string_view name, std::string_view s) {
  return {.name = name, .kind = attribute_kind::s, .s = s};
}
constexpr attribute list(std::string_view name, std::span<const std::int64_t> ints) {
  return {.name = name, .kind = attribute_kind::ints, .ints = ints};
}

// The defaults are those of the schemas.
static_assert(none<op::Conv>.group == 1 && none<op::Conv>.auto_pad == op::auto_pad_choice::notset);
static_assert(!none<op::Conv>.strides.given && none<op::Conv>.strides.empty());
static_assert(none<op::Gemm>.alpha == 1 && none<op::Gemm>.beta == 1 && none<op::Gemm>.transA == 0);
static_assert(none<op::LeakyRelu>.alpha == 0.01f && none<op::HardSigmoid>.alpha == 0.2f);
static_assert(none<op::Flatten>.axis == 1 && none<op::TopK>.axis == -1 && none<op::TensorScatter>.axis == -2);
static_assert(none<op::LRN>.bias == 1 && none<op::BatchNormalization>.epsilon == 1e-5f);
static_assert(none<op::Resize>.mode == op::grid_sample_mode_choice::nearest);
static_assert(none<op::microsoft::CDist>.metric == "sqeuclidean");
static_assert(none<op::LSTM>.direction == op::direction_choice::forward && !none<op::LSTM>.clip);
static_assert(none<op::ReduceSum>.keepdims == 1 && none<op::RandomNormal>.dtype == std::int64_t(dtype::f32));
static_assert(none<op::Constant>.value == nullptr && !none<op::Constant>.value_int);
static_assert(none<op::Optional>.type == nullptr && none<op::If>.then_branch == subgraph_index::none);
static_assert(none<op::ml::Normalizer>.norm == op::norm_choice::max);
static_assert(none<op::ml::LabelEncoder>.default_int64 == -1 && none<op::ml::LabelEncoder>.default_string == "_Unused");
static_assert(none<op::microsoft::QuickGelu>.alpha == 1.702f && none<op::microsoft::MatMulNBits>.bits == 4);
static_assert(none<op::contrib::Affine>.alpha == 1 && none<op::nchwc::Conv>.group == 1);
static_assert(none<op::training::Adam>.beta == 0.999f && !none<op::preview::FlexAttention>.scale);

// A default that changed with a version is not in the struct.
static_assert(!none<op::Softmax>.axis && !none<op::Concat>.axis && !none<op::Split>.axis);

// Operators with equal attributes share a struct, and the compiler can read one.
static_assert(std::same_as<attributes_of<op::Squeeze>, attributes_of<op::Unsqueeze>>);
constexpr std::int64_t pair[] = {2, 3};
constexpr attribute conv_node[] = {list("strides", pair), number("group", 4), text("auto_pad", "SAME_LOWER")};
constexpr attributes_of<op::Conv> conv{conv_node};
static_assert(conv.group == 4 && conv.auto_pad == op::auto_pad_choice::same_lower);
static_assert(conv.strides.given && conv.strides.size() == 2 && conv.strides[1] == 3 && !conv.pads.given);

enum class edge : std::uint8_t { keep, wrap };

}  // namespace attribute_structs

template <>
inline constexpr const char* cameo::choice_names<attribute_structs::edge> = "KEEP|WRAP";

namespace attribute_structs {

/// An operator of a user.
struct Smooth {
  struct attributes {
    std::int64_t width = 3;
    float weight = 0.5f;
    edge at_edge = edge::wrap;
    std::optional<std::int64_t> axis;
    attribute_list<std::string_view> names;

    constexpr explicit attributes(std::span<const attribute> node) {
      read_attribute(node, "width", width);
      read_attribute(node, "weight", weight);
      read_attribute(node, "edge", at_edge);
      read_attribute(node, "axis", axis);
      read_attribute(node, "names", names);
    }
  };
};

TEST_CASE("a struct of attributes has a member of each kind") {
  const float rates[] = {0.5f, 2};
  const std::string_view words[] = {"a", "b"};
  const std::int64_t three = 3;
  const value tensor = value::tensor<std::int64_t>({}, std::span{&three, 1});
  const value_type type = value_type::tensor(dtype::i32);
  const value_type* const types[] = {&type};

  const attribute constant[] = {{.name = "value", .kind = attribute_kind::t, .tensors = {&tensor, 1}},
                                {.name = "value_floats", .kind = attribute_kind::floats, .floats = rates},
                                {.name = "value_strings", .kind = attribute_kind::strings, .strings = words},
                                list("value_ints", pair),
                                number("value_int", 7),
                                real("value_float", 1.5f),
                                text("value_string", "word")};
  const attributes_of<op::Constant> a{constant};
  CHECK(a.value == &tensor);
  CHECK(a.sparse_value == nullptr);
  CHECK(std::ranges::equal(a.value_floats, rates));
  CHECK(std::ranges::equal(a.value_strings, words));
  CHECK(std::ranges::equal(a.value_ints, pair));
  CHECK(a.value_int == 7);
  CHECK(a.value_float == 1.5f);
  CHECK(a.value_string == "word");

  const attribute optional[] = {{.name = "type", .kind = attribute_kind::type_proto, .types = types}};
  CHECK(attributes_of<op::Optional>{optional}.type == &type);
  const attribute branches[] = {{.name = "else_branch", .kind = attribute_kind::g, .i = 0},
                                {.name = "then_branch", .kind = attribute_kind::g, .i = 1}};
  const attributes_of<op::If> branch{branches};
  CHECK(branch.else_branch == subgraph_index(0));
  CHECK(branch.then_branch == subgraph_index(1));
  CHECK(attributes_of<op::If>{{}}.else_branch == subgraph_index::none);
}

TEST_CASE("an attribute that the node does not have, or has with another kind, keeps its default") {
  const attribute odd[] = {real("group", 4),         number("auto_pad", 1), number("strides", 2),
                           text("kernel_shape", ""), list("dilations", {}), text("unheard_of", "")};
  const attributes_of<op::Conv> a{odd};
  CHECK(a.group == 1);
  CHECK(a.auto_pad == op::auto_pad_choice::notset);
  CHECK(!a.strides.given);
  CHECK(!a.kernel_shape.given);
  CHECK(a.dilations.given);
  CHECK(a.dilations.empty());

  const attribute clip[] = {number("min", 1), real("max", 6)};
  CHECK(!attributes_of<op::Clip>{clip}.min);
  CHECK(attributes_of<op::Clip>{clip}.max == 6.0f);
  const attribute empty[] = {{.name = "value", .kind = attribute_kind::t},
                             {.name = "type", .kind = attribute_kind::type_proto}};
  CHECK(attributes_of<op::ConstantOfShape>{empty}.value == nullptr);
  CHECK(attributes_of<op::Optional>{empty}.type == nullptr);
}

TEST_CASE("an attribute whose kind changed with a version has two members") {
  const attribute named[] = {text("to", "FLOAT")}, numbered[] = {number("to", 7)};
  CHECK(attributes_of<op::Cast>{named}.to_string == "FLOAT");
  CHECK(attributes_of<op::Cast>{named}.to == 0);
  CHECK(attributes_of<op::Cast>{numbered}.to == 7);
  const attribute power[] = {real("p", 3)};
  CHECK(attributes_of<op::LpPool>{power}.p_float == 3.0f);
  CHECK(attributes_of<op::LpPool>{power}.p == 2);
}

TEST_CASE("a string with listed values is an enumeration") {
  const auto reduction_of = [](std::string_view name) {
    const attribute node[] = {text("reduction", name)};
    return attributes_of<op::ScatterND>{node}.reduction;
  };
  using reduction = op::scatter_elements_reduction_choice;
  CHECK(reduction_of("none") == reduction::none);
  CHECK(reduction_of("add") == reduction::add);
  CHECK(reduction_of("max") == reduction::max);
  CHECK(reduction_of("ma") == reduction::none);                  // refused when the model is loaded
  const attribute misspelled[] = {text("direction", "foward")};  // legal in the first version of GRU
  CHECK(attributes_of<op::GRU>{misspelled}.direction == op::direction_choice::forward);
}

TEST_CASE("a struct reads nodes of other operators by the names of attributes") {
  const attribute node[] = {number("axis", 2), number("keepdims", 0)};
  CHECK(attributes_of<op::Gather>{node}.axis == 2);
  CHECK(attributes_of<op::ReduceMax>{node}.keepdims == 0);
}

TEST_CASE("an operator of a user declares its struct") {
  constexpr attributes_of<Smooth> usual{{}};
  static_assert(usual.width == 3 && usual.weight == 0.5f && usual.at_edge == edge::wrap && !usual.axis);
  const std::string_view words[] = {"x"};
  const attribute node[] = {number("width", 5),
                            real("weight", 0.25f),
                            text("edge", "KEEP"),
                            number("axis", 0),
                            {.name = "names", .kind = attribute_kind::strings, .strings = words}};
  const attributes_of<Smooth> a{node};
  CHECK(a.width == 5);
  CHECK(a.weight == 0.25f);
  CHECK(a.at_edge == edge::keep);
  CHECK(a.axis == 0);
  CHECK(a.names.given);
  CHECK(std::ranges::equal(a.names, words));
}

TEST_CASE("reading one attribute says whether the node has it") {
  const attribute node[] = {number("axis", 2), text("mode", "edge")};
  std::int64_t axis = 9;
  CHECK(read_attribute(node, "axis", axis));
  CHECK(axis == 2);
  CHECK(!read_attribute(node, "axes", axis));
  CHECK(!read_attribute(node, "mode", axis));
  CHECK(axis == 2);
  std::optional<op::pad_mode_choice> mode;
  CHECK(read_attribute(node, "mode", mode));
  CHECK(mode == op::pad_mode_choice::edge);
}

}  // namespace attribute_structs
