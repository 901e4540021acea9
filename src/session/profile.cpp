#include <cameo/session/profile.hpp>

#include <cameo/file/atomic_file.hpp>
#include <cameo/graph/model.hpp>
#include <cameo/op/cost.hpp>
#include <cameo/partition/lower.hpp>
#include <cameo/session/session.hpp>

#include "core/guarded.hpp"
#include "os/processes.hpp"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <unordered_map>

namespace CAMEO_NAMESPACE {
namespace {

std::int64_t steady_now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// A JSON string. Names in a model may be invalid UTF-8, which JSON does not allow; such bytes are replaced.
std::string json_text(std::string_view text) {
  return nlohmann::json(std::string{text}).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string micros(std::int64_t nanoseconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%lld.%03d", static_cast<long long>(nanoseconds / 1000), int(nanoseconds % 1000));
  return text;
}

std::string metadata_event(std::string_view what, std::string_view name, const std::string& ids) {
  return "{\"name\":" + json_text(what) + ",\"ph\":\"M\"," + ids + ",\"args\":{\"name\":" + json_text(name) + "}}";
}

using step_numbers = std::unordered_map<const plan_step*, std::string>;
void number_steps(const plan_view& plan, const std::string& where, step_numbers& into) {
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    const plan_step& step = plan.steps[i];
    const std::string here = where + std::to_string(i);
    into.emplace(&step, here);
    for (std::size_t sub = 0; sub < step.subplans.size(); ++sub)
      number_steps(*step.subplans[sub], here + "," + std::to_string(sub) + ",", into);
  }
}

using nodes_by_step = std::unordered_map<const plan_step*, const detail::graph_node*>;
void find_nodes(const graph& g, const plan_view& plan, nodes_by_step& into) {
  const std::vector<node_id> nodes = detail::nodes_of_steps(g, plan);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const detail::graph_node* const node = nodes[i] == node_id::none ? nullptr : &g[nodes[i]];
    const plan_step& step = plan.steps[i];
    into.emplace(&step, node);
    for (std::size_t sub = 0; node && sub < std::min(step.subplans.size(), node->subgraphs.size()); ++sub)
      find_nodes(*node->subgraphs[sub], *step.subplans[sub], into);
  }
}

/// Formats a number as an integer without an exponent.
std::string plain(double number) {
  char text[64];
  std::snprintf(text, sizeof text, "%.0f", number);
  return text;
}

}  // namespace

trace_profile::trace_profile(std::vector<std::string> providers, std::size_t capacity)
    : providers_{std::move(providers)},
      records_{std::make_unique<record[]>(capacity)},
      pieces_{std::make_unique<piece[]>(capacity)},
      capacity_{capacity},
      observer_{this, steady_now, add, add_piece} {}

trace_profile::trace_profile(const session& of, std::size_t capacity) : trace_profile{of.providers(), capacity} {
  plan_ = &of.plan();
  find_nodes(of.graph().main(), *plan_, nodes_);
}

void trace_profile::add(void* self, const plan_step& step, std::int64_t start, std::int64_t end, std::size_t lane,
                        const value* values) {
  auto& to = *static_cast<trace_profile*>(self);
  const std::size_t at = to.next_.fetch_add(1, std::memory_order_relaxed);
  if (at >= to.capacity_) return;
  record& made = to.records_[at] = {&step, start, end, lane};
  const auto found = to.nodes_.find(&step);
  if (found == to.nodes_.end() || !values) return;
  const detail::graph_node* const node = found->second;
  if (node && (node->fused >= 0 || !node->op || !node->subgraphs.empty())) return;
  if (node && detail::has_role(node->op->roles, role::is_compiled_context)) return;
  const detail::node_in_run seen{node ? node->attributes : std::span<const attribute>{}, step.inputs, step.outputs,
                                 values};
  made.operations = node ? detail::operations_of(*node->op, seen) : 0.0;
  made.bytes = detail::bytes_moved(node ? node->op : nullptr, seen);
}

void trace_profile::add_piece(void* self, const plan_step& step, std::int64_t start, std::int64_t end,
                              std::size_t lane) {
  if (lane == 0) return;  // the record of the step itself contains the caller's work
  auto& to = *static_cast<trace_profile*>(self);
  const std::size_t at = to.next_piece_.fetch_add(1, std::memory_order_relaxed);
  if (at < to.capacity_) to.pieces_[at] = {&step, start, end, lane};
}

