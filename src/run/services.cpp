// The functions of the runner that kernels call.
#include <cameo/run/run_plan.hpp>

#include "core/guarded.hpp"
#include "plan/too_large.hpp"
#include "run/runner_impl.hpp"

#include <iterator>
#include <memory>

namespace CAMEO_NAMESPACE {

detail::storage_block planned_storage;

namespace {

step_context& own(run_context& c) { return static_cast<step_context&>(c); }
const step_context& own(const run_context& c) { return static_cast<const step_context&>(c); }

status sized(dtype type, const extents& shape, std::size_t& bytes) {
  std::int64_t count = 0;
  std::uint64_t needed = 0;
  // Elements of this type have no bits, and a kernel that treats it as another type would write past the end.
  if (type == dtype::undefined) return {status_code::invalid_graph, "the model does not declare its type"};
  if (!shape.checked_count(count) || !detail::checked_bytes(type, std::uint64_t(count), needed) ||
      needed > std::size_t(-1) / 2)
    return too_large(type, shape);
  bytes = std::size_t(needed);
  return {};
}

/// The caller's memory for a slot, or null. Only outputs of the whole run have such memory.
const value* bound_memory(const step_context& c, slot s) {
  runner::impl& r = c.impl();
  if (c.current != &r.main) return nullptr;
  for (std::size_t i = 0; i < r.plan.outputs.size(); ++i)
    if (r.plan.outputs[i] == s && r.bound[i].data) return &r.bound[i];
  return nullptr;
}

/// True for a value with planned memory that no kernel has requested yet; see withhold_outputs().
bool is_withheld(const value& v) { return !target_tier && v.kind == value_kind::none && v.data; }

/// True for a value with an offset from an earlier run's shapes, which may differ this time.
bool by_shape_plan(const step_context& c, slot s) { return c.current == &c.impl().main && c.impl().placed(s); }

/// Values enter and leave subgraphs without a kernel in between, and a file may declare different types on both sides.
bool keeps(const slot_promise& promise, const value& v) {
  switch (promise.kind) {
    case type_kind::tensor: return v.kind == value_kind::tensor && v.type == promise.type;
    case type_kind::sequence:
      if (promise.type != dtype::undefined)
        for (const value& part : v.parts)
          if (part.kind != value_kind::tensor || part.type != promise.type) return false;
      return v.kind == value_kind::sequence;
    case type_kind::map: return v.kind == value_kind::map;
    default: return true;
  }
}
status check(const plan_view& plan, slot s, const value& v) {
  if (keeps(plan.promises[s], v)) return {};
  return status{status_code::invalid_graph, "its value has another type than the model declares"}.in(plan.names[s]);
}

/// Takes the block of an input that is not used after this step, where the kernel allows it.
detail::storage_block* overwrite(step_context& c, slot s, std::size_t bytes) {
  for (const detail::output_hint& h : c.step->hints) {
    if (h.kind != detail::output_hint::use::may_overwrite || h.output >= c.step->outputs.size() ||
        c.step->outputs[h.output] != s || h.input >= c.step->inputs.size())
      continue;
    const slot in = c.step->inputs[h.input];
    value& from = c.values()[in];
    if (!from.owner || from.owner == &planned_storage || from.owner->references != 1 || from.owner->parts ||
        from.kind != value_kind::tensor || from.bytes() != bytes || from.memory != c.values()[s].memory)
      continue;
    if (std::find(c.step->releases.begin(), c.step->releases.end(), in) == c.step->releases.end()) continue;
    return std::exchange(from.owner, nullptr);
  }
  return nullptr;
}

/// Releases the block of a slot that gets a new value. The caller holds the runner's lock.
void discard(step_context& c, slot s) {
  runner::impl& r = c.impl();
  value& v = c.values()[s];
  if (v.owner == &planned_storage) r.dirty = r.dirty || !by_shape_plan(c, s);
  else if (v.owner) r.drop(std::exchange(v.owner, nullptr), v.memory);
}

/// Gives a tensor its memory: the caller's, that of an input, or a new block. The caller holds the runner's lock.
status allocate_tensor(step_context& c, slot s, const value* bound, std::size_t bytes) {
  runner::impl& r = c.impl();
  value& v = c.values()[s];
  if (bound) {
    if (bytes > bound->bytes())
      return {status_code::invalid_argument, "the memory bound to this output is too small for its shape"};
    v.data = bound->data, v.owner = nullptr;
    return {};
  }
  detail::storage_block* block = r.shared ? nullptr : overwrite(c, s, bytes);
  if (!block) block = r.take(v.memory, bytes);
  if (!block) return too_large(v.type, v.shape);
  v.owner = block;
  v.data = reinterpret_cast<void*>(block->address);
  if (r.plans && r.plans->noting() && c.current == &r.main) r.plans->note(s, v);
  return {};
}

/// Gives a sequence or a map its parts, which are empty. The caller holds the runner's lock.
status allocate_parts(step_context& c, value& v, std::size_t parts, std::size_t bytes) {
  detail::storage_block* const block = c.impl().take(0, bytes);
  if (!block) return {status_code::out_of_memory, "no memory for a sequence"};
  value* const first = reinterpret_cast<value*>(block->address);
  for (std::size_t i = 0; i < parts; ++i) std::construct_at(first + i);
  block->parts = std::uint32_t(parts);
  v.owner = block, v.parts = {first, parts}, v.data = nullptr;
  return {};
}

status allocate(run_context& base, slot s, value_kind kind, const extents& shape, std::size_t parts) {
  if (s == 0) return {status_code::fail, "the kernel made an output that the node leaves out"};
  step_context& c = own(base);
  value& v = c.values()[s];
  if (is_withheld(v) && kind == value_kind::tensor && v.shape == shape) return v.kind = kind, status{};
  std::size_t bytes = 0;
  if (kind == value_kind::tensor) {
    if (status fits = sized(v.type, shape, bytes); !fits) return fits;
  } else if (!checked_multiply(parts, sizeof(value), bytes)) {
    return status_code::out_of_memory;
  }
  const value* const bound = bound_memory(c, s);
  const spin_lock hold{c.impl().lock()};
  discard(c, s);
  v.kind = kind, v.shape = shape, v.parts = {};
  return kind == value_kind::tensor ? allocate_tensor(c, s, bound, bytes) : allocate_parts(c, v, parts, bytes);
}

/// Copies a tensor's elements to a new block in memory of a kind. The characters of strings live as long as the run.
result<value> copy_tensor(step_context& c, const value& from, std::uint8_t kind) {
  runner::impl& r = c.impl();
  detail::storage_block* block;
  {
    const spin_lock hold{r.lock()};
    block = r.take(kind, from.bytes());
  }
  if (!block) return status{status_code::out_of_memory, "no memory for a copy"};
  value copy = from;
  copy.owner = block;
  copy.memory = kind;
  copy.data = reinterpret_cast<void*>(block->address);
  if (status s = r.copy(from, copy.data, kind); !s) return s;
  return copy;
}

/// `kind` is the kind of memory for values that are copied.
result<value> keep_in(run_context& base, const value& v, std::uint8_t kind) {
  step_context& c = own(base);
  if (v.owner == &planned_storage) return copy_tensor(c, v, kind);
  if (v.owner) {
    const spin_lock hold{c.impl().lock()};
    ++v.owner->references;
  }
  return value{v};
}

result<value> keep(run_context& base, const value& v) { return keep_in(base, v, 0); }

void release(run_context& base, value& v) {
  step_context& c = own(base);
  if (v.owner && v.owner != &planned_storage) {
    const spin_lock hold{c.impl().lock()};
    c.impl().drop(v.owner, v.memory);
  }
  v = {};
}

status put(step_context& c, slot s, value& kept) {
  value& v = c.values()[s];
  // The analyzer of clang 14 loses the code of a status that was moved into a result.
  // NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult)
  if (const value* bound = bound_memory(c, s); bound && kept.kind == value_kind::tensor) {
    if (kept.bytes() > bound->bytes())
      return {status_code::invalid_argument, "the memory bound to this output is too small for its shape"};
    const std::uint8_t kind = c.current->plan->initial[s].memory;
    if (kept.data != bound->data)
      if (status done = c.impl().copy(kept, bound->data, kind); !done) return done;
    value copy = kept;
    release(c, kept);
    copy.data = bound->data, copy.owner = nullptr, copy.memory = kind;
    v = copy;
    return {};
  }
  if (v.owner) {
    const spin_lock hold{c.impl().lock()};
    discard(c, s);
  }
  const dtype declared = v.type;
  v = std::exchange(kept, value{});
  if (v.type == dtype::undefined) v.type = declared;
  return {};
}

bool views(const step_context& c, slot s, const value& from) {
  for (const detail::output_hint& h : c.step->hints)
    if (h.kind == detail::output_hint::use::views && h.output < c.step->outputs.size() &&
        c.step->outputs[h.output] == s && h.input < c.step->inputs.size() &&
        &c.values()[c.step->inputs[h.input]] == &from)
      return true;
  return false;
}

status forward(run_context& base, slot s, const value& from, const extents* shape) {
  step_context& c = own(base);
  if (status fits = check(*c.current->plan, s, from); !fits) return fits;
  if (from.owner == &planned_storage && views(c, s, from) && !bound_memory(c, s)) {
    value& v = c.values()[s];
    v = from;
    if (shape) v.shape = *shape;
    return {};
  }
  result<value> kept = keep_in(c, from, c.current->plan->initial[s].memory);
  if (!kept) return kept.error();
  if (shape) kept->shape = *shape;
  return put(c, s, *kept);
}

status give(run_context& base, slot s, value& kept) {
  step_context& c = own(base);
  if (status fits = check(*c.current->plan, s, kept); !fits) return fits;
  if (kept.owner != &planned_storage) return put(c, s, kept);
  result<value> copy = copy_tensor(c, kept, c.current->plan->initial[s].memory);
  if (!copy) return copy.error();
  return put(c, s, *copy);
}

void* scratch(run_context& base, std::size_t bytes) {
  alignas(64) static constinit std::byte nothing{};
  if (bytes == 0) return &nothing;  // kernels may request no bytes
  step_context& c = own(base);
  const spin_lock hold{c.impl().lock()};
  detail::storage_block* const block = c.impl().take(0, bytes);
  if (!block) return nullptr;
  block->next = std::exchange(c.scratch, block);
  return reinterpret_cast<void*>(block->address);
}

char* text(run_context& base, std::size_t bytes) {
  step_context& c = own(base);
  const spin_lock hold{c.impl().lock()};
  return c.impl().take_text(bytes);
}

result<value> make(run_context& base, dtype type, const extents& shape) {
  step_context& c = own(base);
  std::size_t bytes = 0;
  if (status fits = sized(type, shape, bytes); !fits) return fits;
  const spin_lock hold{c.impl().lock()};
  detail::storage_block* const block = c.impl().take(0, bytes);
  if (!block) return too_large(type, shape);
  value v{value_kind::tensor, type, 0, shape};
  v.data = reinterpret_cast<void*>(block->address);
  v.owner = block;
  return v;
}

result<detail::subplan_frame*> open_frame(step_context& c, const plan_view& plan) {
  runner::impl& r = c.impl();
  const spin_lock hold{r.lock()};
  const std::size_t head = detail::align_up(sizeof(detail::subplan_frame), 64);
  detail::storage_block* const block = r.take(0, head + plan.initial.size() * sizeof(value));
  if (!block) return status{status_code::out_of_memory, "no memory for a subgraph"};
  auto* const opened = std::construct_at(reinterpret_cast<detail::subplan_frame*>(block->address));
  opened->block = block;
  opened->next = std::exchange(c.opened, opened);
  opened->own.plan = &plan;
  opened->own.values = reinterpret_cast<value*>(block->address + head);
  for (std::size_t kind = 0; kind < plan.fixed.region_bytes.size(); ++kind) {
    if (!plan.fixed.region_bytes[kind]) continue;
    opened->regions[kind] = r.take(std::uint8_t(kind), plan.fixed.region_bytes[kind]);
    if (!opened->regions[kind]) return status{status_code::out_of_memory, "no memory for a subgraph"};
    opened->own.regions[kind] = reinterpret_cast<std::byte*>(opened->regions[kind]->address);
  }
  for (std::size_t s = 0; s < plan.initial.size(); ++s)
    std::construct_at(opened->own.values + s, opened->own.start(slot(s)));
  return opened;
}

result<detail::subplan_frame*> open(run_context& base, std::size_t subgraph) {
  step_context& c = own(base);
  if (subgraph >= c.step->subplans.size()) return status{status_code::fail, "the node has no such subgraph"};
  const plan_view& plan = *c.step->subplans[subgraph];
  result<detail::subplan_frame*> opened = open_frame(c, plan);
  if (opened)
    // The analyzer of clang 14 loses the code of a status that was moved into a result.
    // NOLINTNEXTLINE(clang-analyzer-core.NullDereference)
    for (const capture& each : plan.captures) (*opened)->own.values[each.inner] = c.values()[each.outer];
  return opened;
}

status call(run_context& base, detail::subplan_frame& opened, std::span<const value> inputs, std::span<value> outputs) {
  step_context& c = own(base);
  runner::impl& r = c.impl();
  const plan_view& plan = *opened.own.plan;
  if (inputs.size() != plan.inputs.size() || outputs.size() != plan.outputs.size())
    return {status_code::invalid_graph, "the subgraph has another number of inputs or outputs"};
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (status fits = check(plan, plan.inputs[i], inputs[i]); !fits) return fits;
    opened.own.values[plan.inputs[i]] = inputs[i];
  }
  step_context inner{r, c.lanes(), c.lane};
  inner.current = &opened.own;
  if (status done = r.run_steps(opened.own, inner); !done) return done;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    result<value> kept = keep(inner, opened.own.values[plan.outputs[i]]);
    if (!kept) return kept.error();
    outputs[i] = *kept;
  }
  // Inputs are borrowed. The frame never releases them, even if an output is the same value.
  for (slot s : plan.inputs) opened.own.values[s] = {};
  const spin_lock hold{r.lock()};
  for (slot s : plan.outputs)
    if (std::none_of(plan.captures.begin(), plan.captures.end(), [&](const capture& each) { return each.inner == s; }))
      r.reset(opened.own, s);
  return {};
}

