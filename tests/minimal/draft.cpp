// Uses the library for devices without exceptions, RTTI and error messages: a custom operator, a kernel, a draft of two
// nodes in an arena of the caller, a plan and its runs. The exit status is 0 if all checks pass.
#include <cameo/kernel/kernel_list.hpp>
#include <cameo/plan/planner.hpp>
#include <cameo/run/runner.hpp>

#include <array>
#include <cstdio>

namespace {

/// y = 2 x
struct twice_op {
  static constexpr std::string_view domain = "test", name = "Twice";
  static constexpr cameo::parameter inputs[] = {{"x", "T"}}, outputs[] = {{"y", "T"}};
  static constexpr cameo::type_rule types[] = {{"T", cameo::mask_of<float, std::int32_t>}};
  static constexpr cameo::op_version versions[] = {{1, inputs, outputs, types, {}, 1, 1}};
  static cameo::status infer(cameo::infer_context&) { return cameo::status_code::ok; }
};

template <class T>
struct twice {
  static cameo::result<twice> bind(cameo::bind_context& c) {
    c.may_overwrite(0, 0);
    return twice{};
  }
  cameo::status run(cameo::run_context& c) const {
    const cameo::tensor_view<const T> x = c.input<T>(0);
    cameo::result<cameo::tensor_view<T>> y = c.output<T>(0, x.shape());
    if (!y) return y.error();
    for (std::int64_t i = 0; i < x.count(); ++i) (*y)[i] = x[i] + x[i];
    return cameo::status_code::ok;
  }
};
using kernels = cameo::kernel_list<
    cameo::kernel_entry<twice_op, cameo::since<1>, cameo::constrain<"T", float, std::int32_t>, twice>>;

constexpr cameo::op_row twice_row = cameo::detail::make_op_row<twice_op>();

cameo::draft_value tensor(std::string_view name, cameo::dtype type) {
  cameo::draft_value v{name, {}};
  v.info.kind = cameo::type_kind::tensor;
  v.info.type = type;
  v.info.present = v.info.has_rank = true;
  v.info.shape = {3};
  return v;
}

/// Makes x -> Twice -> Twice -> y. Returns false if the draft's arena is full.
bool make_draft(cameo::draft& net, cameo::dtype type, std::array<cameo::slot, 3>& slots) {
  for (std::size_t i = 0; i < slots.size(); ++i) {
    cameo::result<cameo::slot> made = net.add_value(tensor(i == 0 ? "x" : i == 1 ? "middle" : "y", type));
    if (!made) return false;
    slots[i] = *made;
  }
  for (std::size_t i = 0; i + 1 < slots.size(); ++i) {
    cameo::detail::draft_node node;
    node.name = i ? "second" : "first", node.op = &twice_row, node.op_type = twice_op::name, node.since = 1;
    node.inputs = {&slots[i], 1}, node.outputs = {&slots[i + 1], 1};
    if (!net.nodes.push_back(node)) return false;
  }
  return net.inputs.push_back(slots[0]) && net.outputs.push_back(slots[2]);
}

alignas(64) std::byte memory[64 * 1024];

/// Plans the draft within `bytes` of memory and runs the plan three times. OK if every number is correct.
cameo::status_code quadruple(std::size_t bytes, cameo::dtype type) {
  cameo::arena arena{std::span{memory}.first(bytes)};
  cameo::draft net{arena};
  std::array<cameo::slot, 3> slots{};
  if (!make_draft(net, type, slots)) return cameo::status_code::out_of_memory;
  const cameo::node_binder binder{"test", &kernels::table, cameo::bind_by_table};
  const cameo::memory_source heap = cameo::heap_memory();
  cameo::plan_options options;
  options.binders = {&binder, 1};
  options.memories = {&heap, 1};
  cameo::result<const cameo::plan_view*> plan = cameo::make_plan(net, options, arena);
  if (!plan) return plan.error().code();
  cameo::result<cameo::runner*> runner = cameo::runner::make(**plan, {&heap, 1}, arena);
  if (!runner) return runner.error().code();
  for (float start : {1.0f, 10.0f, 0.5f}) {
    const float x[] = {start, -start, 0};
    const cameo::value input = cameo::value::tensor<float>({3}, x);
    cameo::value output;
    if (cameo::status ran = (*runner)->run({&input, 1}, {&output, 1}, {}); !ran) return ran.code();
    if (output.shape != cameo::extents{3} || output.type != cameo::dtype::f32) return cameo::status_code::fail;
    for (std::size_t i = 0; i < 3; ++i)
      if (output.as_unchecked<float>()[std::int64_t(i)] != 4 * x[i]) return cameo::status_code::fail;
  }
  return cameo::status_code::ok;
}

int failures = 0;
void expect(const char* claim, cameo::status_code got, cameo::status_code want) {
  if (got == want) return;
  ++failures;
  std::printf("%s: %s instead of %s\n", claim, cameo::status{got}.name(), cameo::status{want}.name());
}

}  // namespace

static_assert(sizeof(cameo::status) == 1, "a status without messages is one byte");

int main() {
  using enum cameo::status_code;
  expect("a plan within 64 KiB runs", quadruple(sizeof memory, cameo::dtype::f32), ok);
  expect("no kernel for the type", quadruple(sizeof memory, cameo::dtype::f64), not_implemented);
  // For every size that is too small, the result must be OUT_OF_MEMORY.
  std::size_t enough = 0;
  for (std::size_t bytes = 0; bytes <= sizeof memory && !enough; bytes += 64) {
    const cameo::status_code got = quadruple(bytes, cameo::dtype::f32);
    if (got == ok) enough = bytes;
    else expect("too little memory is OUT_OF_MEMORY", got, out_of_memory);
  }
  std::printf("two nodes run within %zu bytes of arena\n", enough);
  if (!enough) ++failures;
  std::printf("%d failed\n", failures);
  return failures != 0;
}
