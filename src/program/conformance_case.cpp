#include <cameo/graph/model.hpp>
#include <cameo/os/heap_arena.hpp>

#include "file/messages.hpp"
#include "program/conformance_case.hpp"

#include "build/runtime.hpp"
#include "program/compare.hpp"
#include "program/tensor_files.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

namespace cameo::program {
namespace {

namespace fs = std::filesystem;

bool is_model(const fs::path& path) { return path.extension() == ".onnx" || path.extension() == ".ort"; }
bool is_data_set(const std::string& name) { return name.starts_with("test_data_set_"); }

struct folder_content {
  std::vector<std::string> models, data_sets, folders;  // names, sorted
};
result<folder_content> list(const std::string& folder) {
  folder_content found;
  std::error_code error;
  for (fs::directory_iterator at{folder, error}, end; !error && at != end; at.increment(error)) {
    std::error_code of_entry;
    const std::string name = at->path().filename().string();
    if (at->is_directory(of_entry)) (is_data_set(name) ? found.data_sets : found.folders).push_back(name);
    else if (is_model(at->path())) found.models.push_back(name);
  }
  if (error) {
    const bool missing = error == std::errc::no_such_file_or_directory;
    return status{missing ? status_code::no_suchfile : status_code::fail, folder + ": " + error.message()};
  }
  for (auto* names : {&found.models, &found.data_sets, &found.folders}) std::sort(names->begin(), names->end());
  return found;
}

bool has(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Adds the test cases in `folder` and below it. `above` has the real paths of the folders above: a link to one of them
/// is not followed, so that the search ends.
void find_below(const std::string& folder, const std::string& name, std::vector<fs::path>& above,
                std::vector<test_case>& cases) {
  const result<folder_content> content = list(folder);
  if (!content) return;  // folders that cannot be read are skipped
  std::error_code error;
  const fs::path real = fs::canonical(folder, error);
  if (error || std::find(above.begin(), above.end(), real) != above.end()) return;
  if (!content->data_sets.empty() || has(content->models, "model.onnx") || has(content->models, "model.ort"))
    cases.push_back({name.empty() ? real.filename().string() : name, folder});
  above.push_back(real);
  for (const std::string& each : content->folders)
    find_below(folder + "/" + each, name.empty() ? each : name + "/" + each, above, cases);
  above.pop_back();
}

struct case_settings {
  tolerance allowed;
  std::string model;
};

result<case_settings> read_settings(const std::string& folder) {
  case_settings made;
  std::ifstream file{folder + "/tolerance.json"};
  if (!file) return made;
  const auto json = nlohmann::json::parse(file, nullptr, false);
  const status wrong{status_code::invalid_argument,
                     "tolerance.json: needs an object {\"rtol\": number, \"atol\": number, \"model\": \"file name\"}"};
  if (!json.is_object()) return wrong;
  for (const auto& [key, value] : json.items()) {
    if (key == "model" ? !value.is_string() : (key == "rtol" || key == "atol") && !value.is_number()) return wrong;
    if (key == "rtol" || key == "atol") made.allowed.of_integers = true;
    if (key == "rtol") made.allowed.rtol = value.get<double>();
    if (key == "atol") made.allowed.atol = value.get<double>();
    if (key == "model") made.model = value.get<std::string>();
  }
  return made;
}

result<std::string> model_of(const folder_content& content, const std::string& named) {
  if (!named.empty()) {
    if (has(content.models, named)) return named;
    return status{status_code::no_suchfile, "tolerance.json names the model '" + named + "', which is not there"};
  }
  for (const char* usual : {"model.onnx", "model.ort"})
    if (has(content.models, usual)) return std::string{usual};
  if (content.models.size() == 1) return content.models.front();
  if (content.models.empty()) return status{status_code::no_suchfile, "no .onnx or .ort file"};
  return failed(status_code::invalid_argument, "{} models: {}; tolerance.json must name one", content.models.size(),
                fmt::join(content.models, ", "));
}

bool has_word(std::string_view text, std::string_view word) {
  const auto letter = [&](std::size_t i) {
    return i < text.size() && (std::isalnum(static_cast<unsigned char>(text[i])) || text[i] == '_');
  };
  for (std::size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1))
    if (!letter(at - 1) && !letter(at + word.size())) return true;
  return false;
}

/// The operator to report with a failure: the one that the error message names, else the one that computes the output
/// `output`, or the first output. Operators are those of the file, before optimization. Empty if there is none.
std::string op_to_blame(const std::string& model_path, std::string_view words, std::string_view output) {
  const result<std::unique_ptr<model>> read =
      ort_format::recognizes({}, model_path) ? read_ort(model_path) : read_onnx(model_path);
  if (!read) return "";
  const graph& g = (*read)->main();
  std::string named;
  for (std::size_t n = 0; n < g.node_capacity(); ++n) {
    const detail::graph_node& node = g[node_id(n)];
    if (has_word(words, node.op_type) && node.op_type.size() > named.size()) named = node.op_type;
  }
  if (!named.empty() && output.empty()) return named;
  const value_id made = output.empty() && !g.outputs().empty() ? g.outputs()[0] : g.find(output);
  if (made == value_id::none || g[made].producer == node_id::none) return "";
  return std::string{g[g[made].producer].op_type};
}

case_result failed(const std::string& model_path, const status& error) {
  return {case_status::fail, op_to_blame(model_path, error.words(), {}),
          fmt::format("{}: {}", error.name(), error.words()), 0};
}

/// Runs the session on the inputs of a data set. Inputs without a file are left out.
result<named_values> run_set(const session& loaded, const std::vector<read_value>& given) {
  std::vector<named_input> inputs;
  for (const read_value& each : given) inputs.emplace_back(loaded.inputs()[each.io].name, each.content);
  return loaded.run(inputs);
}

bool has_random_node(const graph& g);

/// True for a node whose output is random. Pointwise operators such as Dropout are random only in training, which does
/// not happen here.
bool is_random(const detail::graph_node& node) {
  if (node.op && detail::has_role(node.op->roles, role::is_random) &&
      !detail::has_role(node.op->roles, role::is_pointwise))
    return true;
  return std::ranges::any_of(node.subgraphs, [](const graph* inner) { return has_random_node(*inner); });
}
bool has_random_node(const graph& g) {
  for (std::size_t n = 0; n < g.node_capacity(); ++n)
    if (is_random(g[node_id(n)])) return true;
  return false;
}

/// True if the graph's output of this name depends on a random node.
bool depends_on_random_numbers(const graph& g, std::string_view output) {
  std::vector<value_id> open{g.find(output)};
  std::vector<bool> seen(g.node_capacity());
  while (!open.empty()) {
    const value_id v = open.back();
    open.pop_back();
    const node_id made = v == value_id::none ? node_id::none : g[v].producer;
    if (made == node_id::none || seen[std::size_t(made)]) continue;
    seen[std::size_t(made)] = true;
    if (is_random(g[made])) return true;
    for (std::size_t i = 0; i < g[made].input_count; ++i) open.push_back(g.input(made, i));
    for (std::size_t i = 0; i < g[made].capture_count; ++i) open.push_back(g.capture(made, i));
  }
  return false;
}

case_result run_data_set(const session& loaded, const std::string& model_path, const std::string& folder,
                         const tolerance& allowed) {
  detail::heap_arena memory;
  result<std::vector<read_value>> inputs = read_data_set(folder, "input_", loaded.inputs(), memory);
  if (!inputs) return failed(model_path, inputs.error());
  result<std::vector<read_value>> expected = read_data_set(folder, "output_", loaded.outputs(), memory);
  if (!expected) return failed(model_path, expected.error());
  const result<named_values> got = run_set(loaded, *inputs);
  if (!got) return failed(model_path, got.error());
  case_result all;
  all.hash = first_hash;
  for (const named_value& each : *got) all.hash = hash_of(each.value, all.hash);
  if (expected->empty()) all.status = case_status::skip, all.reason = "no output_*.pb to compare with";
  for (const read_value& want : *expected) {
    const std::string& name = loaded.outputs()[want.io].name;
    const any_value* const value = got->find(name);
    comparison one = value ? compare(*value, want.content, allowed) : comparison{"no such output"};
    if (!one && value && depends_on_random_numbers(loaded.graph().main(), name))
      one = compare_samples(*value, want.content);
    all.largest_error = std::max(all.largest_error, one.largest_error);
    if (one || all.status == case_status::fail) continue;
    all.status = case_status::fail;
    all.op = op_to_blame(model_path, {}, name);
    all.reason = fmt::format("output '{}': {}", name, one.difference);
  }
  return all;
}

}  // namespace

result<std::vector<test_case>> find_cases(const std::string& folder) {
  std::string path = folder;
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  if (const result<folder_content> content = list(path); !content) return content.error();
  std::vector<test_case> cases;
  std::vector<fs::path> above;
  find_below(path, "", above, cases);
  std::sort(cases.begin(), cases.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return cases;
}

case_result run_case(const test_case& which, const session_options& options) {
  const result<folder_content> content = list(which.folder);
  if (!content) return failed({}, content.error());
  const result<case_settings> settings = read_settings(which.folder);
  if (!settings) return failed({}, settings.error());
  const result<std::string> file = model_of(*content, settings->model);
  if (!file) return failed({}, file.error());
  if (content->data_sets.empty()) return {case_status::skip, {}, "no test_data_set_* folder", 0};
  const std::string path = which.folder + "/" + *file;
  const result<session> loaded = build::runtime{}.load(path, options);
  if (!loaded) return failed(path, loaded.error());
  case_result all;
  for (const std::string& set : content->data_sets) {
    case_result one = run_data_set(*loaded, path, which.folder + "/" + set, settings->allowed);
    all.hash = all.hash * 31 + one.hash;
    all.largest_error = std::max(all.largest_error, one.largest_error);
    if (one.status == case_status::pass || all.status == case_status::fail) continue;
    all.status = one.status;
    all.op = one.op;
    all.reason = content->data_sets.size() > 1 ? set + ": " + one.reason : one.reason;
  }
  return all;
}

}  // namespace cameo::program
