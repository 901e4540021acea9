// Measures how many requests per second one session serves, where a request is one run. It compares three modes: as
// many callers as threads, each with one thread; one caller with all threads; as many callers as threads, each with all
// threads. The modes alternate within a round, because the load of the machine changes with time.
// Usage: bench_server MODEL... [--rounds N] [--seconds S] [--dim NAME=N]    (default: 7 rounds of 1 second, dims of 1)
//
// For each mode it prints the maximum and the median over the rounds of requests per second, and the minimum and the
// median of the processor time per request. For the second and third mode it also prints the requests per second of the
// first mode divided by those of the mode: the minimum, the maximum and the median over the rounds.
#include "processor_time.hpp"

#include <cameo/cameo.hpp>
#include <cameo/eps/cpu.hpp>
#include <cameo/session/threads.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace {

using runtime = cameo::runtime<cameo::eps::cpu>;
using clock_type = std::chrono::steady_clock;

struct settings {
  int rounds = 7;
  double seconds = 1;
  std::vector<std::pair<std::string, std::int64_t>> dims;
  std::vector<const char*> models;
};

/// A mode of serving, and its results.
struct mode {
  const char* name;
  std::size_t threads, callers;
  std::vector<double> rates, processor = {};  // per round: requests per second, processor milliseconds per request
};

/// Inputs for a model: ones for int64, so that masks hide nothing, and numbers between 0 and 1 for float32. Ends the
/// program if the model has inputs of other types.
struct made_inputs {
  explicit made_inputs(const cameo::session& session) {
    for (const cameo::io_info& in : session.inputs()) {
      cameo::extents shape;
      for (const std::int64_t dim : in.dims().value_or(std::vector<std::int64_t>{})) shape.push_back(dim < 0 ? 1 : dim);
      std::size_t count = 1;
      for (const std::int64_t dim : shape) count *= std::size_t(dim);
      switch (in.element()) {
        case cameo::dtype::f32: {
          std::vector<float> elements(count);
          for (std::size_t i = 0; i < count; ++i) elements[i] = float(i * 37 % 101) / 101;
          values.emplace_back(in.name, cameo::any_value::tensor<float>(shape, elements));
          break;
        }
        case cameo::dtype::i64:
          values.emplace_back(in.name,
                              cameo::any_value::tensor<std::int64_t>(shape, std::vector<std::int64_t>(count, 1)));
          break;
        default:
          std::printf("%s: bench_server makes only inputs of float32 and int64\n", in.name.c_str());
          std::exit(2);
      }
    }
  }
  std::vector<std::pair<std::string, cameo::any_value>> values;
};

void end_at(const cameo::status& s) {
  if (!s) std::exit(cameo::report(s));
}

/// Runs the session in this mode for some seconds, and adds the results to the mode.
void measure(mode& w, const cameo::session& session, const made_inputs& inputs, double seconds) {
  std::vector<cameo::io_binding> bindings;
  for (std::size_t i = 0; i < w.callers; ++i) {
    auto bound = session.bind();
    if (!bound) end_at(bound.error());
    bindings.push_back(std::move(*bound));
    for (const auto& [name, value] : inputs.values) end_at(bindings.back().bind_input(name, value));
    end_at(session.run(bindings.back()));  // allocates the memory of a run
  }
  std::atomic<std::size_t> answered{0};
  const double busy = cameo::test::processor_seconds(CLOCK_PROCESS_CPUTIME_ID);
  const auto start = clock_type::now();
  const auto until = start + std::chrono::duration_cast<clock_type::duration>(std::chrono::duration<double>{seconds});
  {
    std::vector<std::jthread> callers;
    for (auto& binding : bindings)
      callers.emplace_back([&] {
        for (; clock_type::now() < until; ++answered) end_at(session.run(binding));
      });
  }
  const double took = std::chrono::duration<double>(clock_type::now() - start).count();
  const double requests = double(std::max<std::size_t>(answered, 1));
  w.rates.push_back(double(answered) / took);
  w.processor.push_back(1e3 * (cameo::test::processor_seconds(CLOCK_PROCESS_CPUTIME_ID) - busy) / requests);
}

double median(std::vector<double> numbers) {
  std::ranges::sort(numbers);
  return numbers[numbers.size() / 2];
}

int serve(const char* model, const settings& set) {
  const std::size_t all = cameo::available_threads();
  mode modes[] = {{"one thread each", 1, all, {}},
                  {"all threads, in turn", all, 1, {}},
                  {"all threads, all at once", all, all, {}}};
  cameo::session_options options;
  options.free_dims.assign(set.dims.begin(), set.dims.end());
  options.log = [](cameo::log_level, std::string_view words) {
    std::fprintf(stderr, "%.*s\n", int(words.size()), words.data());
  };
  options.log_from = cameo::log_level::warning;  // such as a --dim that no input has
  options.threads = 1;
  const auto narrow = runtime{}.load(model, options);
  if (!narrow) return cameo::report(narrow.error());
  options.threads = all;
  const auto wide = runtime{}.load(model, options);
  if (!wide) return cameo::report(wide.error());
  const made_inputs inputs{*narrow};
  for (int round = 0; round < set.rounds; ++round)
    for (mode& w : modes) measure(w, w.threads == 1 ? *narrow : *wide, inputs, set.seconds);

  std::printf("%s, %zu threads\n", model, all);
  for (const mode& w : modes) {
    std::printf("  %-25s %9.1f per second at most, %9.1f in the median; processor %8.3f ms least, %8.3f median", w.name,
                std::ranges::max(w.rates), median(w.rates), std::ranges::min(w.processor), median(w.processor));
    std::vector<double> ratios;
    for (std::size_t i = 0; i < w.rates.size(); ++i) ratios.push_back(modes[0].rates[i] / w.rates[i]);
    if (&w != modes)
      std::printf("; one thread each: %.2f to %.2f times, %.2f in the median", std::ranges::min(ratios),
                  std::ranges::max(ratios), median(ratios));
    std::printf("\n");
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  settings set;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    const char* next = i + 1 < argc ? argv[i + 1] : "";
    if (word == "--rounds") {
      set.rounds = std::max(std::atoi(next), 1), ++i;
    } else if (word == "--seconds") {
      set.seconds = std::atof(next), ++i;
    } else if (word == "--dim") {
      const std::string_view pair = next;
      const std::size_t equals = std::min(pair.find('='), pair.size());
      set.dims.emplace_back(pair.substr(0, equals), std::atoll(next + std::min(equals + 1, pair.size()))), ++i;
    } else {
      set.models.push_back(argv[i]);
    }
  }
  if (set.models.empty())
    return std::printf("usage: bench_server MODEL... [--rounds N] [--seconds S] [--dim NAME=N]\n"), 2;
  for (const char* model : set.models)
    if (const int failed = serve(model, set)) return failed;
  return 0;
}
