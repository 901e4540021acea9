// A whole model in the target tier: digits.ort is read, planned and run in one stretch of static memory. Nothing takes
// heap meanwhile: malloc and its like end the program. What it says of 360 images is held against their labels, and
// against probabilities that do not depend on how many images come at once.
#include "digits_kernels.hpp"

#include <cameo/minimal/session.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

using namespace cameo;

namespace {

using runtime = minimal_runtime<eps::digits_kernels>;  // what `cameo reduce` wrote for the model

bool no_heap = false;

alignas(64) std::byte file[64 * 1024], images[128 * 1024], labels[8 * 1024], memory[768 * 1024];

int failures = 0;
void expect(bool holds, const char* claim) {
  if (holds) return;
  ++failures;
  std::printf("not so: %s\n", claim);
}

std::span<const std::byte> read(const char* path, std::span<std::byte> to) {
  std::FILE* const from = std::fopen(path, "rb");
  if (!from) return {};
  const std::size_t bytes = std::fread(to.data(), 1, to.size(), from);
  std::fclose(from);
  return to.first(bytes);
}

/// The elements of what numpy.save wrote; `head` bytes at most come before them.
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

/// Loads from `model` within `bytes` of memory, and reads `count` images in batches of `batch`.
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
  if (!session) return expect(false, "it loads");
  expect(session->input_count() == 1 && session->output_count() == 2, "one input, two outputs");
  expect(session->find_input("image") == 0 && session->find_output("probabilities") == 1, "they are found by name");
  expect(session->find_input("probabilities") == minimal_session::not_found, "an output is no input");
  expect(session->input(0).info.type == dtype::f32 && session->input(0).info.shape == extents{-1, 1, 8, 8},
         "the input's type and shape are told");
  value out[2];
  const float pixels[65] = {};
  const auto run = [&](const value& in) { return session->run({&in, 1}, out).code(); };
  expect(run(value::tensor<float>({1, 1, 8, 8}, pixels)) == status_code::ok, "an image runs");
  expect(run(value::tensor<float>({1, 1, 8, 7}, pixels)) == status_code::invalid_argument, "its shape is checked");
  expect(run(value::tensor<float>({1, 64}, pixels)) == status_code::invalid_argument, "its rank is checked");
  expect(run(value::tensor(dtype::f64, {1, 1, 8, 8}, pixels)) == status_code::invalid_argument, "so is its type");
  expect(run(value::tensor(dtype::f32, {1, 1, 8, 8}, reinterpret_cast<const char*>(pixels) + 1)) ==
             status_code::invalid_argument,
         "and its address");
  expect(run(value::tensor(dtype::f32, {-1, 1, 8, 8}, pixels)) == status_code::invalid_argument, "no dim is negative");
  expect(session->run({}, out).code() == status_code::invalid_argument, "inputs are counted");
}

}  // namespace

// What the C library hands out to others is none of ours.
extern "C" void* __libc_malloc(std::size_t);
extern "C" void* malloc(std::size_t bytes) {
  if (no_heap) std::abort();
  return __libc_malloc(bytes);
}
extern "C" void* aligned_alloc(std::size_t, std::size_t) { std::abort(); }

int main() {
  std::setvbuf(stdout, nullptr, _IONBF, 0);  // its buffer would be on the heap
  const std::span<const std::byte> model = read(CAMEO_SOURCE_DIR "/tests/data/digits.ort", file);
  read(CAMEO_SOURCE_DIR "/examples/digits/test_images.npy", images);
  read(CAMEO_SOURCE_DIR "/examples/digits/test_labels.npy", labels);
  no_heap = true;

  names_and_shapes(model);
  const outcome one = classify(model, sizeof memory, 360, 1);
  if (one.code != status_code::ok) std::printf("%s\n", status{one.code}.name());
  expect(one.code == status_code::ok && one.right >= 349, "97 of 100 images are read right, one by one");
  const outcome many = classify(model, sizeof memory, 360, 40);
  expect(many.code == status_code::ok && many.right == one.right && close(one, many), "the same, 40 at a time");
  const outcome packed = classify(model, sizeof memory, 360, 1, {.prepack = true});
  expect(packed.code == status_code::ok && packed.right == one.right && close(one, packed),
         "the same with packed weights");

  // The file at an odd address: every number in it lies askew.
  static std::byte askew[sizeof file + 1];
  std::copy(model.begin(), model.end(), askew + 1);
  const outcome odd = classify({askew + 1, model.size()}, sizeof memory, 10, 1);
  expect(odd.code == status_code::ok && close(one, odd), "the same from an odd address");

  // The memory that it says it used is enough; with less, whatever happens is a status.
  expect(classify(model, one.used, 360, 1).code == status_code::ok, "what it says it needs is enough");
  const result<std::size_t> needed = runtime::memory_needed(model, memory);
  const auto loads = [&](std::size_t bytes) {
    return runtime::load(model, std::span{memory}.first(bytes)).error().code();
  };
  expect(needed && *needed < one.used && loads(*needed) == status_code::ok, "what a load needs can be asked");
  expect(loads(*needed - 64) == status_code::out_of_memory, "and no less is enough");
  expect(
      runtime::memory_needed(model, std::span{memory}.first(*needed / 2)).error().code() == status_code::out_of_memory,
      "asking takes as much as a load");
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
