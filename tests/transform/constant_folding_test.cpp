#include "rule_rig.hpp"

using namespace cameo;
using namespace cameo::test;

namespace {

std::unique_ptr<model> folded_chain() {
  model_builder b;
  const value_id x = b.input("x", dtype::f32, {dim::fixed(4)});
  const value_id c = b.constant<float>("c", {4}, {1, 2, 3, 4});
  b.output(b.node("Add", {x, b.node("Exp", {b.node("Neg", {c})})}));
  return b.take();
}

}  // namespace

TEST_CASE("a chain of nodes on constants becomes one constant") {
  const session s = check_fires<rules::constant_folding>("ConstantFolding", folded_chain);
  CHECK(s.graph().main().order().size() == 1);
  CHECK(s.graph().main().initializers().size() == 1);
}

TEST_CASE("random nodes, large results, graph outputs and inputs with a default are not folded") {
  SUBCASE("random") {
    const auto make = [] {
      model_builder b;
      const value_id noise = b.node("RandomNormalLike", {b.constant<float>("c", {4}, {1, 2, 3, 4})});
      b.output(b.node("Add", {noise, b.input("x", dtype::f32, {dim::fixed(4)})}));
      return b.take();
    };
    CHECK(count_of(*rewritten<rules::constant_folding>(make()), "RandomNormalLike") == 1);
  }
  SUBCASE("too large") {
    check_idle<rules::constant_folding>("ConstantFolding", [] {
      model_builder b;
      const value_id shape = b.constant<std::int64_t>("shape", {1}, {std::int64_t{8} << 20});
      const value_id big = b.node("ConstantOfShape", {shape});
      b.output(b.node("ReduceSum", {b.node("Add", {b.input("x", dtype::f32, {dim::fixed(1)}), big})}));
      return b.take();
    });
  }
  SUBCASE("a graph output") {
    check_idle<rules::constant_folding>("ConstantFolding", [] {
      model_builder b;
      b.output(b.node("Neg", {b.constant<float>("c", {2}, {1, 2})}));
      b.output(b.node("Neg", {b.input("x", dtype::f32, {dim::fixed(2)})}));
      return b.take();
    });
  }
  SUBCASE("an input with a default") {
    check_idle<rules::constant_folding>("ConstantFolding", [] {
      model_builder b;
      const value_id c = b.constant<float>("c", {2}, {1, 2});
      b.main().add_input(c);
      b.output(b.node("Add", {b.node("Neg", {c}), b.input("x", dtype::f32, {dim::fixed(2)})}));
      return b.take();
    });
  }
}

TEST_CASE("a constant with other readers is not copied into a large second one") {
  // With 512 rows the transposed copy would take 2 MB, which the transform allows; with 2048 rows it would take 8 MB,
  // which it does not.
  const auto make = [](std::int64_t rows) {
    return [rows] {
      model_builder b;
      const value_id w = b.constant<float>("w", {rows, 1024}, std::vector<float>(std::size_t(rows) * 1024, 0.5f));
      const value_id x = b.input("x", dtype::f32, {dim::fixed(1), dim::fixed(1024)});
      b.output(b.node("MatMul", {x, b.node("Transpose", {w})}));
      b.output(b.node("Gather", {w, b.input("i", dtype::i64, {dim::fixed(1)})}));
      return b.take();
    };
  };
  check_fires<rules::constant_folding>("ConstantFolding", make(512));
  check_idle<rules::constant_folding>("ConstantFolding", make(2048));
}

TEST_CASE("level none changes nothing, and disabled transforms are left out") {
  session_options none;
  none.optimize = optimization_level::none;
  CHECK(count_of(*rewritten<rules::constant_folding>(folded_chain(), none), "Exp") == 1);
  session_options without;
  without.config.emplace_back("optimization.disable_specified_optimizers", "Other,ConstantFolding");
  CHECK(count_of(*rewritten<rules::constant_folding>(folded_chain(), without), "Exp") == 1);
  CHECK(count_of(*rewritten<rules::constant_folding>(folded_chain()), "Exp") == 0);
}

TEST_CASE("constants fold inside the bodies of control flow, captured ones, too") {
  const auto make = [] {
    model_builder b;
    const value_id c = b.constant<float>("c", {2}, {1, 2});
    const value_id x = b.input("x", dtype::f32, {dim::fixed(2)});
    const value_id cond =
        b.node("Not", {b.node("Cast", {b.node("ReduceSum", {x}, {model_builder::integer("keepdims", 0)})},
                              {model_builder::integer("to", 9)})});
    model& m = b.whole();
    std::vector<graph*> bodies;
    for (const char* op : {"Neg", "Exp"}) {
      graph& g = m.add_graph(&b.main());
      const value_id made = g.add_value("made"), sum = g.add_value("sum");
      const value_id inner = g.capture_of(c);
      g.add_node({op, "", op, {}, {}, 17, std::vector<value_id>{inner}, std::vector<value_id>{made}});
      g.add_node(
          {"sum", "", "Add", {}, {}, 17, std::vector<value_id>{made, g.capture_of(x)}, std::vector<value_id>{sum}});
      g.add_output(sum);
      bodies.push_back(&g);
    }
    attribute then_branch{"then_branch", attribute_kind::g}, else_branch{"else_branch", attribute_kind::g};
    else_branch.i = 1;
    const value_id out = b.main().add_value("out");
    b.main().add_node({"if",
                       "",
                       "If",
                       {},
                       {},
                       17,
                       std::vector<value_id>{cond},
                       std::vector<value_id>{out},
                       std::vector<attribute>{then_branch, else_branch},
                       bodies});
    b.output(out);
    return b.take();
  };
  const session s = check_fires<rules::constant_folding>("ConstantFolding", make);
  for (node_id n : s.graph().main().order())
    for (const graph* body : s.graph().main()[n].subgraphs) CHECK(body->order().size() == 1);
}
