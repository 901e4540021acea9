// Runs whose shapes were checked before are not checked again; other shapes are.
#include <cameo/kernel/kernel_list.hpp>
#include <cameo/os/heap_arena.hpp>
#include <cameo/plan/planner.hpp>
#include <cameo/run/runner.hpp>

#include <doctest/doctest.h>

#include <thread>
#include <vector>

namespace cameo::test {
namespace {

struct Paired {
  static constexpr std::string_view domain = "acme", name = "Paired";
  static constexpr parameter inputs[] = {{"rows", "T"}, {"row", "T"}}, outputs[] = {{"Y", "T"}};
  static constexpr type_rule types[] = {{"T", cameo::detail::bit_of(dtype::f32)}};
  static constexpr op_version versions[] = {{1, inputs, outputs, types, {}, 2, 1, false, "[n,m] [m]"}};
};

/// y = rows + row, which has as many elements as a row of `rows`: reads past its end otherwise.
struct paired {
  static result<paired> bind(bind_context&) { return paired{}; }
  status run(run_context& c) const {
    const auto rows = c.input<float>(0), row = c.input<float>(1);
    const result<tensor_view<float>> y = c.output<float>(0, rows.shape());
    if (!y) return y.error();
    const std::int64_t columns = rows.shape()[1];
    for (std::int64_t i = 0; i < rows.count(); ++i) (*y)[i] = rows[i] + row[i % columns];
    return {};
  }
};
using paired_kernels = kernel_list<erased_entry<Paired, since<1>, constrain<"T", float>, paired>>;

/// A node whose inputs have the sizes given, where -1 is open.
struct net_of_pair {
  cameo::detail::heap_arena memory;
  draft net{memory};
  memory_source host = heap_memory();
  node_binder binder{"test", &paired_kernels::table, bind_by_table};
  plan_options how;
  const plan_view* plan = nullptr;

  net_of_pair(const extents& rows, const extents& row) {
    operand o, result;
    result.kind = type_kind::tensor, result.type = dtype::f32, result.present = true;
    o.kind = type_kind::tensor, o.type = dtype::f32, o.has_rank = true, o.present = true;
    o.shape = rows;
    const slot a = *net.add_value({"rows", o, true});
    o.shape = row;
    const slot b = *net.add_value({"row", o, true}), y = *net.add_value({"y", result, false, true});
    cameo::detail::draft_node node;
    const std::span<slot> ins = *memory.take<slot>(2), outs = *memory.take<slot>(1);
    ins[0] = a, ins[1] = b, outs[0] = y;
    node.op = &paired_kernels::table.ops[0], node.op_type = "Paired", node.since = 1, node.inputs = ins,
    node.outputs = outs;
    REQUIRE(net.nodes.push_back(node));
    REQUIRE(net.inputs.push_back(a));
    REQUIRE(net.inputs.push_back(b));
    REQUIRE(net.outputs.push_back(y));
    how.binders = {&binder, 1}, how.memories = {&host, 1};
    const auto made = make_plan(net, how, memory);
    REQUIRE_MESSAGE(made, std::string{made.error().words()});
    plan = *made;
  }
  runner* make_runner(cameo::detail::heap_arena& own) {
    const result<runner*> made = runner::make(*plan, {&host, 1}, own);
    REQUIRE(made);
    return *made;
  }
};

status run_with(runner& r, const extents& rows, const extents& row) {
  static const std::vector<float> ones(64, 1.0F);
  const value in[] = {value::tensor(dtype::f32, rows, ones.data()), value::tensor(dtype::f32, row, ones.data())};
  value out;
  status s = r.run(in, {&out, 1}, {});
  if (s) {
    CHECK(out.shape == rows);
    CHECK(out.as_unchecked<float>()[0] == 2);
  }
  return s;
}

}  // namespace

TEST_CASE("checked kernel: shapes are checked in each run, whatever shapes were checked before") {
  for (const extents& known : {extents{-1, -1}, extents{2, -1}, extents{2, 3}}) {
    net_of_pair net{known, known[1] < 0 ? extents{-1} : extents{3}};
    cameo::detail::heap_arena own;
    runner* const r = net.make_runner(own);
    for (int round = 0; round < 3; ++round) {
      for (const extents& rows : {extents{2, 3}, extents{2, 4}, extents{2, 3}, extents{2, 5}, extents{2, 1}}) {
        if (known[1] > 0 && rows[1] != 3) continue;
        CHECK(run_with(*r, rows, {rows[1]}));
        if (known[1] > 0) continue;
        const status wrong = run_with(*r, rows, {rows[1] + 1});
        REQUIRE(!wrong);
        CHECK(wrong.code() == status_code::invalid_argument);
        CHECK(std::string{wrong.words()}.find("row has shape") != std::string::npos);
        CHECK(!run_with(*r, rows, {}));
      }
    }
    std::destroy_at(r);
  }
}

TEST_CASE("checked kernel: runners of one plan share what was checked") {
  net_of_pair net{{-1, -1}, {-1}};
  cameo::detail::heap_arena own[2];
  runner* const runners[] = {net.make_runner(own[0]), net.make_runner(own[1])};
  int right[2] = {}, refused[2] = {};
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 2; ++t)
      threads.emplace_back([&, t] {
        for (std::int64_t n = 1; n < 200; ++n) {
          const std::int64_t size = 1 + (n + 3 * t) % 7;
          static const std::vector<float> ones(64, 1.0F);
          for (const std::int64_t other : {size, size + 1}) {
            const value in[] = {value::tensor(dtype::f32, {2, size}, ones.data()),
                                value::tensor(dtype::f32, {other}, ones.data())};
            value out;
            const bool ran = bool(runners[t]->run(in, {&out, 1}, {}));
            (other == size ? right : refused)[t] += ran == (other == size);
          }
        }
      });
  }
  for (int t = 0; t < 2; ++t) {
    CHECK(right[t] == 199);
    CHECK(refused[t] == 199);
    std::destroy_at(runners[t]);
  }
}

}  // namespace cameo::test
