#include <cameo/op/cost.hpp>  // first

#include <cameo/op/op.hpp>

#include <doctest/doctest.h>

#include <vector>

using namespace cameo;

namespace {

attribute int_attribute(std::string_view name, std::int64_t i) {
  attribute made{};
  made.name = name, made.kind = attribute_kind::i, made.i = i;
  return made;
}

/// A node with tensors of these shapes; a tensor without elements is absent.
struct costed_node {
  std::string_view domain, op;
  std::vector<std::vector<std::int64_t>> inputs, outputs;
  std::vector<attribute> attributes = {};
  dtype type = dtype::f32;

  detail::node_in_run seen() {
    values.assign(1, {});
    numbers.clear();
    for (const auto* list : {&inputs, &outputs})
      for (const std::vector<std::int64_t>& dims : *list) {
        numbers.push_back(dims.empty() ? 0 : std::uint32_t(values.size()));
        if (!dims.empty()) values.push_back(value::tensor(type, extents{dims}, &values));
      }
    const std::span<const std::uint32_t> all{numbers};
    return {attributes, all.first(inputs.size()), all.subspan(inputs.size()), values.data()};
  }
  const op_row& row() const {
    const op_row* const found = detail::find_op(detail::standard_ops(), domain, op);
    REQUIRE(found);
    return *found;
  }
  std::optional<double> operations() { return detail::operations_of(row(), seen()); }
  double bytes() { return detail::bytes_moved(&row(), seen()); }

  std::vector<value> values = {};
  std::vector<std::uint32_t> numbers = {};
};

constexpr std::string_view microsoft = "com.microsoft";

}  // namespace

TEST_CASE("a product takes a multiplication and an addition for each pair of factors, and no bias") {
  CHECK(costed_node{"", "MatMul", {{2, 3, 4}, {4, 5}}, {{2, 3, 5}}}.operations() == 2 * 2 * 3 * 4 * 5);
  CHECK(costed_node{"", "MatMul", {{4}, {4, 5}}, {{5}}}.operations() == 2 * 4 * 5);
  CHECK(costed_node{"", "Gemm", {{3, 4}, {4, 5}, {5}}, {{3, 5}}}.operations() == 2 * 3 * 4 * 5);
  CHECK(costed_node{"", "Gemm", {{4, 3}, {4, 5}}, {{3, 5}}, {int_attribute("transA", 1)}}.operations() ==
        2 * 3 * 4 * 5);
  CHECK(costed_node{microsoft, "FusedMatMul", {{2, 4, 3}, {2, 4, 5}}, {{2, 3, 5}}, {int_attribute("transA", 1)}}
            .operations() == 2 * 2 * 3 * 4 * 5);
  CHECK(costed_node{microsoft, "MatMulNBits", {{1, 64}, {32, 2, 16}}, {{1, 32}}}.operations() == 2 * 64 * 32);
}

TEST_CASE("a convolution takes the channels of one group at each position") {
  // 6 maps, 4 channels in 2 groups, windows of 3 x 3, 5 x 5 positions
  CHECK(costed_node{"", "Conv", {{1, 4, 7, 7}, {6, 2, 3, 3}, {6}}, {{1, 6, 5, 5}}}.operations() ==
        2 * 6 * 25 * 2 * 3 * 3);
  CHECK(costed_node{"", "QLinearConv", {{1, 4, 7, 7}, {1}, {1}, {6, 2, 3, 3}}, {{1, 6, 5, 5}}}.operations() ==
        2 * 6 * 25 * 2 * 3 * 3);
  CHECK(costed_node{"", "ConvTranspose", {{1, 4, 5, 5}, {4, 6, 3, 3}}, {{1, 6, 7, 7}}}.operations() ==
        2 * 4 * 25 * 6 * 3 * 3);
  CHECK(costed_node{"com.microsoft.nchwc", "Conv", {{1, 16, 7, 7}, {20, 16, 3, 3}}, {{1, 32, 5, 5}}}.operations() ==
        2 * 20 * 25 * 16 * 3 * 3);  // 12 of the blocks' 32 channels are padding
  CHECK(costed_node{"", "Conv", {{1, 0, 7, 7}, {0, 0, 3, 3}}, {{1, 0, 5, 5}}}.operations() == std::nullopt);
}

