// Tests weightless contexts: constants stay initializers of the compiled model, and are inputs of the compiled node.
#include "context/compiled.hpp"

#include <deque>

namespace cameo::test {
namespace {

/// RefA with constants that stay in the model. `wrong` makes it leave a value there that is not allowed.
struct ref_light : ref_a {
  static constexpr std::string_view name = "RefLight", long_name = "RefLight";
  static constexpr context_source sources[] = {{"RefLight"}};
  static inline std::deque<std::vector<value_id>> left_;
  enum class leaves { constants, twice, input, nowhere } wrong = leaves::constants;

  result<context_part> store_weightless(ref_context& context, const fused_view& group,
                                        const compiled_node& program) const {
    ref_program light = *static_cast<const ref_program*>(program.state.get());
    for (ref_program::tensor& each : light.constants) each.elements.clear(), each.dims = {0};
    context[std::string{group.name}] = light;
    context_part part;
    const graph& body = group.body.raw();
    std::vector<value_id>& left = left_.emplace_back(body.initializers().begin(), body.initializers().end());
    if (wrong == leaves::twice) left.push_back(left.front());
    if (wrong == leaves::input) left.push_back(body.inputs()[0]);
    if (wrong == leaves::nowhere) left.push_back(value_id(1000));
    part.constants = left;
    return part;
  }
  result<compiled_node> restore(const context_binary& binary, const context_node& from) const {
    const auto context = open(binary);
    if (!context) return status{context.error()};
    const auto found = (*context)->find(std::string{from.graph_name});
    if (found == (*context)->end()) return status_code::not_found;
    ref_program made = found->second;
    for (std::size_t i = 0; i < made.constants.size(); ++i) {
      if (!made.constants[i].elements.empty()) continue;
      const std::size_t at = made.inputs + i;
      const value* const c = at < from.node.input_count() && from.node.input(at)
                                 ? from.node.in().constant_of(from.node.input(at).id())
                                 : nullptr;
      if (!c || c->type != dtype::f32) return status{status_code::fail, "a constant is missing"};
      made.constants[i].dims.assign(c->shape.begin(), c->shape.end());
      const auto elements = c->as_unchecked<float>();
      made.constants[i].elements.assign(elements.begin(), elements.end());
    }
    return compiled(made);
  }
};
static_assert(weightless_store<ref_light> && !weightless_store<ref_a>);

using light_runtime = runtime<ref_light, eps::cpu>;

compile_options weightless(const std::string& from, const std::string& to, const char* key = "ep.enable_weightless") {
  compile_options options;
  options.input = from, options.output = to;
  options.session.config = {{key, "1"}};
  return options;
}

std::vector<std::string> input_names(const node_view& node) {
  std::vector<std::string> names;
  for (value_view v : node.inputs()) names.emplace_back(v.name());
  return names;
}

TEST_CASE("constants of compiled groups stay initializers, and become inputs after the group's inputs") {
  for (const char* key : {"ep.enable_weightless", "ep.enable_weightless_ep_context_nodes"}) {
    const scratch_folder folder;
    REQUIRE(verdict(light_runtime{}.compile(weightless(saved(folder, "m.onnx", true), folder / "m_ctx.onnx", key))) ==
            "OK");
    const auto m = read(folder / "m_ctx.onnx");
    const auto nodes = context_nodes(*m);
    REQUIRE(nodes.size() == 2);
    CHECK(input_names(nodes[0]) == std::vector<std::string>{"x", "w", "b"});
    CHECK(input_names(nodes[1]).back() == "c");
    CHECK(m->main().initializers().size() == 3);
    const auto restored = light_runtime{}.load(folder / "m_ctx.onnx");
    REQUIRE(verdict(restored) == "OK");
    CHECK(near(outputs_of(*restored), expected(true)));
  }
}

TEST_CASE("rewrites of nodes outside contexts do not remove constants of compiled ones") {
  for (const auto level : {optimization_level::none, optimization_level::basic, optimization_level::extended,
                           optimization_level::layout, optimization_level::all}) {
    CAPTURE(int(level));
    const scratch_folder folder;
    compile_options options = weightless(saved(folder, "m.onnx", true), folder / "m_ctx.onnx");
    options.optimize = level;
    REQUIRE(verdict(light_runtime{}.compile(std::move(options))) == "OK");
    CHECK(read(folder / "m_ctx.onnx")->main().initializers().size() == 3);
    const auto restored = light_runtime{}.load(folder / "m_ctx.onnx");
    REQUIRE(verdict(restored) == "OK");
    CHECK(near(outputs_of(*restored), expected(true)));
  }
}

TEST_CASE("without the key, or with another value, contexts hold the constants") {
  const scratch_folder folder;
  compile_options options = weightless(saved(folder, "m.onnx"), folder / "m_ctx.onnx");
  options.session.config[0].second = "0";
  REQUIRE(verdict(light_runtime{}.compile(std::move(options))) == "OK");
  const auto m = read(folder / "m_ctx.onnx");
  CHECK(m->main().initializers().empty());
  CHECK(input_names(context_nodes(*m)[0]) == std::vector<std::string>{"x"});
  CHECK(near(outputs_of(*light_runtime{}.load(folder / "m_ctx.onnx")), expected()));
}

TEST_CASE("the session that writes a weightless model runs, and the model's constants may lie in a file") {
  const scratch_folder folder;
  session_options how;
  how.config = {{"ep.enable_weightless", "1"},
                {"ep.context_enable", "1"},
                {"ep.context_file_path", folder / "out_ctx.onnx"},
                {"ep.context_model_external_initializers_file_name", "weights.bin"}};
  const auto made = light_runtime{}.load(saved(folder, "m.onnx"), how);
  REQUIRE(verdict(made) == "OK");
  CHECK(near(outputs_of(*made), expected()));
  CHECK(fs::file_size(folder / "weights.bin") >= 15 * sizeof(float));
  CHECK(near(outputs_of(*light_runtime{}.load(folder / "out_ctx.onnx")), expected()));
}

TEST_CASE("a provider that always stores constants in its contexts is an error that names it, before compilation") {
  const scratch_folder folder;
  ref_counters counters;
  const runtime<ref_a, eps::cpu> with{ref_a{&counters}, eps::cpu{}};
  const auto refused = with.compile(weightless(saved(folder, "m.onnx"), folder / "m_ctx.onnx"));
  CHECK(verdict(refused).find("NOT_IMPLEMENTED") == 0);
  CHECK(verdict(refused).find("RefA") != std::string::npos);
  CHECK(counters.compiled == 0);
  CHECK(!folder.has("m_ctx.onnx"));
}

TEST_CASE("a value that a provider leaves outside must be a constant of its group, listed once") {
  for (const auto wrong : {ref_light::leaves::twice, ref_light::leaves::input, ref_light::leaves::nowhere}) {
    const scratch_folder folder;
    ref_light provider;
    provider.wrong = wrong;
    const runtime<ref_light, eps::cpu> with{provider, eps::cpu{}};
    const auto refused = with.compile(weightless(saved(folder, "m.onnx"), folder / "m_ctx.onnx"));
    CHECK(verdict(refused).find("EP_FAIL") == 0);
    CHECK(!folder.has("m_ctx.onnx"));
  }
}

}  // namespace
}  // namespace cameo::test
