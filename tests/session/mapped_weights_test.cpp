// Tests that a model with 100 MB of weights is loaded without reading them. The weights are a hole in the file, so that
// the system's page cache shows which pages were read.
#include <cameo/file/file_bytes.hpp>
#include <cameo/format/ort.hpp>
#include <cameo/graph/check.hpp>
#include <cameo/minimal/session.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "models.hpp"

namespace cameo::test {
namespace {

constexpr std::int64_t side = 5120;  // side * side floats are 100 MiB
constexpr std::size_t weight_bytes = std::size_t(side * side) * sizeof(float), page = 4096;

/// A model that multiplies x by a matrix of zeros, in a sparse file of which only the first and last pages are stored.
class model_file {
 public:
  explicit model_file(std::int64_t rows_of_weights = side)
      : path_{std::filesystem::temp_directory_path() / ("cameo_weights_" + std::to_string(getpid()) + ".ort")} {
    const std::size_t bytes = std::size_t(rows_of_weights * side) * sizeof(float);
    void* const zeros = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(zeros != MAP_FAILED);
    model_builder b;
    const value_id x = b.input("x", dtype::f32, {b.symbol("rows"), dim::fixed(rows_of_weights)});
    const value_id w = b.main().add_value("w");
    b.main().add_initializer(
        w, b.whole().memory.keep(value::tensor(dtype::f32, {rows_of_weights, side}, static_cast<float*>(zeros))));
    b.output(b.node("MatMul", {x, w}));
    const std::unique_ptr<cameo::model> whole = b.take();
    REQUIRE(check_model(*whole, {}));  // infers the types, which an ORT file contains
    const auto written = write_ort(*whole);
    munmap(zeros, bytes);
    REQUIRE_MESSAGE(written, written.error().words());
    save(std::as_bytes(std::span{written->data(), written->size()}));
  }
  ~model_file() { std::filesystem::remove(path_); }
  std::string path() const { return path_.string(); }

  /// The number of cached pages that are more than 1 MB from the file's ends. Loading reads the ends, and the system
  /// reads some pages ahead.
  std::size_t pages_read() const {
    const auto mapped = detail::file_bytes::map(path());
    REQUIRE(mapped);
    const std::span<const std::byte> all = (*mapped)->bytes();
    std::vector<unsigned char> in_memory((all.size() + page - 1) / page);
    REQUIRE(mincore(const_cast<std::byte*>(all.data()), all.size(), in_memory.data()) == 0);
    std::size_t found = 0;
    for (std::size_t i = 256; i + 256 < in_memory.size(); ++i) found += in_memory[i] & 1;
    return found;
  }

 private:
  void save(std::span<const std::byte> bytes) {
    const int file = open(path_.c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0600);
    REQUIRE(file >= 0);
    static constexpr std::byte nothing[page] = {};
    for (std::size_t at = 0; at < bytes.size(); at += page) {
      const std::size_t count = std::min(page, bytes.size() - at);
      if (std::memcmp(bytes.data() + at, nothing, count) != 0)
        REQUIRE(pwrite(file, bytes.data() + at, count, off_t(at)) == ssize_t(count));
    }
    REQUIRE(ftruncate(file, off_t(bytes.size())) == 0);
    close(file);
  }
  std::filesystem::path path_;
};

session_options without_packing() {
  session_options options;
  options.config.emplace_back("session.disable_prepacking", "1");
  return options;
}

}  // namespace

TEST_CASE("loading a mapped .ort reads none of its weights when kernels keep no copies of them") {
  const model_file model;
  REQUIRE(model.pages_read() == 0);
  const auto session = runtime<eps::cpu>{}.load(model.path(), without_packing());
  REQUIRE_MESSAGE(session, session.error().words());
  CHECK(model.pages_read() == 0);
  const auto packed = runtime<eps::cpu>{}.load(model.path(), {});  // a control: packing reads the weights
  REQUIRE(packed);
  CHECK(model.pages_read() > weight_bytes / page / 2);
}

TEST_CASE("without a graph, loading a mapped .ort reads none of its weights") {
  const model_file model;
  const auto file = detail::file_bytes::map(model.path());
  REQUIRE(file);
  std::vector<std::byte> memory(std::size_t{1} << 20);
  auto session = minimal_runtime<eps::cpu_kernels>::load((*file)->bytes(), memory);
  REQUIRE_MESSAGE(session, session.error().words());
  CHECK(session->memory_used() < 256 * 1024);
  CHECK(model.pages_read() == 0);
  const std::vector<float> ones(side, 1);
  const value x = value::tensor<float>({1, side}, ones);
  value y;
  REQUIRE(session->run({&x, 1}, {&y, 1}));
  CHECK(y.as_unchecked<float>()[side - 1] == 0);
  CHECK(model.pages_read() > weight_bytes / page / 2);
}

TEST_CASE(
    "how long loading takes does not depend on the weights") {  // prints the times; a limit would depend on the machine
  for (std::int64_t rows : {std::int64_t{52}, side}) {
    const model_file model{rows};
    const auto file = detail::file_bytes::map(model.path());
    REQUIRE(file);
    std::vector<std::byte> memory(std::size_t{1} << 20);
    const auto best_of_ten = [](auto load) {
      auto best = std::chrono::nanoseconds::max();
      for (int i = 0; i < 10; ++i) {
        const auto start = std::chrono::steady_clock::now();
        const auto session = load();
        best = std::min<std::chrono::nanoseconds>(best, std::chrono::steady_clock::now() - start);
        REQUIRE(session);
      }
      return best.count() / 1000;
    };
    const auto whole = best_of_ten([&] { return runtime<eps::cpu>{}.load(model.path(), without_packing()); });
    const auto minimal = best_of_ten([&] { return minimal_runtime<eps::cpu_kernels>::load((*file)->bytes(), memory); });
    MESSAGE("", rows * side * 4 / 1000000, " MB: ", whole, " us, without a graph ", minimal, " us");
  }
}

}  // namespace cameo::test
