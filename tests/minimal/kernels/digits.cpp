// Runs a whole model with the library for devices: digits.ort is read, planned and run in one static array. The heap
// must not be used: malloc and similar functions end the program. The results for 360 images are compared with the
// labels, and must not depend on the size of a batch.
#include "digits_kernels.hpp"

#include <cameo/minimal/session.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

using namespace cameo;

namespace {

using runtime = minimal_runtime<eps::digits_kernels>;  // `cameo reduce` wrote the list for the model

bool no_heap = false;

alignas(64) std::byte file[64 * 1024], images[128 * 1024], labels[8 * 1024], memory[768 * 1024];

int failures = 0;
void expect(bool holds, const char* claim) {
  if (holds) return;
  ++failures;
  std::printf("this does not hold: %s\n", claim);
}

std::span<const std::byte> read(const char* path, std::span<std::byte> to) {
  std::FILE* const from = std::fopen(path, "rb");
  if (!from) return {};
  const std::size_t bytes = std::fread(to.data(), 1, to.size(), from);
  std::fclose(from);
  return to.first(bytes);
}

/// The elements of an array in a file that numpy.save wrote.
template <class T>
std::span<const T> elements(std::span<const std::byte> npy) {
  if (npy.size() < 10) return {};
  const std::size_t start = 10 + std::size_t(npy[8]) + 256 * std::size_t(npy[9]);
  return {reinterpret_cast<const T*>(npy.data() + start), (npy.size() - start) / sizeof(T)};
}

struct outcome {
  status_code code = status_code::ok;
  std::size_t right = 0, used = 0;
  float first[10] = {};
};

/// Loads `model` within `bytes` of memory, and classifies `count` images in batches of `batch`.
outcome classify(std::span<const std::byte> model, std::size_t bytes, std::size_t count, std::size_t batch,
                 minimal_options options = {}) {
  outcome out;
  result<minimal_session> session = runtime::load(model, std::span{memory}.first(bytes), options);
  if (!session) return out.code = session.error().code(), out;
  const std::span<const float> pixels = elements<float>(images);
  const std::span<const std::int64_t> truth = elements<std::int64_t>(labels);
  for (std::size_t first = 0; first < count; first += batch) {
    const extents shape{std::int64_t(batch), 1, 8, 8};
    const value image = value::tensor<float>(shape, pixels.subspan(64 * first, 64 * batch));
    value outputs[2];
    if (status ran = session->run({&image, 1}, outputs); !ran) return out.code = ran.code(), out;
    const tensor_view<const float> p = outputs[1].as_unchecked<float>();
    if (p.count() != std::int64_t(10 * batch)) return out.code = status_code::fail, out;
    for (std::size_t i = 0; i < batch; ++i) {
      const std::span<const float> row = p.span().subspan(10 * i, 10);
      out.right += std::max_element(row.begin(), row.end()) - row.begin() == truth[first + i];
      if (first + i == 0) std::copy(row.begin(), row.end(), out.first);
    }
  }
  out.used = session->memory_used();
  return out;
}

bool close(const outcome& a, const outcome& b) {
  for (std::size_t i = 0; i < 10; ++i)
    if (!(std::abs(a.first[i] - b.first[i]) <= 1e-6f)) return false;
  return true;
}

void names_and_shapes(std::span<const std::byte> model) {
  result<minimal_session> session = runtime::load(model, memory);
  if (!session) return expect(false, "the model loads");
  expect(session->input_count() == 1 && session->output_count() == 2, "the session has one input and two outputs");
  expect(session->find_input("image") == 0 && session->find_output("probabilities") == 1,
         "inputs and outputs are found by name");
  expect(session->find_input("probabilities") == minimal_session::not_found, "find_input does not find an output");
  expect(session->input(0).info.type == dtype::f32 && session->input(0).info.shape == extents{-1, 1, 8, 8},
         "the input has its type and shape");
  value out[2];
  const float pixels[65] = {};
  const auto run = [&](const value& in) { return session->run({&in, 1}, out).code(); };
  expect(run(value::tensor<float>({1, 1, 8, 8}, pixels)) == status_code::ok, "an image runs");
  expect(run(value::tensor<float>({1, 1, 8, 7}, pixels)) == status_code::invalid_argument,
         "the shape of an input is checked");
  expect(run(value::tensor<float>({1, 64}, pixels)) == status_code::invalid_argument,
         "the rank of an input is checked");
  expect(run(value::tensor(dtype::f64, {1, 1, 8, 8}, pixels)) == status_code::invalid_argument,
         "the type of an input is checked");
  expect(run(value::tensor(dtype::f32, {1, 1, 8, 8}, reinterpret_cast<const char*>(pixels) + 1)) ==
             status_code::invalid_argument,
         "the alignment of an input is checked");
  expect(run(value::tensor(dtype::f32, {-1, 1, 8, 8}, pixels)) == status_code::invalid_argument,
         "a negative dim is an error");
  expect(session->run({}, out).code() == status_code::invalid_argument, "the number of inputs is checked");
}

}  // namespace

