// The runtime without an operator: what every program for a device has of it, whatever its model. It reads the file as
// far as the first node, for which it has no kernel, and that is how it should end. Built twice: as a program that
// checks its file, and (CAMEO_TRUSTED) as one whose file is trusted. The test minimal.sizes says how large they are.
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
  value in[8], out[8];  // what a program would do next, had it kernels
  return session->run(std::span{in}.first(session->input_count()), std::span{out}.first(session->output_count())) ? 2
                                                                                                                  : 1;
}
