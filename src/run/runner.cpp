#include <cameo/run/runner.hpp>

#include "core/guarded.hpp"
#include "core/node_words.hpp"
#include "plan/tier.hpp"
#include "run/denormals.hpp"
#include "run/runner_impl.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <memory>

namespace CAMEO_NAMESPACE {

namespace {

status no_memory_for(std::size_t bytes) {
  if constexpr (target_tier) return status_code::out_of_memory;
  constexpr std::string_view before = "there is no memory for ", after = " bytes";
  char line[before.size() + 20 + after.size()];
  char* const number = std::copy(before.begin(), before.end(), line);
  char* const end = std::to_chars(number, number + 20, bytes).ptr;
  return {status_code::out_of_memory, {line, std::size_t(std::copy(after.begin(), after.end(), end) - line)}};
}

}  // namespace

step_context::step_context(runner::impl& r, std::size_t lanes, std::size_t at)
    : run_context{services, &r, lanes}, lane{at} {}

result<runner*> runner::make(const plan_view& plan, std::span<const memory_source> sources, arena& memory,
                             std::size_t limit) {
  if (sources.size() > max_memory_kinds) return status{status_code::not_implemented, "too many kinds of memory"};
  void* const place = memory.allocate(sizeof(impl), alignof(impl));
  if (!place) return status_code::out_of_memory;
  void* const handle = memory.allocate(sizeof(runner), alignof(runner));
  if (!handle) return status_code::out_of_memory;
  runner* const made =
      ::new (handle) runner{std::construct_at(static_cast<impl*>(place), plan, sources, memory, limit)};
  if (status s = made->impl_->prepare(); !s) {
    std::destroy_at(made);  // releases what was allocated so far
    return s;
  }
  return made;
}

runner::~runner() {
  for (std::size_t kind = 0; kind < impl_->memories.size(); ++kind) {
    const std::size_t bytes = impl_->plan.fixed.region_bytes[kind];
    const memory_source& source = impl_->sources[kind];
    if (impl_->main.regions[kind]) source.release(source.self, impl_->main.regions[kind], bytes);
    std::destroy_at(impl_->memories[kind]);
  }
}

std::size_t runner::arena_bytes() const {
  std::size_t bytes = 0;
  for (std::size_t kind = 0; kind < impl_->memories.size(); ++kind)
    bytes += impl_->plan.fixed.region_bytes[kind] + impl_->memories[kind]->bytes();
  return bytes;
}

status runner::run(std::span<const value> inputs, std::span<value> outputs, const run_options& options) {
  impl& self = *impl_;
  if (inputs.size() != self.plan.inputs.size() || outputs.size() != self.plan.outputs.size())
    return {status_code::invalid_argument, "the plan has another number of inputs or outputs"};
  self.options = &options;
  self.ended.store(status_code::ok, std::memory_order_relaxed);
  if constexpr (!target_tier) self.refused = 0;
  if (self.dirty) self.start_over();
  self.begin(inputs, outputs);
  const denormals_as_zero mode{options.denormals_as_zero};
  status done = self.work();
  if (done) done = guarded_hook([&] { return self.finish(outputs); });
  if (done) self.checks_outputs = false;
  if (!done) self.dirty = true;
  return done;
}

/// The pool may be the user's: what it throws becomes an error, and kernels rely on the number of its lanes.
status runner::impl::work() {
  const detail::task_pool_ref& pool = options->pool;
  if constexpr (target_tier) {
    pool.begin_run();
    lanes = std::max<std::size_t>(pool.concurrency(), 1);
    status done = run();
    pool.end_run();
    return done;
  }
  status done = guarded([&]() -> status {
    lanes = call_user("the task pool's concurrency()", [&] { return pool.concurrency(); });
    if (lanes == 0)
      return {status_code::invalid_argument, "the task pool's concurrency() is 0; it is at least 1, for the caller"};
    call_user("the task pool's begin_run()", [&] { pool.begin_run(); });
    return {};
  });
  if (!done) return done;
  done = guarded([&] { return run(); });  // after begin_run(), end_run() must be called
  status after =
      guarded([&]() -> status { return call_user("the task pool's end_run()", [&] { pool.end_run(); }), status{}; });
  return done ? std::move(after) : std::move(done);
}

void runner::impl::parallel(std::size_t count, task f) {
  if constexpr (target_tier) {
    if (!options->denormals_as_zero) return options->pool.parallel(count, f);
    return options->pool.parallel(count, [f](std::size_t i, std::size_t lane) {
      const denormals_as_zero mode{true};
      f(i, lane);
    });
  }
  first_exception thrown;
  const auto checked = [&](std::size_t i, std::size_t lane) {
    if (i >= count || lane >= lanes) return ended.store(status_code::fail, std::memory_order_relaxed);
    thrown.collect([&] {
      const denormals_as_zero mode{options->denormals_as_zero};
      f(i, lane);
    });
  };
  call_user("the task pool's parallel()", [&] { options->pool.parallel(count, checked); });
  thrown.rethrow();
}

status runner::impl::prepare() {
  const result<std::span<run_memory*>> all = tables.take<run_memory*>(sources.size());
  const result<std::span<value>> values = tables.take<value>(plan.initial.size());
  const result<std::span<value>> outputs = tables.take<value>(plan.outputs.size());
  if (!all || !values || !outputs) return status_code::out_of_memory;
  main.plan = &plan;
  main.values = values->data();
  bound = *outputs;
  for (std::size_t kind = 0; kind < sources.size(); ++kind) {
    void* const place = tables.allocate(sizeof(run_memory), alignof(run_memory));
    if (!place) return status_code::out_of_memory;
    (*all)[kind] = std::construct_at(static_cast<run_memory*>(place), sources[kind], tables, limit);
    const std::size_t bytes = plan.fixed.region_bytes[kind];
    memories = all->first(kind + 1);
    if (!bytes) continue;
    void* const region = bytes > limit ? nullptr : sources[kind].allocate(sources[kind].self, bytes, 64);
    if (!region) return no_memory_for(bytes).in("the values of this model");
    main.regions[kind] = static_cast<std::byte*>(region);
  }
  for (std::size_t s = 0; s < plan.initial.size(); ++s) main.values[s] = main.start(slot(s));
  if (target_tier || !plan.has_dynamic || plan.by_level) return {};
  void* const place = tables.allocate(sizeof(shape_plans), alignof(shape_plans));
  if (!place) return status_code::out_of_memory;
  plans = std::construct_at(static_cast<shape_plans*>(place), plan);
  if (!plans->open(tables)) plans = nullptr;
  return {};
}

void runner::impl::start_over() {
  active = nullptr;
  active_block = nullptr;
  for (run_memory* memory : memories) memory->clear();
  for (std::size_t s = 0; s < plan.initial.size(); ++s) main.values[s] = main.start(slot(s));
  texts = nullptr;
  text_used = 0;
  dirty = false;
}

void runner::impl::begin(std::span<const value> inputs, std::span<value> outputs) {
  while (texts) memories[0]->release(std::exchange(texts, texts->next));
  text_used = 0;
  for (slot s : plan.outputs)
    if (!placed(s)) reset(main, s);
  choose_shape_plan(inputs);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    value& v = main.values[plan.inputs[i]];
    v = inputs[i];
    v.owner = nullptr, v.memory = plan.initial[plan.inputs[i]].memory;
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    bound[i] = outputs[i];
    value& v = main.values[plan.outputs[i]];
    if (!outputs[i].data || v.owner != &planned_storage) continue;
    // A planned output in the caller's memory: kernels find that memory if the shape is the planned one.
    if (outputs[i].bytes() >= v.bytes()) v.data = outputs[i].data, v.owner = nullptr;
    else v.data = nullptr, v.kind = value_kind::none, v.owner = nullptr;
  }
}

