#include "ort_files.hpp"

#include <cameo/eps/cpu.hpp>
#include <cameo/os/heap_arena.hpp>
#include <cameo/session/runtime.hpp>

#include <algorithm>
#include <deque>
#include <filesystem>
#include <map>

using namespace cameo;
using namespace cameo::test;

namespace {

using json = nlohmann::json;

/// Counts "domain:op:since" of every node, subgraphs included, and measures how deep subgraphs are nested.
void count_ops(const graph& g, std::map<std::string, int>& ops, int depth, int& deepest) {
  deepest = std::max(deepest, depth);
  for (node_id n : g.order()) {
    const detail::graph_node& node = g[n];
    ++ops[std::string{node.domain} + ":" + std::string{node.op_type} + ":" + std::to_string(node.version->since)];
    for (const graph* body : node.subgraphs) count_ops(*body, ops, depth + 1, deepest);
  }
}

json names(const graph& g, std::span<const value_id> values) {
  json made = json::array();
  for (value_id v : values) made.push_back(g[v].name);
  return made;
}

void collect_records(const graph& g, json& records) {
  for (const detail::saved_optimization& each : g.saved_optimizations)
    records.push_back(std::string{each.optimizer} + "/" + std::string{each.action});
  for (node_id n : g.order())
    for (const graph* body : g[n].subgraphs) collect_records(*body, records);
}

/// Collects the constants of all graphs; several graphs may use one name.
void collect_constants(const graph& g, std::multimap<std::string, const value*>& constants) {
  for (value_id v : g.initializers()) constants.emplace(g[v].name, g[v].constant);
  for (node_id n : g.order())
    for (const graph* body : g[n].subgraphs) collect_constants(*body, constants);
}

const value& initializer(const model& m, std::string_view name) {
  const value_id v = m.main().find(name);
  REQUIRE_MESSAGE(v != value_id::none, name);
  REQUIRE_MESSAGE(m.main()[v].constant, name);
  return *m.main()[v].constant;
}

/// Runs a file on one data set of a sample. Returns how many outputs were compared with those of the set.
std::size_t compare_data_set(std::span<const std::byte> file, const std::string& set, double rtol, double atol) {
  const auto session = runtime<eps::cpu>{}.load(file);
  REQUIRE_MESSAGE(session, session.error().words());
  detail::heap_arena memory;
  std::deque<std::string> names;
  std::vector<named_input> inputs;
  for (std::size_t i = 0; std::filesystem::exists(set + "input_" + std::to_string(i) + ".pb"); ++i) {
    const std::vector<std::byte> bytes = bytes_of_file(set + "input_" + std::to_string(i) + ".pb");
    std::string& name = names.emplace_back();
    const pb_kind kind = i < session->inputs().size() ? pb_kind_of(session->inputs()[i].type.kind) : pb_kind::tensor;
    const result<value> read = read_pb(bytes, kind, memory, &name);
    REQUIRE(read);
    if (name.empty()) name = session->inputs()[i].name;
    inputs.emplace_back(name, *read);
  }
  const auto made = session->run(inputs);
  REQUIRE_MESSAGE(made, made.error().words());
  for (std::size_t i = 0; i < made->items.size(); ++i) {
    const std::vector<std::byte> bytes = bytes_of_file(set + "output_" + std::to_string(i) + ".pb");
    const result<value> want = read_pb(bytes, pb_kind_of(session->outputs()[i].type.kind), memory);
    REQUIRE(want);
    CHECK_MESSAGE(same(made->items[i].value.view(), *want, rtol, atol), set, " output ", i);
  }
  return made->items.size();
}

}  // namespace

TEST_CASE("every sample has the contents of its manifest: operators, initializers, inputs, outputs, records") {
  const json manifest = json_of_file(ort_folder() + "manifest.json");
  CHECK(manifest.size() == 43);
  for (const auto& item : manifest.items()) {
    const std::string name = item.key();
    const nlohmann::json& want = item.value();
    INFO(name);
    auto read = read_ort(ort_sample(name));
    REQUIRE_MESSAGE(read, read.error().words());
    model& m = **read;
    const status checked = check_model(m, {});
    REQUIRE_MESSAGE(checked, checked.words());
    const graph& g = m.main();
    CHECK(m.ir_version == want["ir_version"].get<std::int64_t>());
    if (!want["opset"].is_null()) CHECK(m.opset("") == want["opset"].get<std::int64_t>());
    CHECK(names(g, g.inputs()) == want["inputs"]);
    CHECK(names(g, g.outputs()) == want["outputs"]);
    std::map<std::string, int> ops;
    int deepest = 0;
    count_ops(g, ops, 0, deepest);
    CHECK(json(ops) == want["nodes"]);
    CHECK(deepest == want["subgraph_depth"].get<int>());
    json records = json::array();
    collect_records(g, records);
    CHECK(records == (want["ort_version"] == "4" ? json::array() : want["runtime_optimizations"]));
    std::multimap<std::string, const value*> constants;
    collect_constants(g, constants);
    CHECK(constants.size() == want["initializers"].size() + want["sparse_initializers"].size());
    for (const json& each : want["initializers"]) {
      const auto [first, last] = constants.equal_range(each["name"].get<std::string>());
      const auto dims = each["dims"].get<std::vector<std::int64_t>>();
      const bool found = std::any_of(first, last, [&](const auto& named) {
        const value& v = *named.second;
        return int(v.type) == each["type"].get<int>() && std::ranges::equal(v.shape.dims(), dims) &&
               (each["bytes"].is_null() || v.bytes() == each["bytes"].get<std::size_t>());
      });
      CHECK_MESSAGE(found, each.dump());
    }
  }
}

