// Makes the plan of a session, the descriptions of its inputs and outputs, and its threads.
#include <cameo/os/heap_arena.hpp>
#include <cameo/partition/lower.hpp>

#include "file/messages.hpp"
#include "plan/copy_step.hpp"
#include "session/stages.hpp"

#include <algorithm>

namespace CAMEO_NAMESPACE {
namespace {

/// The binder of each provider. `memories` receives the kinds of memory, each once even if providers share it.
std::vector<node_binder> binders_of(std::span<const provider> providers, const memory_source& for_values,
                                    std::vector<memory_source>& memories) {
  const memory_source heap = heap_memory();
  std::vector<node_binder> made;
  memories.push_back(for_values.allocate ? for_values : heap);
  for (const provider& p : providers) {
    memory_source source = p.row->memory(p.self.get());
    if (source.allocate == heap.allocate) source = memories[0];  // host memory, possibly from the user's allocator
    const auto is_it = [&](const memory_source& m) { return m.self == source.self && m.allocate == source.allocate; };
    const std::size_t kind = std::size_t(std::ranges::find_if(memories, is_it) - memories.begin());
    if (kind == memories.size()) memories.push_back(source);
    made.push_back({p.row->name, p.self.get(), p.row->bind, std::uint8_t(kind)});
  }
  return made;
}

io_info info_of(const model& net, value_id v) {
  const detail::graph_value& value = net.main()[v];
  io_info made{std::string{value.name}, detail::described_type(value), value.constant != nullptr, {}};
  made.type_text = made.type.to_string(&net.symbols);
  return made;
}

/// True if a caller may give this input. Before IR version 4, models had to list every initializer as an input, so that
/// such inputs are constants.
bool is_given(const model& net, value_id input) { return !net.main()[input].constant || net.ir_version >= 4; }

std::vector<described_io::symbol_use> symbols_in(const model& net, const std::vector<io_info>& inputs) {
  std::vector<described_io::symbol_use> made;
  for (std::uint32_t i = 0; i < inputs.size(); ++i) {
    const value_type& io = inputs[i].type;
    const value_type& type = io.kind == type_kind::optional && io.element ? *io.element : io;
    if (!type.is_tensor() || !type.shape) continue;
    for (std::uint32_t axis = 0; axis < type.shape->size(); ++axis)
      if (const dim& d = (*type.shape)[axis]; !d.known() && d.symbol)
        made.push_back({d.symbol, i, axis, net.symbols[d.symbol]});
  }
  std::ranges::stable_sort(made, {}, &described_io::symbol_use::name);
  return made;
}

}  // namespace

result<session_plan> make_session_plan(const load_settings& how, std::span<const provider> providers,
                                       const compiled_groups& groups, const model& net, const load_reporter& reporter) {
  session_plan made;
  const std::vector<node_binder> binders = binders_of(providers, how.options.memory, made.memories);
  std::vector<detail::bound_kernel> compiled;
  for (const compiled_node& program : groups.programs) compiled.push_back({program.state.get(), program.run});
  detail::heap_arena drafts{1 << 16}, scratch{1 << 16};
  result<draft*> net_draft = lower(net.main(), compiled, net.ir_version >= 4, drafts);
  if (!net_draft) return std::move(net_draft).error();
  plan_options with;
  if (const std::string& in = how.options.io_memory; !in.empty()) {
    const auto is_it = [&](const provider& p) { return p.row->name == in || p.row->long_name == in; };
    const auto found = std::ranges::find_if(providers, is_it);
    if (found == providers.end())
      return failed(status_code::invalid_argument,
                    "inputs and outputs are to be in the memory of '{}', which is not among the session's providers",
                    in);
    with.io_memory = binders[std::size_t(found - providers.begin())].memory;
  }
  with.binders = binders, with.memories = made.memories, with.scratch = &scratch;
  with.prepack = !how.config.is_on(config_key<"session.disable_prepacking">);
  with.by_level = how.options.execution == execution_mode::parallel;
  with.memory_limit = how.memory_limit;
  struct watch {
    const model& net;
    const load_reporter& reporter;
  } const watching{net, reporter};
  with.watcher.self = &watching;
  // Pages of a mapped file are released once their contents are copied, so that a large file is never in memory whole.
  with.watcher.copied = [](const void* self, const value& v) {
    for (const auto& file : static_cast<const watch*>(self)->net.files) file->forget_pages(v.data, v.bytes());
  };
  with.watcher.bound = [](const void* self, std::size_t done, std::size_t total) {
    static_cast<const watch*>(self)->reporter.part(double(done) / double(total));
  };
  result<const plan_view*> steps = make_plan(**net_draft, with, *made.memory);
  if (!steps) return std::move(steps).error();
  made.steps = *steps;
  for (const auto& file : net.files) file->forget_pages();  // kernels have packed copies of the weights
  return made;
}

std::vector<io_info> inputs_of(const model& net) {
  std::vector<io_info> made;
  for (value_id v : net.main().inputs())
    if (is_given(net, v)) made.push_back(info_of(net, v));
  return made;
}

std::vector<io_info> outputs_of(const model& net) {
  std::vector<io_info> made;
  for (value_id v : net.main().outputs()) made.push_back(info_of(net, v));
  return made;
}

result<described_io> describe_io(model& net, const session_plan& plan) {
  described_io made{inputs_of(net), outputs_of(net), {}, {}};
  for (value_id v : net.main().inputs()) {
    if (!is_given(net, v)) continue;
    made.defaults.push_back(net.main()[v].constant);
    if (status s = align_constant(made.defaults.back(), net); !s) return s;
    const std::uint8_t kind = plan.steps->initial[plan.steps->inputs[made.defaults.size() - 1]].memory;
    if (kind == 0 || !made.defaults.back()) continue;
    const result<value> there = copy_constant(*made.defaults.back(), plan.memories[kind], kind, *plan.memory);
    if (!there) return there.error();
    made.defaults.back() = plan.memory->keep(*there);
    if (!made.defaults.back()) return status_code::out_of_memory;
  }
  made.symbols = symbols_in(net, made.inputs);
  return made;
}

result<session_threads> start_threads(const load_settings& how) {
  if (const detail::task_pool_ref own = how.options.pool) {
    const std::size_t count = call_user("the task pool's concurrency()", [&] { return own.concurrency(); });
    if (count == 0)
      return status{status_code::invalid_argument,
                    "the task pool's concurrency() is 0; it is the number of threads that may work, including the "
                    "caller's"};
    return session_threads{nullptr, own, count};
  }
  const std::size_t threads = how.options.threads ? how.options.threads : available_threads();
  if (threads <= 1) return session_threads{};
  result<std::unique_ptr<thread_pool>> own =
      thread_pool::make(threads, how.config.is_on(config_key<"session.intra_op.allow_spinning">));
  if (!own) return std::move(own).error();
  const std::size_t started = (*own)->concurrency();
  if (started < threads)
    how.warn(
        fmt::format("the system started {} of {} threads, and the session runs with these; a limit on threads, "
                    "processes or memory was reached",
                    started, threads));
  const detail::task_pool_ref pool{**own};
  return session_threads{*std::move(own), pool, started};
}

}  // namespace CAMEO_NAMESPACE