TEST_CASE("roles determine how many operations elementwise operators, reductions and moves take") {
  CHECK(costed_node{"", "Add", {{2, 3}, {3}}, {{2, 3}}}.operations() == 6);
  CHECK(costed_node{"", "Sigmoid", {{2, 3}}, {{2, 3}}}.operations() == 6);
  CHECK(costed_node{"", "ReduceSum", {{4, 5}}, {{4, 1}}}.operations() == 20);
  for (std::string_view op : {"Transpose", "Reshape", "Gather", "Identity", "Concat", "Slice"})
    CHECK(costed_node{"", op, {{4, 5}}, {{5, 4}}}.operations() == 0);
  CHECK(costed_node{"", "Softmax", {{4, 5}}, {{4, 5}}}.operations() == 20);
  CHECK(costed_node{"", "NonMaxSuppression", {{1, 5, 4}, {1, 1, 5}}, {{2, 3}}}.operations() == std::nullopt);
  CHECK(costed_node{"", "Add", {{2, 3}, {3}}, {{}}}.operations() == std::nullopt);
  op_row own = costed_node{"", "Add", {}, {}}.row();  // a provider's own operator has the roles of Add
  own.domain = "acme";
  CHECK(detail::operations_of(own, costed_node{"", "Add", {{2, 3}, {3}}, {{2, 3}}}.seen()) == 6);
}

TEST_CASE("a pool takes each element of each window, a recurrent net both weights in every step") {
  std::int64_t window[] = {3, 2};
  attribute shape{};
  shape.name = "kernel_shape", shape.kind = attribute_kind::ints, shape.ints = window;
  CHECK(costed_node{"", "MaxPool", {{1, 2, 9, 8}}, {{1, 2, 7, 7}}, {shape}}.operations() == 2 * 49 * 6);
  CHECK(costed_node{"", "GlobalAveragePool", {{1, 2, 9, 8}}, {{1, 2, 1, 1}}}.operations() == 2 * 9 * 8);
  // 5 steps, batch of 3, 7 numbers in, state of 4, both directions
  CHECK(costed_node{"", "LSTM", {{5, 3, 7}, {2, 16, 7}, {2, 16, 4}}, {{5, 2, 3, 4}}}.operations() ==
        2 * 5 * 3 * 2 * 16 * (7 + 4));
}

TEST_CASE("attention multiplies queries with all keys, and the result with all values") {
  const double both = 4 * 2 * 8 * 5 * 6 * 16;  // 2 x 8 heads of 16, 5 queries, 6 keys
  CHECK(costed_node{"", "Attention", {{2, 8, 5, 16}, {2, 8, 6, 16}, {2, 8, 6, 16}}, {{2, 8, 5, 16}}}.operations() ==
        both);
  CHECK(costed_node{"", "Attention", {{2, 5, 128}, {2, 2, 128}, {2, 2, 128}, {}, {2, 8, 4, 16}}, {{2, 5, 128}}}
            .operations() == both);
  CHECK(costed_node{microsoft, "MultiHeadAttention", {{2, 5, 128}, {2, 6, 128}, {2, 6, 128}}, {{2, 5, 128}}}
            .operations() == both);
  CHECK(costed_node{microsoft, "GroupQueryAttention", {{2, 5, 128}}, {{2, 5, 128}, {2, 4, 6, 16}}}.operations() ==
        both);
  CHECK(costed_node{microsoft, "Attention", {{2, 6, 100}, {100, 384}}, {{2, 6, 128}}}.operations() ==
        2 * 2 * 6 * 100 * 384 + 4 * 2 * 6 * 128 * 6);
}

TEST_CASE("an Einsum takes the product of its labels' sizes for each operand") {
  const auto labeled = [](std::string_view equation) {
    attribute made{};
    made.name = "equation", made.kind = attribute_kind::s, made.s = equation;
    return std::vector<attribute>{made};
  };
  CHECK(costed_node{"", "Einsum", {{2, 3, 4}, {2, 4, 5}}, {{2, 3, 5}}, labeled("bij, bjk -> bik")}.operations() ==
        2 * 2 * 3 * 4 * 5);
  CHECK(costed_node{"", "Einsum", {{7, 2, 3, 4}, {1, 4, 5}}, {{7, 2, 3, 5}}, labeled("...ij,...jk->...ik")}
            .operations() == 2 * 7 * 2 * 3 * 4 * 5);
  CHECK(costed_node{"", "Einsum", {{3, 4}}, {{4, 3}}, labeled("ij->ji")}.operations() == 12);
  CHECK(costed_node{"", "Einsum", {{3}}, {{3}}, labeled("ij->ji")}.operations() == std::nullopt);
  CHECK(costed_node{"", "Einsum", {{3}}, {{3}}, labeled(",,,")}.operations() == std::nullopt);
}

