#include "small_models.hpp"

#include <algorithm>

using namespace cameo;
using namespace cameo::test;

namespace {

/// An If on `condition`, whose branches `then_branch(body, add)` and `else_branch(...)` make; add(op, inputs) adds a
/// node.
template <class Then, class Else>
value_id branches(model_builder& b, graph& home, value_id condition, Then then_branch, Else else_branch) {
  std::vector<graph*> bodies;
  const auto body = [&](auto fill) {
    graph& g = b.whole().add_graph(&home);
    const auto add = [&g](std::string_view op, ids inputs) {
      const value_id made = g.add_value(g.unique_name("made"));
      g.add_node({"", "", op, {}, {}, 17, inputs, ids{made}});
      return made;
    };
    g.add_output(fill(g, add));
    bodies.push_back(&g);
  };
  body(then_branch), body(else_branch);
  attribute on{"then_branch", attribute_kind::g}, off{"else_branch", attribute_kind::g};
  off.i = 1;
  const value_id out = home.add_value(home.unique_name("chosen"));
  home.add_node({"", "", "If", {}, {}, 17, ids{condition}, ids{out}, std::vector<attribute>{on, off}, bodies});
  return out;
}
value_id known(model_builder& b, bool is) { return b.constant<bool>("known", {}, {is}); }

/// An If with a known or computed condition: x.exp() else -x, followed by the nodes of `after`.
template <class After>
auto choice(std::optional<bool> is, After after) {
  return [=] {
    model_builder b;
    const value_id x = b.input("x", dtype::f32, {dim::fixed(3)});
    const value_id on = b.node("Greater", {b.node("ReduceSum", {x}, {model_builder::integer("keepdims", 0)}),
                                           b.constant<float>("zero", {}, {0})});
    const value_id chosen = branches(
        b, b.main(), is ? known(b, *is) : on, [&](graph& g, auto add) { return add("Exp", {g.capture_of(x)}); },
        [&](graph& g, auto add) { return add("Neg", {add("Abs", {g.capture_of(x)})}); });
    b.output(after(b, chosen));
    return b.take();
  };
}
const auto negated = [](model_builder& b, value_id v) { return b.node("Neg", {v}); };
const auto as_is = [](model_builder&, value_id v) { return v; };
constexpr auto inlining = "IfInlining";

}  // namespace

TEST_CASE("the branch that a known condition selects replaces the If") {
  const session on = check_fires<rules::constant_branches>(inlining, choice(true, negated));
  CHECK(count_of(on, "If") == 0);
  CHECK(count_of(on, "Exp") == 1);
  CHECK(count_of(on, "Abs") == 0);
  const session off = check_fires<rules::constant_branches>(inlining, choice(false, negated));
  CHECK(count_of(off, "Abs") == 1);
  std::vector<std::string_view> names;
  for (node_id n : off.graph().main().order()) names.push_back(off.graph().main()[n].name);
  std::sort(names.begin(), names.end());
  CHECK(std::adjacent_find(names.begin(), names.end()) == names.end());
}

TEST_CASE("a graph output keeps its name when its branch is inlined") {
  CHECK(check_fires<rules::constant_branches>(inlining, choice(true, as_is)).outputs()[0].name == "chosen");
}

TEST_CASE("an If with a computed condition, or one that a caller may replace, stays") {
  check_idle<rules::constant_branches>(inlining, choice({}, negated));
  check_idle<rules::constant_branches>(inlining, [] {
    std::unique_ptr<model> m = choice(true, negated)();
    m->main().add_input(m->main().find("known"));
    return m;
  });
}

TEST_CASE("a branch that only passes a value through, or returns a constant, is inlined, too") {
  for (const bool is_output : {false, true})
    for (const bool is : {false, true}) {
      const session s = check_fires<rules::constant_branches>(inlining, [=] {
        model_builder b;
        const value_id x = b.input("x", dtype::f32, {dim::fixed(3)});
        const value_id chosen = branches(
            b, b.main(), known(b, is), [&](graph& g, auto) { return g.capture_of(x); },
            [&](graph& g, auto) {
              const value_id inner = g.add_value("c"), outer = b.constant<float>("c", {3}, {1, 2, 3});
              g.add_initializer(inner, b.main()[outer].constant);
              return inner;
            });
        b.output(is_output ? chosen : b.node("Add", {chosen, x}));
        return b.take();
      });
      CHECK(count_of(s, "If") == 0);
      CHECK(s.outputs()[0].name == (is_output ? "chosen" : "Add_0_out"));
    }
}

TEST_CASE("branches inside branches keep what they capture") {
  const session s = check_fires<rules::constant_branches>(inlining, [] {
    model_builder b;
    const value_id x = b.input("x", dtype::f32, {dim::fixed(3)});
    const value_id on = b.node("Greater", {b.node("ReduceSum", {x}, {model_builder::integer("keepdims", 0)}),
                                           b.constant<float>("zero", {}, {0})});
    const value_id chosen = branches(
        b, b.main(), known(b, true),
        [&](graph& g, auto add) {
          const value_id twice = add("Add", {g.capture_of(x), g.capture_of(x)});
          return branches(
              b, g, g.capture_of(on), [&](graph& in, auto add_in) { return add_in("Exp", {in.capture_of(twice)}); },
              [&](graph& in, auto add_in) {
                return add_in("Sub", {in.capture_of(twice), in.capture_of(g.capture_of(x))});
              });
        },
        [&](graph& g, auto add) { return add("Neg", {g.capture_of(x)}); });
    b.output(chosen);
    return b.take();
  });
  CHECK(count_of(s, "If") == 1);
  CHECK(count_of(s, "Add") == 1);
}
