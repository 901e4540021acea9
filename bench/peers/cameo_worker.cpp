// Cameo's side of bench/peers/run: a process that holds one session and does what lines on standard input say, with one
// JSON object in answer to each; worker.py tells the commands, and its contenders speak them too.
//
//   bench_peers serve MODEL FOLDER THREADS    FOLDER/inputs.txt lists inputs: name, type, dims with commas, file
//   bench_peers peak THREADS BYTES SECONDS    what the machine can do: see cameo::eps::cpu::measure_peak
//   bench_peers units THREADS SECONDS         the processor's flags, and its products of narrow numbers: see units.hpp
#include "../raw_inputs.hpp"
#include "units.hpp"

#include <cameo/cameo.hpp>
#include <cameo/eps/cpu.hpp>

#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <optional>
#include <sstream>

namespace {

using bench::input, bench::read_inputs;
using steady = std::chrono::steady_clock;

double micros_since(steady::time_point start) {
  return std::chrono::duration<double, std::micro>(steady::now() - start).count();
}

/// A line "KEY: N kB" of a file of /proc/self.
std::size_t memory_kb(const char* file, std::string_view key) {
  std::ifstream lines{std::string{"/proc/self/"} + file};
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with(key)) return std::strtoull(line.c_str() + key.size() + 1, nullptr, 10);
  return 0;
}
std::size_t resident_kb() { return memory_kb("smaps_rollup", "Rss"); }
std::size_t peak_kb() { return memory_kb("status", "VmHWM"); }
void reset_peak() { std::ofstream{"/proc/self/clear_refs"} << 5; }

/// Of the library that run loads before all others, if it did.
long allocations() {
  using counter = unsigned long();
  static auto* const calls = reinterpret_cast<counter*>(::dlsym(RTLD_DEFAULT, "cameo_peers_allocations"));
  return calls ? long(calls()) : -1;
}

class worker {
 public:
  worker(std::string model, const std::string& folder, std::size_t threads)
      : model_{std::move(model)}, inputs_{read_inputs(folder)} {
    options_.threads = threads;
  }

  cameo::status answer(const std::string& line) {
    std::istringstream words{line};
    std::string command, argument;
    words >> command >> argument;
    if (command == "load") return load();
    if (command == "reload") return reload();
    if (command == "first") return first();
    if (command == "outputs") return write_outputs(argument);
    if (command == "time") return time(std::stod(argument));
    if (command == "allocations") return count_allocations(std::stol(argument));
    return {cameo::status_code::invalid_argument, "no such command: " + command};
  }

 private:
  cameo::result<cameo::session> create() const { return cameo::runtime<cameo::eps::cpu>{}.load(model_, options_); }

