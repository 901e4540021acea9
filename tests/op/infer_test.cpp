#include "mock_infer_context.hpp"

#include <doctest/doctest.h>

#include <limits>

using namespace cameo;
using cameo_test::mock_infer_context;

namespace {

using shape_list = std::vector<dim>;

dim n(std::int64_t size) { return dim::fixed(size); }
const dim batch = dim::named(1), length = dim::named(2);

shape_list sized(std::initializer_list<std::int64_t> sizes) {
  shape_list shape;
  for (std::int64_t size : sizes) shape.push_back(n(size));
  return shape;
}

bool same(const std::optional<shape_list>& found, const shape_list& expected) { return found && *found == expected; }

/// Checks that the node is refused, with these words in the message.
void check_refused(mock_infer_context& c, std::string_view op, int opset, std::string_view words,
                   std::size_t outputs = 1) {
  const status s = c.infer(op, opset, outputs);
  CAPTURE(op);
  CHECK(s.code() == status_code::invalid_graph);
  if constexpr (status::has_words) {
    CAPTURE(s.words());
    CHECK(s.words().find(words) != std::string_view::npos);
  }
}

}  // namespace

TEST_CASE("broadcasting joins sizes, keeps symbols, and prefers a known size") {
  mock_infer_context c;
  CHECK(c.in(dtype::f32, {batch, n(1), n(3)}).in(dtype::f32, {n(4), n(1)}).infer("Add", 14));
  CHECK(same(c.out_type()->shape, {batch, n(4), n(3)}));
  mock_infer_context equal;
  CHECK(equal.in(dtype::f32, {batch, dim{}}).in(dtype::f32, {batch, n(5)}).infer("Mul", 14));
  CHECK(same(equal.out_type()->shape, {batch, n(5)}));
  mock_infer_context differing;
  CHECK(differing.in(dtype::i64, {batch}).in(dtype::i64, {length}).infer("Less", 13));
  CHECK(differing.out() == "tensor(bool)[?]");
  mock_infer_context bad;
  check_refused(bad.in(dtype::f32, sized({2, 3})).in(dtype::f32, sized({2, 4})), "Sub", 14,
                "input 1 has shape [2,4], must broadcast with [2,3]");
}

TEST_CASE("roles determine the outputs of elementwise operators") {
  mock_infer_context is_nan, cubes, sum, old_sum;
  CHECK(is_nan.in(dtype::f32, {batch, n(3)}).infer("IsNaN", 13));
  CHECK(same(is_nan.out_type()->shape, {batch, n(3)}));
  CHECK(is_nan.out_type()->type == dtype::boolean);
  CHECK(cubes.in(dtype::i32, {batch}).infer("ReduceSum", 13));
  CHECK(same(cubes.out_type()->shape, {n(1)}));
  CHECK(sum.in(dtype::f32, sized({3})).in(dtype::f32, sized({2, 1})).infer("Sum", 8));
  CHECK(same(sum.out_type()->shape, sized({2, 3})));
  CHECK(old_sum.in(dtype::f32, {batch}).in(dtype::f32, {length}).infer("Sum", 6));
  CHECK(same(old_sum.out_type()->shape, {batch}));
}

TEST_CASE("SwiGLU does not broadcast") {
  mock_infer_context equal, unequal, stretched;
  CHECK(equal.in(dtype::f32, {batch, n(4)}).in(dtype::f32, {length, n(4)}).infer("SwiGLU", 28));
  CHECK(same(equal.out_type()->shape, {batch, n(4)}));
  check_refused(unequal.in(dtype::f32, sized({2, 3})).in(dtype::f32, sized({2, 4})), "SwiGLU", 28,
                "[2,4], must be [2,3]");
  check_refused(stretched.in(dtype::f32, sized({2, 3})).in(dtype::f32, sized({3})), "SwiGLU", 28, "[3], must be [2,3]");
}