bool runner::impl::scattered() const {
  if constexpr (target_tier) return false;  // memory of an arena is not released, so gathering it would waste it
  for (const run_memory* memory : memories)
    if (memory->scattered()) return true;
  return false;
}

void runner::impl::choose_shape_plan(std::span<const value> inputs) {
  if constexpr (target_tier) return;
  if (!plans) return;
  const shape_plans::entry* const found = scattered() ? nullptr : plans->find(inputs);
  // Offsets stay between runs with the same shapes, except for outputs that were in the caller's memory.
  if (found && found == active) {
    for (slot s : plan.outputs)
      if (found->covers(s)) place_by_plan(s);
    return;
  }
  leave_shape_plan();
  if (!found) return;
  active_block = take(0, found->bytes);
  if (!active_block) return;
  active = found;
  for (std::size_t s = 0; s < plan.initial.size(); ++s)
    if (found->covers(slot(s))) place_by_plan(slot(s));
}

void runner::impl::place_by_plan(slot s) {
  value& v = main.values[s];
  if (v.owner && v.owner != &planned_storage) drop(v.owner, v.kind == value_kind::tensor ? v.memory : 0);
  v = active->values[s];
  v.data = reinterpret_cast<void*>(active_block->address + active->offsets[s]);
  v.owner = &planned_storage;
}