/// True for an output of the step that has memory before it is computed: planned, or the caller's.
bool has_place(const step_context& c, slot s) {
  const value& place = c.values()[s];
  if ((place.kind != value_kind::tensor && !is_withheld(place)) || !place.data || place.memory != 0) return false;
  if (place.owner) return place.owner == &planned_storage;
  const value* const bound = bound_memory(c, s);
  return bound && bound->data == place.data;
}

/// Makes the plan write its outputs to the step's memory, if the shapes turn out to be equal.
void lend_outputs(const step_context& c, frame& inner) {
  for (std::size_t i = 0; i < inner.plan->outputs.size(); ++i) {
    const slot s = c.step->outputs[i];
    value& v = inner.values[inner.plan->outputs[i]];
    if (v.kind != value_kind::none || !has_place(c, s) || v.type != c.values()[s].type) continue;
    v = c.values()[s];
    v.kind = value_kind::tensor;
    v.owner = nullptr;
  }
}

/// Makes output i of the step from the plan's value.
status take_output(step_context& c, step_context& inner, std::size_t i, const value& v) {
  const slot s = c.step->outputs[i];
  if (s == 0) return {};
  value& place = c.values()[s];
  if (has_place(c, s) && v.kind == value_kind::tensor && v.memory == 0 && v.type == place.type &&
      v.shape == place.shape) {
    if (place.data != v.data && v.bytes()) std::memcpy(place.data, v.data, v.bytes());
    place.kind = value_kind::tensor;
    return {};
  }
  result<value> kept = keep(inner, v);
  if (!kept) return kept.error();
  return put(c, s, *kept);
}