TEST_CASE("results of arithmetic on shapes are known") {
  mock_infer_context shape;
  CHECK(shape.in(dtype::f32, {batch, n(3), n(8)}).set("start", 0).set("end", -1).infer("Shape", 15));
  CHECK(same(shape.out_elements(), {batch, n(3)}));
  mock_infer_context picked;
  CHECK(picked.in_elements({batch, n(3), n(8)}).in_ints({-1, 0}).infer("Gather", 13));
  CHECK(same(picked.out_elements(), {n(8), batch}));
  mock_infer_context joined;
  CHECK(joined.in_elements({batch}).in_ints({24}).set("axis", 0).infer("Concat", 13));
  CHECK(same(joined.out_elements(), {batch, n(24)}));
  mock_infer_context cut;
  CHECK(
      cut.in_elements({batch, n(3), n(8)}).in_ints({-1}).in_ints({-100}).in_ints({0}).in_ints({-2}).infer("Slice", 13));
  CHECK(same(cut.out_elements(), {n(8), batch}));
  mock_infer_context halved;
  CHECK(halved.in_elements({n(9), batch}).in_ints({2}).infer("Div", 14));
  CHECK(same(halved.out_elements(), {n(4), dim{}}));
  mock_infer_context by_zero;
  CHECK(by_zero.in_elements({n(9)}).in_ints({0}).infer("Div", 14));
  CHECK(same(by_zero.out_elements(), {dim{}}));
  mock_infer_context overflow;
  CHECK(overflow.in_ints({INT64_MAX}).in_ints({2}).infer("Mul", 14));
  CHECK(same(overflow.out_elements(), {dim{}}));
}

TEST_CASE("Reshape copies dims for zeros, computes -1, and keeps symbols") {
  mock_infer_context c;
  CHECK(c.in(dtype::f32, {batch, n(3), n(4)}).in_ints({0, -1}).infer("Reshape", 14));
  CHECK(same(c.out_type()->shape, {batch, n(12)}));
  mock_infer_context rest;
  CHECK(rest.in(dtype::f32, {batch, n(3), n(4)}).in_ints({-1, 12}).infer("Reshape", 14));
  CHECK(same(rest.out_type()->shape, {batch, n(12)}));
  mock_infer_context elements;
  CHECK(elements.in(dtype::f32, {batch, n(3)}).in_elements({n(3), batch}).infer("Reshape", 14));
  CHECK(same(elements.out_type()->shape, {n(3), batch}));
  mock_infer_context empty;
  CHECK(empty.in(dtype::f32, sized({0, 3})).in_ints({0, -1}).infer("Reshape", 14));
  CHECK(empty.out() == "tensor(float)[0,3]");
  mock_infer_context attribute;
  CHECK(attribute.in(dtype::f32, sized({2, 3})).set("shape", std::vector<std::int64_t>{6}).infer("Reshape", 1));
  CHECK(attribute.out() == "tensor(float)[6]");
  mock_infer_context remainder, twice, negative, count, beyond;
  check_refused(remainder.in(dtype::f32, sized({5})).in_ints({2, -1}), "Reshape", 14,
                "must have a multiple of 2 elements");
  check_refused(twice.in(dtype::f32, sized({5})).in_ints({-1, -1}), "Reshape", 14, "must have it once");
  check_refused(negative.in(dtype::f32, sized({5})).in_ints({-5}), "Reshape", 14, "must be -1 or more");
  check_refused(count.in(dtype::f32, sized({5})).in_ints({6}), "Reshape", 14, "as many elements");
  check_refused(beyond.in(dtype::f32, sized({5})).in_ints({5, 0}), "Reshape", 14, "does not have");
}

TEST_CASE("Squeeze and Unsqueeze take axes from either place") {
  mock_infer_context by_attribute, by_input, all;
  CHECK(by_attribute.in(dtype::f32, {batch, n(1)}).set("axes", std::vector<std::int64_t>{1}).infer("Squeeze", 11));
  CHECK(same(by_attribute.out_type()->shape, {batch}));
  CHECK(by_input.in(dtype::f32, {batch}).in_ints({-1, 0}).infer("Unsqueeze", 13));
  CHECK(same(by_input.out_type()->shape, {n(1), batch, n(1)}));
  CHECK(all.in(dtype::f32, sized({1, 4, 1})).infer("Squeeze", 13));
  CHECK(all.out() == "tensor(float)[4]");
  mock_infer_context wide, outside, twice, inserted;
  check_refused(wide.in(dtype::f32, sized({2, 3})).in_ints({1}), "Squeeze", 13, "3 elements along axis 1, must have 1");
  check_refused(outside.in(dtype::f32, sized({2, 3})).in_ints({5}), "Unsqueeze", 13, "must be from -3 to 2");
  CHECK(twice.in(dtype::f32, sized({2, 1})).in_ints({1, -1}).infer("Squeeze", 13));
  CHECK(twice.out() == "tensor(float)[2]");
  check_refused(inserted.in(dtype::f32, sized({2, 1})).in_ints({1, -3}), "Unsqueeze", 13, "twice");
}