// Replaces malloc, so that the program ends if cameo calls it. The C library's functions still work.
extern "C" void* __libc_malloc(std::size_t);
extern "C" void* malloc(std::size_t bytes) {
  if (no_heap) std::abort();
  return __libc_malloc(bytes);
}
extern "C" void* aligned_alloc(std::size_t, std::size_t) { std::abort(); }

int main() {
  std::setvbuf(stdout, nullptr, _IONBF, 0);  // a buffer would be on the heap
  const std::span<const std::byte> model = read(CAMEO_SOURCE_DIR "/tests/data/digits.ort", file);
  read(CAMEO_SOURCE_DIR "/examples/digits/test_images.npy", images);
  read(CAMEO_SOURCE_DIR "/examples/digits/test_labels.npy", labels);
  no_heap = true;

  names_and_shapes(model);
  const outcome one = classify(model, sizeof memory, 360, 1);
  if (one.code != status_code::ok) std::printf("%s\n", status{one.code}.name());
  expect(one.code == status_code::ok && one.right >= 349, "97% of the images are classified correctly in batches of 1");
  const outcome many = classify(model, sizeof memory, 360, 40);
  expect(many.code == status_code::ok && many.right == one.right && close(one, many),
         "batches of 40 give the same results");
  const outcome packed = classify(model, sizeof memory, 360, 1, {.prepack = true});
  expect(packed.code == status_code::ok && packed.right == one.right && close(one, packed),
         "packed weights give the same results");

  // A file at an odd address, so that none of its numbers is aligned.
  static std::byte unaligned[sizeof file + 1];
  std::copy(model.begin(), model.end(), unaligned + 1);
  const outcome shifted = classify({unaligned + 1, model.size()}, sizeof memory, 10, 1);
  expect(shifted.code == status_code::ok && close(one, shifted), "a file at an odd address gives the same results");

  // memory_used() bytes are enough. With less, the result must be a status.
  expect(classify(model, one.used, 360, 1).code == status_code::ok, "memory_used() bytes are enough");
  const result<std::size_t> needed = runtime::memory_needed(model, memory);
  const auto loads = [&](std::size_t bytes) {
    return runtime::load(model, std::span{memory}.first(bytes)).error().code();
  };
  expect(needed && *needed < one.used && loads(*needed) == status_code::ok,
         "memory_needed() bytes are enough for loading");
  expect(loads(*needed - 64) == status_code::out_of_memory,
         "less than memory_needed() bytes are not enough for loading");
  expect(
      runtime::memory_needed(model, std::span{memory}.first(*needed / 2)).error().code() == status_code::out_of_memory,
      "memory_needed() needs as much memory as loading");
  const result<minimal_session> trusted = runtime::load_trusted(model, memory);
  expect(trusted && trusted->memory_used() < *needed, "a trusted file needs no memory for its checks");
  std::size_t enough = 0;
  for (std::size_t bytes = 0; bytes <= one.used && !enough; bytes += 256) {
    const outcome got = classify(model, bytes, 1, 1);
    if (got.code == status_code::ok) enough = bytes;
    else expect(got.code == status_code::out_of_memory, "too little memory is OUT_OF_MEMORY");
  }
  no_heap = false;
  std::printf("%d of 360 images right; %d bytes of memory used, %d are enough for one image\n", int(one.right),
              int(one.used), int(enough));
  std::printf("%d failed\n", failures);
  return failures != 0;
}
