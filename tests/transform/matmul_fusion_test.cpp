#include <cameo/transform/rules/fusions.hpp>

#include "small_models.hpp"

using namespace cameo;
using namespace cameo::test;

namespace {

struct product_of {
  std::vector<std::int64_t> a{0, 1, 3, 2}, b{};  // permutations; empty: none
  bool read_transpose = false, cast = false, constant_b = false;
  dtype type = dtype::f32;
};
auto transposed_product(const product_of& p) {
  return [p] {
    model_builder m;
    const dim n = m.symbol("n");
    const auto side = [&](std::string_view name, const std::vector<std::int64_t>& axes,
                          std::vector<std::int64_t> as_read) {
      std::vector<std::int64_t> shape = as_read;
      for (std::size_t i = 0; i < axes.size(); ++i) shape[std::size_t(axes[i])] = as_read[i];
      std::vector<dim> dims;
      for (std::int64_t d : shape) dims.push_back(d == 5 ? n : dim::fixed(d));
      value_id v = m.input(name, p.cast ? dtype::f64 : p.type, dims);
      if (!axes.empty()) v = m.node("Transpose", {v}, {list_of("perm", axes)});
      if (p.read_transpose && !axes.empty()) m.output(v);
      return p.cast ? m.node("Cast", {v}, {model_builder::integer("to", 1)}) : v;
    };
    m.output(m.node("MatMul", {side("a", p.a, {2, 3, 5, 4}), side("b", p.b, {2, 3, 4, 6})}));
    return m.take();
  };
}

}  // namespace

TEST_CASE("transposed operands are fused into a product, also with casts between") {
  for (const product_of& p : {product_of{}, {.a = {}, .b = {0, 1, 3, 2}}, {.b = {0, 1, 3, 2}}, {.cast = true}}) {
    const session s = check_fires<rules::matmul_fusion>("MatmulTransposeFusion", transposed_product(p));
    CHECK(count_of(s, "Transpose") == 0);
    CHECK(count_of(s, "FusedMatMul") == 1);
  }
}

TEST_CASE("other transposes stay, and so do those with other readers, and products of integers") {
  const auto idle = [](const product_of& p) {
    check_idle<rules::matmul_fusion>("MatmulTransposeFusion", transposed_product(p));
  };
  idle({.a = {1, 0, 2, 3}});
  idle({.a = {0, 2, 1, 3}});
  idle({.read_transpose = true});
  idle({.type = dtype::i32});
  idle({.type = dtype::f64});
}

TEST_CASE("a large constant with other readers is not copied to transpose it") {
  const session s = check_fires<rules::matmul_fusion>("MatmulTransposeFusion", [] {
    model_builder b;
    const value_id w = b.constant<float>("w", {300, 16}, ramp(300 * 16));
    const value_id rows = b.node("Gather", {w, b.input("i", dtype::i64, {b.symbol("n")})});
    b.output(b.node("MatMul", {rows, b.node("Transpose", {w})}));
    return b.take();
  });
  CHECK(count_of(s, "Transpose") == 0);
}

namespace {

enum class place { a, b, out };
struct scale {
  place where = place::a;
  std::string_view op = "Mul";
  extents shape{};
  bool first = false, read = false;
  float factor = 0.125f;
};
auto scaled(const scale& s) {
  return [s] {
    model_builder m;
    const value_id c = m.constant<float>("c", s.shape, std::vector<float>(std::size_t(s.shape.count()), s.factor));
    const auto at = [&](place here, value_id v) {
      if (here != s.where) return v;
      const value_id out = m.node(s.op, s.first ? std::vector{c, v} : std::vector{v, c});
      if (s.read) m.output(out);
      return out;
    };
    const value_id a = at(place::a, m.input("a", dtype::f32, {m.symbol("n"), dim::fixed(4)}));
    const value_id b = at(place::b, m.input("b", dtype::f32, {dim::fixed(4), dim::fixed(6)}));
    const value_id product = m.node("MatMul", {a, b});
    if (s.read && s.where == place::out) m.output(product);
    m.output(at(place::out, product));
    return m.take();
  };
}

}  // namespace

TEST_CASE("constant factors of a product and its operands are fused into it") {
  for (const scale& s : {scale{},
                         {.where = place::b, .first = true},
                         {.where = place::out},
                         {.where = place::out, .op = "Div"},
                         {.op = "Div", .shape = {1}},
                         {.where = place::out, .shape = {1, 1}, .first = true}}) {
    const session done = check_fires<rules::matmul_fusion>("MatMulScaleFusion", scaled(s));
    CHECK(done.graph().main().order().size() == 1);
  }
}

TEST_CASE("factors that are not finite, change the shape, have other readers or divide stay") {
  const auto idle = [](const scale& s) { check_idle<rules::matmul_fusion>("MatMulScaleFusion", scaled(s)); };
  idle({.shape = {4}});
  idle({.where = place::out, .shape = {1, 1, 1}});
  idle({.read = true});
  idle({.where = place::out, .op = "Div", .first = true});
  idle({.where = place::out, .read = true});
  idle({.where = place::out, .factor = INFINITY});
}