TEST_CASE("metadata, doc strings, denotations, symbols and overridable initializers are read from a file") {
  auto read = read_ort(ort_sample("metadata"));
  REQUIRE(read);
  const model& m = **read;
  const graph& g = m.main();
  CHECK(m.model_version == 42);
  CHECK(!m.producer_name.empty());
  CHECK(!m.doc_string.empty());
  CHECK(!g.doc_string.empty());
  CHECK(m.metadata.size() == 3);
  const value_id x = g.find("x"), w = g.find("W");
  CHECK(g[x].type->denotation == "TENSOR");
  REQUIRE(g[x].type->shape);
  CHECK(m.symbols[(*g[x].type->shape)[0].symbol] == "batch");
  const std::vector<std::string> dims = onnx_format::dim_denotations(g[x].unknown);
  REQUIRE(dims.size() >= 1);
  CHECK(dims[0] == "DATA_BATCH");
  CHECK(g[w].is_input);
  CHECK(g[w].constant);
  CHECK(!g[x].constant);
}

TEST_CASE("every element type comes back bit for bit, with a scalar, an empty tensor and strings among them") {
  auto read = read_ort(ort_sample("all_types"));
  REQUIRE(read);
  const model& m = **read;
  CHECK(initializer(m, "c_scalar").shape.rank() == 0);
  CHECK(initializer(m, "c_empty").shape == extents{0, 3});
  const auto strings = initializer(m, "c_string").as_unchecked<std::string_view>();
  REQUIRE(strings.count() == 3);
  CHECK(strings[0] == "one");
  CHECK(strings[1] == "");
  CHECK(strings[2] ==
        "\xc3\xbc"
        "ber");
}

TEST_CASE("sparse constants become dense, with any kind of indices; elements not listed are zero") {
  auto read = read_ort(ort_sample("sparse"));
  REQUIRE(read);
  for (value_id v : (*read)->main().initializers()) CHECK((*read)->main()[v].constant->kind == value_kind::tensor);
  const value& far = initializer(**read, "far");
  std::int64_t others = 0;
  for (float each : far.as_unchecked<float>()) others += each != 0;
  CHECK(others == 2);
}

TEST_CASE("a huge max_node_index takes no memory for that many nodes") {
  std::vector<std::byte> bytes = bytes_of_file(ort_sample("index_gaps"));
  const std::uint32_t nine = 9, huge = 0xFFFFFFFF;
  std::size_t changed = 0;
  for (std::size_t at = 0; at + 4 <= bytes.size(); at += 4)
    if (std::memcmp(bytes.data() + at, &nine, 4) == 0) {
      std::vector<std::byte> other = bytes;
      std::memcpy(other.data() + at, &huge, 4);
      if (auto read = read_ort(other, "huge")) {
        CHECK((*read)->main().node_capacity() == 2);
        ++changed;
      }
    }
  CHECK(changed >= 1);
}

TEST_CASE("saved optimizations are listed with their nodes; an absent node is none") {
  auto read = read_ort(ort_sample("qdq_runtime_opt_no_bias"));
  REQUIRE(read);
  const graph& g = (*read)->main();
  REQUIRE(g.saved_optimizations.size() == 2);
  const detail::saved_optimization& conv = g.saved_optimizations[0];
  CHECK(conv.optimizer == "QDQSelectorActionTransformer");
  CHECK(conv.action == "Conv");
  REQUIRE(conv.nodes.size() == 5);
  CHECK(conv.nodes[2] == node_id::none);
  CHECK(g[conv.nodes[3]].op_type == "Conv");
  REQUIRE(conv.produces.size() == 1);
  CHECK(conv.produces[0] == ":QLinearConv:10");
}

