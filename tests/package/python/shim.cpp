// A C interface to cameo for ctypes, in place of a Python extension.
#include <cameo/cameo.hpp>
#include <cameo/eps/cpu.hpp>

#include <cstring>

extern "C" {

/// Runs a model of one float input and one float output. Returns the number of elements of the output, or -1 with the
/// message in `error`.
__attribute__((visibility("default"))) long run_model(const char* path, const float* input, const long* dims, int rank,
                                                      float* output, long room, char* error, long error_room) {
  const auto fail = [&](const cameo::status& s) {
    std::snprintf(error, std::size_t(error_room), "%s: %s", s.name(), std::string{s.words()}.c_str());
    return -1L;
  };
  const auto session = cameo::runtime<cameo::eps::cpu>{}.load(path);
  if (!session) return fail(session.error());
  cameo::extents shape;
  shape.resize(std::size_t(rank));
  std::int64_t count = 1;
  for (int i = 0; i < rank; ++i) count *= shape[std::size_t(i)] = dims[i];
  const auto outputs = session->run(
      {{session->inputs()[0].name, cameo::value::tensor<float>(shape, std::span{input, std::size_t(count)})}});
  if (!outputs) return fail(outputs.error());
  const auto y = (*outputs)[0].value.as_unchecked<float>();
  if (y.count() > room) return fail(cameo::status_code::fail);
  for (std::int64_t i = 0; i < y.count(); ++i) output[i] = y[i];
  return y.count();
}
}