TEST_CASE("the positions of a window are counted, and no window may be wider than its input") {
  mock_infer_context conv;
  conv.in(dtype::f32, {batch, n(3), n(224), n(224)}).in(dtype::f32, sized({64, 3, 7, 7}));
  conv.set("pads", std::vector<std::int64_t>{3, 3, 3, 3}).set("strides", std::vector<std::int64_t>{2, 2});
  CHECK(conv.infer("Conv", 11));
  CHECK(same(conv.out_type()->shape, {batch, n(64), n(112), n(112)}));
  mock_infer_context pool;
  pool.in(dtype::f32, sized({1, 8, 6})).set("kernel_shape", std::vector<std::int64_t>{3});
  pool.set("strides", std::vector<std::int64_t>{2}).set("ceil_mode", 1);
  CHECK(pool.infer("MaxPool", 12, 2));
  CHECK(pool.out(0) == "tensor(float)[1,8,3]");
  CHECK(pool.out(1) == "tensor(int64)[1,8,3]");
  mock_infer_context same_pad;
  same_pad.in(dtype::f32, {n(1), n(8), length}).set("kernel_shape", std::vector<std::int64_t>{3});
  CHECK(same_pad.set("auto_pad", "SAME_LOWER").infer("AveragePool", 11));
  CHECK(same(same_pad.out_type()->shape, {n(1), n(8), length}));
  mock_infer_context no_pad;
  no_pad.in(dtype::f32, sized({1, 8, 6})).set("kernel_shape", std::vector<std::int64_t>{3}).set("auto_pad", "");
  CHECK(no_pad.infer("AveragePool", 11));
  CHECK(no_pad.out(0) == "tensor(float)[1,8,4]");
  mock_infer_context wide, still, groups, negative;
  wide.in(dtype::f32, sized({1, 1, 4})).in(dtype::f32, sized({1, 1, 5}));
  check_refused(wide, "Conv", 11, "must not be larger");
  still.in(dtype::f32, sized({1, 1, 4})).in(dtype::f32, sized({1, 1, 2}));
  check_refused(still.set("strides", std::vector<std::int64_t>{0}), "Conv", 11, "strides has 0");
  groups.in(dtype::f32, sized({1, 4, 4})).in(dtype::f32, sized({2, 4, 2}));
  check_refused(groups.set("group", 0), "Conv", 11, "group is 0");
  negative.in(dtype::f32, sized({1, 1, 4})).set("kernel_shape", std::vector<std::int64_t>{-2});
  check_refused(negative, "MaxPool", 12, "kernel_shape has -2");
}

TEST_CASE("an empty string is a Constant's value, too") {
  mock_infer_context words;
  CHECK(words.set("value_string", std::string_view{}).infer("Constant", 13));
  CHECK(words.out(0) == "tensor(string)[]");
}

TEST_CASE("ConvTranspose enlarges its input, and refuses pads that leave nothing") {
  mock_infer_context c, eaten;
  c.in(dtype::f32, sized({1, 4, 5})).in(dtype::f32, sized({4, 2, 3})).set("strides", std::vector<std::int64_t>{2});
  CHECK(c.set("group", 2).infer("ConvTranspose", 11));
  CHECK(c.out() == "tensor(float)[1,4,11]");
  eaten.in(dtype::f32, sized({1, 4, 2})).in(dtype::f32, sized({4, 2, 1}));
  check_refused(eaten.set("pads", std::vector<std::int64_t>{9, 9}), "ConvTranspose", 11, "pads of 18 leave nothing");
}

