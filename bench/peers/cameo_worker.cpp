// Cameo's worker for bench/peers/run: a process with one session. It executes commands, one per line of standard input,
// and prints a JSON object for each; worker.py documents them.
//
//   bench_peers serve MODEL FOLDER THREADS    reads the inputs from FOLDER (bench/raw_inputs.hpp) and serves commands
//   bench_peers peak THREADS BYTES SECONDS    prints the machine's peak rates: see cameo::eps::cpu::measure_peak
//   bench_peers units THREADS SECONDS         prints the processor's flags, and peak rates of small types: see
//   units.hpp
#include "../raw_inputs.hpp"
#include "units.hpp"
#include "worker.hpp"

#include <cameo/cameo.hpp>
#include <cameo/eps/cpu.hpp>

namespace {

class contender {
 public:
  contender(std::string model, const std::string& folder, std::size_t threads)
      : model_{std::move(model)}, inputs_{bench::read_inputs(folder)} {
    options_.threads = threads;
  }

  cameo::result<cameo::session> create() const { return cameo::runtime<cameo::eps::cpu>{}.load(model_, options_); }
  void keep(cameo::session made) { session_ = std::move(made); }
  cameo::status first() {
    cameo::result<cameo::io_binding> made = session_.bind();
    if (!made) return made.error();
    binding_ = std::move(*made);
    for (const bench::input& each : inputs_)
      if (cameo::status s =
              binding_.bind_input(each.name, cameo::value::tensor(each.type, each.shape, each.bytes.data()));
          !s)
        return s;
    return run();
  }
  cameo::status run() { return session_.run(binding_); }
  cameo::result<std::vector<peers::output>> outputs() const {
    std::vector<peers::output> all;
    for (std::size_t i = 0; i < binding_.output_count(); ++i) {
      const cameo::value& v = binding_.output(i);
      all.push_back({session_.outputs()[i].name, v.type, {v.shape.begin(), v.shape.end()}, v.data, v.bytes()});
    }
    return all;
  }

 private:
  std::string model_;
  cameo::session_options options_;
  std::vector<bench::input> inputs_;
  cameo::session session_;
  cameo::io_binding binding_;
};

int serve(char** arguments) {
  contender mine{arguments[0], arguments[1], std::stoul(arguments[2])};
  return peers::worker{mine}.serve();
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