TEST_CASE("bytes of inputs and outputs count once each; of moved elements, those of the output count") {
  CHECK(costed_node{"", "Add", {{2, 3}, {3}}, {{2, 3}}}.bytes() == 4 * (6 + 3 + 6));
  CHECK(costed_node{"", "Add", {{2, 3}, {3}}, {{2, 3}}, {}, dtype::i8}.bytes() == 6 + 3 + 6);
  CHECK(costed_node{"", "Gather", {{1000, 8}, {2}}, {{2, 8}}}.bytes() == 4 * (16 + 2 + 16));
  costed_node square{"", "Mul", {{5}, {5}}, {{5}}};
  detail::node_in_run seen = square.seen();
  const std::uint32_t same[] = {1, 1};
  seen.inputs = same;
  CHECK(detail::bytes_moved(&square.row(), seen) == 4 * (5 + 5));
  costed_node view{"", "Reshape", {{2, 3}, {1}}, {{6}}};
  CHECK(view.bytes() == 0);  // its memory is the input's
  seen = view.seen();
  view.values[3].data = &seen;
  CHECK(detail::bytes_moved(&view.row(), seen) == 4 * (6 + 1 + 6));
}

TEST_CASE("only the rows that are read of a table count as bytes") {
  const double row = 4 * 8;
  CHECK(costed_node{"", "GatherElements", {{1000, 8}, {2, 8}}, {{2, 8}}}.bytes() == 3 * 2 * row);
  CHECK(costed_node{"", "GatherND", {{1000, 8}, {2, 1}}, {{2, 8}}}.bytes() == 4 * 2 + 2 * 2 * row);
  CHECK(costed_node{"", "Slice", {{1000, 8}, {1}, {1}}, {{2, 8}}}.bytes() == 2 * 4 + 2 * 2 * row);
  CHECK(costed_node{"ai.onnx.ml", "ArrayFeatureExtractor", {{2, 1000}, {8}}, {{2, 8}}}.bytes() == 4 * 8 + 2 * 2 * row);
  // 3 tokens of 2 sequences; tables of 1000 words, 512 positions and 2 segments; gamma and beta
  const double embedded = 6 * row, ids = 2 * 4 * 6;
  costed_node embedding{
      microsoft, "EmbedLayerNormalization", {{2, 3}, {2, 3}, {1000, 8}, {512, 8}, {2, 8}, {8}, {8}}, {{2, 3, 8}}};
  CHECK(embedding.bytes() == ids + embedded + 3 * row + 2 * row + 2 * row + embedded);
  embedding.inputs.push_back({2, 3}), embedding.inputs.push_back({2, 3});  // a mask, and the position of each token
  CHECK(embedding.bytes() == 2 * ids + embedded + 6 * row + 2 * row + 2 * row + embedded);
  costed_node blocks{microsoft, "GatherBlockQuantized", {{1000, 32}, {3}, {1000, 2}, {1000, 2}}, {{3, 32}}};
  CHECK(blocks.bytes() == 4 * (3 * 32 + 3 + 3 * 2 + 3 * 2 + 3 * 32));
  blocks = {
      microsoft, "GatherBlockQuantized", {{32, 1000}, {3}, {2, 1000}}, {{32, 3}}, {int_attribute("gather_axis", -1)}};
  CHECK(blocks.bytes() == 4 * (3 * 32 + 3 + 3 * 2 + 3 * 32));
  CHECK(costed_node{microsoft, "RotaryEmbedding", {{1, 2, 8}, {1, 2}, {1000, 4}, {1000, 4}}, {{1, 2, 8}}}.bytes() ==
        4 * (16 + 2 + 8 + 8 + 16));
  CHECK(costed_node{"", "RotaryEmbedding", {{1, 2, 8}, {1000, 4}, {1000, 4}, {1, 2}}, {{1, 2, 8}}}.bytes() ==
        4 * (16 + 8 + 8 + 2 + 16));
  // a token goes to 2 of 10 experts
  CHECK(costed_node{microsoft, "MoE", {{1, 8}, {1, 10}, {10, 5, 8}, {}, {10, 8, 5}}, {{1, 8}}, {int_attribute("k", 2)}}
            .bytes() == 4 * (8 + 10 + 2 * 40 + 2 * 40 + 8));
  // A table counts as read once at most, even if more rows are selected than it has.
  CHECK(costed_node{"", "Gather", {{2, 8}, {5}}, {{5, 8}}}.bytes() == 4 * (2 * 8 + 5 + 5 * 8));
}

TEST_CASE("inputs whose shape alone is read take no bytes, and only the updates of an output in place do") {
  CHECK(costed_node{"", "Shape", {{1000, 8}}, {{2}}}.bytes() == 4 * 2);
  CHECK(costed_node{"", "RandomNormalLike", {{1000, 8}}, {{1000, 8}}}.bytes() == 4 * 8000);
  costed_node scatter{"", "ScatterND", {{1000, 8}, {2, 1}, {2, 8}}, {{1000, 8}}};
  detail::node_in_run seen = scatter.seen();  // input and output share memory
  CHECK(detail::bytes_moved(&scatter.row(), seen) == 4 * (2 + 2 * 16));
  scatter.values[4].data = &seen;
  CHECK(detail::bytes_moved(&scatter.row(), seen) == 4 * (8000 + 2 + 16 + 8000));
}
