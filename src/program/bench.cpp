#include "program/allocations.hpp"
#include "program/inputs.hpp"
#include "program/options.hpp"
#include "program/peak.hpp"
#include "program/per_node.hpp"
#include "program/progress.hpp"
#include "program/runnable.hpp"
#include "program/say.hpp"
#include "program/tensor_files.hpp"

#include <fmt/format.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <optional>

namespace cameo::program {
namespace {

using clock = std::chrono::steady_clock;

struct bench_options {
  common_options common;
  std::string model, component, data;
  dim_sizes dims;
  bool random = false;
  std::uint64_t seed = 0;
  double seconds = 3;
  std::size_t warmup = 3;
  bool per_node = false;
  node_order order = node_order::time;
};

double micros_since(clock::time_point start) {
  return std::chrono::duration<double, std::micro>(clock::now() - start).count();
}

/// KiB after "KEY:" in a file of /proc/self; 0 where there is no such thing.
std::size_t memory_kb(const char* file, std::string_view key) {
  std::ifstream lines{std::string{"/proc/self/"} + file};
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with(key) && line[key.size()] == ':')
      return std::strtoull(line.c_str() + key.size() + 1, nullptr, 10);
  return 0;
}
/// The process's high-water mark of resident memory.
std::size_t peak_rss_kb() { return memory_kb("status", "VmHWM"); }
/// Resident memory now, exact (status lags behind by some pages of each thread).
std::size_t rss_kb() { return memory_kb("smaps_rollup", "Rss"); }

/// A folder with input_*.pb, or one that holds test_data_set_0.
std::string data_set_in(const std::string& folder) {
  std::error_code error;
  const std::string first = folder + "/test_data_set_0";
  return std::filesystem::is_directory(first, error) ? first : folder;
}

/// Keeps what is bound alive.
struct bound_inputs {
  std::vector<any_value> made;
  heap_arena memory;
};

status bind_all(const session& loaded, const bench_options& o, io_binding& to, bound_inputs& kept) {
  if (!o.data.empty()) {
    const result<std::vector<read_value>> read =
        read_data_set(data_set_in(o.data), "input_", loaded.inputs(), kept.memory);
    if (!read) return status{read.error()};
    for (const read_value& each : *read)
      if (status s = to.bind_input(loaded.inputs()[each.io].name, each.content); !s) return s;
    return {};
  }
  if (status s = check_dims(loaded, o.dims); !s) return s;
  for (const io_info& io : loaded.inputs()) {
    if (io.optional) continue;
    result<any_value> value = random_value(loaded, io, o.dims, o.seed);
    if (!value) return value.error();
    kept.made.push_back(std::move(*value));
    if (status s = to.bind_input(io.name, kept.made.back()); !s) return s;
  }
  return {};
}

struct measured {
  double first_us = 0;
  std::size_t rss_after_run_kb = 0;        // after the first
  std::optional<double> allocations = {};  // of one run, on average over the timed ones
  std::vector<double> runs_us;
};
result<measured> measure(const session& loaded, io_binding& binding, const bench_options& o) {
  measured all;
  clock::time_point start = clock::now();
  if (status s = loaded.run(binding); !s) return s;
  all.first_us = micros_since(start);
  all.rss_after_run_kb = rss_kb();
  for (std::size_t i = 0; i < o.warmup; ++i)
    if (status s = loaded.run(binding); !s) return s;
  all.runs_us.reserve(std::size_t(std::min(1e7, 4 + 2e6 * o.seconds / std::max(all.first_us, 1.0))));
  progress_bar bar{o.common.quiet};
  std::uint64_t allocations = 0;
  const clock::time_point begin = clock::now();
  do {
    const std::uint64_t before = allocation_count().value_or(0);
    start = clock::now();
    if (status s = loaded.run(binding); !s) return s;
    const double us = micros_since(start);
    allocations += allocation_count().value_or(0) - before;
    all.runs_us.push_back(us);
    if (bar.due()) bar.show(micros_since(begin) / 1e6 / o.seconds, fmt::format("{} runs", all.runs_us.size()));
  } while (micros_since(begin) < o.seconds * 1e6);
  if (allocation_count()) all.allocations = double(allocations) / double(all.runs_us.size());
  return all;
}

/// Runs of their own: looking at steps takes time, which the others are not to be charged for.
status measure_nodes(io_binding& binding, const bench_options& o, node_times& times) {
  progress_bar bar{o.common.quiet};
  const clock::time_point begin = clock::now();
  do {
    if (status s = times.run(binding); !s) return s;
    if (bar.due()) bar.show(micros_since(begin) / 1e6 / o.seconds, "nodes");
  } while (micros_since(begin) < o.seconds * 1e6);
  return {};
}

node_order order_named(const std::string& name) {
  return name == "plan" ? node_order::plan : name == "share" ? node_order::share : node_order::time;
}

int bench_model(const bench_options& o) {
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

  std::vector<double>& us = all->runs_us;
  std::sort(us.begin(), us.end());
  const auto quantile = [&](double q) { return us[std::min(us.size() - 1, std::size_t(q * double(us.size())))]; };
  const double median = (us[(us.size() - 1) / 2] + us[us.size() / 2]) / 2;
  const double mean = std::accumulate(us.begin(), us.end(), 0.0) / double(us.size());
  nlohmann::ordered_json report{{"model", o.model},
                                {"eps", loaded->providers()},
                                {"threads", loaded->thread_count()},
                                {"runs", us.size()},
                                {"min_us", us.front()},
                                {"median_us", median},
                                {"p99_us", quantile(0.99)},
                                {"mean_us", mean},
                                {"load_ms", load_ms},
                                {"first_run_us", all->first_us},
                                {"rss_before_kb", rss_before_kb},
                                {"rss_after_load_kb", rss_after_load_kb},
                                {"rss_after_run_kb", all->rss_after_run_kb},
                                {"peak_rss_kb", peak_rss_kb()},
                                {"allocations_per_run", nullptr},
                                {"arena_bytes", binding->arena_bytes()},
                                {"nodes", loaded->placements().size()}};
  if (all->allocations) report["allocations_per_run"] = *all->allocations;
  std::optional<node_times> nodes;
  std::optional<detail::machine_peak> peak;
  if (o.per_node) {
    peak = peak_for(*loaded);
    if (const status s = measure_nodes(*binding, o, nodes.emplace(*loaded)); !s) return fail(s);
  }
  if (o.common.json) {
    if (nodes) nodes->add_to(report, peak, o.order);
    return print_json(report), 0;
  }
  for (const auto& [key, value] : report.items())
    say("{:<20}{}\n", key,
        value.is_number_float() ? fmt::format("{:.1f}", value.get<double>())
        : value.is_string()     ? value.get<std::string>()
                                : value.dump());
  if (nodes) nodes->print(peak, o.order);
  return 0;
}

}  // namespace

