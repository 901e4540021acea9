// Tests kernels that return without writing one of their outputs.
#include "session/models.hpp"

namespace cameo::test {
namespace {

/// A provider that runs Neg and TopK, and writes only the outputs with these indices.
struct forgetful {
  static constexpr std::string_view name = "forgetful", long_name = "ForgetfulExecutionProvider";
  std::vector<std::size_t> writes = {};

  bool claims(const node_view& n) const { return n.op_type() == "Neg" || n.op_type() == "TopK"; }
  status execute(const step_view&, run_context& c) const {
    for (std::size_t i : writes)
      if (const result<value*> y =
              c.output(i, i < c.output_count() && c.output_count() == 2 ? extents{2} : c.input(0).shape);
          !y)
        return y.error();
    return {};
  }
};

std::unique_ptr<model> negated(dim size, bool is_last) {
  model_builder b;
  const value_id x = b.input("x", dtype::f32, {size});
  const value_id y = b.node("Neg", {x});
  b.output(is_last ? y : b.node("Abs", {y}));
  return b.take();
}

std::unique_ptr<model> largest_two() {
  model_builder b;
  const value_id x = b.input("x", dtype::f32, {dim::fixed(3)}), k = b.constant("k", {1}, std::vector<std::int64_t>{2});
  const value_id values = b.main().add_value("values"), indices = b.main().add_value("indices");
  b.main().add_node({"top", "", "TopK", {}, {}, 17, std::vector{x, k}, std::vector{values, indices}, {}});
  b.output(values), b.output(indices);
  return b.take();
}

status run_of(std::unique_ptr<model> m, std::vector<std::size_t> writes, std::size_t size = 3) {
  const auto s = runtime<forgetful, eps::cpu>{forgetful{std::move(writes)}, {}}.load(std::move(m));
  REQUIRE_MESSAGE(s, (s ? "" : s.error().words()));
  const std::vector<float> x(size, 1.0f);
  const auto ran = s->run({{"x", x}});
  return ran ? status{} : ran.error();
}

void check_names(const status& s, std::string_view node, std::string_view output) {
  const std::string_view words = s.words();
  CAPTURE(words);
  CHECK(s.code() == status_code::fail);
  CHECK(words.find(node) != words.npos);
  CHECK(words.find(output) != words.npos);
  CHECK(words.find("the kernel has not written this output") != words.npos);
}

TEST_CASE("a kernel that writes no output is an error that names it, whether its memory is planned or not") {
  for (const bool is_last : {false, true}) {
    check_names(run_of(negated(dim::fixed(3), is_last), {}), "'Neg_0'", "Neg_0_out");
    check_names(run_of(negated(dim{}, is_last), {}), "'Neg_0'", "Neg_0_out");
    CHECK(run_of(negated(dim::fixed(3), is_last), {0}));
    CHECK(run_of(negated(dim{}, is_last), {0}));
  }
}

TEST_CASE("a kernel that writes one of two outputs is an error that names the other one") {
  check_names(run_of(largest_two(), {0}), "'top'", "indices");
  check_names(run_of(largest_two(), {1}), "'top'", "values");
  CHECK(run_of(largest_two(), {0, 1}));
}

TEST_CASE("a kernel need not write an output without elements") { CHECK(run_of(negated(dim::fixed(0), true), {}, 0)); }

TEST_CASE("after a run with an unwritten output, the session reports it again") {
  const auto s = runtime<forgetful, eps::cpu>{}.load(negated(dim::fixed(3), false));
  REQUIRE(s);
  const std::vector<float> x{1, 2, 3};
  for (int i = 0; i < 3; ++i) check_names(s->run({{"x", x}}).error(), "'Neg_0'", "Neg_0_out");
}

}  // namespace
}  // namespace cameo::test
