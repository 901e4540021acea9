#include <cameo/minimal/session.hpp>
#include <cameo/plan/planner.hpp>

#include "minimal/arena_memory.hpp"

#include <memory>

namespace CAMEO_NAMESPACE {

struct minimal_session::impl {
  impl(std::span<std::byte> memory, std::size_t before) : head{before}, tables{memory}, values{tables} {}
  ~impl() {
    if (runs) std::destroy_at(runs);
  }

  std::size_t head;  // bytes of the caller's memory before the arena
  arena tables;
  arena_memory values;
  memory_source source;
  draft* net = nullptr;
  runner* runs = nullptr;
};

namespace {

/// The index of a name among slots of a draft.
std::size_t find(const draft& net, std::span<const slot> slots, std::string_view name) {
  for (std::size_t i = 0; i < slots.size(); ++i)
    if (net.values[slots[i]].name == name) return i;
  return minimal_session::not_found;
}

/// True for a tensor on the host with aligned elements of this type.
bool is_tensor_of(dtype type, const value& given) {
  std::int64_t count = 0;
  return given.kind == value_kind::tensor && given.type == type && given.memory == 0 && detail::is_aligned(given) &&
         given.shape.checked_count(count) && (count == 0 || given.data);
}

/// True for a value that kernels accept as the model's operand.
bool fits(const value& given, const operand& wanted) {
  if (wanted.kind == type_kind::sequence && given.kind == value_kind::sequence) {
    for (const value& part : given.parts)
      if (!is_tensor_of(wanted.type, part)) return false;
    return true;
  }
  if (wanted.kind != type_kind::tensor || !is_tensor_of(wanted.type, given)) return false;
  if (!wanted.has_rank) return true;
  if (given.shape.rank() != wanted.shape.rank()) return false;
  for (std::size_t i = 0; i < wanted.shape.rank(); ++i)
    if (wanted.shape[i] >= 0 && wanted.shape[i] != given.shape[i]) return false;
  return true;
}

}  // namespace

result<minimal_session> minimal_session::load(std::span<const std::byte> file, std::span<std::byte> memory,
                                              std::span<const detail::kernel_table* const> lists,
                                              const minimal_options& options, const ort_draft_checks* checks) {
  arena first{memory};
  void* const place = first.allocate(sizeof(impl), alignof(impl));
  if (!place) return status_code::out_of_memory;
  minimal_session made{::new (place) impl{memory.subspan(first.used()), first.used()}};
  impl& self = *made.impl_;
  self.source = self.values.source();
  result<draft*> net = read_ort_draft(file, lists, self.tables, checks);
  if (!net) return net.error();
  self.net = *net;
  const result<std::span<node_binder>> binders = self.tables.take<node_binder>(lists.size());
  if (!binders) return status_code::out_of_memory;
  for (std::size_t i = 0; i < lists.size(); ++i) (*binders)[i] = {"kernels", lists[i], bind_by_table};
  plan_options how;
  how.binders = *binders;
  how.memories = {&self.source, 1};
  how.prepack = options.prepack;
  result<const plan_view*> plan = make_plan(**net, how, self.tables);
  if (!plan) return plan.error();
  result<runner*> runs = runner::make(**plan, {&self.source, 1}, self.tables);
  if (!runs) return runs.error();
  self.runs = *runs;
  return made;
}

minimal_session::~minimal_session() {
  if (impl_) std::destroy_at(impl_);
}

std::size_t minimal_session::input_count() const { return impl_->net->inputs.size(); }
std::size_t minimal_session::output_count() const { return impl_->net->outputs.size(); }
const draft_value& minimal_session::input(std::size_t i) const { return impl_->net->values[impl_->net->inputs[i]]; }
const draft_value& minimal_session::output(std::size_t i) const { return impl_->net->values[impl_->net->outputs[i]]; }
std::size_t minimal_session::find_input(std::string_view name) const {
  return find(*impl_->net, impl_->net->inputs.span(), name);
}
std::size_t minimal_session::find_output(std::string_view name) const {
  return find(*impl_->net, impl_->net->outputs.span(), name);
}

status minimal_session::run(std::span<const value> inputs, std::span<value> outputs, const run_options& options) {
  const draft& net = *impl_->net;
  for (std::size_t i = 0; i < inputs.size() && i < net.inputs.size(); ++i)
    if (const draft_value& wanted = net.values[net.inputs[i]]; !fits(inputs[i], wanted.info))
      return status{status_code::invalid_argument, "not of the model's type and shape"}.in(wanted.name);
  return impl_->runs->run(inputs, outputs, options);  // checks the counts
}

std::size_t minimal_session::memory_used() const { return impl_->head + impl_->tables.used(); }

}  // namespace CAMEO_NAMESPACE
