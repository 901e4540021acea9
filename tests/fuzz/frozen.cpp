// A fuzz target for the containers of eps/frozen: for any bytes, opening a container, restoring its plans and running
// them must end with success or a status. Checksums are corrected first, because they only protect against accidental
// changes. Seeds: eps/frozen/tests/data.
#include <cameo/eps/cpu.hpp>
#include <cameo/graph/model.hpp>
#include <cameo/os/heap_arena.hpp>
#include <cameo/run/runner.hpp>

#include "frozen/src/program.hpp"
#include "frozen/tests/reseal.hpp"

#include <chrono>
#include <cstdlib>
#include <memory>

namespace {

using namespace cameo;
using namespace cameo::eps::frozen_file;

std::int64_t now() { return std::chrono::steady_clock::now().time_since_epoch().count(); }

/// Runs a plan once, with zeros as inputs.
void run(const program& plan) {
  detail::heap_arena memory{1 << 14, std::size_t{1} << 26};
  draft net{memory};
  detail::draft_node node;
  std::vector<slot> inputs, outputs;
  std::vector<value> values;
  std::vector<std::vector<std::byte>> bytes;
  for (slot s : plan.net().inputs) {
    const operand& o = plan.net().values[s].info;
    extents shape = o.shape;
    for (std::int64_t& d : shape) d = d < 0 ? 2 : d;
    std::int64_t count = 0;
    if (!o.has_rank || !shape.checked_count(count) || count > 1 << 12) return;
    values.push_back(value::tensor(o.type, shape, nullptr));
    bytes.emplace_back(values.back().bytes() + 64 + std::size_t(count) * sizeof(std::string_view));
    values.back().data = bytes.back().data();
    inputs.push_back(*net.add_value({"in", {}, true}));
  }
  for (std::size_t i = 0; i < plan.net().outputs.size(); ++i)
    outputs.push_back(*net.add_value({"out", {}, false, true}));
  node.inputs = inputs, node.outputs = outputs;
  node.compiled = {&plan, [](const void* self, run_context& c) { return static_cast<const program*>(self)->run(c); }};
  for (slot s : inputs) static_cast<void>(net.inputs.push_back(s));
  for (slot s : outputs) static_cast<void>(net.outputs.push_back(s));
  if (!net.nodes.push_back(node)) return;
  const memory_source host = heap_memory();
  const node_binder no_kernels{};
  plan_options how;
  how.binders = {&no_kernels, 1}, how.memories = {&host, 1};
  const result<const plan_view*> made = make_plan(net, how, memory);
  if (!made) return;
  const result<runner*> runs = runner::make(**made, {&host, 1}, memory, std::size_t{1} << 26);
  if (!runs) return;
  std::vector<value> results(outputs.size());
  cameo::run_options options;
  options.stop.now = now, options.stop.deadline = now() + 100'000'000;
  static_cast<void>((*runs)->run(values, results, options));
  std::destroy_at(*runs);
}

/// A model with a compiled node whose inputs after the first are constants, as if its weights were left in the model.
class compiled_model {
 public:
  compiled_model() {
    graph& g = model_->main();
    std::vector<value_id> inputs = {g.add_value("x")};
    g.add_input(inputs[0]);
    for (const value& each : constants_) {
      inputs.push_back(g.add_value("w" + std::to_string(inputs.size())));
      g.add_initializer(inputs.back(), &each);
    }
    const value_id y = g.add_value("y");
    node_ = g.add_node({"n", "com.microsoft", "EPContext", {}, {}, 1, inputs, {&y, 1}});
  }
  node_view node() const { return {model_->main(), node_}; }

 private:
  alignas(64) std::byte zeros_[64]{};
  const value constants_[3] = {value::tensor(dtype::f32, {4}, zeros_), value::tensor(dtype::f32, {2, 2}, zeros_),
                               value::tensor(dtype::i64, {1}, zeros_)};
  std::unique_ptr<model> model_ = std::make_unique<model>();
  node_id node_ = node_id::none;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const eps::cpu object;
  static const compiled_model with_constants;
  static const maker here{"0.1.0", "this processor"};
  // A buffer of exactly this size, so that the sanitizer finds reads past its end. It is aligned, so that the constants
  // are used in place.
  void* memory = nullptr;
  if (::posix_memalign(&memory, 64, size + !size) != 0) return 0;
  const std::unique_ptr<void, void (*)(void*)> copy{memory, std::free};
  const std::span<std::byte> bytes{static_cast<std::byte*>(copy.get()), size};
  if (size) std::memcpy(copy.get(), data, size);
  test::reseal(bytes, here);
  const auto context = opened::open(bytes, here);
  if (!context) return 0;
  const context_binary binary{bytes, nullptr, "input"};
  for (const opened::plan& each : context->plans())
    if (const auto plan = program::restore({detail::provider_row_of<eps::cpu>, &object}, binary, *context, each,
                                           with_constants.node(), true))
      run(**plan);
  return 0;
}
