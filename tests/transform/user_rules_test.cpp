#include <cameo/op/onnx.hpp>
#include <cameo/transform/rule.hpp>

#include "rule_rig.hpp"

using namespace cameo;
using namespace cameo::test;

// The rules of docs/write_a_rule.md.
namespace {

using namespace cameo::pattern;

bool is_positive(const match_result& m, const value_view& v) {
  const std::optional<double> number = number_of(m.in->constant(v));
  return number && *number > 0;
}
constexpr rule relu_before_scale{"ReluBeforeScale",
                                 match<op::Relu>(any_order(sole_use(match<op::Mul>(x, constant{c})))),
                                 make<op::Mul>(make<op::Relu>(x), c), when(check<is_positive>(c))};

struct count_nodes {
  static constexpr std::string_view name = "CountNodes";
  static inline std::size_t found = 0;
  static result<bool> run(rewriter& r) {
    found += r.in().order().size();
    return false;
  }
};
using own_rules = transform_list<optimization_level::basic, rule_of<relu_before_scale>, count_nodes>;

auto relu_of_scaled(float factor, bool first = false, bool shared = false) {
  return [=] {
    model_builder b;
    const value_id in = b.input("in", dtype::f32, {dim::fixed(4)}), by = b.constant<float>("by", {}, {factor});
    const value_id product = b.node("Mul", first ? std::vector{by, in} : std::vector{in, by});
    if (shared) b.output(product);
    b.output(b.node("Relu", {b.node("Identity", {product})}));
    return b.take();
  };
}
result<session> load(std::unique_ptr<model> net) { return runtime<with<own_rules>, eps::cpu>{}.load(std::move(net)); }

}  // namespace

TEST_CASE("a user's rules run with cameo's rules, on what those left") {
  count_nodes::found = 0;
  for (const bool first : {false, true}) {
    const result<session> mine = load(relu_of_scaled(2, first)()), plain = as_written(relu_of_scaled(2, first)());
    REQUIRE_MESSAGE(mine, mine.error().words());
    CHECK(changes(*mine, "ReluBeforeScale") == 1);
    CHECK(changes(*mine, "EliminateIdentity") == 1);
    check_same(*mine, *plain);
  }
  CHECK(count_nodes::found > 0);
}

TEST_CASE("a user's rule does not change other nodes") {
  for (const auto& make : {relu_of_scaled(-2), relu_of_scaled(2, false, true)}) {
    const result<session> mine = load(make()), plain = as_written(make());
    REQUIRE_MESSAGE(mine, mine.error().words());
    CHECK(changes(*mine, "ReluBeforeScale") == 0);
    check_same(*mine, *plain);
  }
}
