#include "program/per_node.hpp"

#include "program/peak.hpp"
#include "program/say.hpp"

#include <cameo/plan/plan.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace cameo::program {
namespace {

using json = nlohmann::ordered_json;

double median_of(std::vector<double> sorted) {
  std::sort(sorted.begin(), sorted.end());
  const std::size_t n = sorted.size();
  return n ? (sorted[(n - 1) / 2] + sorted[n / 2]) / 2 : 0;
}

void add_known(std::optional<double>& sum, const std::optional<double>& more) {
  if (more) sum = sum.value_or(0) + *more;
}

/// A count as an integer, since operations and bytes are stored as doubles; null if it is not known.
json count_json(const std::optional<double>& number) {
  return number ? json(static_cast<std::uint64_t>(*number)) : json(nullptr);
}

std::string count_text(const std::optional<double>& number) {
  return number ? fmt::format("{:.0f}", *number) : std::string{"-"};
}
std::string share_text(const std::optional<double>& share) {
  return share ? fmt::format("{:.1f} %", 100 * *share) : std::string{"-"};
}

}  // namespace

struct node_times::row {
  std::string name, output, op, provider;
  std::size_t calls = 0;
  double least = 0, median = 0;  // microseconds
  std::optional<double> operations = {}, bytes = {}, share = {};
};

node_times::node_times(const session& loaded)
    : session_{loaded}, providers_{loaded.providers()}, profile_{std::make_unique<trace_profile>(loaded)} {
  add(loaded.plan(), nullptr);
}

void node_times::add(const plan_view& plan, const plan_step* holder) {
  for (const plan_step& step : plan.steps) {
    std::string output;
    for (const slot s : step.outputs)
      if (s && output.empty()) output = plan.names[s];
    index_.emplace(&step, nodes_.size());
    nodes_.push_back({&step, holder, std::move(output)});
    for (const plan_view* sub : step.subplans) add(*sub, &step);
  }
}

status node_times::run(io_binding& binding) {
  profile_->clear();
  if (status s = session_.run(binding, {.observer = &profile_->observer()}); !s) return s;
  if (const std::size_t more = profile_->dropped()) {
    profile_ = std::make_unique<trace_profile>(session_, 2 * (profile_->size() + more));
    return run(binding);
  }
  take_run();
  return {};
}

void node_times::take_run() {
  for (node& each : nodes_) each.this_run = 0, each.calls = 0, each.operations.reset(), each.bytes.reset();
  for (std::size_t i = 0; i < profile_->size(); ++i) {
    const trace_profile::record& seen = (*profile_)[i];
    const auto found = index_.find(seen.step);
    if (found == index_.end()) continue;
    node& at = nodes_[found->second];
    const double time = double(seen.end - seen.start);
    at.this_run += time;
    ++at.calls;
    add_known(at.operations, seen.operations);
    add_known(at.bytes, seen.bytes);
    if (at.holder) nodes_[index_.at(at.holder)].this_run -= time;
  }
  for (node& each : nodes_)
    if (each.calls) each.runs.push_back(std::max(0.0, each.this_run));
}

std::optional<double> node_times::bytes_of_run() const {
  double all = 0;
  for (const node& each : nodes_) {
    if (each.calls && !each.bytes) return std::nullopt;
    all += each.bytes.value_or(0);
  }
  return all;
}

std::vector<node_times::row> node_times::rows(const std::optional<machine_peak>& peak, node_order order) const {
  std::vector<row> made;
  for (const node& each : nodes_) {
    const bool named = each.step->provider < providers_.size();
    row one{std::string{each.step->name}, each.output, std::string{each.step->op_type},
            named ? providers_[each.step->provider] : std::string{}, each.calls};
    one.operations = each.operations, one.bytes = each.bytes;
    if (!each.runs.empty()) {
      const double least = *std::min_element(each.runs.begin(), each.runs.end());
      one.least = least / 1000, one.median = median_of(each.runs) / 1000;
      if (const auto needed = peak ? peak->least_nanoseconds(each.operations, each.bytes) : std::nullopt)
        one.share = least > 0 ? *needed / least : 0.0;
    }
    made.push_back(std::move(one));
  }
  if (order == node_order::time)
    std::stable_sort(made.begin(), made.end(), [](const row& a, const row& b) { return a.median > b.median; });
  if (order == node_order::share)
    std::stable_sort(made.begin(), made.end(),
                     [](const row& a, const row& b) { return a.share.value_or(1e9) < b.share.value_or(1e9); });
  return made;
}