TEST_CASE("matrices multiply when their inner sizes agree") {
  mock_infer_context c, vector, gemm, bad, bias;
  CHECK(c.in(dtype::f32, {batch, n(2), n(3)}).in(dtype::f32, sized({3, 4})).infer("MatMul", 13));
  CHECK(same(c.out_type()->shape, {batch, n(2), n(4)}));
  CHECK(vector.in(dtype::f32, sized({3})).in(dtype::f32, sized({3})).infer("MatMul", 13));
  CHECK(vector.out() == "tensor(float)[]");
  gemm.in(dtype::f32, {n(8), batch}).in(dtype::f32, sized({5, 8})).in(dtype::f32, sized({5}));
  CHECK(gemm.set("transA", 1).set("transB", 1).infer("Gemm", 13));
  CHECK(same(gemm.out_type()->shape, {batch, n(5)}));
  check_refused(bad.in(dtype::f32, sized({2, 3})).in(dtype::f32, sized({4, 2})), "MatMul", 13,
                "A has 3 columns, B must have 3 rows");
  bias.in(dtype::f32, sized({2, 3})).in(dtype::f32, sized({3, 2})).in(dtype::f32, sized({3}));
  check_refused(bias, "Gemm", 13, "must broadcast to [2,2]");
  mock_infer_context bits, short_rows;
  for (mock_infer_context* each : {&bits, &short_rows}) {
    each->set("K", 96).set("N", 40);
    each->in(dtype::f16, {batch, n(2), n(each == &bits ? 96 : 95)}).in(dtype::u8, sized({40, 3, 16}));
  }
  CHECK(bits.infer("MatMulNBits", 1, 1, "com.microsoft"));
  CHECK(same(bits.out_type()->shape, {batch, n(2), n(40)}));
  CHECK_FALSE(short_rows.infer("MatMulNBits", 1, 1, "com.microsoft"));
  mock_infer_context picked;
  picked.in(dtype::u8, sized({50, 16})).in(dtype::i64, {batch, n(2)}).in(dtype::f16, sized({50, 2}));
  CHECK(picked.set("block_size", 16).infer("GatherBlockQuantized", 1, 1, "com.microsoft"));
  CHECK(same(picked.out_type()->shape, {batch, n(2), n(32)}));
  mock_infer_context einsum, implied;
  CHECK(einsum.in(dtype::f32, {batch, n(2), n(3)})
            .in(dtype::f32, {batch, n(3), n(4)})
            .set("equation", "...ij, ...jk -> ...ik")
            .infer("Einsum", 12));
  CHECK(same(einsum.out_type()->shape, {batch, n(2), n(4)}));
  CHECK(implied.in(dtype::f32, sized({2, 3})).set("equation", "ba").infer("Einsum", 12));
  CHECK(implied.out() == "tensor(float)[3,2]");
}

TEST_CASE("MultiHeadAttention without a past ignores past_sequence_length") {
  mock_infer_context with_past, without;
  for (mock_infer_context* const each : {&with_past, &without}) {
    for (int i = 0; i < 3; ++i) each->in(dtype::f32, sized({2, 3, 8}));
    for (int i = 0; i < 3; ++i) each->absent();
    for (int i = 0; i < 2; ++i)
      if (each == &with_past) each->in(dtype::f32, sized({2, 2, 9, 4}));
      else each->absent();
    CHECK(each->in_ints({5}).set("num_heads", 2).infer("MultiHeadAttention", 1, 4, "com.microsoft"));
  }
  CHECK(with_past.out(1) == "tensor(float)[2,2,9,4]");
  CHECK(with_past.out(3) == "tensor(float)[2,2,3,8]");
  CHECK(without.out(3) == "tensor(float)[2,2,3,?]");  // not 8, as if there were a past
}

TEST_CASE("an Attention whose values are wider than keys may leave out its second output") {
  mock_infer_context c;
  c.in(dtype::f32, sized({1, 2, 3})).in(dtype::f32, sized({3, 14})).in(dtype::f32, sized({14}));
  c.set("num_heads", 2).set("qkv_hidden_sizes", {4, 4, 6});
  CHECK(c.infer("Attention", 1, 2, "com.microsoft"));  // whether output 1 has a name is not in the context
  CHECK(c.out() == "tensor(float)[1,2,6]");
}

TEST_CASE("Slice clamps, steps backwards, and refuses a step of zero") {
  mock_infer_context c, extreme, zero, old;
  c.in(dtype::f32, sized({10, 7})).in_ints({-3, 100}).in_ints({100, -100}).in_ints({0, 1}).in_ints({2, -3});
  CHECK(c.infer("Slice", 13));
  CHECK(c.out() == "tensor(float)[2,3]");
  extreme.in(dtype::f32, sized({10})).in_ints({INT64_MAX}).in_ints({INT64_MIN}).in_ints({0}).in_ints({INT64_MIN});
  CHECK(extreme.infer("Slice", 13));
  CHECK(extreme.out() == "tensor(float)[1]");
  check_refused(zero.in(dtype::f32, sized({4})).in_ints({0}).in_ints({4}).in_ints({0}).in_ints({0}), "Slice", 13,
                "steps has 0 at 0");
  old.in(dtype::f32, {batch, n(4)}).set("starts", std::vector<std::int64_t>{0, 1});
  CHECK(old.set("ends", std::vector<std::int64_t>{INT64_MAX, 3}).infer("Slice", 1));
  CHECK(same(old.out_type()->shape, {batch, n(2)}));
}

