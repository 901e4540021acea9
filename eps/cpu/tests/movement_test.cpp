#include <cameo/graph/model.hpp>

#include "run_kernel.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

using namespace cameo;
using cameo::test::elements_of;
using cameo::test::floats;
using cameo::test::ints;
using cameo::test::model_run;
using cameo::test::scalar;

namespace {

constexpr std::int64_t lowest_int64 = std::numeric_limits<std::int64_t>::min(), highest_int64 = -(lowest_int64 + 1);

any_value numbers(const extents& shape, const ints& n) { return any_value::tensor<std::int64_t>(shape, n); }
any_value list(const ints& n) { return numbers({std::int64_t(n.size())}, n); }
any_value reals(const extents& shape, const floats& f) { return any_value::tensor<float>(shape, f); }
/// The numbers 0, 1, 2, ... in this shape.
any_value counting(const extents& shape) {
  floats f(std::size_t(shape.count()));
  for (std::size_t i = 0; i < f.size(); ++i) f[i] = float(i);
  return reals(shape, f);
}

/// A model of one node with inputs a, b, c, ... (an empty value leaves one out) and outputs y, z.
struct one_node {
  model_run model;
  std::vector<std::string_view> in;
  one_node(std::int64_t opset, std::initializer_list<any_value> inputs) : model{opset} {
    static constexpr std::string_view names[] = {"a", "b", "c", "d", "e"};
    for (const any_value& v : inputs) {
      in.push_back(v ? names[in.size()] : std::string_view{});
      if (v) model.input(in.back(), v);
    }
  }
  template <class A>
  one_node& set(std::string_view name, const A& a) {
    return model.set(name, a), *this;
  }
  result<named_values> operator()(std::string_view op, std::size_t outputs = 1) {
    std::vector<std::string_view> out{"y", "z"};
    out.resize(outputs);
    model.node(op, in, out);
    return model.run(out);
  }
};

bool refused(const result<named_values>& r, std::string_view words) {
  if (r) return false;
  INFO(r.error().words());
  const bool right_code = r.error().code() == status_code::invalid_argument ||
                          r.error().code() == status_code::invalid_graph ||
                          r.error().code() == status_code::out_of_memory;
  CHECK(right_code);
  CHECK(r.error().words().find(words) != std::string_view::npos);
  return right_code;
}
template <class T>
void gives(const result<named_values>& r, const extents& shape, const std::vector<T>& want, std::size_t output = 0) {
  INFO((r ? std::string_view{} : r.error().words()));
  REQUIRE(r);
  CHECK((*r)[output].value.shape() == shape);
  CHECK(elements_of<T>((*r)[output].value) == want);
}

}  // namespace

TEST_CASE("Reshape keeps sizes for 0, fills in one -1, and refuses what does not fit") {
  gives<float>(one_node(13, {counting({2, 3}), list({0, -1, 1})})("Reshape"), {2, 3, 1}, {0, 1, 2, 3, 4, 5});
  gives<float>(one_node(14, {reals({0, 3}, {}), list({3, 0})}).set("allowzero", std::int64_t{1})("Reshape"), {3, 0},
               {});
  gives<float>(one_node(13, {counting({1}), list({})})("Reshape"), {}, {0});
  CHECK(refused(one_node(13, {reals({0, 4}, {}), list({0, -1})})("Reshape"), "-1 beside a size of 0"));
  CHECK(refused(one_node(13, {counting({2, 3}), list({-1, -1})})("Reshape"), "must have it once"));
  CHECK(refused(one_node(13, {counting({2, 3}), list({-1, 4})})("Reshape"), "must have a multiple of 4 elements"));
  CHECK(refused(one_node(13, {counting({2, 3}), list({2, 3, 0})})("Reshape"), "shape has 0 at 2"));
  CHECK(refused(one_node(13, {counting({2, 3}), list({highest_int64, highest_int64})})("Reshape"),
                "more elements than 64 bits count"));
  CHECK(refused(one_node(13, {counting({2, 3}), list({-2, 3})})("Reshape"), "has -2 at 0"));
  CHECK(refused(one_node(13, {counting({1}), list(ints(13, 1))})("Reshape"), "rank"));
}

TEST_CASE("Squeeze and Unsqueeze take axes as attribute or as input") {
  gives<float>(one_node(11, {counting({1, 2, 1})}).set("axes", ints{-1})("Squeeze"), {1, 2}, {0, 1});
  gives<float>(one_node(13, {counting({1, 2, 1}), {}})("Squeeze"), {2}, {0, 1});
  gives<float>(one_node(13, {counting({2}), list({-1, 0})})("Unsqueeze"), {1, 2, 1}, {0, 1});
  CHECK(refused(one_node(13, {counting({2}), list({0})})("Squeeze"), "must have 1"));
  CHECK(refused(one_node(13, {counting({2}), list({0, 0})})("Unsqueeze"), "twice"));
  CHECK(refused(one_node(13, {counting({2}), list({4})})("Unsqueeze"), "axes is 4"));
  CHECK(
      refused(one_node(13, {counting({2}), list({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11})})("Unsqueeze"), "has rank 13"));
}