/// Checks before each task whether the run should end.
bool parallel(run_context& base, std::size_t count, task f) {
  step_context& c = own(base);
  runner::impl& r = c.impl();
  const bool alone = count <= 1 || c.lanes() <= 1;
  const auto pace =
      [&](std::size_t lane) -> detail::stop_pace* {  // on targets, code size matters more than reading the clock
    return !target_tier && lane < std::size(r.paces) ? &r.paces[lane].pace : nullptr;
  };
  if (!target_tier && count > 1)  // tasks of another loop may have been shorter
    for (std::size_t i = 0; i < (alone ? 1 : c.lanes()); ++i)
      if (detail::stop_pace* const before = pace(c.lane + i)) *before = {};
  const step_observer* const observer =
      !target_tier && r.options->observer && r.options->observer->piece && !alone ? r.options->observer : nullptr;
  const auto run_task = [&](std::size_t i, std::size_t lane) {
    if (r.stopped(pace(alone ? c.lane : lane))) return;
    const std::int64_t start = observer ? observer->now() : 0;
    f(i, lane);
    if (observer)
      call_user("run_settings::observer",
                [&] { observer->piece(observer->self, *c.step, start, observer->now(), lane); });
  };
  if (!alone) r.parallel(count, run_task);
  else
    for (std::size_t i = 0; i < count; ++i) run_task(i, 0);
  return !r.has_stopped();
}

