// Tests sizes of intermediate values that a file declares and a run contradicts; tests/scripts/stale_shapes.py has more
// models.
#include "session/models.hpp"

#include <cameo/graph/check.hpp>
#include <cameo/os/heap_arena.hpp>
#include <cameo/partition/lower.hpp>

#include <algorithm>
#include <functional>

using namespace cameo;
using namespace cameo::test;

namespace {

using dim_list = std::vector<dim>;

dim_list of_sizes(std::initializer_list<std::int64_t> list) {
  dim_list made;
  for (std::int64_t size : list) made.push_back(dim::fixed(size));
  return made;
}

void declare_floats(model_builder& b, value_id v, dim_list shape) {
  b.main()[v].type = b.whole().keep(value_type::tensor(dtype::f32, std::move(shape)));
}

/// A node that reads r, whose shape in the run is [4, 3].
struct shape_reader {
  const char* name;
  std::function<value_id(model_builder&, value_id r)> make;
};

value_id size_along(model_builder& b, value_id r, std::int64_t axis) {
  return b.node("Gather", {b.node("Shape", {r}), b.constant<std::int64_t>("axis" + std::to_string(axis), {}, {axis})});
}
value_id as_floats(model_builder& b, value_id v) { return b.node("Cast", {v}, {model_builder::integer("to", 1)}); }
template <class T>
value_id constant_of(model_builder& b, const char* name, const extents& shape, T each) {
  return b.constant<T>(name, shape, std::vector<T>(std::size_t(shape.count()), each));
}

const shape_reader shape_readers[] = {
    {"Shape", [](model_builder& b, value_id r) { return as_floats(b, b.node("Shape", {r})); }},
    {"Size", [](model_builder& b, value_id r) { return as_floats(b, b.node("Size", {r})); }},
    {"Range up to a size",
     [](model_builder& b, value_id r) {
       const value_id zero = b.constant<std::int64_t>("zero", {}, {0}), one = b.constant<std::int64_t>("one", {}, {1});
       return as_floats(b, b.node("Range", {zero, size_along(b, r, 0), one}));
     }},
    {"Reshape back to the own shape",
     [](model_builder& b, value_id r) {
       const value_id flat = b.node("Reshape", {r, b.constant<std::int64_t>("all", {1}, {-1})});
       return b.node("Reshape", {b.node("Neg", {flat}), b.node("Shape", {r})});
     }},
    {"Slice up to the declared size",
     [](model_builder& b, value_id r) {
       const value_id from = b.constant<std::int64_t>("from", {1}, {0}), to = b.constant<std::int64_t>("to", {1}, {2});
       return b.node("Neg", {b.node("Slice", {r, from, to, from})});
     }},
    {"Expand to the declared shape",
     [](model_builder& b, value_id r) {
       return b.node("Neg", {b.node("Expand", {r, b.constant<std::int64_t>("to", {3}, {2, 4, 3})})});
     }},
    {"Add of zeros",
     [](model_builder& b, value_id r) {
       return b.node("Neg", {b.node("Add", {r, constant_of<float>(b, "w", {4, 3}, 0)})});
     }},
    {"Mul by ones of another rank",
     [](model_builder& b, value_id r) {
       return b.node("Neg", {b.node("Mul", {r, constant_of<float>(b, "w", {1, 1, 1}, 1)})});
     }},
    {"MatMul and a bias of rows",
     [](model_builder& b, value_id r) {
       return b.node("Add", {b.node("MatMul", {r, b.constant<float>("w", {3, 2}, ramp(6))}),
                             b.constant<float>("c", {4, 2}, ramp(8))});
     }},
    {"Squeeze", [](model_builder& b, value_id r) { return b.node("Neg", {b.node("Squeeze", {r})}); }},
};

/// A model of Reshape(x, s) followed by a shape_reader. The file declares the Reshape's output as `declared`.
std::unique_ptr<model> reshaped_and_read(const shape_reader& read, const dim_list* declared) {
  model_builder b;
  const value_id x = b.input("x", dtype::f32, {b.symbol("n")}), s = b.input("s", dtype::i64, of_sizes({2}));
  const value_id r = b.node("Reshape", {x, s});
  if (declared) declare_floats(b, r, *declared);
  b.output(read.make(b, r));
  return b.take();
}

struct run_answer {
  std::vector<std::int64_t> shape;
  std::vector<float> numbers;
  bool operator==(const run_answer&) const = default;
};

run_answer answer_at(std::unique_ptr<model> net, optimization_level level) {
  session_options options;
  options.optimize = level;
  const session s = loaded(std::move(net), options);
  const any_value x = any_value::tensor<float>(extents{12}, ramp(12)),
                  to = any_value::tensor<std::int64_t>(extents{2}, std::vector<std::int64_t>{4, 3});
  const auto made = s.run({{"x", x}, {"s", to}});
  REQUIRE_MESSAGE(made, made.error().words());
  const value& y = made->items[0].value.view();
  return {{y.shape.begin(), y.shape.end()}, floats_of(y)};
}

constexpr optimization_level every_level[] = {optimization_level::none, optimization_level::basic,
                                              optimization_level::extended, optimization_level::layout,
                                              optimization_level::all};

/// A value in the graph of a session without rewrites.
const detail::graph_value& value_named(const session& s, std::string_view name) {
  const graph& g = s.graph().main();
  const value_id v = g.find(name);
  REQUIRE(v != value_id::none);
  return g[v];
}

session without_rewrites(std::unique_ptr<model> net) {
  session_options options;
  options.optimize = optimization_level::none;
  return loaded(std::move(net), options);
}

}  // namespace