TEST_CASE("Slice clamps its ends to the axis, also at the limits of int64") {
  const any_value x = counting({5});
  gives<float>(one_node(13, {x, list({lowest_int64}), list({highest_int64}), {}, list({3})})("Slice"), {2}, {0, 3});
  gives<float>(one_node(13, {x, list({highest_int64}), list({lowest_int64}), {}, list({-2})})("Slice"), {3}, {4, 2, 0});
  gives<float>(one_node(13, {x, list({-1}), list({lowest_int64}), {}, list({lowest_int64})})("Slice"), {1}, {4});
  gives<float>(one_node(13, {x, list({1}), list({highest_int64}), {}, list({highest_int64})})("Slice"), {1}, {1});
  gives<float>(one_node(13, {x, list({3}), list({2})})("Slice"), {0}, {});
  gives<float>(one_node(13, {reals({0}, {}), list({-1}), list({-5}), {}, list({-1})})("Slice"), {0}, {});
  gives<float>(
      one_node(9, {counting({2, 3})}).set("starts", ints{1}).set("ends", ints{9}).set("axes", ints{1})("Slice"), {2, 2},
      {1, 2, 4, 5});
  CHECK(refused(one_node(13, {x, list({0}), list({2}), {}, list({0})})("Slice"), "step"));
  CHECK(refused(one_node(13, {x, list({0}), list({2}), list({1})})("Slice"), "axes is 1"));
  CHECK(refused(one_node(13, {x, list({0, 0}), list({2, 2}), list({0, 0})})("Slice"), "axes lists axis 0 twice"));
  CHECK(refused(one_node(13, {x, list({0}), list({2, 2})})("Slice"), "ends has 2 elements"));
}

TEST_CASE("Indices count from the end when negative, and never leave their axis") {
  gives<float>(one_node(13, {counting({3, 2}), list({-1, 0})})("Gather"), {2, 2}, {4, 5, 0, 1});
  gives<float>(one_node(13, {reals({0, 2}, {}), list({})})("Gather"), {0, 2}, {});
  gives<float>(one_node(13, {counting({3}), scalar(-3)})("Gather"), {}, {0});
  for (std::int64_t bad : {std::int64_t{3}, std::int64_t{-4}, lowest_int64, highest_int64}) {
    CHECK(refused(one_node(13, {counting({3}), list({0, bad})})("Gather"), "indices"));
    CHECK(refused(one_node(13, {counting({3}), list({0, bad})})("GatherElements"), "indices"));
    CHECK(refused(one_node(13, {counting({3}), numbers({1, 1}, {bad})})("GatherND"), "indices"));
    CHECK(refused(one_node(18, {counting({3}), list({bad}), reals({1}, {9})})("ScatterElements"), "indices"));
    CHECK(refused(one_node(18, {counting({3}), numbers({1, 1}, {bad}), reals({1}, {9})})("ScatterND"), "indices"));
  }
  CHECK(refused(one_node(13, {reals({0}, {}), list({0})})("Gather"), "indices has 0"));
  CHECK(refused(
      one_node(13, {counting({2, 2}), numbers({3, 1}, {0, 0, 0})}).set("axis", std::int64_t{1})("GatherElements"),
      "must have 2 or less"));
  CHECK(refused(one_node(13, {counting({2}), numbers({1, 2}, {0, 0})})("GatherND"),
                "along its last axis, must have 1 or less"));
  gives<float>(one_node(13, {counting({2, 2}), numbers({2, 0}, {})})("GatherND"), {2, 2, 2}, {0, 1, 2, 3, 0, 1, 2, 3});
}

TEST_CASE("Scatters combine in order, also when one value is data and updates") {
  gives<float>(
      one_node(18, {counting({3}), list({1, 1, 1}), reals({3}, {1, 2, 3})}).set("reduction", "add")("ScatterElements"),
      {3}, {0, 7, 2});
  gives<std::int64_t>(
      one_node(18, {list({highest_int64}), list({0}), list({2})}).set("reduction", "mul")("ScatterElements"), {1},
      {-2});
  const float nan = std::nanf("");
  const auto r =
      one_node(18, {reals({1}, {1}), list({0}), reals({1}, {nan})}).set("reduction", "max")("ScatterElements");
  REQUIRE(r);
  CHECK(std::isnan((*r)[0].value.as_unchecked<float>()[0]));
  model_run twice{18};
  twice.input("x", counting({4})).input("i", numbers({4, 1}, {3, 2, 1, 0}));
  twice.node("Neg", {"x"}, {"n"}).node("ScatterND", {"n", "i", "n"}, {"y"});
  gives<float>(twice.run({"y"}), {4}, {-3, -2, -1, 0});
  CHECK(refused(one_node(18, {counting({3}), list({0}), reals({2}, {1, 2})})("ScatterElements"),
                "updates has shape [2], must be [1]"));
}

