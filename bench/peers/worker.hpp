#pragma once
// The command loop of a worker in C++; worker.py documents the commands. The template argument Contender has
//   result<session_type> create()          creates a session
//   void keep(session_type)                takes the session that the following functions use
//   status first()                         binds inputs and outputs, and runs once
//   status run()                           runs again
//   result<std::vector<output>> outputs()  returns the outputs of the last run
#include <cameo/core/dtype.hpp>
#include <cameo/core/result.hpp>
#include <cameo/session/session.hpp>

#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

namespace peers {

/// An output of a run; the contender owns the data.
struct output {
  std::string name;
  cameo::dtype type;
  std::vector<std::int64_t> dims;
  const void* data;
  std::size_t bytes;
};

using steady = std::chrono::steady_clock;
inline double micros_since(steady::time_point start) {
  return std::chrono::duration<double, std::micro>(steady::now() - start).count();
}

/// The number N of the line "KEY: N kB" in a file of /proc/self; 0 if there is no such line.
inline std::size_t memory_kb(const char* file, std::string_view key) {
  std::ifstream lines{std::string{"/proc/self/"} + file};
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with(key)) return std::strtoull(line.c_str() + key.size() + 1, nullptr, 10);
  return 0;
}
inline std::size_t resident_kb() { return memory_kb("smaps_rollup", "Rss"); }
inline std::size_t peak_kb() { return memory_kb("status", "VmHWM"); }
inline void reset_peak() { std::ofstream{"/proc/self/clear_refs"} << 5; }

/// The number of allocations that the preloaded counter (allocation_counter.cpp) has counted; -1 without the counter.
inline long allocations() {
  using counter = unsigned long();
  static auto* const calls = reinterpret_cast<counter*>(::dlsym(RTLD_DEFAULT, "cameo_peers_allocations"));
  return calls ? long(calls()) : -1;
}

template <class Contender>
class worker {
 public:
  explicit worker(Contender& c) : contender_{c} {}

  /// Executes the commands of standard input until its end or an error. Returns the exit status of the process.
  int serve() {
    for (std::string line; std::getline(std::cin, line);) {
      if (const cameo::status s = answer(line); !s) return cameo::report(s);
      std::fflush(stdout);
    }
    return 0;
  }

 private:
  cameo::status answer(const std::string& line) {
    std::istringstream words{line};
    std::string command, argument;
    words >> command >> argument;
    if (command == "load") return load();
    if (command == "reload") return reload();
    if (command == "first") return first();
    if (command == "outputs") return write_outputs(argument);
    if (command == "time") {
      std::size_t between = 0;
      words >> between;
      return time(std::stod(argument), between);
    }
    if (command == "allocations") return count_allocations(std::stol(argument));
    return {cameo::status_code::invalid_argument, "unknown command '" + command + "'"};
  }

  cameo::status load() {
    reset_peak();
    const std::size_t before_kb = resident_kb();
    const steady::time_point start = steady::now();
    auto made = contender_.create();
    const double us = micros_since(start);
    if (!made) return made.error();
    contender_.keep(std::move(*made));
    std::printf("{\"load_ms\": %.4f, \"rss_before_kb\": %zu, \"rss_load_kb\": %zu}\n", us / 1e3, before_kb,
                resident_kb());
    return {};
  }
  /// Creates another session of the same model and destroys it.
  cameo::status reload() {
    const steady::time_point start = steady::now();
    const auto made = contender_.create();
    const double us = micros_since(start);
    if (!made) return made.error();
    std::printf("{\"load_ms\": %.4f}\n", us / 1e3);
    return {};
  }
  /// The time includes binding.
  cameo::status first() {
    const steady::time_point start = steady::now();
    if (cameo::status s = contender_.first(); !s) return s;
    const double us = micros_since(start);
    std::printf("{\"first_us\": %.3f, \"rss_run_kb\": %zu, \"peak_kb\": %zu}\n", us, resident_kb(), peak_kb());
    return {};
  }
  cameo::status write_outputs(const std::string& folder) {
    const cameo::result<std::vector<output>> all = contender_.outputs();
    if (!all) return cameo::status{all.error()};
    std::string list;
    for (std::size_t i = 0; i < all->size(); ++i) {
      const output& each = (*all)[i];
      std::ofstream{folder + "/" + std::to_string(i), std::ios::binary}.write(static_cast<const char*>(each.data),
                                                                              std::streamsize(each.bytes));
      std::string dims;
      for (std::int64_t dim : each.dims) dims += (dims.empty() ? "" : ", ") + std::to_string(dim);
      list += (i ? ", " : "") + ("[\"" + each.name) + "\", \"" + cameo::detail::row_of(each.type).name + "\", [" +
              dims + "]]";
    }
    std::printf("{\"outputs\": [%s]}\n", list.c_str());
    return {};
  }
  /// Before each run, `between` bytes of other memory are read, as if the process did other work between runs.
  cameo::status time(double seconds, std::size_t between) {
    // The first runs after a pause are slower, because caches are cold and threads sleep.
    for (int i = 0; i < 2; ++i)
      if (cameo::status s = contender_.run(); !s) return s;
    times_.clear();
    const std::vector<char> others(between);
    const steady::time_point begin = steady::now();
    do {
      for (std::size_t i = 0; i < between; i += 64) static_cast<void>(*static_cast<const volatile char*>(&others[i]));
      const steady::time_point start = steady::now();
      if (cameo::status s = contender_.run(); !s) return s;
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
      if (cameo::status s = contender_.run(); !s) return s;
    const long after = allocations();
    std::printf("{\"allocations\": %g}\n", before < 0 ? -1.0 : double(after - before) / double(runs));
    return {};
  }

  Contender& contender_;
  std::vector<double> times_;
};

}  // namespace peers
