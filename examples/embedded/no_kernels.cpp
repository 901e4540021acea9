// The runtime without kernels: the code that every program for a device needs, for any model. Loading ends at the first
// node, for which there is no kernel; the exit status is 0 if that is the error. The program is built twice: with
// checks of its file, and with a trusted file (CAMEO_TRUSTED). The test minimal.sizes prints both sizes.
#include <cameo/kernel/kernel_list.hpp>
#include <cameo/minimal/session.hpp>

using namespace cameo;

extern const unsigned char digits_ort[];
extern const std::size_t digits_ort_size;

namespace {
alignas(64) std::byte memory[16 * 1024];
}

int main() {
  using runtime = minimal_runtime<kernel_list<>>;
  const std::span<const std::byte> file = std::as_bytes(std::span{digits_ort, digits_ort_size});
#ifdef CAMEO_TRUSTED
  auto session = runtime::load_trusted(file, memory);
#else
  auto session = runtime::load(file, memory);
#endif
  if (!session) return session.error().code() != status_code::not_implemented;
  value in[8], out[8];  // a program with kernels would run the model
  return session->run(std::span{in}.first(session->input_count()), std::span{out}.first(session->output_count())) ? 2
                                                                                                                  : 1;
}