TEST_CASE("Pad adds, crops and repeats along every axis") {
  gives<float>(one_node(13, {counting({3}), list({2, -1}), reals({}, {9})})("Pad"), {4}, {9, 9, 0, 1});
  gives<float>(one_node(13, {counting({3}), list({5, 4})}).set("mode", "reflect")("Pad"), {12},
               {1, 0, 1, 2, 1, 0, 1, 2, 1, 0, 1, 2});
  gives<float>(one_node(19, {counting({3}), list({2, 4})}).set("mode", "wrap")("Pad"), {9},
               {1, 2, 0, 1, 2, 0, 1, 2, 0});
  gives<float>(one_node(13, {counting({2, 2}), list({1, 0, -1, 1})}).set("mode", "edge")("Pad"), {2, 3},
               {0, 1, 1, 0, 1, 1});
  gives<float>(one_node(18, {counting({1, 2}), list({1, 1}), {}, list({-1})})("Pad"), {1, 4}, {0, 0, 1, 0});
  gives<float>(one_node(2, {counting({2})}).set("pads", ints{0, 1})("Pad"), {3}, {0, 1, 0});
  CHECK(refused(one_node(13, {counting({3}), list({-2, -2})})("Pad"), "must not remove more"));
  CHECK(refused(one_node(13, {counting({3}), list({highest_int64, highest_int64})})("Pad"), ""));
  CHECK(refused(one_node(13, {counting({3}), list({lowest_int64, 0})})("Pad"), "must not remove more"));
  CHECK(refused(one_node(13, {reals({0}, {}), list({1, 0})}).set("mode", "edge")("Pad"),
                "must have 1 or more to repeat"));
  CHECK(refused(one_node(13, {counting({3}), list({1})})("Pad"), "pads has 1 elements, must have 2"));
}

TEST_CASE("Invalid sizes are refused, not multiplied") {
  CHECK(refused(one_node(13, {counting({2}), list({highest_int64})})("Tile"), ""));
  CHECK(refused(one_node(13, {counting({2}), list({-1})})("Tile"), "repeats has -1"));
  gives<float>(one_node(13, {counting({2}), list({0})})("Tile"), {0}, {});
  gives<float>(one_node(13, {counting({1, 2}), list({2, 2})})("Tile"), {2, 4}, {0, 1, 0, 1, 0, 1, 0, 1});
  gives<float>(one_node(1, {counting({2}), reals({}, {2}), reals({}, {0})})("Tile"), {4}, {0, 1, 0, 1});
  CHECK(refused(one_node(13, {counting({2}), list({3})})("Expand"), "broadcast"));
  CHECK(refused(one_node(13, {counting({1}), list({highest_int64, highest_int64})})("Expand"), ""));
  gives<float>(one_node(13, {counting({2, 1}), list({0})})("Expand"), {2, 0}, {});
  CHECK(refused(one_node(13, {list({highest_int64, highest_int64})})("ConstantOfShape"), ""));
  CHECK(refused(one_node(13, {list({-1})})("ConstantOfShape"), "shape is -1"));
  gives<float>(one_node(13, {list({})})("ConstantOfShape"), {}, {0});
  CHECK(refused(one_node(13, {scalar(1), scalar(5), scalar(0)})("Range"), "delta is 0"));
  CHECK(refused(one_node(13, {scalar(lowest_int64), scalar(highest_int64), scalar(1)})("Range"), ""));
  gives<std::int64_t>(one_node(13, {scalar(highest_int64 - 1), scalar(highest_int64), scalar(highest_int64)})("Range"),
                      {1}, {highest_int64 - 1});
  gives<std::int64_t>(one_node(13, {scalar(0), scalar(-5), scalar(-2)})("Range"), {3}, {0, -2, -4});
  CHECK(refused(one_node(13, {reals({}, {0}), reals({}, {INFINITY}), reals({}, {1})})("Range"), ""));
}

