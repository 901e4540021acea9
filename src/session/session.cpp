#include "core/guarded.hpp"
#include "graph/messages.hpp"
#include "graph/oddities.hpp"
#include "session/loaded.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>

namespace CAMEO_NAMESPACE {

session::session() noexcept = default;
session::session(impl* self) : impl_{self} {}
session::session(session&&) noexcept = default;
session& session::operator=(session&&) noexcept = default;
session::~session() = default;

io_binding::io_binding() noexcept = default;
io_binding::io_binding(impl* self) : impl_{self} {}
io_binding::io_binding(io_binding&&) noexcept = default;
io_binding& io_binding::operator=(io_binding&&) noexcept = default;
io_binding::~io_binding() = default;

const std::vector<io_info>& session::inputs() const { return impl_->state.io.inputs; }
const std::vector<io_info>& session::outputs() const { return impl_->state.io.outputs; }
const model& session::graph() const { return impl_->state.net(); }
const graph* session::fused_body(const detail::graph_node& node) const {
  return node.fused >= 0 ? impl_->state.placed.fused[std::size_t(node.fused)].body : nullptr;
}
const plan_view& session::plan() const { return *impl_->state.plan.steps; }
const transform_log& session::rewrites() const { return impl_->state.rewrites; }
namespace {
const io_info* find(const std::vector<io_info>& all, std::string_view name) {
  for (const io_info& each : all)
    if (each.name == name) return &each;
  return nullptr;
}
}  // namespace
const io_info* session::input(std::string_view name) const { return find(impl_->state.io.inputs, name); }
const io_info* session::output(std::string_view name) const { return find(impl_->state.io.outputs, name); }
std::size_t session::step_count() const { return impl_->state.plan.steps->steps.size(); }
std::size_t session::thread_count() const { return impl_->state.threads.count; }

const std::vector<ep_device>& session::devices() const { return impl_->state.chosen.devices; }

std::string_view session::config(std::string_view key) const { return impl_->state.config.text_of(key); }

std::vector<std::string> session::providers() const {
  std::vector<std::string> names;
  for (const provider& p : impl_->state.chosen.list) names.emplace_back(p.row->name);
  return names;
}

std::size_t loaded::fixed_bytes() const {
  std::size_t bytes = 0;
  for (std::size_t region : plan.steps->fixed.region_bytes) bytes += region;
  return bytes;
}
bool loaded::has_host_io() const {
  const auto is_of_host = [&](slot s) { return plan.steps->initial[s].memory == 0; };
  return std::ranges::all_of(plan.steps->inputs, is_of_host) && std::ranges::all_of(plan.steps->outputs, is_of_host);
}
std::size_t session::fixed_bytes() const { return impl_->state.fixed_bytes(); }

namespace {

/// The reason why provider `p`, which precedes the node's provider in the list, did not take the node.
std::string refusal(const loaded& self, std::span<const claim_row> rows, std::size_t p, const node_view& n) {
  const provider& earlier = self.chosen.list[p];
  const std::string withheld = why_withheld(self.rules.rules.empty() ? nullptr : &self.rules, rows, p, n);
  return std::string{earlier.row->name} + (withheld.empty() ? earlier.row->why_not(earlier.self.get(), n) : withheld);
}

void list_nodes(const loaded& self, const graph& g, std::size_t depth, std::span<const claim_row> refusing,
                std::vector<placement_info>& out) {
  for (node_id n : g.order()) {
    const detail::graph_node& node = g[n];
    if (node.provider < 0 || node.provider == external_provider) continue;
    placement_info info{std::string{node.name},
                        std::string{node.domain},
                        std::string{node.op_type},
                        std::string{self.chosen.list[std::size_t(node.provider)].row->name},
                        node.opset,
                        depth,
                        {},
                        {},
                        std::string{words_of(g, node).output}};
    if (node.fused >= 0) info.fused_from = self.compiled.operators[std::size_t(node.fused)];
    for (std::size_t p = 0; !refusing.empty() && p < std::size_t(node.provider); ++p)
      info.refusals.push_back(refusal(self, refusing, p, {g, n}));
    out.push_back(std::move(info));
    if (node.fused < 0)
      for (const graph* sub : node.subgraphs) list_nodes(self, *sub, depth + 1, refusing, out);
  }
}

}  // namespace

std::vector<placement_info> loaded::placements(bool with_refusals) const {
  std::vector<placement_info> all;
  list_nodes(*this, net().main(), 0, with_refusals ? chosen.claimers() : std::vector<claim_row>{}, all);
  return all;
}
std::vector<placement_info> session::placements(bool with_refusals) const {
  return impl_->state.placements(with_refusals);
}

result<std::vector<ep_assignment>> session::assignments() const {
  constexpr const config_key_row& key = config_key<"session.record_ep_graph_assignment_info">;
  return guarded([&]() -> result<std::vector<ep_assignment>> {
    if (impl_->state.config.is_on(key)) return impl_->state.placed.assignments;
    return failed(status_code::fail, "which provider took which nodes was not recorded; load the session with {}=1",
                  key.key);
  });
}

result<std::unique_ptr<io_binding::impl>> io_binding::impl::make(const session::impl& owner) {
  const loaded& state = owner.state;
  auto made = std::make_unique<impl>();
  made->owner = &owner;
  const result<runner*> run = runner::make(*state.plan.steps, state.plan.memories, made->tables, state.memory_limit);
  if (!run) return status{run.error()};
  made->run = *run;
  made->inputs.resize(state.io.inputs.size());
  made->outputs.resize(state.io.outputs.size());
  made->bound.resize(state.io.outputs.size());
  for (std::size_t i = 0; i < state.io.defaults.size(); ++i)
    if (state.io.defaults[i]) made->inputs[i] = *state.io.defaults[i];
  return made;
}

/// Takes an idle runner, or creates one.
result<std::unique_ptr<io_binding::impl>> session::impl::acquire() const {
  if (std::unique_ptr<io_binding::impl> found = idle.take()) return found;
  return io_binding::impl::make(*this);
}

void session::impl::give_back(std::unique_ptr<io_binding::impl> used) const {
  for (std::size_t i = 0; i < state.io.defaults.size(); ++i)
    used->inputs[i] = state.io.defaults[i] ? *state.io.defaults[i] : value{};
  idle.give_back(std::move(used));
}

status session::impl::run(io_binding::impl& with, const run_settings& settings) const {
  const std::vector<io_info>& inputs = state.io.inputs;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (!with.inputs[i] && inputs[i].type.kind != type_kind::optional)
      return failed(status_code::invalid_argument, "input '{}' is missing; it needs {}", inputs[i].name,
                    inputs[i].type_text);
  if (status s = check_symbols(with.inputs); !s) return s;
  for (std::size_t i = 0; i < with.bound.size(); ++i) with.outputs[i] = with.bound[i];
  cameo::run_options how;
  how.pool = state.threads.pool;
  how.observer = settings.observer;
  how.denormals_as_zero = state.denormals_as_zero;
  if (settings.stop.stop_possible()) {
    how.stop.self = &settings.stop;
    how.stop.requested = [](const void* token) {
      return call_user("run_settings::stop", [&] { return static_cast<const stop_token*>(token)->stop_requested(); });
    };
  }
  if (settings.timeout) {
    how.stop.now = [] { return std::int64_t(std::chrono::steady_clock::now().time_since_epoch().count()); };
    if (!checked_add(how.stop.now(), settings.timeout->nanoseconds(), how.stop.deadline)) how.stop.deadline = 0;
  }
  if (status s = with.run->run(with.inputs, with.outputs, how); !s) return s;
  return report_shapes(with.outputs);
}

namespace {

/// True if a value has the rank and the known dims of a type.
bool has_declared_shape(const value& v, const value_type& type) {
  if (v.kind != value_kind::tensor || !type.is_tensor() || !type.shape) return true;
  if (v.shape.rank() != type.shape->size()) return false;
  for (std::size_t i = 0; i < type.shape->size(); ++i)
    if ((*type.shape)[i].known() && (*type.shape)[i].size != v.shape[i]) return false;
  return true;
}

}  // namespace

/// Warns of an output whose shape differs from its declaration, only once for each output, because every run may have
/// the difference. With session.strict, it is an error of each run.
status session::impl::report_shapes(std::span<const value> made) const {
  const std::vector<io_info>& outputs = state.io.outputs;
  const bool logs = state.log && state.log_from <= log_level::warning;
  for (std::size_t i = 0; i < made.size(); ++i) {
    if (has_declared_shape(made[i], outputs[i].type)) continue;
    const std::string_view against = state.config.key_against(&row_of(oddity::other_shape_in_run));
    if (against.empty() && (other_shape_reported[i].exchange(true) || !logs)) continue;
    const std::string words =
        warning_of(oddity::other_shape_in_run, "output '{}' is declared as {}, and this run made [{}] of it",
                   outputs[i].name, outputs[i].type_text, fmt::join(made[i].shape.dims(), ","));
    if (!against.empty()) return failed(status_code::invalid_graph, "{} ({}=1)", words, against);
    state.log(log_level::warning, of_model(state.net(), words));
  }
  return {};
}

status session::impl::at_file(status failed) const {
  return state.net().path.empty() ? std::move(failed) : std::move(failed).in(state.net().path);
}

namespace {

status empty_session() {
  return {status_code::invalid_argument, "the session is empty; it has a model once runtime::load returned it"};
}

}  // namespace

/// Runs once with a runner that the caller has acquired and gives back afterwards.
result<named_values> session::impl::run(io_binding::impl& with, std::span<const named_input> given,
                                        const run_settings& settings) const {
  const std::vector<io_info>& inputs = state.io.inputs;
  std::vector<bool> seen(inputs.size());
  for (const named_input& each : given) {
    const result<std::size_t> i = find_io(inputs, each.key, "the model", "input");
    if (!i) return status{i.error()};
    if (seen[*i]) return failed(status_code::invalid_argument, "input '{}' is given twice", inputs[*i].name);
    seen[*i] = true;
    const result<value> v = input(*i, each);
    if (!v) return status{v.error()};
    with.inputs[*i] = *v;
  }
  if (status s = run(with, settings); !s) return s;
  named_values made;
  for (std::size_t i = 0; i < with.outputs.size(); ++i) {
    made.items.push_back({state.io.outputs[i].name, any_value::copy_of(with.outputs[i])});
    if (with.outputs[i] && !made.items.back().value)
      return failed(status_code::out_of_memory, "no memory for a copy of output '{}', {}", state.io.outputs[i].name,
                    to_string(with.outputs[i], 0));
  }
  return made;
}

result<named_values> session::run(std::span<const named_input> given, const run_settings& settings) const {
  if (!impl_) return empty_session();
  if (!impl_->state.has_host_io())
    return status{status_code::invalid_argument,
                  "inputs and outputs are in a provider's memory (session_options::io_memory): run a binding"};
  result<std::unique_ptr<io_binding::impl>> used = guarded([&] { return impl_->acquire(); });
  if (!used) return impl_->at_file(std::move(used).error());
  result<named_values> done = guarded([&] { return impl_->run(**used, given, settings); });
  impl_->give_back(std::move(*used));
  if (!done) return impl_->at_file(std::move(done).error());
  return done;
}

result<io_binding> session::bind() const {
  if (!impl_) return empty_session();
  result<std::unique_ptr<io_binding::impl>> made = guarded([&] { return io_binding::impl::make(*impl_); });
  if (!made) return impl_->at_file(std::move(made).error());
  return io_binding{made->release()};
}

status session::run(io_binding& binding, const run_settings& settings) const {
  if (!impl_) return empty_session();
  if (!binding.impl_) return {status_code::invalid_argument, "the binding is empty; session::bind makes one"};
  if (binding.impl_->owner != impl_.get())
    return {status_code::invalid_argument, "the binding belongs to another session"};
  status done = guarded([&] { return impl_->run(*binding.impl_, settings); });
  return done ? std::move(done) : impl_->at_file(std::move(done));
}

status io_binding::bind_input(const named_input& given) {
  return guarded([&]() -> status {
    const result<std::size_t> i = find_io(impl_->owner->state.io.inputs, given.key, "the model", "input");
    if (!i) return status{i.error()};
    const result<value> v = impl_->owner->input(*i, given);
    if (!v) return status{v.error()};
    impl_->inputs[*i] = *v;
    return {};
  });
}

status io_binding::bind_output(detail::io_key key, const value& v) {
  return guarded([&]() -> status {
    const std::vector<io_info>& outputs = impl_->owner->state.io.outputs;
    const result<std::size_t> i = find_io(outputs, key, "the model", "output");
    if (!i) return status{i.error()};
    const value_type& type = outputs[*i].type;
    if (v.data && (v.kind != value_kind::tensor || (type.type != dtype::undefined && v.type != type.type) ||
                   v.type == dtype::string))
      return failed(status_code::invalid_argument,
                    "output '{}' is {}; memory for it must be a tensor of that type, and not of strings",
                    outputs[*i].name, outputs[*i].type_text);
    impl_->bound[*i] = v;
    return {};
  });
}

const value& io_binding::output(std::size_t i) const { return impl_->outputs[i]; }
const value* io_binding::output(std::string_view name) const {
  for (std::size_t i = 0; i < impl_->outputs.size(); ++i)
    if (impl_->owner->state.io.outputs[i].name == name) return &impl_->outputs[i];
  return nullptr;
}
std::size_t io_binding::output_count() const { return impl_->outputs.size(); }
std::size_t io_binding::arena_bytes() const { return impl_->run->arena_bytes(); }

std::shared_ptr<context_workspace> detail::new_workspace() { return std::make_shared<context_workspace>(); }

}  // namespace CAMEO_NAMESPACE
