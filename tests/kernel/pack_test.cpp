// Data that kernels pack is passed to the maker of the plan, and used in a later plan without the constants.
#include <cameo/kernel/kernel_list.hpp>
#include <cameo/op/onnx.hpp>
#include <cameo/os/heap_arena.hpp>
#include <cameo/plan/planner.hpp>
#include <cameo/run/runner.hpp>

#include <doctest/doctest.h>

#include <memory>
#include <vector>

namespace cameo::test {
namespace {

int fills = 0;

/// y = a * b, for a constant b. If the kernel may pack constants, it stores 2 * b.
struct packing_product {
  std::span<const float> doubled;

  static result<packing_product> bind(bind_context& c) {
    if (!c.prepack) return packing_product{};
    const auto fill = [](const value& constant, std::span<float> to) -> status {
      ++fills;
      for (std::size_t i = 0; i < to.size(); ++i) to[i] = 2 * constant.as_unchecked<float>()[std::int64_t(i)];
      return {};
    };
    const result<std::span<const float>> made = c.pack<float>(1, std::size_t(c.inputs[1].shape.count()), fill);
    if (!made) return made.error();
    return packing_product{*made};
  }
  status run(run_context& c) const {
    const auto a = c.input<float>(0);
    const result<tensor_view<float>> y = c.output<float>(0, a.shape());
    if (!y) return y.error();
    for (std::int64_t i = 0; i < a.count(); ++i)
      (*y)[i] = a[i] * (doubled.empty() ? c.input<float>(1)[i] : doubled[std::size_t(i)] / 2);
    return {};
  }
};
using kernels = kernel_list<erased_entry<op::Mul, since<14>, constrain<"T", float>, packing_product>>;

struct rig {
  detail::heap_arena memory;
  draft net{memory};
  value b;
  memory_source host = heap_memory();
  node_binder binder{"test", &kernels::table, bind_by_table};
  plan_options how;

  explicit rig(const float* elements) : b{value::tensor(dtype::f32, {3}, elements)} {
    operand o;
    o.kind = type_kind::tensor, o.type = dtype::f32, o.has_rank = true, o.shape = {3};
    const slot a = *net.add_value({"a", o, true}), y = *net.add_value({"y", o, false, true});
    o.constant = &b;
    const slot c = *net.add_value({"b", o});
    detail::draft_node node;
    const std::span<slot> ins = *memory.take<slot>(2), outs = *memory.take<slot>(1);
    ins[0] = a, ins[1] = c, outs[0] = y;
    node.op = &kernels::table.ops[0], node.op_type = "Mul", node.since = 14, node.inputs = ins, node.outputs = outs;
    REQUIRE(net.nodes.push_back(node));
    REQUIRE(net.inputs.push_back(a));
    REQUIRE(net.outputs.push_back(y));
    how.binders = {&binder, 1}, how.memories = {&host, 1};
  }
  std::vector<float> run(const plan_view& plan) {
    const float a[] = {1, 2, 3};
    const value in = value::tensor(dtype::f32, {3}, a);
    const result<runner*> r = runner::make(plan, {&host, 1}, memory);
    REQUIRE(r);
    value out;
    REQUIRE((*r)->run({&in, 1}, {&out, 1}, {}));
    const auto y = out.as_unchecked<float>();
    const std::vector<float> made{y.begin(), y.end()};
    std::destroy_at(*r);
    return made;
  }
};

}  // namespace

TEST_CASE("data that was packed for one plan is used in the next, which need not have the constant") {
  const float weights[] = {5, 7, 11};
  const std::vector<float> expected{5, 14, 33};
  std::vector<std::span<const float>> kept;
  fills = 0;
  rig first{weights};
  first.how.packs.self = &kept;
  first.how.packs.packed = [](void* self, const void* made, std::size_t bytes) -> status {
    static_cast<decltype(kept)*>(self)->push_back({static_cast<const float*>(made), bytes / sizeof(float)});
    return {};
  };
  const auto made = make_plan(first.net, first.how, first.memory);
  REQUIRE(made);
  CHECK(first.run(**made) == expected);
  CHECK(fills == 1);
  REQUIRE(kept.size() == 1);
  CHECK(std::vector<float>{kept[0].begin(), kept[0].end()} == std::vector<float>{10, 14, 22});

  rig second{nullptr};
  second.how.packs.self = &kept;
  second.how.packs.find = [](void* self, std::size_t bytes) -> result<const void*> {
    const auto& all = *static_cast<decltype(kept)*>(self);
    if (bytes != all[0].size_bytes()) return status_code::invalid_graph;
    return static_cast<const void*>(all[0].data());
  };
  const auto again = make_plan(second.net, second.how, second.memory);
  REQUIRE(again);
  CHECK(second.run(**again) == expected);
  CHECK(fills == 1);
}

TEST_CASE("a constant without elements is refused if it was not packed") {
  for (const bool prepack : {true, false}) {
    rig r{nullptr};
    r.how.prepack = prepack;
    const auto made = make_plan(r.net, r.how, r.memory);
    REQUIRE(!made);
    CHECK(made.error().code() == (prepack ? status_code::out_of_memory : status_code::invalid_graph));
  }
}

}  // namespace cameo::test