/// Any thread may call it: whether a run should end does not depend on a step.
bool stopped(const run_context& base, detail::stop_pace* pace) { return own(base).impl().stopped(pace); }

}  // namespace

status run_plan(run_context& base, const plan_view& plan) {
  step_context& c = own(base);
  runner::impl& r = c.impl();
  if (plan.inputs.size() > c.step->inputs.size() || plan.outputs.size() != c.step->outputs.size() ||
      plan.fixed.region_bytes.size() != 1)
    return {status_code::invalid_graph, "the plan has another number of inputs, outputs or kinds of memory"};
  const result<detail::subplan_frame*> opened = open_frame(c, plan);
  if (!opened) return opened.error();
  // The analyzer of clang 14 loses the code of a status that was moved into a result.
  // NOLINTNEXTLINE(clang-analyzer-core.uninitialized.Assign)
  frame& inner = (*opened)->own;
  for (std::size_t i = 0; i < plan.inputs.size(); ++i) inner.values[plan.inputs[i]] = c.input(i);
  lend_outputs(c, inner);
  step_context context{r, c.lanes(), c.lane};
  context.current = &inner;
  if (status done = r.run_steps(inner, context); !done) return done;
  for (std::size_t i = 0; i < plan.outputs.size(); ++i)
    if (status taken = take_output(c, context, i, inner.values[plan.outputs[i]]); !taken) return taken;
  const spin_lock hold{r.lock()};
  for (slot s : plan.inputs) inner.values[s] = {};  // inputs are borrowed
  for (slot s : plan.outputs) r.reset(inner, s);
  if (r.shared)  // parallel steps do not release blocks
    for (const plan_step& step : plan.steps)
      for (slot s : step.releases) r.reset(inner, s);
  return {};
}