TEST_CASE("versions 1 to 6 are read; records of old ones are left out with a warning; others are refused by number") {
  auto old = read_ort(ort_sample("v4_session_state"));
  REQUIRE(old);
  REQUIRE((*old)->warnings.size() == 1);
  CHECK((*old)->warnings[0].find("version 4") != std::string::npos);
  // The resolver is required only from version 5 on.
  const std::vector<std::byte> bare = bytes_of_file(ort_folder() + "malformed/resolver_missing.ort");
  const auto without = read_ort(with_version(bare, '4'), "m"), with = read_ort(bare, "m");
  REQUIRE(without);
  CHECK((*without)->warnings.empty());
  REQUIRE(with);
  CHECK((*with)->warnings.size() == 1);
  const std::vector<std::byte> bytes = bytes_of_file(ort_sample("add"));
  for (char digit : {'1', '2', '3', '4', '5', '6'}) CHECK(read_ort(with_version(bytes, digit), "m"));
  for (char digit : {'0', '7', '9', 'x', ' ', '-'}) {
    const auto read = read_ort(with_version(bytes, digit), "m");
    REQUIRE(!read);
    CHECK(read.error().code() == status_code::fail);
    CHECK(read.error().words().find(digit) != std::string_view::npos);
  }
}

TEST_CASE("constants from 128 bytes on stay in the caller's bytes, at any address of them; smaller ones don't") {
  const std::vector<std::byte> file = bytes_of_file(ort_sample("all_types"));
  for (std::size_t gap : {0, 1, 2, 4, 7}) {
    std::vector<std::byte> bytes(file.size() + 16);
    std::memcpy(bytes.data() + gap, file.data(), file.size());
    const std::span<const std::byte> view{bytes.data() + gap, file.size()};
    const auto inside = [&](const value& v) {
      const auto* const at = static_cast<const std::byte*>(v.data);
      return at >= view.data() && at < view.data() + view.size();
    };
    session_options keys;  // ONNX Runtime does so when these keys are set; cameo ignores them
    keys.config = {{"session.use_ort_model_bytes_directly", "1"},
                   {"session.use_ort_model_bytes_for_initializers", "1"}};
    for (const session_options& options : {session_options{}, keys}) {
      auto session = runtime<eps::cpu>{}.load(view, options);
      REQUIRE_MESSAGE(session, session.error().words());
      CHECK(inside(initializer(session->graph(), "c_long")));
      CHECK(!inside(initializer(session->graph(), "c_scalar")));
    }
  }
}

TEST_CASE("every sample gives the expected outputs from any address, even with weights that stay in the file") {
  std::size_t compared = 0;
  const json manifest = json_of_file(ort_folder() + "manifest.json");
  for (const auto& item : manifest.items()) {
    const std::string folder = ort_folder() + item.key(), set = folder + "/test_data_set_0/";
    const std::vector<std::byte> file = bytes_of_file(folder + "/model.ort");
    const json tolerance = json_of_file(folder + "/tolerance.json");
    for (std::size_t gap : {0, 1, 3, 4, 7}) {
      INFO(item.key(), " at ", gap);
      std::vector<std::byte> bytes(file.size() + 128);
      std::byte* const at = bytes.data() + (64 - reinterpret_cast<std::uintptr_t>(bytes.data()) % 64) + gap;
      std::memcpy(at, file.data(), file.size());
      compared += compare_data_set({at, file.size()}, set, tolerance["rtol"], tolerance["atol"]);
    }
  }
  CHECK(compared >= 5 * 43);
}

TEST_CASE("bytes after the end of a good file are ignored") {
  std::vector<std::byte> bytes = bytes_of_file(ort_sample("nested_if"));
  bytes.resize(bytes.size() + 64, std::byte{0xA5});
  read_and_check(bytes);
}

TEST_CASE("the format is recognized by a file's name, by the identifier in bytes, and by session.load_model_format") {
  const std::vector<std::byte> bytes = bytes_of_file(ort_sample("add"));
  const auto load = [](const auto& from, const char* format) {
    session_options options;
    if (*format) options.config.emplace_back("session.load_model_format", format);
    const auto loaded = runtime<eps::cpu>{}.load(from, options);
    return loaded ? status_code::ok : loaded.error().code();
  };
  const std::string misnamed = std::string{build_dir} + "/ort_misnamed.onnx",
                    upper = std::string{build_dir} + "/UP.OrT";
  for (const std::string& path : {misnamed, upper}) {
    std::ofstream file{path, std::ios::binary};
    file.write(reinterpret_cast<const char*>(bytes.data()), std::streamsize(bytes.size()));
  }
  CHECK(load(bytes, "") == status_code::ok);
  CHECK(load(bytes, "ORT") == status_code::ok);
  CHECK(load(bytes, "ONNX") == status_code::invalid_protobuf);
  CHECK(load(bytes, "ort") == status_code::invalid_protobuf);
  CHECK(load(misnamed, "") == status_code::invalid_protobuf);
  CHECK(load(misnamed, "ort") == status_code::invalid_protobuf);
  CHECK(load(misnamed, "ORT") == status_code::ok);
  CHECK(load(upper, "") == status_code::ok);
  CHECK(load(upper, "ONNX") == status_code::invalid_protobuf);
  CHECK(load(std::string{source_dir} + "/examples/digits/digits.onnx", "ORT") == status_code::fail);
}