  cameo::status load() {
    reset_peak();
    before_kb_ = resident_kb();
    const steady::time_point start = steady::now();
    cameo::result<cameo::session> made = create();
    const double us = micros_since(start);
    if (!made) return made.error();
    session_.emplace(std::move(*made));
    std::printf("{\"load_ms\": %.4f, \"rss_before_kb\": %zu, \"rss_load_kb\": %zu}\n", us / 1e3, before_kb_,
                resident_kb());
    return {};
  }
  /// Another session of the same model, and away with it.
  cameo::status reload() {
    const steady::time_point start = steady::now();
    const cameo::result<cameo::session> made = create();
    const double us = micros_since(start);
    if (!made) return made.error();
    std::printf("{\"load_ms\": %.4f}\n", us / 1e3);
    return {};
  }
  /// Binding belongs to the first run.
  cameo::status first() {
    const steady::time_point start = steady::now();
    cameo::result<cameo::io_binding> made = session_->bind();
    if (!made) return made.error();
    binding_.emplace(std::move(*made));
    for (const input& each : inputs_)
      if (cameo::status s =
              binding_->bind_input(each.name, cameo::value::tensor(each.type, each.shape, each.bytes.data()));
          !s)
        return s;
    if (cameo::status s = session_->run(*binding_); !s) return s;
    const double us = micros_since(start);
    std::printf("{\"first_us\": %.3f, \"rss_run_kb\": %zu, \"peak_kb\": %zu}\n", us, resident_kb(), peak_kb());
    return {};
  }
  cameo::status write_outputs(const std::string& folder) const {
    std::string list;
    for (std::size_t i = 0; i < binding_->output_count(); ++i) {
      const cameo::value& output = binding_->output(i);
      std::ofstream{folder + "/" + std::to_string(i), std::ios::binary}.write(static_cast<const char*>(output.data),
                                                                              std::streamsize(output.bytes()));
      std::string dims;
      for (std::int64_t dim : output.shape) dims += (dims.empty() ? "" : ", ") + std::to_string(dim);
      list += (i ? ", " : "") + ("[\"" + session_->outputs()[i].name) + "\", \"" + cameo::row_of(output.type).name +
              "\", [" + dims + "]]";
    }
    std::printf("{\"outputs\": [%s]}\n", list.c_str());
    return {};
  }
  cameo::status time(double seconds) {
    // The first runs after a pause find cold caches and sleeping threads.
    for (int i = 0; i < 2; ++i)
      if (cameo::status s = session_->run(*binding_); !s) return s;
    times_.clear();
    const steady::time_point begin = steady::now();
    do {
      const steady::time_point start = steady::now();
      if (cameo::status s = session_->run(*binding_); !s) return s;
      times_.push_back(micros_since(start));
    } while (times_.size() < 3 || micros_since(begin) < seconds * 1e6);
    std::sort(times_.begin(), times_.end());
    const std::size_t n = times_.size();
    std::printf("{\"runs\": %zu, \"min_us\": %.4f, \"median_us\": %.4f}\n", n, times_.front(),
                (times_[(n - 1) / 2] + times_[n / 2]) / 2);
    return {};
  }
  cameo::status count_allocations(long runs) {
    const long before = allocations();
    for (long i = 0; i < runs; ++i)
      if (cameo::status s = session_->run(*binding_); !s) return s;
    const long after = allocations();
    std::printf("{\"allocations\": %g}\n", before < 0 ? -1.0 : double(after - before) / double(runs));
    return {};
  }

  std::string model_;
  cameo::session_options options_;
  std::vector<input> inputs_;
  std::size_t before_kb_ = 0;
  std::optional<cameo::session> session_;
  std::optional<cameo::io_binding> binding_;
  std::vector<double> times_;
};

int serve(char** arguments) {
  worker mine{arguments[0], arguments[1], std::stoul(arguments[2])};
  for (std::string line; std::getline(std::cin, line);) {
    if (const cameo::status s = mine.answer(line); !s) return cameo::report(s);
    std::fflush(stdout);
  }
  return 0;
}

int print_peak(char** arguments) {
  const auto peak =
      cameo::eps::cpu::measure_peak(std::stoul(arguments[0]), std::stoul(arguments[1]), std::stod(arguments[2]));
  std::printf("{\"flops\": %.4g, \"bytes_per_second\": %.4g, \"target\": \"%s\"}\n", peak.operations,
              peak.bytes_per_second, peak.target.c_str());
  return 0;
}

int print_units(char** arguments) {
  std::string flags, units;
  for (const std::string& each : peers::processor_flags()) flags += (flags.empty() ? "\"" : ", \"") + each + "\"";
  for (const peers::unit& each : peers::measure_units(std::stoul(arguments[0]), std::stod(arguments[1]))) {
    char line[256];
    std::snprintf(line, sizeof line,
                  "%s{\"type\": \"%s\", \"flag\": \"%s\", \"instruction\": \"%s\", \"operations\": %.4g}",
                  units.empty() ? "" : ", ", each.type, each.flag, each.instruction, each.operations);
    units += line;
  }
  std::printf("{\"flags\": [%s], \"units\": [%s]}\n", flags.c_str(), units.c_str());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view command = argc > 1 ? argv[1] : "";
  if (command == "serve" && argc == 5) return serve(argv + 2);
  if (command == "peak" && argc == 5) return print_peak(argv + 2);
  if (command == "units" && argc == 4) return print_units(argv + 2);
  std::fprintf(stderr,
               "usage: bench_peers serve MODEL FOLDER THREADS | peak THREADS BYTES SECONDS | units THREADS SECONDS\n");
  return 2;
}
