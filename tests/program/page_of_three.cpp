// page_of_three MODEL PAGE TRACE [parallel]: loads the model for three providers, runs it with inputs of 0.5, and
// writes the run's trace and the page of `cameo inspect` with it. The program `cameo` itself is built with cpu only.
// `parallel`: runs on two threads, and repeats the run until both have executed a step.
#include <cameo/cameo.hpp>
#include <cameo/eps/cpu.hpp>
#include <cameo/eps/cpu/conv.hpp>
#include <cameo/file/atomic_file.hpp>
#include <cameo/op/onnx.hpp>
#include <cameo/session/profile.hpp>

#include "../../examples/fusing_provider/fusing.hpp"
#include "inspect/page.hpp"

#include <cstdlib>
#include <cstring>

namespace {

/// A provider with a convolution of floats and separate memory, so that its inputs and outputs are copied.
struct npu {
  static constexpr std::string_view name = "npu", long_name = "NpuExecutionProvider";
  using kernels = cameo::kernel_list<
      cameo::kernel_entry<cameo::op::Conv, cameo::since<1>, cameo::constrain<"T", float>, cameo::eps::conv>>;

  void* allocate(std::size_t bytes, std::size_t alignment) const noexcept {
    return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  }
  void release(void* memory, std::size_t) const noexcept { std::free(memory); }
  cameo::status copy_from_host(void* to, const void* from, std::size_t bytes) const {
    return std::memcpy(to, from, bytes), cameo::status{};
  }
  cameo::status copy_to_host(void* to, const void* from, std::size_t bytes) const {
    return std::memcpy(to, from, bytes), cameo::status{};
  }
};

using runtime = cameo::runtime<npu, acme::fusing, cameo::eps::cpu>;

/// Runs once; with `parallel`, until a second thread has executed a step, at most 1,000 times.
cameo::status run(const cameo::session& loaded, std::span<const cameo::named_input> inputs, bool parallel,
                  cameo::trace_profile& profile) {
  bool other = !parallel;
  for (int tries = 0; tries == 0 || (!other && tries < 1000); ++tries) {
    profile.clear();
    const cameo::result<cameo::named_values> outputs = loaded.run(inputs, {.observer = &profile.observer()});
    if (!outputs) return outputs.error();
    for (std::size_t i = 0; i < profile.size(); ++i) other |= profile[i].lane != 0;
  }
  return other ? cameo::status{} : cameo::status{cameo::status_code::fail, "the second thread executed no step"};
}

cameo::status write_page(const char* model, const char* page, const char* trace, bool parallel) {
  cameo::session_options options;
  if (parallel) options.execution = cameo::execution_mode::parallel, options.threads = 2;
  const cameo::result<cameo::session> loaded = runtime{}.load(model, options);
  if (!loaded) return loaded.error();
  std::vector<cameo::named_value> values;
  for (const cameo::io_info& io : loaded->inputs()) {
    const std::optional<cameo::extents> shape = io.type.fixed_shape();
    if (!shape) return {cameo::status_code::invalid_argument, "needs inputs of known shape"};
    const std::vector<float> elements(std::size_t(shape->count()), 0.5f);
    values.push_back({io.name, cameo::any_value::tensor<float>(*shape, elements)});
  }
  std::vector<cameo::named_input> inputs;
  for (const cameo::named_value& each : values) inputs.emplace_back(each.name, each.value);
  cameo::trace_profile profile{*loaded};
  if (cameo::status s = run(*loaded, inputs, parallel, profile); !s) return s;
  if (cameo::status s = profile.write(trace); !s) return s;
  const cameo::result<cameo::inspect::profiled_run> read = cameo::inspect::read_profile(trace, loaded->plan());
  if (!read) return read.error();
  const std::string text = cameo::inspect::page_of(model, *loaded, cameo::inspect::look_at(*loaded), &*read);
  return cameo::write_file_atomically(page, std::string_view{text});
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4 && argc != 5) return 2;
  const cameo::status done = write_page(argv[1], argv[2], argv[3], argc == 5);
  return done ? 0 : cameo::report(done);
}
