#include "ort_files.hpp"

#include "format/ort_schema.hpp"
#include "format/ort_view.hpp"
#include "session/models.hpp"

#include <map>
#include <set>

using namespace cameo;
using namespace cameo::test;

namespace {

using ort::table_view;
using ort::vector_view;

/// Reads and writes a sample, and returns the new file.
std::string rewritten(std::string_view sample) {
  const std::vector<std::byte> bytes = bytes_of_file(ort_sample(sample));
  const auto m = read_and_check(bytes, sample);
  const auto written = write_ort(*m);
  REQUIRE_MESSAGE(written, sample, ": ", written.error().words());
  return *written;
}

table_view root_of(std::span<const std::byte> bytes) {
  const auto root = ort::verify(bytes);
  REQUIRE_MESSAGE(root, root.error().words());
  return *root;
}
table_view graph_of(const table_view& root) { return root.table(ort::session::model).table(ort::model::graph); }

/// Op id -> type string -> (is an output, index), as in a file's resolver.
using resolver_map = std::map<std::string, std::map<std::string, std::set<std::pair<int, unsigned>>>>;
resolver_map resolver_of(const table_view& root) {
  resolver_map made;
  const vector_view ops =
      root.table(ort::session::kernel_type_str_resolver).vector(ort::resolver::op_kernel_type_str_args);
  std::string_view last_op;
  for (std::size_t i = 0; i < ops.size(); ++i) {
    const std::string_view op = ops.table(i).text(ort::op_entry::op_id);
    CHECK(last_op < op);
    last_op = op;
    const vector_view types = ops.table(i).vector(ort::op_entry::kernel_type_str_args);
    for (std::size_t t = 0; t < types.size(); ++t) {
      auto& to = made[std::string{op}][std::string{types.table(t).text(ort::type_entry::kernel_type_str)}];
      const vector_view args = types.table(t).vector(ort::type_entry::args);
      for (std::size_t a = 0; a < args.size(); ++a)
        to.emplace(args.table(a).number<std::int8_t>(ort::argument::arg_type),
                   args.table(a).number<std::uint32_t>(ort::argument::index));
    }
  }
  return made;
}

/// Adds a description of a graph to `to`: names with types, constants, nodes with attributes. The order does not matter
/// where it has no meaning.
void describe(const model& m, const graph& g, std::set<std::string>& to, const std::string& at) {
  const auto type_text = [&](value_id v) { return g[v].type ? g[v].type->to_string(&m.symbols) : std::string{"?"}; };
  const auto bytes = [](const value& v) {
    if (v.type != dtype::string) return std::string{static_cast<const char*>(v.data), v.bytes()};
    std::string all;
    for (std::string_view each : v.as_unchecked<std::string_view>()) all += std::string{each} + ";";
    return all;
  };
  const auto name = [&](value_id v) { return v == value_id::none ? std::string{} : std::string{g[v].name}; };
  for (value_id v : g.inputs())
    to.insert(at + "input " + name(v) + " " + type_text(v) + g[v].type->denotation + std::string{g[v].unknown});
  for (value_id v : g.outputs()) to.insert(at + "output " + name(v) + " " + type_text(v));
  for (value_id v : g.initializers()) to.insert(at + "constant " + name(v) + type_text(v) + bytes(*g[v].constant));
  for (node_id n : g.order()) {
    const detail::graph_node& node = g[n];
    std::string words = at + std::string{node.name} + " " + std::string{node.op_type} + std::string{node.doc_string};
    for (std::size_t i = 0; i < node.input_count; ++i) words += " " + name(g.input(n, i));
    for (value_id v : node.outputs) words += " -> " + name(v) + (v == value_id::none ? "" : type_text(v));
    to.insert(words);
    for (const attribute& a : node.attributes) {
      std::string text =
          words + " " + std::string{a.name} + std::to_string(a.f) + std::to_string(a.i) + std::string{a.s};
      for (float f : a.floats) text += " " + std::to_string(f);
      for (std::int64_t i : a.ints) text += " " + std::to_string(i);
      for (std::string_view s : a.strings) text += " " + std::string{s};
      for (const value& v : a.tensors) text += " " + bytes(v);
      to.insert(text);
      if (a.kind == attribute_kind::g) describe(m, *node.subgraphs[std::size_t(a.i)], to, text + ": ");
    }
  }
}
std::set<std::string> description(const model& m) {
  std::set<std::string> made{std::string{m.producer_name}, std::string{m.doc_string}, std::string{m.main().doc_string},
                             std::to_string(m.ir_version), std::to_string(m.model_version)};
  for (const auto& [key, value] : m.metadata) made.insert(std::string{key} + "=" + std::string{value});
  for (const opset_import& import : m.imports) made.insert(std::string{import.domain} + std::to_string(import.version));
  describe(m, m.main(), made, "");
  return made;
}

status written(std::unique_ptr<model> m) {
  if (status s = check_model(*m, {}); !s) return s;
  const auto done = write_ort(*m);
  return done ? status{} : status{done.error()};
}

}  // namespace

