#include "inspect/trace.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

namespace cameo::inspect {
namespace {

using json = nlohmann::ordered_json;

status wrong(std::string words) { return {status_code::invalid_argument, std::move(words)}; }

/// A text of the model after it was written to a JSON file.
std::string as_written(std::string_view text) {
  return json::parse(json(std::string{text}).dump(-1, ' ', false, json::error_handler_t::replace)).get<std::string>();
}

status read_json(const std::string& path, json& read) {
  std::ifstream file{path, std::ios::binary};
  if (!file) return {status_code::no_suchfile, "the file does not exist or cannot be read"};
  read = json::parse(file, nullptr, false);
  if (read.is_discarded()) return wrong("not JSON");
  if (!read.is_object() || !read.contains("traceEvents") || !read["traceEvents"].is_array())
    return wrong("JSON, but not a trace: it has no \"traceEvents\"");
  return {};
}

/// Finds a step by its numbers in a trace: [index of the step], or [step, subgraph, step, ...] for a step in a
/// subgraph. Returns the steps on the path to it, outermost first, with the step itself last; empty if the plan has no
/// such step.
std::vector<const plan_step*> find_step(const json& numbers, const plan_view& plan) {
  std::vector<const plan_step*> path;
  const plan_view* in = &plan;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (!numbers[i].is_number_unsigned()) return {};
    const std::size_t n = numbers[i].get<std::size_t>();
    if (i % 2 == 0) {
      if (n >= in->steps.size()) return {};
      path.push_back(&in->steps[n]);
    } else {
      if (n >= path.back()->subplans.size()) return {};
      in = path.back()->subplans[n];
    }
  }
  if (numbers.size() % 2 == 0) return {};
  return path;
}

constexpr std::string_view other_model =
    "; the trace is of another model, or of the same one loaded with other options (--ep, --optimize, --config)";

class reader {
 public:
  explicit reader(const plan_view& plan) : plan_{plan} {}

  result<profiled_run> run(const json& trace) {
    if (const auto other = trace.find("otherData"); other != trace.end() && other->is_object()) {
      const std::size_t steps = other->value("steps", json{}).is_number_unsigned()
                                    ? other->at("steps").get<std::size_t>()
                                    : plan_.steps.size();
      if (steps != plan_.steps.size())
        return wrong(fmt::format("{} steps in the trace, {} in the model{}", steps, plan_.steps.size(), other_model));
      if (other->value("dropped", json{}).is_number_unsigned())
        made_.dropped = other->at("dropped").get<std::uint64_t>();
      add_peak(other->value("peak", json{}));
    }
    for (const json& event : trace["traceEvents"])
      if (status s = add(event); !s) return s;
    if (made_.steps.empty()) return wrong("no event of the trace names a step of a plan (args.step)");
    made_.wall = std::max(0.0, end_ - start_);
    for (auto& [step, time] : made_.steps) {
      time.own = std::max(0.0, time.own);
      made_.sum += time.own;
    }
    return std::move(made_);
  }

 private:
  status add(const json& event) {
    if (!event.is_object() || event.value("ph", json{}) != "X") return {};
    const json args = event.value("args", json{});
    if (!args.is_object() || !args.contains("step") || !args["step"].is_array()) return {};
    const json ts = event.value("ts", json{}), dur = event.value("dur", json{});
    if (!ts.is_number() || !dur.is_number() || !(dur.get<double>() >= 0))
      return wrong("an event has no time (ts) or length (dur)");
    const std::vector<const plan_step*> path = find_step(args["step"], plan_);
    if (path.empty()) return wrong(fmt::format("the model has no step {}{}", args["step"].dump(), other_model));
    if (status s = require_same(*path.back(), event, args); !s) return s;
    const double nanoseconds = dur.get<double>() * 1000, start = ts.get<double>() * 1000;
    step_time& time = made_.steps[path.back()];
    ++time.calls;
    time.total += nanoseconds;
    time.own += nanoseconds;
    add_work(args, "operations", time.operations);
    add_work(args, "bytes", time.bytes);
    if (path.size() > 1) made_.steps[path[path.size() - 2]].own -= nanoseconds;
    start_ = std::min(start_, start);
    end_ = std::max(end_, start + nanoseconds);
    return {};
  }

  static bool counts(const json& number) { return number.is_number() && number.get<double>() >= 0; }

  /// Adds a step's operations or bytes; not every trace and not every step has them.
  static void add_work(const json& args, const char* name, std::optional<double>& sum) {
    if (const json number = args.value(name, json{}); counts(number)) sum = sum.value_or(0) + number.get<double>();
  }

  void add_peak(const json& peak) {
    if (!peak.is_object()) return;
    const json operations = peak.value("operations", json{}), bytes = peak.value("bytes_per_second", json{});
    if (!counts(operations) || !counts(bytes) || operations == 0 || bytes == 0) return;
    made_.peak = {operations.get<double>(), bytes.get<double>(), {}, 0};
  }

  static status require_same(const plan_step& step, const json& event, const json& args) {
    const json &op = args.value("op", json{}), &name = event.value("name", json{});
    const std::string here_op = as_written(step.op_type),
                      here_name = as_written(step.name.empty() ? step.op_type : step.name);
    if (op == here_op && name == here_name) return {};
    return wrong(fmt::format("step {} is {} {} in the trace, \"{}\" \"{}\" in the model{}", args["step"].dump(),
                             op.dump(-1, ' ', false, json::error_handler_t::replace),
                             name.dump(-1, ' ', false, json::error_handler_t::replace), here_op, here_name,
                             other_model));
  }

  const plan_view& plan_;
  profiled_run made_;
  double start_ = std::numeric_limits<double>::infinity(), end_ = 0;
};

}  // namespace

result<profiled_run> read_profile(const std::string& path, const plan_view& plan) {
  json trace;
  if (status s = read_json(path, trace); !s) return std::move(s).in(path);
  result<profiled_run> read = reader{plan}.run(trace);
  if (!read) return std::move(read).error().in(path);
  return read;
}

}  // namespace cameo::inspect