TEST_CASE("Split divides evenly, by sizes, or with a smaller last part") {
  mock_infer_context even, last, bad;
  CHECK(even.in(dtype::f32, sized({6})).infer("Split", 11, 3));
  CHECK(even.out(2) == "tensor(float)[2]");
  CHECK(last.in(dtype::f32, sized({7})).set("num_outputs", 3).infer("Split", 18, 3));
  CHECK(last.out(0) == "tensor(float)[3]");
  CHECK(last.out(2) == "tensor(float)[1]");
  check_refused(bad.in(dtype::f32, sized({6})).in_ints({2, 2}), "Split", 13, "add up to 4", 2);
}

TEST_CASE("Resize takes sizes or scales") {
  mock_infer_context sizes, scales, bad;
  CHECK(sizes.in(dtype::f32, sized({1, 2, 3})).absent().absent().in_ints({1, 2, 9}).infer("Resize", 13));
  CHECK(sizes.out() == "tensor(float)[1,2,9]");
  CHECK(scales.in(dtype::f32, {batch, n(5)}).absent().in_floats({1, 1.5F}).infer("Resize", 13));
  CHECK(same(scales.out_type()->shape, {batch, n(7)}));
  check_refused(bad.in(dtype::f32, sized({5})).absent().in_floats({std::numeric_limits<float>::quiet_NaN()}), "Resize",
                13, "positive");
}

TEST_CASE("the outputs of If have what is common to both branches") {
  const value_type left = value_type::tensor(dtype::f32, sized({2, 3})),
                   right = value_type::tensor(dtype::f32, sized({2, 4}));
  const value_type other = value_type::tensor(dtype::i64, {});
  const auto gives = [](const value_type& type) {
    return [&type](auto) { return std::vector<const value_type*>{&type}; };
  };
  mock_infer_context c, bad;
  c.in(dtype::boolean, {}).with_graph("then_branch", gives(left)).with_graph("else_branch", gives(right));
  CHECK(c.infer("If", 16));
  CHECK(c.out() == "tensor(float)[2,?]");
  bad.in(dtype::boolean, {}).with_graph("then_branch", gives(left)).with_graph("else_branch", gives(other));
  check_refused(bad, "If", 16, "must be the same");
}

TEST_CASE("Loop keeps the shape of a carried value only if iterations do not change it") {
  value_type grown, row = value_type::tensor(dtype::f32, sized({4}));
  int calls = 0;
  mock_infer_context c;
  c.in(dtype::i64, {}).in(dtype::boolean, {}).in(dtype::f32, sized({3}));
  c.with_graph("body", [&](std::span<const value_type* const> in) {
    grown = *in[2];
    if (grown.shape) (*grown.shape)[0].size += 1;
    return ++calls, std::vector<const value_type*>{in[1], &grown, &row};
  });
  CHECK(c.infer("Loop", 16, 2));
  CHECK(calls == 2);
  CHECK(c.out(0) == "tensor(float)");
  CHECK(c.out(1) == "tensor(float)[?,4]");
  mock_infer_context stable, few;
  stable.in(dtype::i64, {}).in(dtype::boolean, {}).in(dtype::f32, sized({3}));
  stable.with_graph("body", [](std::span<const value_type* const> in) { return std::vector{in[1], in[2]}; });
  CHECK(stable.infer("Loop", 16));
  CHECK(stable.out() == "tensor(float)[3]");
  few.in(dtype::i64, {}).in(dtype::boolean, {}).in(dtype::f32, sized({3}));
  few.with_graph("body", [](std::span<const value_type* const> in) { return std::vector{in[1]}; });
  check_refused(few, "Loop", 16, "graph body has 1 outputs");
}

