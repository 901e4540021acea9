#include "file/messages.hpp"
#include "os/processes.hpp"
#include "program/allocations.hpp"
#include "program/given_inputs.hpp"
#include "program/interrupt.hpp"
#include "program/options.hpp"
#include "program/peak.hpp"
#include "program/per_node.hpp"
#include "program/progress.hpp"
#include "program/runnable.hpp"
#include "program/say.hpp"
#include "program/tensor_files.hpp"

#include <cameo/os/heap_arena.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <numeric>
#include <optional>

namespace cameo::program {
namespace {

using clock = std::chrono::steady_clock;

struct bench_options {
  common_options common;
  std::string model, component, data, profile;
  given_inputs inputs;
  double seconds = 3;
  std::size_t warmup = 3;
  bool per_node = false;
  node_order order = node_order::time;
};

double micros_since(clock::time_point start) {
  return std::chrono::duration<double, std::micro>(clock::now() - start).count();
}

std::size_t peak_rss_kb() { return os::peak_resident_bytes() / 1024; }
std::size_t rss_kb() { return os::resident_bytes() / 1024; }

/// The folder with the files input_*.pb: test_data_set_0 in `folder` if it exists, else `folder` itself.
std::string data_set_in(const std::string& folder) {
  std::error_code error;
  const std::string first = folder + "/test_data_set_0";
  return std::filesystem::is_directory(first, error) ? first : folder;
}

/// Owns the memory of the bound inputs.
struct bound_inputs {
  std::vector<gathered_input> made;
  detail::heap_arena memory;
};

status bind_all(const session& loaded, const bench_options& o, io_binding& to, bound_inputs& kept) {
  if (!o.data.empty()) {
    const result<std::vector<read_value>> read =
        read_data_set(data_set_in(o.data), "input_", loaded.inputs(), kept.memory);
    if (!read) return status{read.error()};
    if (read->empty() && !loaded.inputs().empty())
      return failed(status_code::not_found, "{}: there is no input_*.pb in it, nor in a test_data_set_0", o.data);
    for (const read_value& each : *read)
      if (status s = to.bind_input(loaded.inputs()[each.io].name, each.content); !s) return s;
    return {};
  }
  result<std::vector<gathered_input>> made = gather_inputs(loaded, o.inputs);
  if (!made) return std::move(made).error();
  kept.made = std::move(*made);
  for (const gathered_input& each : kept.made)
    if (status s = to.bind_input(each.name, each.value); !s) return s;
  return {};
}

struct measured {
  double first_us = 0;
  std::size_t rss_after_run_kb = 0;        // after the first run
  std::optional<double> allocations = {};  // per run, the mean of the timed runs
  std::vector<double> runs_us;
};
/// Warms up and times runs. If the user stops it, returns what was measured so far, or an error if no run was timed.
result<measured> measure(const session& loaded, io_binding& binding, const bench_options& o) {
  measured all;
  const run_settings settings{.stop = interrupt::token()};
  clock::time_point start = clock::now();
  if (status s = loaded.run(binding, settings); !s) return s;
  all.first_us = micros_since(start);
  all.rss_after_run_kb = rss_kb();
  for (std::size_t i = 0; i < o.warmup; ++i)
    if (status s = loaded.run(binding, settings); !s) return s;
  all.runs_us.reserve(std::size_t(std::min(1e7, 4 + 2e6 * o.seconds / std::max(all.first_us, 1.0))));
  progress_bar bar{o.common.quiet};
  std::uint64_t allocations = 0;
  const clock::time_point begin = clock::now();
  do {
    const std::uint64_t before = allocation_count().value_or(0);
    start = clock::now();
    if (status s = loaded.run(binding, settings); !s) {
      if (interrupt::happened() && !all.runs_us.empty()) break;
      return s;
    }
    const double us = micros_since(start);
    allocations += allocation_count().value_or(0) - before;
    all.runs_us.push_back(us);
    if (bar.due()) bar.show(micros_since(begin) / 1e6 / o.seconds, fmt::format("{} runs", all.runs_us.size()));
  } while (micros_since(begin) < o.seconds * 1e6 && !interrupt::happened());
  if (allocation_count()) all.allocations = double(allocations) / double(all.runs_us.size());
  return all;
}

/// Profiles one more, warm run. If the run has more steps than the profile can record, it is repeated with a larger
/// one.
status write_profile(const session& loaded, io_binding& binding, const std::string& path) {
  for (std::size_t capacity = std::size_t{1} << 16;;) {
    trace_profile profile{loaded, capacity};
    if (std::optional<machine_peak> peak = peak_for(loaded)) profile.set_peak(*std::move(peak));
    if (status s = loaded.run(binding, {.observer = &profile.observer()}); !s) return s;
    if (profile.dropped() == 0) return profile.write(path);
    capacity = 2 * (profile.size() + profile.dropped());
  }
}

/// Measures nodes in additional runs, because observing steps takes time that would distort the latency.
status measure_nodes(io_binding& binding, const bench_options& o, node_times& times) {
  progress_bar bar{o.common.quiet};
  const clock::time_point begin = clock::now();
  do {
    if (status s = times.run(binding); !s) return s;
    if (bar.due()) bar.show(micros_since(begin) / 1e6 / o.seconds, "nodes");
  } while (micros_since(begin) < o.seconds * 1e6 && !interrupt::happened());
  return {};
}

node_order order_named(const std::string& name) {
  return name == "plan" ? node_order::plan : name == "share" ? node_order::share : node_order::time;
}

struct measured_load {
  double ms;
  std::size_t before_kb, after_kb;
};
nlohmann::ordered_json report_of(const bench_options& o, const session& loaded, const io_binding& binding,
                                 const measured_load& load, measured& all) {
  std::vector<double>& us = all.runs_us;
  std::sort(us.begin(), us.end());
  const auto quantile = [&](double q) { return us[std::min(us.size() - 1, std::size_t(q * double(us.size())))]; };
  const double median = (us[(us.size() - 1) / 2] + us[us.size() / 2]) / 2;
  const double mean = std::accumulate(us.begin(), us.end(), 0.0) / double(us.size());
  nlohmann::ordered_json report{{"model", o.model},
                                {"eps", loaded.providers()},
                                {"threads", loaded.thread_count()},
                                {"runs", us.size()},
                                {"min_us", us.front()},
                                {"median_us", median},
                                {"p99_us", quantile(0.99)},
                                {"mean_us", mean},
                                {"load_ms", load.ms},
                                {"first_run_us", all.first_us},
                                {"rss_before_kb", load.before_kb},
                                {"rss_after_load_kb", load.after_kb},
                                {"rss_after_run_kb", all.rss_after_run_kb},
                                {"peak_rss_kb", peak_rss_kb()},
                                {"allocations_per_run", nullptr},
                                {"arena_bytes", binding.arena_bytes()},
                                {"nodes", loaded.placements().size()}};
  if (all.allocations) report["allocations_per_run"] = *all.allocations;
  return report;
}

void print_report(const nlohmann::ordered_json& report) {
  for (const auto& [key, value] : report.items())
    say("{:<20}{}\n", key,
        value.is_number_float() ? fmt::format("{:.1f}", value.get<double>())
        : value.is_string()     ? value.get<std::string>()
                                : value.dump());
}

int bench_model(const bench_options& o) {
  interrupt::listen();
  const std::size_t rss_before_kb = rss_kb();
  const clock::time_point start = clock::now();
  const result<session> loaded = load_session(o.model, o.component, o.common);
  if (!loaded) return fail(loaded.error());
  const double load_ms = micros_since(start) / 1000;
  const std::size_t rss_after_load_kb = rss_kb();
  result<io_binding> binding = loaded->bind();
  if (!binding) return fail(binding.error());
  bound_inputs kept;
  if (const status s = bind_all(*loaded, o, *binding, kept); !s) return fail(s);
  result<measured> all = measure(*loaded, *binding, o);
  if (!all) return fail(all.error());

  nlohmann::ordered_json report = report_of(o, *loaded, *binding, {load_ms, rss_before_kb, rss_after_load_kb}, *all);
  std::optional<node_times> nodes;
  std::optional<machine_peak> peak;
  if (o.per_node && !interrupt::happened()) {
    if (const status s = measure_nodes(*binding, o, nodes.emplace(*loaded)); !s) return fail(s);
    peak = peak_for(*loaded, nodes->bytes_of_run());
  }
  if (!o.profile.empty() && !interrupt::happened())
    if (const status s = write_profile(*loaded, *binding, o.profile); !s) return fail(s);
  if (nodes && o.common.json) nodes->add_to(report, peak, o.order);
  if (o.common.json) print_json(report);
  else print_report(report);
  if (nodes && !o.common.json) nodes->print(peak, o.order);
  return interrupt::happened() ? fail({status_code::canceled, "stopped; what was measured until then is above"}) : 0;
}

}  // namespace

void add_bench(command_line& app) {
  auto o = std::make_shared<bench_options>();
  o->common.stoppable = true;
  o->inputs.random = true;
  const command it = app.add_command("bench", "Measures a model's latency");
  it.add("MODEL", o->model, model_words).required();
  it.add("--seconds", o->seconds, "How long to measure (3)").type_name("S").range(0.0, 1e6);
  it.add("--warmup", o->warmup, "Runs before that, after the first (3)")
      .type_name("N")
      .range(std::size_t{0}, std::size_t{1000000});
  const option nodes =
      it.add_flag("--per-node", o->per_node,
                  "Then measures each node in separate runs: its time, operations, bytes, and how much of "
                  "that time the machine would need at least (the roofline)");
  it.add(
        "--sort", [o](const std::string& by) { o->order = order_named(by); },
        "Nodes by time (default), share of the roofline (least first), or as in the plan")
      .one_of({"time", "share", "plan"})
      .needs(nodes);
  const command inputs = it.group("Inputs");
  const option random =
      inputs.add_flag("--random-inputs", o->inputs.random,
                      "Random inputs where nothing else gives one, which is the default; symbolic dims as in --dim");
  const option data = inputs.add("--data", o->data, "Inputs from a folder with input_*.pb, or with test_data_set_0");
  data.type_name("DIR").excludes(random);
  add_input_options(it, o->inputs);
  for (const char* other : {"--input", "--fill", "--range"}) data.excludes(it[other]);
  it.group("Output")
      .add("--profile", o->profile, "Writes a Chrome trace of one more run, a warm one (JSON; opens in Perfetto)")
      .type_name("FILE");
  add_common_options(it, o->common, json_output::flag);
  add_policy_option(it, o->common);
  add_package_options(it, o->component, o->common);
  it.does([o] { return bench_model(*o); });
}

}  // namespace cameo::program