#ifdef CAMEO_CODE_ONLY
const detail::run_services services{};
status detail::run_services::allocate(run_context& c, slot s, value_kind kind, const extents& shape,
                                      std::size_t parts) {
  return cameo::allocate(c, s, kind, shape, parts);
}
status detail::run_services::forward(run_context& c, slot s, const value& from, const extents* shape) {
  return cameo::forward(c, s, from, shape);
}
status detail::run_services::give(run_context& c, slot s, value& kept) { return cameo::give(c, s, kept); }
result<value> detail::run_services::keep(run_context& c, const value& v) { return cameo::keep(c, v); }
void detail::run_services::release(run_context& c, value& v) { cameo::release(c, v); }
void* detail::run_services::scratch(run_context& c, std::size_t bytes) { return cameo::scratch(c, bytes); }
char* detail::run_services::text(run_context& c, std::size_t bytes) { return cameo::text(c, bytes); }
result<value> detail::run_services::make(run_context& c, dtype type, const extents& shape) {
  return cameo::make(c, type, shape);
}
result<detail::subplan_frame*> detail::run_services::open(run_context& c, std::size_t subgraph) {
  return cameo::open(c, subgraph);
}
status detail::run_services::call(run_context& c, detail::subplan_frame& frame, std::span<const value> in,
                                  std::span<value> out) {
  return cameo::call(c, frame, in, out);
}
bool detail::run_services::parallel(run_context& c, std::size_t count, task f) { return cameo::parallel(c, count, f); }
bool detail::run_services::stopped(const run_context& c, detail::stop_pace* pace) { return cameo::stopped(c, pace); }
#else
const detail::run_services services{allocate, forward, give, keep, release,  scratch,
                                    text,     make,    open, call, parallel, stopped};
#endif

}  // namespace CAMEO_NAMESPACE
