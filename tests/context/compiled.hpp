#pragma once
// Temporary folders, models and runtimes with reference providers, for tests of compiled models.
#include <cameo/file/atomic_file.hpp>
#include <cameo/format/onnx.hpp>
#include <cameo/graph/model.hpp>
#include <cameo/session/compile.hpp>

#include "context/ref_provider.hpp"
#include "session/models.hpp"

#include <unistd.h>
#include <filesystem>
#include <fstream>

#include <algorithm>

namespace cameo::test {

namespace fs = std::filesystem;

/// A temporary folder, which the destructor removes.
class scratch_folder {
 public:
  scratch_folder() {
    static std::atomic<int> number = 0;
    path_ =
        fs::temp_directory_path() / ("cameo_context_" + std::to_string(::getpid()) + "_" + std::to_string(number++));
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

/// x[2,4] -> MatMul -> Relu -> Add; with `island` followed by a Sigmoid that cpu runs, and a second Add.
inline std::unique_ptr<model> plain(bool island = false) {
  model_builder b;
  const value_id x = b.input("x", dtype::f32, {dim::fixed(2), dim::fixed(4)});
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

/// The compiled nodes of a model, sorted by name.
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

/// The attributes of a compiled node, and functions that make and change them.
using attributes = std::vector<attribute>;
inline attribute text_attribute(std::string_view name, std::string_view s) {
  attribute a;
  a.name = name, a.kind = attribute_kind::s, a.s = s;
  return a;
}
inline attribute number_attribute(std::string_view name, std::int64_t i) { return model_builder::integer(name, i); }
inline void set(attributes& all, const attribute& a) {
  std::erase_if(all, [&](const attribute& each) { return each.name == a.name; });
  all.push_back(a);
}
inline void drop(attributes& all, std::string_view name) {
  std::erase_if(all, [&](const attribute& each) { return each.name == name; });
}
/// Writes `to`, which is `from` with every compiled node's attributes passed through `change(attributes&, number)`.
template <class Change>
std::string edited(const std::string& from, const std::string& to, Change&& change) {
  const auto m = read(from);
  std::size_t number = 0;
  for (node_view node : context_nodes(*m)) {
    const auto before = m->main()[node.id()].attributes;
    attributes all(before.begin(), before.end());
    change(all, number++);
    m->main().set_attributes(node.id(), all);
  }
  save(*m, to);
  return to;
}

/// Writes a model with the nodes of both models: the output y of the first is the input x of the second.
inline std::string merged(const std::string& first, const std::string& second, const std::string& to) {
  const auto a = read(first);
  const auto b = read(second);
  graph& g = a->main();
  std::map<std::string, value_id> names;
  const value_id joint = g.outputs()[0];
  graph& h = b->main();
  for (std::size_t i = 0; i < h.value_count(); ++i) {
    const value_id v = value_id(i);
    if (h[v].is_input) names.emplace(h[v].name, joint);
    else
      names.emplace(h[v].name, g.add_value(*a->memory.copy("second/" + std::string{h[v].name}),
                                           h[v].type ? a->keep(*h[v].type) : nullptr));
    if (h[v].constant && !h[v].is_input)
      g.add_initializer(names[std::string{h[v].name}], a->memory.keep(*h[v].constant));
  }
  for (node_view node : graph_view{h}.nodes()) {
    const detail::graph_node& n = h[node.id()];
    std::vector<value_id> ins, outs;
    for (value_view in : node.inputs()) ins.push_back(names.at(std::string{in.name()}));
    for (value_view out : node.outputs()) outs.push_back(names.at(std::string{out.name()}));
    g.add_node({n.name, n.domain, n.op_type, {}, {}, n.opset, ins, outs, n.attributes});
  }
  // The output of the first model stays an output, so that both can be checked.
  g.add_output(names.at(std::string{h[h.outputs()[0]].name}));
  save(*a, to);
  return to;
}

/// x[2,3] -> the operators of plain(), to be merged after plain().
inline std::unique_ptr<model> plain_behind() {
  model_builder b;
  const value_id x = b.input("x", dtype::f32, {dim::fixed(2), dim::fixed(3)});
  const value_id y = b.node("MatMul", {x, b.constant("w", {3, 2}, ramp(6, 0.002f))});
  b.output(b.node("Relu", {b.node("Add", {y, b.constant("b", {2}, ramp(2, 0.03f))})}));
  return b.take();
}

inline session_options keys(std::vector<std::pair<std::string, std::string>> config) {
  session_options options;
  options.config = std::move(config);
  return options;
}

/// A runtime of RefA, RefB and cpu, whose sessions use RefA and cpu unless the options name others.
struct ref_runtime {
  ref_counters a, b;
  runtime<ref_a, ref_b, eps::cpu> loader{ref_a{&a}, ref_b{&b}, eps::cpu{}};

  template <class Model>
  result<session> load(Model&& model, session_options options = {}) {
    if (options.providers.empty()) options.providers = {"RefA", "cpu"};
    return loader.load(std::forward<Model>(model), options);
  }
  result<compile_report> compile(compile_options options) {
    if (options.session.providers.empty()) options.session.providers = {"RefA", "cpu"};
    return loader.compile(std::move(options));
  }
  result<compile_report> compile(std::string input, std::string output = {}) {
    compile_options options;
    options.input = std::move(input);
    if (!output.empty()) options.output = std::move(output);
    return compile(std::move(options));
  }
};

/// Code and words of a status, for messages of failed checks; "OK" for success.
inline std::string verdict(const status& s) { return s ? "OK" : std::string{s.name()} + ": " + std::string{s.words()}; }
template <class T>
std::string verdict(const result<T>& r) {
  return r ? "OK" : std::string{r.error().name()} + ": " + std::string{r.error().words()};
}

}  // namespace cameo::test
