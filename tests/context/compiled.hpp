#pragma once
// A folder for a test, a model in it, and runtimes with reference providers.
#include <cameo/format/onnx.hpp>
#include <cameo/file/atomic_file.hpp>

#include "context/ref_provider.hpp"
#include "session/models.hpp"

#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace cameo::test {

namespace fs = std::filesystem;

/// An empty folder, gone with the test.
class scratch_folder {
 public:
  scratch_folder() {
    static std::atomic<int> number = 0;
    path_ = fs::temp_directory_path() / ("cameo_context_" + std::to_string(::getpid()) + "_" + std::to_string(number++));
    fs::create_directories(path_);
  }
  scratch_folder(const scratch_folder&) = delete;
  scratch_folder& operator=(const scratch_folder&) = delete;
  ~scratch_folder() { fs::remove_all(path_); }
  std::string operator/(std::string_view name) const { return (path_ / name).string(); }
  bool has(std::string_view name) const { return fs::exists(path_ / name); }
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::recursive_directory_iterator{path_})
      if (!entry.is_directory()) names.push_back(fs::relative(entry.path(), path_).string());
    std::sort(names.begin(), names.end());
    return names;
  }

 private:
  fs::path path_;
};

inline std::string slurp(const std::string& path) {
  std::ifstream file{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{file}, {}};
}
inline void spill(const std::string& path, std::string_view bytes) {
  std::ofstream{path, std::ios::binary}.write(bytes.data(), std::streamsize(bytes.size()));
}

/// x[2,4] -> MatMul -> Relu -> Add; with an island, a Sigmoid of cpu's and a second Add behind it.
inline std::unique_ptr<model> plain(bool island = false) {
  model_builder b;
  const value_id x = b.input("x", dtype::f32, {dim::of(2), dim::of(4)});
  const value_id w = b.constant("w", {4, 3}, ramp(12, 0.001f));
  const value_id bias = b.constant("b", {3}, ramp(3, 0.0005f));
  value_id y = b.node("Add", {b.node("Relu", {b.node("MatMul", {x, w})}), bias});
  if (island) y = b.node("Add", {b.node("Sigmoid", {y}), b.constant("c", {3}, ramp(3, 0.0002f))});
  b.output(y);
  return b.take();
}
inline void save(const model& m, const std::string& path) {
  const status done = write_onnx(m, path);
  REQUIRE_MESSAGE(done, std::string{done.words()});
}
inline std::string saved(const scratch_folder& folder, std::string_view name, bool island = false) {
  const std::string path = folder / name;
  save(*plain(island), path);
  return path;
}

/// Compiled nodes of a model file, by name.
inline std::vector<node_view> context_nodes(const model& m) {
  std::vector<node_view> found;
  for (node_view node : graph_view{m.main()}.nodes())
    if (node.op_type() == "EPContext") found.push_back(node);
  return found;
}
inline std::unique_ptr<model> read(const std::string& path) {
  result<std::unique_ptr<model>> m = read_onnx(path);
  REQUIRE_MESSAGE(m, std::string{m.error().words()});
  REQUIRE((*m)->main().sort());
  return std::move(*m);
}
inline std::string text_of(const node_view& node, std::string_view attribute_name) {
  const attribute* const found = node.find(attribute_name);
  return found ? std::string{found->s} : "(none)";
}
inline std::int64_t number_of(const node_view& node, std::string_view attribute_name) {
  const attribute* const found = node.find(attribute_name);
  return found ? found->i : -1;
}

inline std::vector<float> outputs_of(const session& s) {
  const auto out = s.run({{"x", ramp(8, 0.002f)}});
  REQUIRE_MESSAGE(out, std::string{out.error().words()});
  return floats_of((*out)[0].value);
}
inline std::vector<float> expected(bool island = false) { return outputs_of(loaded(plain(island))); }
inline bool near(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(), [](float p, float q) { return std::abs(p - q) <= 1e-6f; });
}

inline session_options keys(std::vector<std::pair<std::string, std::string>> config) {
  session_options options;
  options.config = std::move(config);
  return options;
}

/// Code and words, for messages of failed checks; "OK" when it is fine.
template <class T>
std::string verdict(const result<T>& r) {
  return r ? "OK" : std::string{r.error().name()} + ": " + std::string{r.error().words()};
}

}  // namespace cameo::test