void runner::impl::leave_shape_plan() {
  if constexpr (target_tier) return;
  if (!active) return;
  const shape_plans::entry* const left = std::exchange(active, nullptr);
  for (std::size_t s = 0; s < plan.initial.size(); ++s)
    if (left->covers(slot(s))) reset(main, slot(s));
  memories[0]->release(std::exchange(active_block, nullptr));
}

/// Makes a plan from what this run allocated, if such shapes are worth one.
void runner::impl::learn_shapes() {
  if constexpr (target_tier) return;
  if (!plans || !plans->wants_to_learn()) return;
  detail::storage_block* const block = take(0, plans->needed_scratch());
  if (!block) return;
  const std::size_t needed = plans->learn({reinterpret_cast<std::byte*>(block->address), block->size});
  memories[0]->release(block);
  memories[0]->expect(needed);
}

status runner::impl::run() {
  shared = !target_tier && plan.by_level && lanes > 1;
  if constexpr (!target_tier)
    if (shared) return run_levels(main);
  step_context context{*this, lanes, 0};
  context.current = &main;
  return run_steps(main, context);
}

namespace {

/// Adds the node to an error. A kernel that gets no memory does not report a size; `refused` is that of the last failed
/// request.
status named(status failed, const plan_view& plan, const plan_step& step, std::size_t refused) {
  if constexpr (!status::has_words) return failed;
  char line[256];
  std::size_t used = 0;
  node_words words{step.name, {}, step.op_type};
  for (slot s : step.outputs)
    if (words.output.empty() && s != 0) words.output = plan.names[s];
  words.say([&](std::string_view part) { used += part.copy(line + used, sizeof line - used); });
  constexpr status_code full = status_code::out_of_memory;
  if (refused && failed.code() == full && failed.words() == detail::words_without_details(full))
    failed = no_memory_for(refused);
  return std::move(failed).in({line, used});
}

}  // namespace

/// Runs steps in order. Exceptions of kernels are caught here, once for all steps of a run.
status runner::impl::run_steps(frame& current, step_context& context) {
  const plan_step* at = nullptr;
  status done = guarded_as<status_code::runtime_exception>([&]() -> status {
    for (const plan_step& step : current.plan->steps) {
      at = &step;
      if (stopped(nullptr)) return stop_status();
      if (status s = run_step(step, current, context); !s) return s;
    }
    at = nullptr;
    return {};
  });
  if (done || !at) return done;
  if (has_stopped()) return stop_status();
  return named(std::move(done), *current.plan, *at, refused);
}

/// Marks outputs with planned memory as not written, by the kind `none`, in a runner's first run; the kernel sets the
/// kind when it requests the memory. This shows whether a kernel leaves out an output; later runs do not check it.
void withhold_outputs(const plan_step& step, frame& current) {
  for (slot s : step.outputs)
    if (value& v = current.values[s]; s != 0 && v.data && v.kind == value_kind::tensor) v.kind = value_kind::none;
}

status runner::impl::require_outputs(const plan_step& step, frame& current) const {
  for (slot s : step.outputs) {
    value& v = current.values[s];
    if (s == 0 || v.kind != value_kind::none) continue;
    if (v.data && v.shape.count() == 0) v.kind = value_kind::tensor;  // an empty tensor need not be written
    else if (v.data || current.plan->promises[s].kind != type_kind::unknown)
      return status{status_code::fail, "the kernel has not written this output"}.in(current.plan->names[s]);
  }
  return {};
}

status runner::impl::run_step(const plan_step& step, frame& current, step_context& context) {
  context.step = &step;
  context.enter(current.values, step.inputs, step.outputs);
  const step_observer* const observer = options->observer;
  const std::int64_t start = observer ? observer->now() : 0;
  if (!target_tier && checks_outputs) withhold_outputs(step, current);
  if (!target_tier && !shared) refused = 0;  // an earlier kernel may have managed without this memory
  status done = step.kernel.run(step.kernel.state, context);
  if (observer)
    call_user("run_settings::observer",
              [&] { observer->record(observer->self, step, start, observer->now(), context.lane, current.values); });
  if (has_stopped()) return stop_status();  // kernels need not check whether tasks were left out
  if (!done) return done;
  if (!target_tier && checks_outputs)
    if (status s = require_outputs(step, current); !s) return s;
  if (context.scratch || context.opened) end_step(context);
  if (!shared) {
    const bool by_plan = active && &current == &main;
    for (slot s : step.releases)
      if (!by_plan || !active->covers(s) || current.values[s].owner != &planned_storage) reset(current, s);
  }
  return {};
}

