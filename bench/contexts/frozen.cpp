// Compiles models with eps/frozen, or loads and runs one model and prints the times. See bench/contexts/run.
//
//   bench_contexts compile MODEL=OUT...          several models share one context
//   bench_contexts run MODEL INPUTS EP SECONDS OUTPUTS
//       Reads the inputs from the folder INPUTS (raw_inputs.hpp), and writes the bytes of all outputs to the file
//       OUTPUTS. Prints one JSON object, then waits for the end of standard input, so that the caller can measure the
//       memory of the process.
#include "../raw_inputs.hpp"

#include <cameo/cameo.hpp>
#include <cameo/eps/cpu.hpp>
#include <cameo/eps/frozen.hpp>
#include <cameo/session/compile.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iostream>

namespace {

using bench::input, bench::read_inputs;
using steady = std::chrono::steady_clock;
using runtime = cameo::runtime<cameo::eps::frozen<cameo::eps::cpu>, cameo::eps::cpu>;

double micros_since(steady::time_point start) {
  return std::chrono::duration<double, std::micro>(steady::now() - start).count();
}

int compile(std::span<char*> pairs) {
  const runtime with;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const std::string pair = pairs[i];
    cameo::compile_options options;
    options.input = pair.substr(0, pair.find('='));
    options.output = pair.substr(pair.find('=') + 1);
    if (pairs.size() > 1) options.session.config.emplace_back("ep.share_ep_contexts", "1");
    if (pairs.size() > 1 && i + 1 == pairs.size())
      options.session.config.emplace_back("ep.stop_share_ep_contexts", "1");
    const steady::time_point start = steady::now();
    const auto done = with.compile(std::move(options));
    if (!done) return cameo::report(done.error());
    std::printf("{\"nodes\": %zu, \"seconds\": %.3f}\n", done->compiled_nodes, micros_since(start) / 1e6);
  }
  return 0;
}

struct times {
  double load_us, first_us, least_us;
};

cameo::result<times> measure(const std::string& model, const std::vector<input>& inputs, const std::string& provider,
                             double seconds, std::ofstream&& outputs, std::optional<cameo::session>& kept) {
  times t{};
  cameo::session_options options;
  options.threads = 1;
  options.providers = {provider, "cpu"};
  if (provider == "cpu") options.providers.pop_back();
  steady::time_point start = steady::now();
  auto made = runtime{}.load(model, options);
  t.load_us = micros_since(start);
  if (!made) return std::move(made).error();
  kept.emplace(std::move(*made));
  auto binding = kept->bind();
  if (!binding) return std::move(binding).error();
  for (const input& each : inputs)
    if (auto s = binding->bind_input({each.name, cameo::value::tensor(each.type, each.shape, each.bytes.data())}); !s)
      return s;
  start = steady::now();
  if (auto s = kept->run(*binding); !s) return s;
  t.first_us = micros_since(start);
  for (std::size_t i = 0; i < binding->output_count(); ++i)
    outputs.write(static_cast<const char*>(binding->output(i).data), std::streamsize(binding->output(i).bytes()));
  const steady::time_point begin = steady::now();
  for (t.least_us = 1e12; micros_since(begin) < seconds * 1e6;) {
    start = steady::now();
    if (auto s = kept->run(*binding); !s) return s;
    t.least_us = std::min(t.least_us, micros_since(start));
  }
  return t;
}

int run(std::span<char*> words) {
  std::optional<cameo::session> kept;
  const auto inputs = read_inputs(words[1]);
  const auto t =
      measure(words[0], inputs, words[2], std::stod(words[3]), std::ofstream{words[4], std::ios::binary}, kept);
  if (!t) return cameo::report(t.error());
  std::printf("{\"load_ms\": %.4f, \"first_run_ms\": %.4f, \"least_ms\": %.4f}\n", t->load_us / 1e3, t->first_us / 1e3,
              t->least_us / 1e3);
  std::fflush(stdout);
  while (std::cin.get() != std::char_traits<char>::eof()) continue;
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::span<char*> words{argv + 1, std::size_t(argc > 0 ? argc - 1 : 0)};
  if (words.size() > 1 && words[0] == std::string_view{"compile"}) return compile(words.subspan(1));
  if (words.size() == 6 && words[0] == std::string_view{"run"}) return run(words.subspan(1));
  std::fprintf(stderr, "bench_contexts compile MODEL=OUT... | run MODEL INPUTS EP SECONDS OUTPUTS\n");
  return 2;
}