namespace {

/// The sums of all rows. The share of the roofline is that of the rows that have one.
struct row_sums {
  double least = 0, median = 0;
  double needed = 0, measured = 0;  // of rows with a share: the least time that the machine needs, the time taken
  std::optional<double> operations = {}, bytes = {};

  template <class Rows>
  explicit row_sums(const Rows& rows) {
    for (const auto& each : rows) {
      least += each.least, median += each.median;
      add_known(operations, each.operations);
      add_known(bytes, each.bytes);
      if (each.share) needed += *each.share * each.least, measured += each.least;
    }
  }
  std::optional<double> share() const { return measured > 0 ? std::optional{needed / measured} : std::nullopt; }
};

json share_json(const std::optional<double>& share) { return share ? json(*share) : json(nullptr); }

}  // namespace

void node_times::add_to(json& report, const std::optional<machine_peak>& peak, node_order order) const {
  const std::vector<row> all = rows(peak, order);
  json list = json::array();
  for (const row& each : all)
    list.push_back({{"name", each.name},
                    {"output", each.output},
                    {"op", each.op},
                    {"provider", each.provider},
                    {"calls", each.calls},
                    {"min_us", each.least},
                    {"median_us", each.median},
                    {"operations", count_json(each.operations)},
                    {"bytes", count_json(each.bytes)},
                    {"share", share_json(each.share)}});
  const row_sums sums{all};
  report["per_node"] = std::move(list);
  report["per_node_sum"] = {{"min_us", sums.least},
                            {"median_us", sums.median},
                            {"operations", count_json(sums.operations)},
                            {"bytes", count_json(sums.bytes)},
                            {"share", share_json(sums.share())}};
  report["peak"] = nullptr;
  if (peak)
    report["peak"] = {{"operations_per_second", peak->operations},
                      {"bytes_per_second", peak->bytes_per_second},
                      {"target", peak->target},
                      {"threads", peak->threads}};
}

void node_times::print(const std::optional<machine_peak>& peak, node_order order) const {
  const std::vector<row> all = rows(peak, order);
  const row_sums sums{all};
  const auto line = [&](double least, double median, const auto& operations, const auto& bytes, const auto& share,
                        const std::string& provider, const std::string& op, const std::string& name) {
    const double part = sums.median > 0 ? 100 * median / sums.median : 0;
    say("{:>12.2f} {:>12.2f} {:>6.1f} {:>15} {:>13} {:>9}  {:<9} {:<20} {}\n", least, median, part,
        count_text(operations), count_text(bytes), share_text(share), provider, op, name);
  };
  if (peak)
    say("\npeak: {:.1f} G operations/s and {:.1f} GB/s with {} {}, {}\n", peak->operations / 1e9,
        peak->bytes_per_second / 1e9, peak->threads, peak->threads == 1 ? "thread" : "threads", peak->target);
  say("\n{:>12} {:>12} {:>6} {:>15} {:>13} {:>9}  {:<9} {:<20} {}\n", "min us", "median us", "%", "operations", "bytes",
      "roofline", "provider", "operator", "node");
  for (const row& each : all)
    line(each.least, each.median, each.operations, each.bytes, each.share, each.provider, each.op,
         each.name.empty() ? "-> " + each.output : each.name);
  line(sums.least, sums.median, sums.operations, sums.bytes, sums.share(), "", "", "sum");
}

}  // namespace cameo::program