/// Runs steps level by level: those of one level in parallel, each on one thread; a single step of a level on all
/// threads.
status runner::impl::run_levels(frame& current) {
  const std::span<const plan_step> steps = plan.steps;
  for (std::size_t first = 0, last; first < steps.size(); first = last) {
    for (last = first + 1; last < steps.size() && steps[last].level == steps[first].level;) ++last;
    const std::size_t count = last - first;
    refused = 0;
    std::atomic<std::size_t> failed{count};
    status why;
    const auto run_one = [&](std::size_t i, std::size_t lane, std::size_t lanes_of_step) {
      if (failed.load(std::memory_order_relaxed) < i) return;
      step_context context{*this, lanes_of_step, lane};
      context.current = &current;
      status done = guarded_as<status_code::runtime_exception>(
          [&]() -> status { return stopped(nullptr) ? stop_status() : run_step(steps[first + i], current, context); });
      if (done) return;
      const spin_lock hold{lock()};
      if (i < failed.load(std::memory_order_relaxed)) {
        failed.store(i, std::memory_order_relaxed);
        why = named(std::move(done), plan, steps[first + i], refused);
      }
    };
    if (count == 1) run_one(0, 0, lanes);
    else parallel(count, [&](std::size_t i, std::size_t lane) { run_one(i, lane, 1); });
    if (has_stopped()) return stop_status();
    if (!why) return why;
    for (std::size_t i = first; i < last; ++i)
      for (slot s : steps[i].releases) reset(current, s);
  }
  return {};
}

status runner::impl::finish(std::span<value> outputs) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const value& v = main.values[plan.outputs[i]];
    const value& memory = bound[i];
    if (memory.data && v.kind == value_kind::tensor && v.data != memory.data) {
      // The kernel did not write to this memory: the value is a constant, an input, or has another output's memory.
      if (v.bytes() > memory.bytes())
        return {status_code::invalid_argument, "the memory bound to an output is too small for its shape"};
      if (status s = copy(v, memory.data, v.memory); !s) return s;
    }
    void* const data = memory.data && v.kind == value_kind::tensor ? memory.data : v.data;
    outputs[i] = v;
    outputs[i].data = data;
  }
  learn_shapes();
  return scattered() && !active ? settle(outputs) : status{};
}

/// Moves all blocks to one chunk after a run that needed several, so that the next run of this size allocates nothing.
/// The memory of the outputs moves, too.
status runner::impl::settle(std::span<value> outputs) {
  for (run_memory* memory : memories)
    if (memory->scattered() && !memory->gather()) return dirty = true, status{};  // outputs stay where they are
  texts = nullptr;
  text_used = 0;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i].owner || outputs[i].owner == &planned_storage) {
      if (outputs[i].type != dtype::string) continue;
    }
    if (!memories[outputs[i].memory]->moves()) continue;  // only other memory kinds are gathered
    result<value> moved = relocate(outputs[i]);
    if (!moved) return moved.error();
    outputs[i] = *moved;
    main.values[plan.outputs[i]] = *moved;
  }
  for (run_memory* memory : memories)
    if (memory->scattered()) memory->drop_old();
  return {};
}

result<value> runner::impl::relocate(const value& from) {
  value to = from;
  if (from.kind == value_kind::none) return to;
  const bool whole = from.kind == value_kind::tensor;
  if (!from.owner && !(whole && from.type == dtype::string)) return to;
  const std::size_t bytes = whole ? from.bytes() : from.parts.size() * sizeof(value);
  detail::storage_block* const block = take(whole ? from.memory : 0, bytes);
  if (!block) return status_code::out_of_memory;
  to.owner = block;
  void* const memory = reinterpret_cast<void*>(block->address);
  if (!whole) {
    value* const first = static_cast<value*>(memory);
    for (std::size_t i = 0; i < from.parts.size(); ++i) std::construct_at(first + i);
    block->parts = std::uint32_t(from.parts.size());
    to.parts = {first, from.parts.size()};
    for (std::size_t i = 0; i < from.parts.size(); ++i) {
      result<value> part = relocate(from.parts[i]);
      if (!part) return part.error();
      first[i] = *part;
    }
    return to;
  }
  to.data = memory;
  if (from.type != dtype::string) {
    if (status s = copy(from, memory, from.memory); !s) return s;
    return to;
  }
  const tensor_view<const std::string_view> strings = from.as_unchecked<std::string_view>();
  auto* const moved = static_cast<std::string_view*>(memory);
  for (std::size_t i = 0; i < strings.size(); ++i) {
    const std::string_view s = strings[std::int64_t(i)];
    char* const chars = take_text(s.size());
    if (!chars) return status_code::out_of_memory;
    if (!s.empty()) std::memcpy(chars, s.data(), s.size());
    std::construct_at(moved + i, chars, s.size());
  }
  return to;
}