TEST_CASE("a size that value_info declares and a run contradicts changes no run_answer at any level") {
  for (const shape_reader& read : shape_readers) {
    CAPTURE(read.name);
    const run_answer right = answer_at(reshaped_and_read(read, nullptr), optimization_level::none);
    for (const dim_list& declared : {of_sizes({2, 6}), of_sizes({1, 3}), of_sizes({1, 12}), of_sizes({4, 1}),
                                     of_sizes({12}), of_sizes({1, 1}), of_sizes({}), of_sizes({1, 4, 3})})
      for (const optimization_level level : every_level) {
        CAPTURE(int(level));
        CHECK(answer_at(reshaped_and_read(read, &declared), level) == right);
      }
  }
}

TEST_CASE("an inferred symbol beats a declared number, and what is only declared is set aside") {
  model_builder b;
  const dim batch = b.symbol("batch");
  const value_id x = b.input("x", dtype::f32, {batch, dim::fixed(3)}), s = b.input("s", dtype::i64, of_sizes({2}));
  const value_id known = b.node("Relu", {x}), open = b.node("Reshape", {x, s});
  declare_floats(b, known, of_sizes({1, 3}));
  declare_floats(b, open, of_sizes({3, 1}));
  b.output(b.node("Neg", {known})), b.output(b.node("Neg", {open}));
  const std::string of_known{b.main()[known].name}, of_open{b.main()[open].name};
  const session made = without_rewrites(b.take());
  CHECK(*value_named(made, of_known).type->shape == dim_list{batch, dim::fixed(3)});
  REQUIRE(value_named(made, of_open).type->shape->size() == 2);
  for (const dim d : *value_named(made, of_open).type->shape) CHECK(!d.known());
  CHECK(*value_named(made, of_open).declared->shape == of_sizes({3, 1}));
  CHECK(*detail::described_type(value_named(made, of_open)).shape == of_sizes({3, 1}));
}

TEST_CASE("two values whose sizes have one declared name need not have one size") {
  model_builder b;
  const dim rows = b.symbol("rows");
  const value_id x = b.input("x", dtype::f32, {b.symbol("n")}), s = b.input("s", dtype::i64, of_sizes({2}));
  const value_id z = b.input("z", dtype::f32, {rows, dim::fixed(3)});
  const value_id r = b.node("Reshape", {x, s});
  declare_floats(b, r, {rows, dim::fixed(3)});
  // The output needs one row for each row of r; with the number of rows of z it would have the shape of z.
  b.output(as_floats(
      b, b.node("Concat", {b.node("Shape", {r}), b.node("Shape", {z})}, {model_builder::integer("axis", 0)})));
  const session made = loaded(b.take());
  const any_value twelve = any_value::tensor<float>(extents{12}, ramp(12)),
                  two = any_value::tensor<float>(extents{2, 3}, ramp(6)),
                  to = any_value::tensor<std::int64_t>(extents{2}, std::vector<std::int64_t>{4, 3});
  const auto out = made.run({{"x", twelve}, {"s", to}, {"z", two}});
  REQUIRE_MESSAGE(out, out.error().words());
  CHECK(floats_of(out->items[0].value.view()) == std::vector<float>{4, 3, 2, 3});
}

