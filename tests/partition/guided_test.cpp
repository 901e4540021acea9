// Nodes that are assigned to kinds of devices, and the report of assignments.
#include <cameo/partition/placement.hpp>

#include "partition/reference_providers.hpp"

#include <cameo/format/onnx.hpp>
#include <cameo/partition/partition.hpp>

#include <cstring>

namespace cameo::test {
namespace {

using eps::cpu;

session_options keyed(std::string key, std::string text) {
  session_options options;
  options.config.emplace_back(std::move(key), std::move(text));
  return options;
}
session_options by_layer(std::string text) { return keyed("session.layer_assignment_settings", std::move(text)); }
session_options by_name(std::string text) { return keyed("session.name_based_layer_assignment", std::move(text)); }
session_options recording(session_options options = {}) {
  options.config.emplace_back("session.record_ep_graph_assignment_info", "1");
  return options;
}

struct second_gpu : taker {
  static constexpr std::string_view name = "gpu2", long_name = "SecondGpu";
  result<std::vector<provider_device>> devices() const { return one_device(device_kind::gpu); }
};
struct both : taker {
  static constexpr std::string_view name = "both", long_name = "Both";
  result<std::vector<provider_device>> devices() const {
    return std::vector{one_device(device_kind::cpu)[0], one_device(device_kind::gpu)[0]};
  }
};

/// chain() with annotations of its nodes.
std::unique_ptr<model> said(std::initializer_list<std::pair<std::string_view, std::string_view>> by_node) {
  auto m = chain();
  for (const auto& [node, text] : by_node) annotate(m->main(), node, text);
  return m;
}

/// "OnGpu[matmul] A[relu, add]"
std::string in_words(const std::vector<ep_assignment>& all) {
  std::string words;
  for (const ep_assignment& each : all) {
    words += (words.empty() ? "" : " ") + each.provider + "[";
    for (const ep_assignment::node& n : each.nodes) words += (&n == each.nodes.data() ? "" : ", ") + n.name;
    words += "]";
  }
  return words;
}
template <class Runtime>
std::string reported(const Runtime& r, std::unique_ptr<model> m, const session_options& options = {}) {
  const auto s = load(r, std::move(m), recording(options));
  const auto all = s->assignments();
  REQUIRE(all);
  return in_words(*all);
}

/// A provider as partition() gets it, with devices of these kinds.
template <class P>
claim_row row_of(const P& p, std::initializer_list<device_kind> kinds = {}) {
  const provider_row& row = detail::provider_row_of<P>;
  claim_row made{row.name, row.long_name, &p, row.layout, row.groups, row.why_not, row.contexts.sources, {}};
  for (device_kind kind : kinds) made.kinds.add(kind);
  return made;
}
placement_rules layer_rules(std::vector<placement_rule> rules) {
  return {std::move(rules), false, "session.layer_assignment_settings"};
}
/// Calls partition() alone. Returns the report, or the error.
std::string partitioned(model& m, std::span<const claim_row> rows, const placement_rules* rules) {
  op_table ops;
  REQUIRE(check_model(m, ops));
  const auto body = [](model&, const detail::graph_node& n) -> result<const function*> { return n.callee; };
  const auto never = [] { return false; };
  std::vector<ep_assignment> report;
  partition_options how{body, never};
  how.rules = rules, how.assignments = &report;
  const auto done = partition(m, rows, ops, how);
  return done ? in_words(report) : std::string{done.error().words()};
}

constexpr std::string_view layer_form = "; entries are `device(pattern, =pattern)`, with `;` between them";
constexpr std::string_view name_form = "; entries are `device(pattern, pattern)`, with `;` between them";
std::string refused(const session_options& options) { return failure(runtime<cpu>{}, chain(), options); }
std::string layer_error(const std::string& text) {
  const std::string words = refused(by_layer(text)), start = "INVALID_ARGUMENT: session.layer_assignment_settings, ";
  CHECK(words.rfind(start, 0) == 0);
  const std::size_t end = words.find(layer_form);
  REQUIRE_MESSAGE(end != words.npos, words);
  return words.substr(start.size(), end - start.size());
}

TEST_CASE("20: gpu(enc) withholds enc nodes from a provider on the CPU, and they are free when the GPU's declines") {
  const auto model = [] { return said({{"matmul", "enc0"}, {"relu", "enc0"}, {"add", "dec"}}); };
  CHECK(placed(load(runtime{a_on_cpu{}, on_gpu{{"MatMul"}}, cpu{}}, model())) == "A_chain_0:a add:cpu");
  // The GPU's provider takes one of A's nodes: A's group is gone, and A is not called a second time.
  CHECK(placed(load(runtime{a_on_cpu{}, on_gpu{{"MatMul"}}, cpu{}}, model(), by_layer("gpu(enc)"))) ==
        "matmul:on_gpu relu:cpu add:cpu");
  // The GPU's provider declines: later providers may have the nodes.
  CHECK(placed(load(runtime{a_on_cpu{}, on_gpu{}, on_npu{{"Relu"}}, cpu{}}, model(), by_layer("gpu(enc)"))) ==
        "matmul:cpu relu:on_npu add:cpu");
  CHECK(placed(load(runtime{on_gpu{}, a_on_cpu{}, cpu{}}, model(), by_layer("gpu(enc)"))) == "A_chain_0:a add:cpu");
}

TEST_CASE("20: a rule for a kind of device that no provider has withholds no nodes") {
  const auto model = [] { return said({{"matmul", "enc"}, {"relu", "enc"}}); };
  CHECK(placed(load(runtime{a_on_cpu{}, cpu{}}, model(), by_layer("npu(enc)"))) == "A_chain_0:a add:cpu");
  // Providers that list no devices are like those without one of the kind.
  CHECK(placed(load(runtime{provider_a{}, provider_b{}, on_npu{{"Relu"}}, cpu{}}, model(), by_layer("npu(enc)"))) ==
        "matmul:cpu relu:on_npu add:b");
}

TEST_CASE("20: nodes wait for the last provider with such a device, and no longer") {
  const auto model = [] { return said({{"matmul", "enc"}, {"relu", "enc"}, {"add", "enc"}}); };
  const runtime r{on_gpu{{"MatMul"}}, on_npu{{"Relu", "Add"}}, second_gpu{{{"Relu"}}}, cpu{}};
  CHECK(placed(load(r, model(), by_layer("gpu(enc)"))) == "matmul:on_gpu relu:gpu2 add:cpu");
  CHECK(placed(load(r, model())) == "matmul:on_gpu relu:on_npu add:on_npu");
}

TEST_CASE("20: an error in the text is reported with its position, before the model is read") {
  CHECK(layer_error("gpu enc)") == "from character 1, 'gpu enc)': '(' is missing");
  CHECK(layer_error("gpu") == "from character 1, 'gpu': '(' is missing");
  CHECK(layer_error("gpu(enc") == "from character 1, 'gpu(enc': ')' is missing at the end of the entry");
  CHECK(layer_error("gpu(enc; npu(dec)") == "from character 1, 'gpu(enc': ')' is missing at the end of the entry");
  CHECK(layer_error("cpu(io); npu(dec") == "from character 10, 'npu(dec': ')' is missing at the end of the entry");
  CHECK(layer_error("gpu(enc) dec") == "from character 1, 'gpu(enc) dec': ')' is missing at the end of the entry");
  CHECK(layer_error("cpu(io);  (enc)") == "from character 11, '(enc)': a device is missing in front of '('");
  CHECK(layer_error("tpu(enc)") == "from character 1, 'tpu': there is no such device; devices are cpu, gpu and npu");
  CHECK(layer_error("gpu(enc) npu(dec)") ==
        "from character 8, ') npu(dec': a parenthesis within a list; between two entries is a ';'");
  CHECK(layer_error("gpu(enc, dec , enc)") ==
        "from character 16, 'enc': the entry has this pattern already; write it once");
  CHECK(layer_error("gpu(=enc, = enc)") ==
        "from character 11, '= enc': the entry has this pattern already; write it once");
  CHECK(layer_error("gpu(enc, =)") == "from character 10, '=': a text is missing behind '='");
  CHECK(refused(by_name("gpu(enc, =dec)")) ==
        "INVALID_ARGUMENT: session.name_based_layer_assignment, from character 10, '=dec': patterns are looked for in "
        "names, there is no '=' here" +
            std::string{name_form});
  session_options both = by_layer("gpu(enc)");
  both.config.push_back(by_name("gpu(enc)").config[0]);
  CHECK(refused(both) ==
        "INVALID_ARGUMENT: session.layer_assignment_settings and session.name_based_layer_assignment are both set; "
        "nodes are given to devices by one of them");
  const auto unread = runtime<cpu>{}.load("/nowhere.onnx", by_layer("gpu"));
  REQUIRE(!unread);
  CHECK(unread.error().code() == status_code::invalid_argument);
}

TEST_CASE("20: empty lists, blanks, words in capitals, and one pattern in two entries are fine") {
  for (const char* text : {"gpu()", "gpu( )", " GPU ( enc , =dec ) ; Npu()", "gpu(enc);", ";", "gpu(enc); npu(enc)",
                           "gpu(enc, =enc)", "gpu(enc,,)"})
    CHECK(refused(by_layer(text)) == "loaded");
  session_options one_empty = by_layer("gpu(enc)");
  one_empty.config.push_back(by_name("").config[0]);
  CHECK(refused(one_empty) == "loaded");
}

TEST_CASE("layer_ann matches by its start, or exactly with =; rules of the first kind first, then from left to right") {
  const auto all = [](std::string_view text, const char* rules) {
    const auto s = load(runtime{on_gpu{{"MatMul"}}, on_npu{{"MatMul"}}, on_cpu{{"MatMul"}}, cpu{}},
                        said({{"matmul", text}}), by_layer(rules));
    return s->placements()[0].provider;
  };
  CHECK(all("enc.1", "npu(enc)") == "on_npu");
  CHECK(all("enc.1", "npu(=enc)") == "on_gpu");
  CHECK(all("enc", "npu(=enc)") == "on_npu");
  CHECK(all("my enc", "npu(enc)") == "on_gpu");
  CHECK(all("Enc", "npu(enc)") == "on_gpu");
  CHECK(all("enc", "npu(=enc); cpu(e)") == "on_cpu");           // a prefix of the first kind precedes an exact pattern
                                                                // of a later kind
  CHECK(all("enc", "npu(=enc, x); cpu(y, =enc)") == "on_npu");  // the first of two exact patterns
  CHECK(all("enc.1", "npu(e); cpu(enc.1)") == "on_npu");        // the first of two prefixes, not the longer
  CHECK(all("enc.1", "cpu(dec, enc); npu(enc)") == "on_cpu");
  CHECK(all("", "npu(e)") == "on_gpu");
}

TEST_CASE("a part of a node's name matches; the longest pattern first, then from left to right") {
  const auto all = [](const char* rules) {
    const auto s = load(runtime{on_gpu{{"MatMul"}}, on_npu{{"MatMul"}}, on_cpu{{"MatMul"}}, cpu{}},
                        said({{"matmul", "enc"}}), by_name(rules));
    return s->placements()[0].provider;
  };
  CHECK(all("npu(atm)") == "on_npu");
  CHECK(all("npu(enc)") == "on_gpu");  // the name counts, not the annotation
  CHECK(all("npu(mat); cpu(matmul)") == "on_cpu");
  CHECK(all("cpu(tmul); npu(matm)") == "on_cpu");
  CHECK(all("npu(matm, m); cpu(mat)") == "on_npu");
}

TEST_CASE("nodes of a nested graph have the annotation of the node that contains it, unless they have their own") {
  const auto annotated = [](bool inner) {
    auto m = branches();
    annotate(m->main(), "choice", "enc");
    graph& yes = *m->main()[named(m->main(), "choice")].subgraphs[0];
    if (inner) annotate(yes, "m1", "elsewhere");
    return m;
  };
  const runtime r{on_cpu{{"MatMul", "Relu"}}, on_gpu{{"MatMul"}}, cpu{}};
  CHECK(placed(load(r, branches(), by_layer("gpu(enc)"))) ==
        "m0:on_cpu r0:on_cpu choice:cpu m1:on_cpu r1:on_cpu m2:on_cpu r2:on_cpu sum:cpu");
  CHECK(placed(load(r, annotated(false), by_layer("gpu(enc)"))) ==
        "m0:on_cpu r0:on_cpu choice:cpu m1:on_gpu r1:cpu m2:on_gpu r2:cpu sum:cpu");
  CHECK(placed(load(r, annotated(true), by_layer("gpu(enc)"))) ==
        "m0:on_cpu r0:on_cpu choice:cpu m1:on_cpu r1:cpu m2:on_gpu r2:cpu sum:cpu");
  CHECK(placed(load(r, branches(), by_name("gpu(choice); cpu(r1)"))) ==
        "m0:on_cpu r0:on_cpu choice:cpu m1:on_gpu r1:on_cpu m2:on_gpu r2:cpu sum:cpu");
}

TEST_CASE("a call is withheld as a whole, and nodes of its body have its annotation") {
  const auto annotated = [](bool inner) {
    auto m = calls_function();
    annotate(m->main(), "call", "enc");
    if (inner) annotate(*m->functions[0].body, "positive", "elsewhere");
    return m;
  };
  const runtime r{on_cpu{{"Dense", "MatMul", "Relu", "Add"}}, on_gpu{{"MatMul", "Relu"}}, cpu{}};
  for (const char* ahead : {"0", "1"}) {
    CAPTURE(ahead);
    session_options options = by_layer("gpu(enc)");
    options.config.emplace_back("session.disable_aot_function_inlining", ahead);
    CHECK(placed(load(r, calls_function(), options)) == "call:on_cpu");
    CHECK(placed(load(r, annotated(false), options)) == "call/xw:on_gpu call/positive:on_gpu call/fy:cpu");
    CHECK(placed(load(r, annotated(true), options)) == "call/xw:on_gpu call/positive:on_cpu call/fy:cpu");
  }
  // A provider that follows the GPU's provider in the list may claim the call.
  CHECK(placed(load(runtime{on_gpu{{"MatMul"}}, on_cpu{{"Dense"}}, cpu{}}, annotated(false), by_layer("gpu(enc)"))) ==
        "call:on_cpu");
}

TEST_CASE("a group with a node that is withheld from its provider is skipped, and an error if it insists") {
  const auto model = [] { return said({{"relu", "enc"}}); };
  const runtime r{a_on_cpu{}, on_gpu{}, cpu{}};
  CHECK(placed(load(r, model(), by_layer("gpu(enc)"))) == "matmul:cpu relu:cpu add:cpu");
  a_on_cpu insistent;
  insistent.insists = true;
  CHECK(failure(runtime{insistent, on_gpu{}, cpu{}}, model(), by_layer("gpu(enc)")) ==
        "FAIL: A: claims node 'relu' (Relu), but is not offered it: session.layer_assignment_settings assigns the node "
        "to gpu");
}

TEST_CASE("reasons name the providers that were not offered a node, in errors and in placements") {
  const auto partial_one = runtime<partial<on_cpu, on_gpu>>{on_cpu{{"Add", "MatMul", "Relu"}}, on_gpu{{"MatMul"}}};
  CHECK(failure(partial_one, said({{"relu", "enc"}}), by_layer("gpu(enc)")) ==
        "NOT_IMPLEMENTED: node 'relu' (Relu, opset 17): on_cpu is not offered it: session.layer_assignment_settings "
        "assigns "
        "the node to gpu; on_gpu declines it");
  const auto s = load(runtime{on_cpu{{"Relu"}}, on_gpu{}, cpu{}}, chain(), by_name("gpu(relu)"));
  const auto all = s->placements(true);
  REQUIRE(all.size() == 3);
  CHECK(all[1].refusals ==
        std::vector<std::string>{"on_cpu is not offered it: session.name_based_layer_assignment assigns "
                                 "the node to gpu",
                                 "on_gpu declines it"});
  CHECK(all[0].refusals == std::vector<std::string>{"on_cpu declines it", "on_gpu declines it"});
}

TEST_CASE("layer_ann of a file counts") {
  const auto bytes = write_onnx(*said({{"matmul", "enc.0"}, {"add", "dec"}}));
  REQUIRE(bytes);
  std::vector<std::byte> file(bytes->size());
  std::memcpy(file.data(), bytes->data(), file.size());
  const runtime r{on_cpu{{"MatMul", "Relu", "Add"}}, on_gpu{{"MatMul", "Add"}}, cpu{}};
  const auto s = r.load(file, by_layer("gpu(enc, =de)"));
  REQUIRE(s);
  CHECK(placed(s) == "matmul:on_gpu relu:on_cpu add:on_cpu");
}

TEST_CASE("devices that a session's options leave out don't count") {
  const runtime r{on_npu{{"MatMul"}}, both{{{"MatMul"}}}, cpu{}};
  session_options options = by_layer("gpu(enc)");
  CHECK(placed(load(r, said({{"matmul", "enc"}}), options)) == "matmul:both relu:cpu add:cpu");
  options.providers = {"on_npu"};
  for (const ep_device& d : r.devices())
    if (d.provider == "both" && d.kind() == device_kind::cpu) REQUIRE(options.append({&d, 1}));
  REQUIRE(options.devices.size() == 1);
  CHECK(placed(load(r, said({{"matmul", "enc"}}), options)) == "matmul:on_npu relu:cpu add:cpu");
}

TEST_CASE("partition() alone: rules and kinds from its caller, and no node stays withheld") {
  const taker first{{"MatMul", "Relu", "Add"}};
  const on_gpu second{{"MatMul"}};
  const claim_row rows[] = {row_of(first), row_of(second, {device_kind::gpu}), row_of(cpu{}, {device_kind::cpu})};
  const placement_rules rules = layer_rules({{"enc", device_kind::gpu}});
  auto m = said({{"matmul", "enc"}, {"relu", "enc"}});
  CHECK(partitioned(*m, rows, &rules) == "TakerExecutionProvider[add] OnGpu[matmul] CPUExecutionProvider[relu]");
  CHECK(partitioned(*chain(), rows, nullptr) ==
        "TakerExecutionProvider[matmul] TakerExecutionProvider[relu] TakerExecutionProvider[add]");
  auto unclaimed = said({{"matmul", "enc"}, {"relu", "enc"}});
  CHECK(partitioned(*unclaimed, std::span{rows}.first(2), &rules).rfind("node 'relu'", 0) == 0);
  for (node_id n : unclaimed->main().order()) CHECK(unclaimed->main()[n].provider < 2);
}

TEST_CASE("a call that only its withheld provider takes is inlined before level basic") {
  provider_a greedy;  // also takes nodes that are withheld
  greedy.choose = [](const graph_view& g) {
    groups_result all;
    for (node_view n : g.nodes()) all.push_back({{n.id()}, "all"});
    return all;
  };
  const on_gpu second{{"MatMul"}};
  const claim_row rows[] = {row_of(greedy, {device_kind::cpu}), row_of(second, {device_kind::gpu})};
  const placement_rules rules = layer_rules({{"enc", device_kind::gpu}});
  const auto nodes_with = [&](const placement_rules* used) {
    auto m = calls_function();
    annotate(m->main(), "call", "enc");
    op_table ops;
    REQUIRE(check_model(*m, ops));
    const auto body = [](model&, const detail::graph_node& n) -> result<const function*> { return n.callee; };
    const auto never = [] { return false; };
    partition_options how{body, never};
    how.rules = used;
    REQUIRE(inline_functions(*m, rows, ops, how));
    return m->main().order().size();
  };
  CHECK(nodes_with(nullptr) == 1);
  CHECK(nodes_with(&rules) == 3);
}

TEST_CASE("compiled nodes are assigned to the provider that compiled them, despite rules") {
  static constexpr context_source sources[] = {{"mine"}};
  auto m = make_model();
  m->imports.push_back({"com.microsoft", 1});
  graph& g = m->main();
  float_input(g, "x");
  attribute source{"source", attribute_kind::s}, main{"main_context", attribute_kind::i};
  source.s = "mine", main.i = 1;
  g[add(g, "EPContext", {"x"}, {"y"}, {source, main}, {}, "com.microsoft", 1)].name = "context";
  g[g.find("y")].type = g[g.find("x")].type;
  onnx(g, "Relu", {"y"}, "relu");
  output(g, "relu");
  annotate(g, "context", "enc");
  const taker owner{};
  const on_gpu second{{"Relu", "EPContext"}};
  claim_row rows[] = {row_of(owner), row_of(second, {device_kind::gpu})};
  rows[0].sources = sources;
  const placement_rules rules = layer_rules({{"enc", device_kind::gpu}});
  CHECK(partitioned(*m, rows, &rules) == "TakerExecutionProvider[context] OnGpu[relu]");
}

TEST_CASE("21: assignments are only available if they are recorded") {
  const auto s = load(runtime{provider_a{}, cpu{}}, chain());
  const auto all = s->assignments();
  REQUIRE(!all);
  CHECK(all.error().code() == status_code::fail);
  CHECK(all.error().words() ==
        "which provider took which nodes was not recorded; load the session with "
        "session.record_ep_graph_assignment_info=1");
}

TEST_CASE("21: assignments come in the order of providers, with the names of nodes before they were fused") {
  CHECK(reported(runtime{provider_a{}, provider_b{}, cpu{}}, chain()) == "A[matmul, relu] B[add]");
  CHECK(reported(runtime{provider_b{}, provider_a{}, cpu{}}, chain()) == "B[relu] B[add] CPUExecutionProvider[matmul]");
  CHECK(reported(runtime{provider_a{}, cpu{}}, branches()) ==
        "A[m1, r1] A[m2, r2] A[m0, r0] CPUExecutionProvider[choice] CPUExecutionProvider[sum]");
  const auto s = load(runtime{provider_a{}, cpu{}}, chain(), recording());
  const std::vector<ep_assignment> expected{{"A", {{"matmul", "", "MatMul"}, {"relu", "", "Relu"}}},
                                            {"CPUExecutionProvider", {{"add", "", "Add"}}}};
  CHECK(*s->assignments() == expected);
}

TEST_CASE("21: nodes that level basic removes, and nodes that never run, are in no assignment") {
  const auto with_more = [] {
    auto m = chain();
    graph& g = m->main();
    add(g, "Constant", {}, {"c"}, {number("value_float", 0.5f)}, {}, "", 17);
    onnx(g, "Identity", {"y"}, "same");
    onnx(g, "Add", {"same", "c"}, "more");
    output(g, "more");
    return m;
  };
  const runtime r{provider_b{}, cpu{}};
  CHECK(reported(r, with_more()) == "B[relu] B[add] B[more] CPUExecutionProvider[matmul]");
  session_options as_written;
  as_written.optimize = optimization_level::none;
  CHECK(reported(r, with_more(), as_written) ==
        "B[relu] B[add] B[more] CPUExecutionProvider[matmul] CPUExecutionProvider[same]");
}

}  // namespace
}  // namespace cameo::test