TEST_CASE("Tile of version 1 and TensorScatter: rules of their kernels") {
  mock_infer_context tile, wrong_axis, cache, wide, in_batch;
  tile.in(dtype::f32, {batch, n(2)}).in_int(3).in_int(1);
  CHECK(tile.infer("Tile", 1));
  CHECK(same(tile.out_type()->shape, {batch, n(6)}));
  wrong_axis.in(dtype::f32, {batch, n(2)}).in_int(3).in_int(5);
  check_refused(wrong_axis, "Tile", 1, "axis");
  cache.in(dtype::f32, {batch, n(8), n(4)}).in(dtype::f32, {batch, n(3), n(4)});
  CHECK(cache.infer("TensorScatter", 24));
  CHECK(same(cache.out_type()->shape, {batch, n(8), n(4)}));
  wide.in(dtype::f32, {batch, n(8), n(4)}).in(dtype::f32, {batch, n(9), n(4)});
  check_refused(wide, "TensorScatter", 24, "update has 9 elements along axis 1, must have 8 or less");
  in_batch.in(dtype::f32, {batch, n(8), n(4)}).in(dtype::f32, {batch, n(3), n(4)}).set("axis", 0);
  check_refused(in_batch, "TensorScatter", 24, "must not be axis 0");
}

TEST_CASE("Scan removes the scanned axis for its body and inserts it again") {
  const auto body = [](std::span<const value_type* const> in) { return std::vector{in[0], in[1]}; };
  mock_infer_context c, batched, bad;
  c.in(dtype::f32, sized({2})).in(dtype::f32, {n(2), length}).set("num_scan_inputs", 1).with_graph("body", body);
  c.set("scan_input_axes", std::vector<std::int64_t>{1}).set("scan_output_axes", std::vector<std::int64_t>{-1});
  CHECK(c.infer("Scan", 11, 2));
  CHECK(c.out(0) == "tensor(float)[2]");
  CHECK(same(c.out_type(1)->shape, {n(2), length}));
  batched.absent().in(dtype::f32, {batch, n(2)}).in(dtype::f32, {batch, length, n(2)}).set("num_scan_inputs", 1);
  CHECK(batched.with_graph("body", body).infer("Scan", 8, 2));
  CHECK(same(batched.out_type(0)->shape, {batch, n(2)}));
  CHECK(same(batched.out_type(1)->shape, {batch, length, n(2)}));
  check_refused(bad.in(dtype::f32, {}).set("num_scan_inputs", 7).with_graph("body", body), "Scan", 11,
                "num_scan_inputs is 7");
}

TEST_CASE("sequences carry the type of their elements") {
  mock_infer_context split, at, joined, bad;
  CHECK(split.in(dtype::f32, {n(6), batch}).in_int(2).infer("SplitToSequence", 11));
  CHECK(split.out() == "seq(tensor(float)[2,?])");
  CHECK(at.in(*split.out_type()).in(dtype::i64, {}).infer("SequenceAt", 11));
  CHECK(same(at.out_type()->shape, {n(2), batch}));
  CHECK(joined.in(*split.out_type()).set("axis", 0).set("new_axis", 1).infer("ConcatFromSequence", 11));
  CHECK(same(joined.out_type()->shape, {dim{}, n(2), batch}));
  check_refused(bad.in(dtype::f32, {}).in(dtype::i64, {}), "SequenceAt", 11, "must be a sequence");
}

TEST_CASE("hostile attributes are refused by name, without a computation") {
  mock_infer_context huge, range, tile, pads, block, axis, gather, topk, onehot, concat, dilated;
  const std::int64_t large = std::int64_t{1} << 62;
  check_refused(huge.in_ints({large, 4}), "ConstantOfShape", 9, "more than 64 bits");
  check_refused(range.in_int(0).in_int(9).in_int(0), "Range", 11, "delta is 0");
  check_refused(tile.in(dtype::f32, sized({3})).in_ints({large}), "Tile", 13, "64 bits");
  check_refused(pads.in(dtype::f32, sized({3})).in_ints({-2, -2}), "Pad", 13, "pads has -2 and -2 for axis 0");
  check_refused(block.in(dtype::f32, sized({1, 4, 2, 2})).set("blocksize", 0), "DepthToSpace", 13, "blocksize is 0");
  check_refused(axis.in(dtype::f32, sized({3})).set("axis", INT64_MIN), "Softmax", 13, "must be from -1 to 0");
  check_refused(gather.in(dtype::f32, sized({3})).in_ints({3}), "Gather", 13, "indices has 3, must be from -3 to 2");
  check_refused(topk.in(dtype::f32, sized({3})).in_ints({4}), "TopK", 11, "K is 4", 2);
  check_refused(onehot.in(dtype::i64, sized({3})).in_int(-1).in(dtype::f32, sized({2})), "OneHot", 11, "depth is -1");
  check_refused(concat.in(dtype::f32, sized({3, 2})).in(dtype::f32, sized({3})).set("axis", 0), "Concat", 13,
                "must have rank 2");
  dilated.in(dtype::f32, sized({1, 1, 4})).in(dtype::f32, sized({1, 1, 3}));
  check_refused(dilated.set("dilations", std::vector<std::int64_t>{INT64_MAX}), "Conv", 11,
                "kernel, strides and pads overflow");
}