TEST_CASE("an output keeps the type that the file declares for callers, and no memory is planned by it") {
  model_builder b;
  const value_id x = b.input("x", dtype::f32, {b.symbol("n")}), s = b.input("s", dtype::i64, of_sizes({2}));
  const value_id y = b.node("Reshape", {x, s});
  declare_floats(b, y, of_sizes({3, 4}));
  b.output(y);
  const std::string of_y{b.main()[y].name};
  const session made = loaded(b.take());
  CHECK(made.outputs()[0].type_text == "tensor(float)[3,4]");
  CHECK(made.fixed_bytes() == 0);
  for (const dim d : *value_named(made, of_y).type->shape) CHECK(!d.known());
}

TEST_CASE("kernels of a body are not bound by sizes that the file only declares of the body's outputs") {
  model_builder b;
  model& m = b.whole();
  const value_id x = b.input("x", dtype::f32, {b.symbol("n")}), s = b.input("s", dtype::i64, of_sizes({2}));
  graph& body = m.add_graph(&b.main());
  body.name = "body";
  const auto body_value = [&](std::string_view name, dtype type, bool is_input) {
    const value_id v = body.add_value(name, m.keep(value_type::tensor(type, dim_list{})));
    if (is_input) body.add_input(v);
    return v;
  };
  static_cast<void>(body_value("round", dtype::i64, true));
  const value_id on = body_value("on", dtype::boolean, true), goes_on = body_value("goes_on", dtype::boolean, false);
  const value_id row = body.add_value("row", m.keep(value_type::tensor(dtype::f32, of_sizes({2, 3}))));
  body.add_node({"same", "", "Identity", {}, {}, 17, std::vector{on}, std::vector{goes_on}});
  body.add_node(
      {"make", "", "Reshape", {}, {}, 17, std::vector{body.capture_of(x), body.capture_of(s)}, std::vector{row}});
  body.add_output(goes_on), body.add_output(row);
  attribute holds;
  holds.name = "body", holds.kind = attribute_kind::g, holds.i = 0;
  graph* const graphs[] = {&body};
  const value_id rows = b.main().add_value("rows"), trips = b.input("trips", dtype::i64, {});
  b.main().add_node({"loop",
                     "",
                     "Loop",
                     {},
                     {},
                     17,
                     std::vector{trips, b.constant<bool>("truth", {}, {true})},
                     std::vector{rows},
                     std::vector{holds},
                     graphs});
  b.output(rows);
  const session made = without_rewrites(b.take());
  detail::heap_arena memory;
  const result<draft*> net = lower(made.graph().main(), {}, false, memory);
  REQUIRE(net);
  const auto loop = std::find_if((*net)->nodes.begin(), (*net)->nodes.end(),
                                 [](const detail::draft_node& n) { return n.op_type == "Loop"; });
  REQUIRE(loop != (*net)->nodes.end());
  const draft& inner = *loop->subgraphs[0];
  for (const std::int64_t size : inner.values[inner.outputs[1]].info.shape) CHECK(size == -1);
  REQUIRE(inner.declared_outputs.size() == 2);
  CHECK(inner.declared_outputs[1].shape == extents{2, 3});
}

TEST_CASE("a model that is checked twice has the types and the declarations that it had") {
  std::unique_ptr<model> net = reshaped_and_read(shape_readers[0], nullptr);
  graph& g = net->main();
  const value_id r = g[g.order().empty() ? node_id{0} : g.order()[0]].outputs[0];
  g[r].type = net->keep(value_type::tensor(dtype::f32, of_sizes({2, 6})));
  for (int i = 0; i < 2; ++i) {
    const status checked = check_model(*net, op_table{});
    REQUIRE_MESSAGE(checked, checked.words());
    CHECK(*g[r].declared->shape == of_sizes({2, 6}));
    CHECK(!(*g[r].type->shape)[0].known());
  }
}
