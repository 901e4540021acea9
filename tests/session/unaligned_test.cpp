#include <cameo/format/onnx.hpp>
#include <cameo/plan/plan.hpp>

#include <doctest/doctest.h>

#include "models.hpp"

namespace cameo::test {
namespace {

constexpr std::int64_t matrix_side = 160;  // 100 KB: more than readers copy to aligned memory

/// A model with large weights of a product that packs them, of one that reads them in place, of a Gather, of a
/// subgraph, and of an input's default. The lengths of names give the weights all alignments in the file.
std::unique_ptr<model> large_weights(std::size_t name_length) {
  model_builder b;
  b.main().name = *b.whole().memory.copy(std::string(name_length, 'n'));
  const value_id x = b.input("x", dtype::f32, {b.symbol("rows"), dim::fixed(matrix_side)});
  const auto weights = [&](std::string_view name, float scale) {
    return b.constant<float>(name, {matrix_side, matrix_side}, ramp(std::size_t(matrix_side * matrix_side), scale));
  };
  const value_id packed = b.node("MatMul", {x, weights("packed", 0.001f)});
  const value_id table = weights("table", 0.002f);
  const value_id picked = b.node("Gather", {table, b.constant<std::int64_t>("one", {1}, {1})});
  const value_id fallback = weights("default", 0.003f);
  b.main().add_input(fallback);
  const value_id sum = b.node("Add", {b.node("MatMul", {packed, fallback}), picked});
  b.output(b.node("Add", {sum, b.node("ReduceSum", {table}, {model_builder::integer("keepdims", 1)})}));
  b.output(weights("given_out", 0.004f));
  return b.take();
}

/// The number of unaligned constants that steps read in runs, which excludes those that kernels have packed.
std::size_t read_unaligned(const plan_view& plan) {
  std::size_t found = 0;
  for (const plan_step& step : plan.steps)
    for (std::size_t i = 0; i < step.inputs.size(); ++i) {
      bool is_packed = false;
      for (const detail::output_hint& h : step.hints)
        is_packed |= h.kind == detail::output_hint::use::packs && h.input == i;
      const value& v = plan.initial[step.inputs[i]];
      found += v.data && !is_packed && !detail::is_aligned(v);
    }
  return found;
}

}  // namespace

TEST_CASE("large constants work wherever a file has them") {
  std::size_t odd = 0;
  for (std::size_t length = 1; length <= 4; ++length) {
    const auto written = write_onnx(*large_weights(length));
    REQUIRE(written);
    const std::span<const std::byte> bytes = std::as_bytes(std::span{*written});
    const auto net = read_onnx(bytes, "model");
    REQUIRE(net);
    for (value_id v : (*net)->main().initializers()) odd += !detail::is_aligned(*(*net)->main()[v].constant);
    session_options as_written;
    as_written.optimize = optimization_level::none;  // otherwise constants are folded
    const auto from_file = runtime<eps::cpu>{}.load(bytes, as_written);
    const auto in_memory = runtime<eps::cpu>{}.load(large_weights(length), as_written);
    REQUIRE_MESSAGE(from_file, from_file.error().words());
    REQUIRE_MESSAGE(in_memory, in_memory.error().words());
    CHECK(read_unaligned(from_file->plan()) == 0);
    const any_value x = any_value::tensor<float>({3, matrix_side}, ramp(3 * std::size_t(matrix_side)));
    const auto a = from_file->run({{"x", x}}), c = in_memory->run({{"x", x}});
    REQUIRE_MESSAGE(a, a.error().words());
    REQUIRE_MESSAGE(c, c.error().words());
    for (std::size_t i = 0; i < a->size(); ++i) {
      CHECK(detail::is_aligned((*a)[i].value.view()));
      CHECK(floats_of((*a)[i].value) == floats_of((*c)[i].value));
    }
  }
  CHECK(odd > 0);  // otherwise nothing was tested
}

}  // namespace cameo::test
