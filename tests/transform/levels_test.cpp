#include <cameo/op/internal_nhwc.hpp>
#include <cameo/op/microsoft.hpp>
#include <cameo/transform/rule.hpp>

#include "../partition/reference_providers.hpp"
#include "rule_rig.hpp"

// The effects of each optimization level, and the transforms that a provider may prevent.
namespace cameo::test {
namespace {

using eps::cpu;

/// Requests channels last, and takes only global maxima. It records calls, and can refuse nodes in the second call.
struct provider_n {
  static constexpr std::string_view name = "n", long_name = "N";
  static constexpr data_layout layout = data_layout::nhwc;
  std::shared_ptr<int> asked = std::make_shared<int>(0);
  bool forgets = false;

  result<groups_result> groups(const graph_view& g) const {
    ++*asked;
    groups_result found;
    for (node_view n : g.nodes()) {
      const bool is_moved = n.has_op<op::internal_nhwc::GlobalMaxPool>();
      if ((n.has_op<op::GlobalMaxPool>() && *asked == 1) || (is_moved && !forgets)) found.push_back({{n.id()}, {}});
    }
    return found;
  }
  /// From X [N, H, W, C] to Y [N, 1, 1, C].
  status execute(const step_view&, run_context& c) const {
    const auto x = c.input<float>(0);
    auto y = c.output<float>(0, {x.dim(0), 1, 1, x.dim(3)});
    if (!y) return y.error();
    const std::int64_t pixels = x.dim(1) * x.dim(2), channels = x.dim(3);
    for (std::int64_t n = 0; n < x.dim(0); ++n)
      for (std::int64_t k = 0; k < channels; ++k) {
        float most = x[n * pixels * channels + k];
        for (std::int64_t p = 1; p < pixels; ++p) most = std::max(most, x[(n * pixels + p) * channels + k]);
        (*y)[n * channels + k] = most;
      }
    return {};
  }
};

std::unique_ptr<model> maximum() {
  model_builder b;
  const value_id x = b.input("x", dtype::f32, {dim::fixed(2), dim::fixed(3), dim::fixed(4), dim::fixed(5)});
  b.output(b.node("Neg", {b.node("GlobalMaxPool", {b.node("Neg", {x})})}));
  return b.take();
}

/// A pass that counts its runs, and reports a change in the first `changes` runs.
template <optimization_level Level>
struct restless {
  static constexpr std::string_view name = "Restless";
  static inline int runs = 0, changes = 0;
  static result<bool> run(rewriter& r) {
    // A subgraph is a separate graph, whose runs do not count.
    if (r.in().outer()) return false;
    ++runs;
    return changes-- > 0;
  }
};
template <optimization_level Level>
using restless_list = transform_list<Level, restless<Level>>;
struct restless_cpu : eps::cpu {
  using transforms = transform_set<restless_list<optimization_level::extended>,
                                   restless_list<optimization_level::layout>, restless_list<optimization_level::all>>;
};

struct counts {
  int basic, extended, layout, all;
  bool operator==(const counts&) const = default;
};
/// Returns the number of runs of the pass of each level, if it reports a change in as many runs as `changes` has for
/// the level.
counts runs_of(counts changes, std::string loop, optimization_level level = optimization_level::all) {
  using enum optimization_level;
  restless<basic>::runs = restless<extended>::runs = restless<layout>::runs = restless<all>::runs = 0;
  restless<basic>::changes = changes.basic, restless<extended>::changes = changes.extended;
  restless<layout>::changes = changes.layout, restless<all>::changes = changes.all;
  session_options options;
  options.optimize = level;
  if (!loop.empty()) options.config.emplace_back("session.graph_optimizations_loop_level", loop);
  const auto s = runtime<transforms<restless_list<basic>>, restless_cpu>{}.load(maximum(), options);
  REQUIRE_MESSAGE(s, s.error().words());
  return {restless<basic>::runs, restless<extended>::runs, restless<layout>::runs, restless<all>::runs};
}

using namespace pattern;
constexpr rule matmul_relu_to_fused{"MatMulRelu", match<op::Relu>(sole_use(match<op::MatMul>(a, b))),
                                    make<op::microsoft::FusedGemm>(a, b).attr<"activation">(std::string_view{"Relu"})};
constexpr rule relu_to_unknown{"ReluToNothing", match<op::Relu>(a), make<op::ImageDecoder>(a)};
struct dreaming_cpu : eps::cpu {
  using transforms = transform_set<transform_list<optimization_level::extended, rule_of<relu_to_unknown>>>;
};
struct fusing_cpu : eps::cpu {
  using transforms = transform_set<transform_list<optimization_level::extended, rule_of<matmul_relu_to_fused>>>;
};

constexpr rule neg_to_abs{"NegToAbs", match<op::Neg>(a), make<op::Abs>(a)};
template <optimization_level Level>
using abs_list = transform_list<Level, rule_of<neg_to_abs>>;
bool is_not_abs(const node_view& made) { return !made.has_op<op::Abs>(); }
constexpr key_condition prepacking_off[] = {{"session.disable_prepacking"}};
constexpr transform_condition without_prepacking{.required = prepacking_off};
/// Rewrites nothing, and refuses Abs if session.disable_prepacking is set.
template <optimization_level Level>
struct no_abs {
  static constexpr optimization_level level = Level;
  static const transform_table& table() {
    return transform_list<Level>::template table<without_prepacking, is_not_abs>();
  }
};
template <optimization_level Condition, optimization_level Rule>
struct abs_cpu : eps::cpu {
  using transforms = transform_set<no_abs<Condition>, abs_list<Rule>>;
};
/// True if Neg becomes Abs although a table refuses that under a session key.
template <class Runtime>
bool makes_abs(std::string key_value) {
  session_options options;
  options.config.emplace_back("session.disable_prepacking", std::move(key_value));
  const auto s = Runtime{}.load(maximum(), options);
  REQUIRE_MESSAGE(s, s.error().words());
  CHECK(count_of(*s, "Abs") + count_of(*s, "Neg") == 2);
  return count_of(*s, "Abs") > 0;
}

}  // namespace

TEST_CASE("7: N is called twice, its node is between transposes, A is called once") {
  provider_n n;
  provider_a a;
  const auto asked = std::make_shared<int>(0);
  a.choose = [asked](const graph_view&) { return ++*asked, groups_result{}; };
  session_options options;
  const auto s = runtime<transforms<>, partial<provider_n, provider_a, cpu>>{n, a, cpu{}}.load(maximum(), options);
  REQUIRE_MESSAGE(s, s.error().words());
  CHECK(*n.asked == 2);
  CHECK(*asked == 1);
  CHECK(first_of(*s, "GlobalMaxPool")->domain == "com.ms.internal.nhwc");
  CHECK(count_of(*s, "Transpose") == 2);
  check_same(*as_written(maximum()), *s);
}

TEST_CASE("7: a node that N does not take again with channels last is an error with its name") {
  provider_n n;
  n.forgets = true;
  const auto s = runtime<partial<provider_n, cpu>>{n, cpu{}}.load(maximum());
  REQUIRE(!s);
  CHECK(s.error().code() == status_code::fail);
  CHECK(s.error().words() ==
        "N: requests channels last for node 'GlobalMaxPool_1' (com.ms.internal.nhwc.GlobalMaxPool), but does not claim "
        "it "
        "in that layout");
}

TEST_CASE("a table refuses new nodes of all tables of its list, at its level and above, if its session key is set") {
  using enum optimization_level;
  using on_basic = runtime<transforms<abs_list<basic>, no_abs<basic>>, cpu>;
  CHECK(makes_abs<on_basic>("0"));
  CHECK(!makes_abs<on_basic>("1"));
  CHECK(makes_abs<runtime<transforms<>, abs_cpu<extended, extended>>>("0"));
  CHECK(!makes_abs<runtime<transforms<>, abs_cpu<extended, extended>>>("1"));
  CHECK(!makes_abs<runtime<transforms<>, abs_cpu<extended, layout>>>("1"));
  CHECK(makes_abs<runtime<transforms<>, abs_cpu<all, layout>>>("1"));
  CHECK(makes_abs<runtime<transforms<no_abs<basic>>, abs_cpu<all, layout>>>("1"));  // another list
}

TEST_CASE("17: none leaves all, basic folds, extended fuses what is cpu's and not what is in A's groups") {
  const auto make = [] {
    auto m = chain();
    graph& g = m->main();
    const value_id same = g.add_value("same");
    g.add_node(
        {"identity", "", "Identity", {}, {}, 17, std::vector<value_id>{g.find("y")}, std::vector<value_id>{same}});
    const value_id last = g.add_value("last");
    g.add_node({"last", "", "Neg", {}, {}, 17, std::vector<value_id>{same}, std::vector<value_id>{last}});
    const float one[] = {1};
    const value_id c = g.add_value("c"), folded = g.add_value("folded"), sum = g.add_value("sum");
    g.add_initializer(c,
                      m->memory.keep(value::tensor<float>(extents{1}, *m->memory.copy(std::span<const float>{one}))));
    g.add_node({"fold", "", "Exp", {}, {}, 17, std::vector<value_id>{c}, std::vector<value_id>{folded}});
    g.add_node({"sum", "", "Add", {}, {}, 17, std::vector<value_id>{last, folded}, std::vector<value_id>{sum}});
    g.set_outputs(std::vector<value_id>{sum});
    return m;
  };
  session_options options;
  options.optimize = optimization_level::none;
  const auto none = runtime<fusing_cpu>{}.load(make(), options);
  REQUIRE_MESSAGE(none, none.error().words());
  CHECK(count_of(*none, "Identity") == 1);
  CHECK(count_of(*none, "Exp") == 1);
  CHECK(count_of(*none, "FusedGemm") == 0);

  options.optimize = optimization_level::basic;
  const auto basic = runtime<fusing_cpu>{}.load(make(), options);
  REQUIRE_MESSAGE(basic, basic.error().words());
  CHECK(count_of(*basic, "Exp") == 0);
  CHECK(count_of(*basic, "Relu") == 1);
  check_same(*none, *basic);

  options.optimize = optimization_level::extended;
  const auto extended = runtime<transforms<>, fusing_cpu>{}.load(make(), options);
  REQUIRE_MESSAGE(extended, extended.error().words());
  CHECK(count_of(*extended, "FusedGemm") == 1);
  CHECK(count_of(*extended, "Relu") == 0);
  check_same(*none, *extended);

  const auto with_a = runtime<transforms<>, provider_a, fusing_cpu>{}.load(make(), options);
  REQUIRE_MESSAGE(with_a, with_a.error().words());
  CHECK(count_of(*with_a, "FusedGemm") == 0);
  CHECK(placed(with_a).find("A_chain_0:a") != std::string::npos);
  check_same(*none, *with_a);
}

TEST_CASE("17: nodes are not fused to an operator for which the provider has no kernel") {
  const auto s = runtime<transforms<>, dreaming_cpu>{}.load(chain());
  REQUIRE_MESSAGE(s, s.error().words());
  CHECK(count_of(*s, "Relu") == 1);
  CHECK(changes(*s, "ReluToNothing") == 0);
}

TEST_CASE("18: A is not offered a node that the basic level folded") {
  model_builder b;
  const value_id c = b.constant<float>("c", {2, 2}, {1, 2, 3, 4});
  const value_id product = b.node("Relu", {b.node("MatMul", {c, c})});
  b.output(b.node("Add", {b.input("x", dtype::f32, {dim::fixed(2), dim::fixed(2)}), product}));
  provider_a a;
  const auto seen = std::make_shared<std::string>();
  a.choose = [seen](const graph_view& g) {
    for (node_view n : g.nodes()) *seen += std::string{n.op_type()} + " ";
    return groups_result{};
  };
  const auto s = runtime{a, cpu{}}.load(b.take());
  REQUIRE_MESSAGE(s, s.error().words());
  CHECK(*seen == "Add ");
}

TEST_CASE("19: a level stops after a step without change, and at ten steps") {
  CHECK(runs_of({0, 0, 0, 0}, "0") == counts{1, 1, 1, 1});
  CHECK(runs_of({2, 1, 0, 3}, "0") == counts{3, 2, 1, 4});
  CHECK(runs_of({99, 0, 0, 0}, "0") == counts{10, 1, 1, 1});
}

TEST_CASE("19: levels are repeated while the last one changed something, or with 2 any of them") {
  CHECK(runs_of({0, 1, 0, 0}, "1") == counts{1, 2, 1, 1});
  CHECK(runs_of({0, 0, 0, 1}, "1") == counts{1, 2, 2, 3});
  CHECK(runs_of({0, 0, 0, 1}, "") == counts{1, 2, 2, 3});
  CHECK(runs_of({0, 1, 0, 0}, "2") == counts{1, 3, 2, 2});
  CHECK(runs_of({0, 0, 0, 1}, "0") == counts{1, 1, 1, 2});
}

TEST_CASE("19: levels above the requested one do not run") {
  using enum optimization_level;
  CHECK(runs_of({1, 1, 1, 1}, "2", none) == counts{0, 0, 0, 0});
  CHECK(runs_of({1, 1, 1, 1}, "2", basic) == counts{2, 0, 0, 0});
  CHECK(runs_of({1, 1, 1, 1}, "0", extended) == counts{2, 2, 0, 0});
  CHECK(runs_of({1, 1, 1, 1}, "0", layout) == counts{2, 2, 2, 0});
}

}  // namespace cameo::test