TEST_CASE("a written sample reads as the original, and writes equal bytes again") {
  const nlohmann::json manifest = json_of_file(ort_folder() + "manifest.json");
  for (const auto& item : manifest.items()) {
    const std::string name = item.key();
    INFO(name);
    const std::vector<std::byte> original = bytes_of_file(ort_sample(name));
    const std::string once = rewritten(name);
    const auto before = read_and_check(original, name), after = read_and_check(bytes_of(once), name);
    CHECK(description(*before).size() > 5);
    // The written file has the defaults of attributes that the original lacked.
    if (name != "loose" && name != "v4_session_state" && name != "unknown_fields" && name != "index_gaps")
      CHECK(description(*before) == description(*after));
    CHECK(before->main().saved_optimizations.size() == after->main().saved_optimizations.size());
    const auto twice = write_ort(*after);
    REQUIRE(twice);
    CHECK(*twice == once);
  }
}

TEST_CASE("the resolver of a written file equals the one that ONNX Runtime wrote, entry by entry") {
  const nlohmann::json manifest = json_of_file(ort_folder() + "manifest.json");
  std::size_t compared = 0;
  for (const auto& item : manifest.items()) {
    const std::string name = item.key();
    const nlohmann::json& want = item.value();
    INFO(name);
    if (want["resolver_op_ids"].is_null()) continue;
    const std::vector<std::byte> original = bytes_of_file(ort_sample(name));
    const std::string made = rewritten(name);
    const resolver_map theirs = resolver_of(root_of(original)), ours = resolver_of(root_of(bytes_of(made)));
    for (const nlohmann::json& id : want["resolver_op_ids"]) {
      INFO(id.dump());
      REQUIRE(ours.contains(id));
      CHECK(ours.at(id) == theirs.at(id));
      ++compared;
    }
  }
  CHECK(compared > 80);
}

TEST_CASE("constants in a written file are aligned to 64 bytes, and equal texts are written once") {
  const std::string made = rewritten("all_types");
  const vector_view constants = graph_of(root_of(bytes_of(made))).vector(ort::graph::initializers);
  REQUIRE(constants.size() == 21);
  for (std::size_t i = 0; i < constants.size(); ++i)
    if (constants.table(i).has(ort::tensor::raw_data))
      CHECK((constants.table(i).vector(ort::tensor::raw_data).bytes().data() - bytes_of(made).data()) % 64 == 0);
  CHECK(made.find("c_long") == made.rfind("c_long"));
}

TEST_CASE("old versions are written as version 6, with a resolver, without kernel hashes and records") {
  const std::string made = rewritten("v4_session_state");
  const table_view root = root_of(bytes_of(made));
  CHECK(root.text(ort::session::ort_version) == "6");
  CHECK(root.has(ort::session::kernel_type_str_resolver));
  CHECK(!root.has(ort::session::session_state));
  CHECK(!graph_of(root).has(ort::graph::runtime_optimizations));
}

TEST_CASE("defaults of attributes, since-versions and counts of arguments are written for builds without schemas") {
  model_builder b;
  const value_id x = b.input("x", dtype::f32, {dim::fixed(3)});
  b.output(b.node("Clip", {b.node("Selu", {x}), value_id::none, b.constant<float>("high", {}, {1.0f})}));
  auto m = b.take();
  REQUIRE(check_model(*m, {}));
  const auto made = write_ort(*m);
  REQUIRE_MESSAGE(made, made.error().words());
  const table_view g = graph_of(root_of(bytes_of(*made)));
  const table_view selu = g.vector(ort::graph::nodes).table(0), clip = g.vector(ort::graph::nodes).table(1);
  CHECK(selu.number<std::int32_t>(ort::node::since_version) == 6);
  REQUIRE(selu.vector(ort::node::attributes).size() == 2);
  CHECK(selu.vector(ort::node::attributes).table(0).text(ort::attribute::name) == "alpha");
  CHECK(selu.vector(ort::node::attributes).table(0).number<float>(ort::attribute::f) == doctest::Approx(1.67326));
  CHECK(clip.vector(ort::node::inputs).text(1) == "");
  REQUIRE(clip.vector(ort::node::input_arg_counts).size() == 3);
  for (std::size_t i = 0; i < 3; ++i) CHECK(clip.vector(ort::node::input_arg_counts).number<std::int32_t>(i) == 1);
  const table_view edges = g.vector(ort::graph::node_edges).table(1);
  REQUIRE(edges.vector(ort::node_edges::input_edges).size() == 1);
  CHECK(edges.vector(ort::node_edges::input_edges).number<std::uint32_t>(0, ort::edge_end_bytes) == 0);
}