TEST_CASE("Split and Concat check the sizes along their axis") {
  gives<float>(one_node(18, {counting({5}), {}}).set("num_outputs", std::int64_t{2})("Split", 2), {2}, {3, 4}, 1);
  gives<float>(one_node(13, {counting({3}), list({0, 3})})("Split", 2), {0}, {});
  gives<float>(one_node(11, {counting({3})}).set("split", ints{1, 2})("Split", 2), {2}, {1, 2}, 1);
  CHECK(refused(one_node(13, {counting({3}), list({1, 1})})("Split", 2), "add up"));
  CHECK(refused(one_node(13, {counting({3}), list({highest_int64, 4})})("Split", 2), "more than 64 bits"));
  CHECK(refused(one_node(13, {counting({3}), list({-1, 4})})("Split", 2), "split has a size of -1"));
  gives<float>(one_node(3, {counting({1, 1}), counting({1, 2})})("Concat"), {1, 3}, {0, 0, 1});
  gives<float>(one_node(13, {reals({0, 2}, {}), counting({1, 2})}).set("axis", std::int64_t{0})("Concat"), {1, 2},
               {0, 1});
  CHECK(refused(one_node(13, {counting({1, 1}), counting({1, 2})}).set("axis", std::int64_t{0})("Concat"),
                "has 2 elements along axis 1, must have 1"));
}

TEST_CASE("Sorting has a total order") {
  const float nan = std::nanf("");
  gives<std::int64_t>(one_node(13, {reals({4}, {1, nan, 2, 1}), list({3})})("TopK", 2), {3}, {1, 2, 0}, 1);
  gives<std::int64_t>(one_node(13, {reals({4}, {1, nan, 2, 1}), list({4})}).set("largest", std::int64_t{0})("TopK", 2),
                      {4}, {0, 3, 2, 1}, 1);
  gives<float>(one_node(13, {counting({2, 2}), list({0})})("TopK", 2), {2, 0}, {});
  CHECK(refused(one_node(13, {counting({2}), list({3})})("TopK", 2), "K is 3"));
  CHECK(refused(one_node(13, {counting({2}), list({-1})})("TopK", 2), "K is -1"));
  gives<std::int64_t>(one_node(13, {reals({4}, {nan, 1, nan, 1})})("Unique", 2), {2}, {1, 0}, 1);
  gives<float>(one_node(13, {reals({4}, {3, 1, 3, 2})}).set("sorted", std::int64_t{0})("Unique"), {3}, {3, 1, 2});
  gives<float>(one_node(13, {reals({0}, {})})("Unique"), {0}, {});
}

TEST_CASE("Selections from empty tensors and scalars") {
  gives<std::int64_t>(one_node(13, {reals({2, 2}, {0, 1, NAN, 0})})("NonZero"), {2, 2}, {0, 1, 1, 0});
  gives<std::int64_t>(one_node(13, {reals({0, 2}, {})})("NonZero"), {2, 0}, {});
  gives<float>(one_node(11, {counting({3}), any_value::tensor<bool>({1}, {true})})("Compress"), {1}, {0});
  gives<float>(one_node(11, {list({0, -1, 3, -4}), scalar(3), reals({2}, {0, 1})})("OneHot"), {4, 3},
               {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0});
  CHECK(refused(one_node(11, {list({0}), scalar(0), reals({2}, {0, 1})})("OneHot"), "depth"));
  CHECK(refused(one_node(11, {list({0}), scalar(highest_int64), reals({2}, {0, 1})})("OneHot"), ""));
  gives<float>(one_node(14, {counting({2, 2}), scalar(highest_int64)})("Trilu"), {2, 2}, {0, 0, 0, 0});
  gives<float>(one_node(14, {counting({2, 2}), scalar(lowest_int64)})("Trilu"), {2, 2}, {0, 1, 2, 3});
  gives<float>(one_node(13, {counting({2, 2})}).set("k", lowest_int64)("EyeLike"), {2, 2}, {0, 0, 0, 0});
  CHECK(refused(one_node(13, {counting({2, 2}), list({3, 0})})("ReverseSequence"), "sequence_lens has 3"));
  CHECK(refused(one_node(13, {counting({1, 3, 1, 1})}).set("blocksize", std::int64_t{2})("DepthToSpace"),
                "blocksize*channels"));
}

TEST_CASE("Blocks of strings that overlap in an image are concatenated, in the order of a block's elements") {
  using texts = std::vector<std::string_view>;
  const any_value x = any_value::tensor<std::string_view>({1, 2, 2}, texts{"in the padding", "b", "c", "dd"});
  // Blocks of two elements from -1 on: the second element of the first and the first of the second overlap at 0.
  gives<std::string_view>(one_node(18, {x, list({2}), list({2})}).set("pads", ints{1, 0})("Col2Im"), {1, 1, 2},
                          texts{"bc", "dd"});
  // With a stride of two the blocks do not overlap, and no block reaches the last pixel.
  gives<std::string_view>(
      one_node(18, {x, list({4}), list({2})}).set("pads", ints{1, 0}).set("strides", ints{2})("Col2Im"), {1, 1, 4},
      texts{"c", "b", "dd", ""});
}