detail::storage_block* runner::impl::take(std::uint8_t kind, std::size_t bytes) {
  detail::storage_block* const block = memories[kind]->allocate(bytes);
  if (!target_tier && !block) refused = bytes;
  return block;
}

status runner::impl::copy(const value& from, void* to, std::uint8_t kind) {
  const std::size_t bytes = from.bytes();
  if (bytes == 0) return {};
  if (target_tier || (kind == 0 && from.memory == 0)) return std::memcpy(to, from.data, bytes), status{};
  const memory_source &source = sources[from.memory], &target = sources[kind];
  if (from.memory == 0) return target.copy_from_host(target.self, to, from.data, bytes);
  if (kind == 0) return source.copy_to_host(source.self, to, from.data, bytes);
  detail::storage_block* block;
  {
    const spin_lock hold{lock()};
    block = take(0, bytes);
  }
  if (!block) return {status_code::out_of_memory, "no memory for a copy"};
  void* const between = reinterpret_cast<void*>(block->address);
  status done = source.copy_to_host(source.self, between, from.data, bytes);
  if (done) done = target.copy_from_host(target.self, to, between, bytes);
  const spin_lock hold{lock()};
  memories[0]->release(block);
  return done;
}

char* runner::impl::take_text(std::size_t bytes) {
  if (!texts || bytes > texts->size - text_used) {
    detail::storage_block* const block = take(0, std::max<std::size_t>(bytes, 4096));
    if (!block) return nullptr;
    block->next = std::exchange(texts, block);
    text_used = 0;
  }
  char* const chars = reinterpret_cast<char*>(texts->address) + text_used;
  text_used += bytes;
  return chars;
}

void runner::impl::drop(detail::storage_block* block, std::uint8_t kind) {
  if (--block->references) return;
  value* const parts = reinterpret_cast<value*>(block->address);
  for (std::uint32_t i = 0; i < block->parts; ++i)
    if (parts[i].owner && parts[i].owner != &planned_storage) drop(parts[i].owner, parts[i].memory);
  memories[kind]->release(block);
}

void runner::impl::reset(frame& current, slot s) {
  value& v = current.values[s];
  if (v.owner && v.owner != &planned_storage) drop(v.owner, v.kind == value_kind::tensor ? v.memory : 0);
  v = current.start(s);
}

void runner::impl::end_step(step_context& context) {
  const spin_lock hold{lock()};
  while (context.scratch) memories[0]->release(std::exchange(context.scratch, context.scratch->next));
  while (context.opened) {
    detail::subplan_frame* const done = std::exchange(context.opened, context.opened->next);
    for (std::size_t kind = 0; kind < max_memory_kinds; ++kind)
      if (done->regions[kind]) memories[kind]->release(done->regions[kind]);
    memories[0]->release(done->block);
  }
}

bool runner::impl::stopped(detail::stop_pace* pace) {
  if (has_stopped()) return true;
  const stop_condition& stop = options->stop;
  status_code why = status_code::ok;
  if (stop.requested && stop.requested(stop.self)) {
    why = status_code::canceled;
  } else if (stop.deadline && (!pace || pace->due())) {
    const std::int64_t now = stop.now();
    if (pace) pace->read(now);
    if (now >= stop.deadline) why = status_code::deadline_exceeded;
  }
  if (why == status_code::ok) return false;
  ended.store(why, std::memory_order_relaxed);
  return true;
}

status runner::impl::stop_status() const {
  const status_code why = ended.load(std::memory_order_relaxed);
  return {why, why == status_code::canceled            ? "a stop of the run was requested"
               : why == status_code::deadline_exceeded ? "the run did not end before its deadline"
                                                       : "the task pool called a task with an index or a lane that it "
                                                         "was not given"};
}

}  // namespace CAMEO_NAMESPACE
