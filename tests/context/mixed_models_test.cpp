// Tests compiled models of several providers, of models with nodes that were compiled before, and with contexts in
// subgraphs.
#include "context/compiled.hpp"

namespace cameo::test {
namespace {

TEST_CASE("contexts of two providers in one model are separate files, and each provider is given only its own") {
  for (const char* embed : {"0", "1"}) {
    CAPTURE(embed);
    const scratch_folder folder;
    ref_runtime ref;
    ref.a.declines = "Relu";
    auto options = keys({{"ep.context_enable", "1"}, {"ep.context_embed_mode", embed}});
    options.providers = {"RefA", "RefB", "cpu"};
    REQUIRE(verdict(ref.load(saved(folder, "m.onnx", true), options)) == "OK");
    if (*embed == '0')
      CHECK(folder.files() == std::vector<std::string>{"m.onnx", "m_RefA.bin", "m_RefB.bin", "m_ctx.onnx"});
    const auto m = read(folder / "m_ctx.onnx");
    std::vector<std::string> sources;
    for (node_view node : context_nodes(*m)) sources.push_back(text_of(node, "source"));
    CHECK(sources == std::vector<std::string>{"RefA", "RefB", "RefA", "RefA"});
    CHECK(m->metadata.size() == 2);
    ref.a.opened = ref.b.opened = 0;
    options = {};
    options.providers = {"RefB", "RefA", "cpu"};
    const auto s = ref.load(folder / "m_ctx.onnx", options);
    REQUIRE(verdict(s) == "OK");
    CHECK(near(outputs_of(*s), expected(true)));
    CHECK(ref.a.opened == 1);
    CHECK(ref.b.opened == 1);
    CHECK(verdict(ref.load(folder / "m_ctx.onnx")).find("NOT_IMPLEMENTED: ") == 0);
  }
}

TEST_CASE("the compile API keeps nodes that another provider compiled, and compiles the rest") {
  for (bool embed : {false, true}) {
    CAPTURE(embed);
    const scratch_folder folder;
    ref_runtime ref;
    compile_options options;
    options.input = saved(folder, "first.onnx");
    options.session.providers = {"RefB", "cpu"};
    options.embed = embed;
    REQUIRE(verdict(ref.compile(std::move(options))) == "OK");
    save(*plain_behind(), folder / "second.onnx");
    merged(folder / "first_ctx.onnx", folder / "second.onnx", folder / "both.onnx");
    options = {};
    options.input = folder / "both.onnx";
    options.embed = embed;
    REQUIRE(verdict(ref.compile(std::move(options))) == "OK");
    const auto before = read(folder / "both.onnx"), after = read(folder / "both_ctx.onnx");
    const auto nodes = context_nodes(*after);
    REQUIRE(nodes.size() == 2);
    for (const char* name : {"ep_cache_context", "source", "partition_name", "ep_sdk_version"})
      CHECK(text_of(nodes[0], name) == text_of(context_nodes(*before).at(0), name));
    CHECK(text_of(nodes[1], "source") == "RefA");
    session_options both;
    both.providers = {"RefA", "RefB", "cpu"};
    const auto s = ref.load(folder / "both_ctx.onnx", both);
    REQUIRE(verdict(s) == "OK");
    const auto out = s->run({{"x", ramp(8, 0.002f)}});
    CHECK(near(floats_of((*out)[0].value), expected()));
    const auto behind = loaded(plain_behind()).run({{"x", expected()}});
    CHECK(near(floats_of((*out)[1].value), floats_of((*behind)[0].value)));
    // A model with nothing left to compile is unchanged.
    options = {};
    options.input = folder / "first_ctx.onnx";
    options.output = folder / "again.onnx";
    REQUIRE(verdict(ref.compile(std::move(options))) == "OK");
    CHECK(context_nodes(*read(folder / "again.onnx")).size() == 1);
    // A session that writes while it loads needs a provider for such nodes.
    fs::remove(folder / "both_ctx.onnx");
    CHECK(verdict(ref.load(folder / "both.onnx", keys({{"ep.context_enable", "1"}}))).find("NOT_IMPLEMENTED: ") == 0);
  }
}

TEST_CASE("a provider does not compile its compiled nodes again") {
  const scratch_folder folder;
  ref_runtime ref;
  REQUIRE(verdict(ref.compile(saved(folder, "m.onnx"))) == "OK");
  const int compiled = ref.a.compiled;
  std::string said = verdict(ref.compile(folder / "m_ctx.onnx"));
  CHECK(said.find("INVALID_GRAPH: ") == 0);
  CHECK(said.find("compiled for RefA already") != said.npos);
  said = verdict(ref.load(folder / "m_ctx.onnx", keys({{"ep.context_enable", "1"}})));
  CHECK(said.find("INVALID_GRAPH: ") == 0);
  CHECK(ref.a.compiled == compiled);
  CHECK(folder.files() == std::vector<std::string>{"m.onnx", "m_RefA.bin", "m_ctx.onnx"});
}

/// x[2,4] -> If on its sum: the operators of plain() with different weights in each branch, some of them captured.
std::unique_ptr<model> branching() {
  model_builder b;
  model& m = b.whole();
  const value_id x = b.input("x", dtype::f32, {dim::fixed(2), dim::fixed(4)});
  const value_id outer_bias = b.constant("outer_bias", {3}, ramp(3, 0.0005f));
  const value_id which = b.input("which", dtype::boolean, {});
  std::vector<graph*> branches;
  for (const char* name : {"then", "else"}) {
    graph& g = m.add_graph(&b.main());
    const std::string prefix = name;
    const auto text = [&](std::string words) { return *m.memory.copy(std::string_view{words}); };
    g.name = text(prefix);
    const value_id in = g.capture_of(x), bias = g.capture_of(outer_bias);
    const std::vector<float> weights = ramp(12, name[0] == 't' ? 0.001f : -0.002f);
    const value_id w = g.add_value(text(prefix + "_w"));
    g.add_initializer(w, m.memory.keep(value::tensor<float>({4, 3}, *m.memory.copy(std::span<const float>{weights}))));
    const auto* const type = m.keep(value_type::tensor(dtype::f32, {dim::fixed(2), dim::fixed(3)}));
    const value_id product = g.add_value(text(prefix + "_p"), type), sum = g.add_value(text(prefix + "_s"), type);
    const value_id positive = g.add_value(text(prefix + "_r"), type);
    g.add_node({text(prefix + "_matmul"),
                "",
                "MatMul",
                {},
                {},
                17,
                std::vector<value_id>{in, w},
                std::vector<value_id>{product},
                {}});
    g.add_node({text(prefix + "_relu"),
                "",
                "Relu",
                {},
                {},
                17,
                std::vector<value_id>{product},
                std::vector<value_id>{positive},
                {}});
    g.add_node({text(prefix + "_add"),
                "",
                "Add",
                {},
                {},
                17,
                std::vector<value_id>{positive, bias},
                std::vector<value_id>{sum},
                {}});
    g.add_output(sum);
    branches.push_back(&g);
  }
  const auto branch = [](std::string_view name, std::int64_t number) {
    attribute a;
    a.name = name, a.kind = attribute_kind::g, a.i = number;
    return a;
  };
  const value_id y = b.main().add_value("y", m.keep(value_type::tensor(dtype::f32, {dim::fixed(2), dim::fixed(3)})));
  node_spec spec;
  const std::vector<value_id> ins{which}, outs{y};
  const std::vector<attribute> attributes{branch("then_branch", 0), branch("else_branch", 1)};
  spec.name = "if", spec.op_type = "If", spec.opset = 17, spec.inputs = ins, spec.outputs = outs;
  spec.attributes = attributes, spec.subgraphs = branches;
  b.main().add_node(spec);
  b.output(y);
  return b.take();
}

TEST_CASE("contexts inside the branches of If are made, written, found and run") {
  for (const char* embed : {"0", "1"}) {
    CAPTURE(embed);
    const scratch_folder folder;
    ref_runtime ref;
    save(*branching(), folder / "m.onnx");
    REQUIRE(verdict(ref.load(folder / "m.onnx",
                             keys({{"ep.context_enable", "1"}, {"ep.context_embed_mode", embed}}))) == "OK");
    const auto m = read(folder / "m_ctx.onnx");
    REQUIRE(m->main().order().size() == 1);
    const detail::graph_node& branch = m->main()[m->main().order()[0]];
    REQUIRE(branch.subgraphs.size() == 2);
    for (const graph* g : branch.subgraphs) {
      CHECK(g->initializers().empty());
      std::size_t compiled = 0;
      for (std::size_t i = 0; i < g->node_capacity(); ++i) compiled += (*g)[node_id(i)].op_type == "EPContext";
      CHECK(compiled == 1);
    }
    ref.a.opened = 0;
    const auto s = ref.load(folder / "m_ctx.onnx");
    REQUIRE(verdict(s) == "OK");
    CHECK(ref.a.opened == 1);
    const auto plainly = loaded(branching());
    const std::vector<float> x = ramp(8, 0.002f);
    for (bool first : {true, false}) {
      const any_value which = any_value::tensor<bool>({}, {first});
      const std::vector<named_input> inputs{{"x", x}, {"which", which}};
      const auto got = s->run(inputs), want = plainly.run(inputs);
      REQUIRE(verdict(got) == "OK");
      CHECK(near(floats_of((*got)[0].value), floats_of((*want)[0].value)));
    }
  }
}

TEST_CASE("a compiled node in the body of a local function is assigned to its provider when the call is inlined") {
  const scratch_folder folder;
  ref_runtime ref;
  REQUIRE(verdict(ref.load(saved(folder, "m.onnx"),
                           keys({{"ep.context_enable", "1"}, {"ep.context_embed_mode", "1"}}))) == "OK");
  const auto made = read(folder / "m_ctx.onnx");
  const node_view inner = context_nodes(*made).at(0);
  auto net = std::make_unique<model>();
  net->ir_version = 8;
  net->imports = {{"", 17}, {"com.microsoft", 1}, {"local", 1}};
  function& f = net->functions.emplace_back();
  f.domain = "local", f.name = "F";
  f.imports = net->imports;
  f.body = std::make_unique<graph>(*net, nullptr);
  const value_id x = f.body->add_value("x"), y = f.body->add_value("y");
  f.body->add_input(x), f.body->add_output(y);
  f.body->add_node(
      {"compiled", inner.domain(), inner.op_type(), {}, {}, 1, std::vector{x}, std::vector{y}, inner.raw().attributes});
  REQUIRE(f.body->sort());
  graph& g = net->main();
  const value_id in = g.add_value("x", net->keep(value_type::tensor(dtype::f32, {dim::fixed(2), dim::fixed(4)})));
  const value_id out = g.add_value("out", net->keep(value_type::tensor(dtype::f32, {dim::fixed(2), dim::fixed(3)})));
  g.add_input(in);
  g.add_node({"call", "local", "F", {}, {}, 1, std::vector{in}, std::vector{out}});
  g.add_output(out);
  session_options options;
  options.providers = {"RefA", "cpu"};
  options.optimize = optimization_level::none;  // at this level, calls are inlined only if no provider takes them
  const auto s = ref.loader.load(std::move(net), options);
  REQUIRE(verdict(s) == "OK");
  CHECK(near(outputs_of(*s), expected()));
}

}  // namespace
}  // namespace cameo::test