void add_bench(command_line& app) {
  auto o = std::make_shared<bench_options>();
  const command it = app.add_command("bench", "Measures a model's latency");
  it.add("MODEL", o->model, "The model's file, or the folder of a model package").required();
  add_package_options(it, o->component, o->common);
  it.add("--seconds", o->seconds, "How long to measure (3)").type_name("S").between(0.0, 1e6);
  it.add("--warmup", o->warmup, "Runs before that, after the first (3)")
      .type_name("N")
      .between(std::size_t{0}, std::size_t{1000000});
  const option random =
      it.add_flag("--random-inputs", o->random, "Random inputs, which is the default; symbolic dims become 1");
  it.add("--data", o->data, "Inputs from a folder with input_*.pb, or with test_data_set_0")
      .type_name("DIR")
      .excludes(random);
  it.add("--seed", o->seed, "Seed of the random values (0)").type_name("N");
  const option nodes =
      it.add_flag("--per-node", o->per_node,
                  "Then, in runs of their own, each node: its time, operations, bytes, and how much of "
                  "that time the machine would need at least (the roofline)");
  it.add(
        "--sort", [o](const std::string& by) { o->order = order_named(by); },
        "Nodes by time (default), share of the roofline (least first), or as in the plan")
      .type_name("time|share|plan")
      .check([](const std::string& by) {
        return by == "time" || by == "share" || by == "plan" ? std::string{} : "must be time, share or plan";
      })
      .needs(nodes);
  add_dim_option(it, o->dims);
  add_common_options(it, o->common, json_output::flag);
  add_policy_option(it, o->common);
  it.does([o] { return bench_model(*o); });
}

}  // namespace cameo::program