TEST_CASE("a rank that no tensor of a run has makes the shape unknown") {
  const shape_list high(13, n(1)), most(12, n(1));
  mock_infer_context copied, reduced, inserted, joined, deep, picked;
  CHECK(copied.in(dtype::f32, high).infer("Transpose", 13));
  CHECK(copied.out() == "tensor(float)");
  CHECK(reduced.in(dtype::f32, high).infer("ArgMax", 13));
  CHECK(reduced.out() == "tensor(int64)");
  CHECK(inserted.in(dtype::f32, most).in_ints({0}).infer("Unsqueeze", 13));
  CHECK(inserted.out() == "tensor(float)");
  CHECK(joined.in(dtype::f32, high).in(dtype::f32, sized({2})).infer("Add", 14));
  CHECK(joined.out() == "tensor(float)");
  CHECK(deep.in(dtype::f32, sized({2})).in_ints(std::vector<std::int64_t>(13, 1)).infer("Expand", 13));
  CHECK(deep.out() == "tensor(float)");
  CHECK(picked.in(dtype::f32, sized({4})).in(dtype::i64, high).infer("Gather", 13));
  CHECK(picked.out() == "tensor(float)");
  mock_infer_context stacked;
  value_type element = value_type::tensor(dtype::f32);
  element.shape = most;
  stacked.in(value_type::sequence(element)).set("axis", 0).set("new_axis", 1);
  CHECK(stacked.infer("ConcatFromSequence", 11));
  CHECK(stacked.out() == "tensor(float)");
}

TEST_CASE("operators on scalars and hostile equations are decided when a model is loaded") {
  mock_infer_context scalar, softmax, depth, dots, missing, late;
  CHECK(scalar.in(dtype::f32, {}).set("axis", 0).infer("ArgMax", 13));
  CHECK(scalar.out() == "tensor(int64)[]");
  CHECK(softmax.in(dtype::f32, {}).infer("Softmax", 13));
  check_refused(depth.in(dtype::i64, sized({3})).in_int(0).in(dtype::f32, sized({2})), "OneHot", 11,
                "must be 1 or more");
  check_refused(dots.in(dtype::f32, sized({2, 3})).set("equation", "...i...->i"), "Einsum", 12, "two ellipses");
  check_refused(missing.in(dtype::f32, sized({2, 3})).set("equation", "ij->ijk"), "Einsum", 12, "k in its output");
  check_refused(late.in(value_type::tensor(dtype::f32)).set("equation", "ij->i?"), "Einsum", 12, "letters");
}

TEST_CASE("an unknown input makes no more of the output unknown than necessary") {
  mock_infer_context none, rank;
  CHECK(none.absent().absent().infer("Add", 14));
  CHECK(none.out() == "unknown");
  CHECK(rank.in(value_type::tensor(dtype::f32)).in(dtype::f32, sized({2})).infer("Add", 14));
  CHECK(rank.out() == "tensor(float)");
}

TEST_CASE("types are written with the names of their symbols") {
  const std::vector<std::string> names{"?", "batch", "length"};  // as model::symbols: symbol 0 means no symbol
  CHECK(value_type::tensor(dtype::f32, {batch, n(3), dim{}}).to_string(&names) == "tensor(float)[batch,3,?]");
  CHECK(value_type::sequence(value_type::optional(value_type::tensor(dtype::i64))).to_string() ==
        "seq(optional(tensor(int64)))");
  CHECK(!value_type::tensor(dtype::f32, {batch}).fixed_shape());
  CHECK(value_type::tensor(dtype::f32, sized({2, 3})).fixed_shape() == extents{2, 3});
}