/// The pieces of work sorted by thread and time. Consecutive pieces of one step with a short gap are joined.
std::vector<trace_profile::piece> trace_profile::joined_pieces() const {
  constexpr std::int64_t longest_gap = 20000;  // nanoseconds
  std::vector<piece> all{pieces_.get(), pieces_.get() + std::min(next_piece_.load(), capacity_)};
  std::sort(all.begin(), all.end(),
            [](const piece& a, const piece& b) { return a.lane != b.lane ? a.lane < b.lane : a.start < b.start; });
  std::vector<piece> made;
  for (const piece& each : all)
    if (!made.empty() && made.back().lane == each.lane && made.back().step == each.step &&
        each.start - made.back().end < longest_gap)
      made.back().end = each.end;
    else made.push_back(each);
  return made;
}

std::size_t trace_profile::size() const { return std::min(next_.load(), capacity_); }
std::size_t trace_profile::dropped() const { return next_.load() - size(); }
void trace_profile::clear() { next_ = 0, next_piece_ = 0; }

status trace_profile::write(const std::string& path) const {
  return guarded([&]() -> status {
    const std::string process = "\"pid\":" + std::to_string(os::process_number());
    const auto ids = [&](std::size_t lane) { return process + ",\"tid\":" + std::to_string(lane); };
    std::int64_t first = size() ? records_[0].start : 0;
    std::size_t lanes = 0;
    for (std::size_t i = 0; i < size(); ++i) {
      first = std::min(first, records_[i].start);
      lanes = std::max(lanes, records_[i].lane + 1);
    }
    const std::vector<piece> others = joined_pieces();
    for (const piece& each : others) lanes = std::max(lanes, each.lane + 1);
    step_numbers numbers;
    if (plan_) number_steps(*plan_, "", numbers);
    std::string text =
        "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n" + metadata_event("process_name", "cameo", ids(0));
    for (std::size_t lane = 0; lane < lanes; ++lane)
      text += ",\n" + metadata_event("thread_name", lane ? "worker " + std::to_string(lane) : "caller", ids(lane));
    const auto begin_event = [&](const plan_step& step, const char* category, std::int64_t start, std::int64_t end,
                                 std::size_t lane) {
      const std::string_view provider =
          step.provider < providers_.size() ? std::string_view{providers_[step.provider]} : std::string_view{};
      text += ",\n{\"name\":" + json_text(step.name.empty() ? step.op_type : step.name) + ",\"cat\":\"" + category +
              "\",\"ph\":\"X\",\"ts\":" + micros(start - first) + ",\"dur\":" + micros(end - start) + "," + ids(lane) +
              ",\"args\":{\"op\":" + json_text(step.op_type) + ",\"provider\":" + json_text(provider);
    };
    for (std::size_t i = 0; i < size(); ++i) {
      const record& r = records_[i];
      begin_event(*r.step, "node", r.start, r.end, r.lane);
      if (const auto number = numbers.find(r.step); number != numbers.end())
        text += ",\"step\":[" + number->second + "]";
      if (r.operations) text += ",\"operations\":" + plain(*r.operations);
      if (r.bytes) text += ",\"bytes\":" + plain(*r.bytes);
      text += "}}";
    }
    for (const piece& each : others) {
      begin_event(*each.step, "work", each.start, each.end, each.lane);
      text += "}}";
    }
    text += "\n],\"otherData\":{\"dropped\":" + std::to_string(dropped());
    if (plan_) text += ",\"steps\":" + std::to_string(plan_->steps.size());
    if (peak_.operations > 0)
      text += ",\"peak\":{\"operations\":" + plain(peak_.operations) +
              ",\"bytes_per_second\":" + plain(peak_.bytes_per_second) + ",\"target\":" + json_text(peak_.target) +
              ",\"threads\":" + std::to_string(peak_.threads) + "}";
    text += "}}\n";
    return write_file_atomically(path, std::string_view{text});
  });
}

}  // namespace CAMEO_NAMESPACE