TEST_CASE("a model with a saved optimization keeps it while its nodes are unchanged, and no longer") {
  const std::vector<std::byte> bytes = bytes_of_file(ort_sample("qdq_runtime_opt"));
  auto m = read_and_check(bytes);
  const auto whole = write_ort(*m);
  REQUIRE(whole);
  CHECK(read_and_check(bytes_of(*whole))->main().saved_optimizations.size() == 2);
  graph& g = m->main();
  const node_id last = g.order().back();
  const value_id before = g.input(last, 0);
  g.remove_node(last);
  g.set_outputs(std::vector<value_id>{before});
  REQUIRE(check_model(*m, {}));
  const auto changed = write_ort(*m);
  REQUIRE(changed);
  CHECK(read_and_check(bytes_of(*changed))->main().saved_optimizations.empty());
}

TEST_CASE("a model that the format can't hold is refused, and the message names the reason") {
  const auto refused = [](std::unique_ptr<model> m, const char* words) {
    const status done = written(std::move(m));
    CHECK(done.code() == status_code::invalid_argument);
    CHECK_MESSAGE(done.words().find(words) != std::string_view::npos, done.words());
  };
  {
    model_builder b;
    const value_type optional = value_type::optional(value_type::tensor(dtype::f32));
    const value_id x = b.main().add_value("maybe", b.whole().keep(optional));
    b.main().add_input(x);
    b.output(b.node("OptionalHasElement", {x}));
    refused(b.take(), "'maybe'");
  }
  const std::string_view cut{"a\0b", 3};
  {
    model_builder b;
    b.output(b.node("Neg", {b.input(cut, dtype::f32, {dim::fixed(3)})}));
    refused(b.take(), "zero byte");
  }
  {
    model_builder b;
    b.output(b.node("Neg", {b.input("x", dtype::f32, {dim::fixed(3)})}));
    b.main()[node_id{0}].name = cut;
    refused(b.take(), "the name of node 'a' has a zero byte");
  }
  {
    model_builder b;
    b.output(b.node("Neg", {b.input("x", dtype::f32, {b.symbol(cut)})}));
    refused(b.take(), "the symbol 'a' has a zero byte");
  }
  {
    model_builder b;
    b.whole().imports.push_back({cut, 1});
    b.output(b.node("Neg", {b.input("x", dtype::f32, {dim::fixed(3)})}));
    refused(b.take(), "the domain 'a' has a zero byte");
  }
  {
    model_builder b{10};
    b.output(b.node("Clip", {b.input("x", dtype::f32, {dim::fixed(3)})}, {}, "", 13));
    refused(b.take(), "opset");
  }
  model_builder unchecked;
  unchecked.output(unchecked.node("Neg", {unchecked.input("x", dtype::f32, {dim::fixed(3)})}));
  const auto m = unchecked.take();
  REQUIRE(m->main().sort());
  CHECK(write_ort(*m).error().code() == status_code::fail);
}

TEST_CASE("subgraphs nested deeper than a file allows are refused, 18 levels are not") {
  const auto nested = [](int levels) {
    model_builder b;
    const value_id c = b.input("c", dtype::boolean, {}), x = b.input("x", dtype::f32, {dim::fixed(2)});
    model& m = b.whole();
    graph* at = &m.main();
    value_id condition = c;
    std::vector<graph*> graphs{at};
    for (int i = 0; i < levels; ++i) graphs.push_back(&m.add_graph(graphs.back()));
    // The bodies are made from the inside out: a node's captures are those of its bodies when it is added.
    value_id inner = value_id::none;
    for (int i = levels; i >= 0; --i) {
      graph& g = *graphs[std::size_t(i)];
      condition = i == 0 ? c : g.resolve("c");
      const value_id source = i == 0 ? x : g.resolve("x");
      const value_id out = g.add_value("y" + std::to_string(i));
      if (inner == value_id::none) {
        g.add_node({"leaf", "", "Neg", {}, {}, 17, std::vector<value_id>{source}, std::vector<value_id>{out}});
      } else {
        attribute then_branch, else_branch;
        then_branch.name = "then_branch", then_branch.kind = attribute_kind::g, then_branch.i = 0;
        else_branch.name = "else_branch", else_branch.kind = attribute_kind::g, else_branch.i = 1;
        graph& other = m.add_graph(&g);
        const value_id z = other.add_value("z" + std::to_string(i));
        other.add_node(
            {"other", "", "Neg", {}, {}, 17, std::vector<value_id>{other.resolve("x")}, std::vector<value_id>{z}});
        other.add_output(z);
        g.add_node({"if",
                    "",
                    "If",
                    {},
                    {},
                    17,
                    std::vector<value_id>{condition},
                    std::vector<value_id>{out},
                    std::vector<attribute>{then_branch, else_branch},
                    std::vector<graph*>{graphs[std::size_t(i) + 1], &other}});
      }
      g.add_output(out);
      inner = out;
    }
    return b.take();
  };
  const status deep = written(nested(18));
  CHECK_MESSAGE(deep, deep.words());
  const status too_deep = written(nested(19));
  CHECK(too_deep.code() == status_code::invalid_argument);
  CHECK(too_deep.words().find("deep") != std::string_view::npos);
}
