// Tests an output whose type neither the model nor the operator declares, so that no memory can be planned for it.
#include "session/models.hpp"

namespace cameo::test {
namespace {

/// An operator whose output y has no declared type.
struct vague_op {
  static constexpr std::string_view domain = "test", name = "Vague";
  static constexpr parameter inputs[] = {{"x", "T"}}, outputs[] = {{"y", "U"}};
  static constexpr type_rule types[] = {{"T", mask_of<float>}, {"U", mask_of<float, double>}};
  static constexpr op_version versions[] = {{1, inputs, outputs, types, {}, 1, 1}};
  static status infer(infer_context&) { return {}; }
};

struct vague_provider {
  static constexpr std::string_view name = "vague", long_name = "Vague";
  using operators = op_list<vague_op>;
  bool claims(const node_view& n) const { return n.has_op<vague_op>(); }
  status execute(const step_view&, run_context& c) const {
    const auto x = c.input<float>(0);
    const auto y = c.output<float>(0, x.shape());
    if (!y) return y.error();
    for (std::int64_t i = 0; i < x.count(); ++i) (*y)[i] = -x[i];
    return {};
  }
};

TEST_CASE("an output without a type is an error of the run, not memory of no bytes to write into") {
  for (const bool is_said : {true, false}) {
    model_builder b;
    b.whole().imports.push_back({"test", 1});
    const value_id x = b.input("x", dtype::f32, {dim::fixed(1000)}), y = b.node("Vague", {x}, {}, "test", 1);
    if (is_said) b.main()[y].type = b.main()[x].type;
    b.output(y);
    const auto s = runtime{vague_provider{}, eps::cpu{}}.load(b.take());
    REQUIRE_MESSAGE(s, (s ? "" : s.error().words()));
    const std::vector<float> ones(1000, 1);
    const auto made = s->run({{"x", ones}});
    if (is_said) {
      REQUIRE(made);
      CHECK((*made)[0].value.as_unchecked<float>()[999] == -1);
      continue;
    }
    REQUIRE(!made);
    CHECK(made.error().code() == status_code::invalid_graph);
    CHECK(std::string{made.error().words()}.find("does not declare its type") != std::string::npos);
  }
}

}  // namespace
}  // namespace cameo::test
