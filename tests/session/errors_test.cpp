// Tests docs/errors.md: for every row of its table of causes, a case here causes the error and checks its code.
#include <cameo/graph/model.hpp>
#include <cameo/op/onnx.hpp>
#include <cameo/session/profile.hpp>
#include <cameo/test_paths.hpp>
#include "session/context_causes.hpp"
#include "session/inputs.hpp"
#include "session/models.hpp"
#include "session/package_causes.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <stdexcept>
#include <stop_token>

using namespace cameo;
using namespace cameo::test;

namespace {

/// A temporary folder, which the destructor removes.
struct scratch_folder {
  std::filesystem::path path;
  scratch_folder() {
    std::string name = (std::filesystem::temp_directory_path() / "cameo_errors_XXXXXX").string();
    REQUIRE(mkdtemp(name.data()));
    path = name;
  }
  ~scratch_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  std::string operator/(const char* name) const { return (path / name).string(); }
};

/// A model y = op(x) of three floats.
std::unique_ptr<model> one_node(const char* op, std::string_view domain = "", std::int64_t opset = 0) {
  model_builder b;
  if (!domain.empty()) b.whole().imports.push_back({domain, 1});
  b.output(b.node(op, {b.input("x", dtype::f32, {dim::fixed(3)})}, {}, domain, opset));
  return b.take();
}
/// A model y = -tanh(-x): a chain whose first and last node do not form a convex group.
std::unique_ptr<model> chain() {
  model_builder b;
  b.output(b.node("Neg", {b.node("Tanh", {b.node("Neg", {b.input("x", dtype::f32, {dim::fixed(3)})})})}));
  return b.take();
}

template <class Loaded>
status status_of(const Loaded& loaded) {
  return loaded ? status{} : loaded.error();
}
template <class Runtime = cpu_runtime>
status load(std::unique_ptr<model> m, const session_options& options = {}, const Runtime& runtime = {}) {
  return status_of(runtime.load(std::move(m), options));
}
status run(std::unique_ptr<model> m, std::initializer_list<named_input> inputs, const session_options& options = {},
           const run_settings& settings = {}) {
  const result<session> s = cpu_runtime{}.load(std::move(m), options);
  return s ? status_of(s->run(inputs, settings)) : status{s.error()};
}

/// A provider that claims groups by `choose` and compiles them by `make`.
struct grouping {
  static constexpr std::string_view name = "grouping", long_name = "GroupingExecutionProvider";
  std::function<std::vector<node_group>(const graph_view&)> choose;
  std::function<std::vector<compiled_node>(std::size_t)> make = [](std::size_t n) {
    return std::vector<compiled_node>(n, compiled(nothing{}));
  };
  struct nothing {
    status run(run_context&) const { return {}; }
  };
  result<std::vector<node_group>> groups(const graph_view& g) const { return choose(g); }
  result<std::vector<compiled_node>> compile(std::span<const fused_view> fused) const { return make(fused.size()); }
};
status load_grouped(grouping g, const session_options& options = {}) {
  return load(chain(), options, runtime<grouping, eps::cpu>{std::move(g), {}});
}
std::vector<node_group> all_in_one(const graph_view& g) {
  node_group all{{}, "all"};
  for (node_view n : g.nodes()) all.nodes.push_back(n.id());
  return {all};
}

/// A provider whose Neg returns a code, or throws.
struct returning {
  static constexpr std::string_view name = "returning", long_name = "ReturningExecutionProvider";
  status_code code = status_code::ok;
  bool throws = false;
  bool claims(const node_view& n) const { return n.op_type() == "Neg"; }
  status execute(const step_view&, run_context&) const {
    if (throws) throw std::runtime_error{"the device is lost"};
    return code;
  }
};
status run_returning(returning how) {
  const result<session> s = runtime<returning, eps::cpu>{how, {}}.load(one_node("Neg"));
  return s ? status_of(s->run({{"x", three}})) : status{s.error()};
}

/// Sets where the kernel below throws.
struct throwing_where {
  bool bind = false, run = false;
};
throwing_where throws_at;
template <class T>
struct throwing {
  static result<throwing> bind(bind_context&) {
    if (throws_at.bind) throw std::runtime_error{"the kernel is lost"};
    return throwing{};
  }
  status run(run_context&) const {
    if (throws_at.run) throw std::runtime_error{"the kernel is lost"};
    return {};
  }
};
struct throwing_provider {
  static constexpr std::string_view name = "throwing", long_name = "ThrowingExecutionProvider";
  using kernels = kernel_list<kernel_entry<op::Neg, since<1>, constrain<"T", float>, throwing>>;
};
status run_throwing(throwing_where how) {
  throws_at = how;
  const result<session> s = runtime<throwing_provider, eps::cpu>{}.load(one_node("Neg"));
  return s ? status_of(s->run({{"x", three}})) : status{s.error()};
}

/// A provider that runs Identity in separate memory.
struct heap_device {
  static constexpr std::string_view name = "device", long_name = "DeviceExecutionProvider";
  bool claims(const node_view& n) const { return n.op_type() == "Identity"; }
  status execute(const step_view&, run_context& c) const { return c.forward(0, c.input(0)); }
  void* allocate(std::size_t bytes, std::size_t) const noexcept { return std::malloc(bytes); }
  void release(void* memory, std::size_t) const noexcept { std::free(memory); }
  status copy_from_host(void* to, const void* from, std::size_t bytes) const {
    return std::memcpy(to, from, bytes), status{};
  }
  status copy_to_host(void* to, const void* from, std::size_t bytes) const {
    return std::memcpy(to, from, bytes), status{};
  }
};

/// A model that runs until it is stopped.
std::unique_ptr<model> endless() {
  model_builder b;
  graph& body = b.whole().add_graph(&b.main());
  const auto value = [&](std::string_view name, dtype type) {
    return body.add_value(name, b.whole().keep(value_type::tensor(type, {})));
  };
  for (const auto& [name, type] : {std::pair{"i", dtype::i64}, {"go_on", dtype::boolean}, {"x", dtype::f32}})
    body.add_input(value(name, type));
  const value_id again = value("again", dtype::boolean), more = value("more", dtype::f32);
  const value_id go_on = body.inputs()[1], x = body.inputs()[2];
  body.add_node({"a", "", "Identity", {}, {}, 17, {&go_on, 1}, {&again, 1}});
  body.add_node({"b", "", "Neg", {}, {}, 17, {&x, 1}, {&more, 1}});
  body.add_output(again), body.add_output(more);
  attribute held{"body", attribute_kind::g};
  held.i = 0;
  graph* const subgraphs[] = {&body};
  const value_id inputs[] = {b.constant<std::int64_t>("trips", {}, {std::int64_t{1} << 60}),
                             b.constant<bool>("yes", {}, {true}), b.input("start", dtype::f32, {})};
  const value_id out = b.main().add_value("out");
  b.main().add_node({"loop", "", "Loop", {}, {}, 17, inputs, {&out, 1}, {&held, 1}, subgraphs});
  b.output(out);
  return b.take();
}

status_code code_of_program(const std::string& arguments) {
  std::FILE* const out = popen((std::string{program} + " " + arguments + " 2>&1 >/dev/null").c_str(), "r");
  REQUIRE(out);
  std::string said(4096, '\0');
  said.resize(std::fread(said.data(), 1, said.size(), out));
  CHECK(WEXITSTATUS(pclose(out)) == 1);
  for (const detail::status_row& row : detail::status_rows)
    if (said.find(std::string{"error: "} + row.name + ": ") != std::string::npos) return row.id;
  INFO(said);
  CHECK_MESSAGE(false, "the program names no code");
  return status_code::ok;
}

using causes = context_causes;

/// The causes of one code in the page's order: general ones, those of compiled models, and those of packages.
causes joined(causes list, const context_causes& more, const context_causes& of_packages = {}) {
  list.insert(list.end(), more.begin(), more.end());
  list.insert(list.end(), of_packages.begin(), of_packages.end());
  return list;
}

causes causes_of_fail() {
  return {
      {"A node is of a domain that no provider declares and that the model defines no function of.",
       [] { return load(one_node("Neg", "missing", 1)); }},
      {"A node is left to the fallback alone, and session.disable_cpu_ep_fallback is 1.",
       [] {
         session_options options;
         options.config.emplace_back("session.disable_cpu_ep_fallback", "1");
         return load(one_node("Tanh"), options, runtime<returning, eps::cpu>{});
       }},
      {"A provider is named twice in session_options::providers.",
       [] {
         session_options options;
         options.providers = {"cpu", "CPUExecutionProvider"};
         return load(one_node("Neg"), options);
       }},
      {"A policy finds no CPU, or what it chooses are not 1 to 8 of the devices; or its function fails.",
       [] {
         session_options options;
         options.choose_devices = [](const device_request&) -> result<std::vector<std::size_t>> {
           return status{status_code::not_found, "none of these"};
         };
         CHECK(load(one_node("Neg"), options).code() == status_code::fail);
         options.choose_devices = [](const device_request&) { return result<std::vector<std::size_t>>{{}}; };
         CHECK(load(one_node("Neg"), options).code() == status_code::fail);
         options.choose_devices = prefer_cpu{};
         return load(one_node("Neg"), options, runtime<partial<returning>>{});
       }},
      {"A provider names a group that a path leaves and comes back to.",
       [] {
         return load_grouped({[](const graph_view& g) {
           return std::vector<node_group>{{{g.nodes()[0].id(), g.nodes()[2].id()}, "ends"}};
         }});
       }},
      {"A provider names a node that does not exist.",
       [] { return load_grouped({[](const graph_view&) { return std::vector<node_group>{{{node_id{99}}, "x"}}; }}); }},
      {"A provider insists on a group with a node that another has.",
       [] {
         grouping late{[](const graph_view& g) {
           std::vector<node_group> all = all_in_one(g);
           all[0].insists = true;
           return all;
         }};
         return load(chain(), {}, runtime<returning, grouping, eps::cpu>{{}, late, {}});
       }},
      {"A provider does not compile one program for each of its groups.",
       [] { return load_grouped({all_in_one, [](std::size_t) { return std::vector<compiled_node>{}; }}); }},
      {"A kernel returns without having written one of its outputs.", [] { return run_throwing({}); }},
      {"The optimized model is to be saved, and a provider has compiled nodes.",
       [] {
         session_options options;
         options.config.emplace_back("session.optimized_model_filepath", "/nowhere/optimized.onnx");
         return load_grouped({all_in_one}, options);
       }},
      {"The system refuses something: writing a file, reading a stream.",
       [] { return trace_profile{std::vector<std::string>{}}.write("/nowhere/trace.json"); }},
      {"A function that the program gave threw an exception: of the options, a task pool, a policy, a stream.",
       [] {
         session_options options;
         options.progress = [](const load_progress&) { throw std::runtime_error{"the bar is lost"}; };
         return load(one_node("Neg"), options);
       }},
      {"An ORT file is damaged, of a later version than cameo reads, or lacks what the format requires.",
       [] {
         const auto bad = [](const char* name) {
           return status_of(cpu_runtime{}.load(std::string{source_dir} + "/tests/data/ort/malformed/" + name));
         };
         CHECK(bad("truncated_half.ort").code() == status_code::fail);
         CHECK(bad("graph_missing.ort").code() == status_code::fail);
         return bad("future_version.ort");
       }},
      {"The program: a conformance case failed.",
       []() -> status {
         const scratch_folder folder;
         std::filesystem::create_directories(folder.path / "case/test_data_set_0");
         std::ofstream{folder / "case/model.onnx"} << "no model";
         return code_of_program("conformance " + folder.path.string());
       }},
      {"The assignments of nodes to providers are requested, and were not recorded.",
       [] { return status_of((*cpu_runtime{}.load(one_node("Neg"))).assignments()); }},
  };
}

causes causes_of_invalid_argument() {
  return {
      {"An input of a run is missing, unknown, or given twice.",
       [] {
         CHECK(run(one_node("Neg"), {{"x", three}, {"z", three}}).code() == status_code::invalid_argument);
         CHECK(run(one_node("Neg"), {{"x", three}, {"x", three}}).code() == status_code::invalid_argument);
         return run(one_node("Neg"), {});
       }},
      {"An input has another type, rank or size than the model says.",
       [] {
         CHECK(run(one_node("Neg"), {{"x", {1, 2, 3}}}).code() == status_code::invalid_argument);
         CHECK(run(one_node("Neg"), {{"x", three, {1, 3}}}).code() == status_code::invalid_argument);
         return run(one_node("Neg"), {{"x", {1.0f, 2.0f}}});
       }},
      {"Two dims of inputs have different sizes, and the model calls both by one name.",
       [] {
         model_builder b;
         const dim rows = b.symbol("rows");
         b.output(b.node("Add", {b.input("a", dtype::f32, {rows}), b.input("b", dtype::f32, {rows})}));
         const session s = loaded(b.take());
         CHECK(s.run({{"a", three}, {"b", three}}));
         const result<named_values> differ = s.run({{"a", three}, {"b", std::vector<float>{1}}});
         for (const char* part : {"'rows'", "3 in input 'a'", "1 in input 'b'"})
           CHECK(status_of(differ).words().find(part) != std::string_view::npos);
         return status_of(differ);
       }},
      {"Memory that is bound to an output is of another type, or too small for what a run makes.",
       [] {
         const result<session> s = cpu_runtime{}.load(one_node("Neg"));
         REQUIRE(s);
         result<io_binding> binding = s->bind();
         REQUIRE(binding);
         std::vector<int> whole(3);
         CHECK(binding->bind_output("Neg_0_out", whole).code() == status_code::invalid_argument);
         std::vector<float> small(2);
         CHECK(binding->bind_input("x", three));
         const status bound = binding->bind_output("Neg_0_out", small);
         return bound ? s->run(*binding) : bound;
       }},
      {"An output is read as another type than it has, or by a name that does not exist.",
       [] {
         const result<session> s = cpu_runtime{}.load(one_node("Neg"));
         REQUIRE(s);
         const result<named_values> outputs = s->run({{"x", three}});
         REQUIRE(outputs);
         CHECK(status_of(outputs->get<float>("z")).code() == status_code::invalid_argument);
         return status_of(outputs->get<double>());
       }},
      {"A kernel can't work on the data of a run: an index out of range, extents that don't fit.",
       [] {
         model_builder b;
         const value_id x = b.input("x", dtype::f32, {dim::fixed(3)}), at = b.input("at", dtype::i64, {});
         b.output(b.node("Gather", {x, at}));
         return run(b.take(), {{"x", three}, {"at", std::int64_t{3}}});
       }},
      {"A model is to be written as an ORT file, which can't hold all that is in it.",
       [] {
         model_builder b;
         const value_type optional = value_type::optional(value_type::tensor(dtype::f32));
         const value_id x = b.main().add_value("x", b.whole().keep(optional));
         b.main().add_input(x);
         b.output(b.node("OptionalHasElement", {x}));
         session_options options;
         options.config.emplace_back("session.optimized_model_filepath", "/nowhere/optimized.ort");
         return load(b.take(), options);
       }},
      {"A session key is unknown or refused, or a provider is not in the runtime's list.",
       [] {
         session_options unknown, refused, absent;
         unknown.config.emplace_back("session.no_such_key", "1");
         refused.config.emplace_back("session.compile_only", "1");
         absent.providers = {"npu"};
         CHECK(load(one_node("Neg"), unknown).code() == status_code::invalid_argument);
         CHECK(load(one_node("Neg"), refused).code() == status_code::invalid_argument);
         return load(one_node("Neg"), absent);
       }},
      {"Rules that give nodes to devices are not written right, or both keys for them are set.",
       [] {
         session_options wrong, both;
         wrong.config = {{"session.layer_assignment_settings", "gpu(encoder"}};
         both.config = {{"session.layer_assignment_settings", "gpu(encoder)"},
                        {"session.name_based_layer_assignment", "gpu(/encoder/)"}};
         CHECK(load(one_node("Neg"), wrong).code() == status_code::invalid_argument);
         return load(one_node("Neg"), both);
       }},
      {"Devices are appended that are none, or of several providers; a policy's number or name is none.",
       [] {
         session_options options;
         CHECK(options.append({}).code() == status_code::invalid_argument);
         CHECK(detail::device_policy_named("best").error().code() == status_code::invalid_argument);
         return options.prefer(device_policy{77});
       }},
      {"A task pool's concurrency() is 0.",
       [] {
         struct empty_pool {
           std::size_t concurrency() const { return 0; }
           void parallel(std::size_t, task) const {}
         } pool;
         return load(one_node("Neg"), session_options{}.use(pool));
       }},
      {"A device brings an option that its provider does not have.",
       [] {
         session_options options;
         std::vector<ep_device> devices = cpu_runtime{}.devices();
         devices.at(0).device.options = {{"speed", "11"}};
         CHECK(options.append(devices));
         return load(one_node("Neg"), options);
       }},
      {"A model has no graph, or uses a name that it does not define.",
       []() -> status {
         model_builder b;
         const value_id x = b.main().add_value("x");
         b.output(b.node("Neg", {x}));
         return load(b.take());
       }},
  };
}

causes causes_of_bad_models() {
  return {
      {"A node breaks its operator's rules: numbers of inputs and outputs, attributes, types, shapes.",
       [] {
         model_builder b;
         const value_id x = b.input("x", dtype::f32, {dim::fixed(3)});
         b.output(b.node("Neg", {x, x}));
         return load(b.take());
       }},
      {"Two values have one name, or nodes wait for each other.",
       [] {
         model_builder b;
         const value_id a = b.main().add_value("a"), c = b.main().add_value("c");
         b.main().add_node({"first", "", "Neg", {}, {}, 17, {&a, 1}, {&c, 1}});
         b.main().add_node({"second", "", "Neg", {}, {}, 17, {&c, 1}, {&a, 1}});
         b.output(c);
         CHECK(load(b.take()).code() == status_code::invalid_graph);
         model_builder twice;
         twice.input("x", dtype::f32, {});
         twice.output(twice.node("Neg", {twice.input("x", dtype::f32, {})}));
         return load(twice.take());
       }},
      {"The domain of a node is imported with an opset below 1.",
       [] {
         std::unique_ptr<model> m = one_node("Neg");
         m->imports[0].version = 0;
         m->main()[node_id{0}].opset = 0;
         return load(std::move(m));
       }},
      {"External data lies outside the model's folder, or is shorter than the model says.",
       [] {
         const scratch_folder folder;
         model_builder b;
         const value_id x = b.input("x", dtype::f32, {dim::fixed(64)});
         b.output(b.node("Add", {x, b.constant("w", {64}, ramp(64))}));
         CHECK(write_onnx(*b.take(), folder / "m.onnx", {"w.bin", 16}));
         CHECK(cpu_runtime{}.load(folder / "m.onnx"));
         std::filesystem::resize_file(folder / "w.bin", 100);
         return status_of(cpu_runtime{}.load(folder / "m.onnx"));
       }},
      {"Graphs are nested deeper than session_options::limits allows.",
       [] {
         const scratch_folder folder;
         CHECK(write_onnx(*endless(), folder / "m.onnx"));
         CHECK(cpu_runtime{}.load(folder / "m.onnx"));
         session_options options;
         options.limits.graph_depth = 0;
         return status_of(cpu_runtime{}.load(folder / "m.onnx", options));
       }},
  };
}

causes causes_of_not_implemented() {
  return {
      {"No provider takes a node.", [] { return load(one_node("Tanh"), {}, runtime<partial<returning>>{}); }},
      {"A kernel does not support what a node requires.",
       [] {
         model_builder b;
         const value_id x = b.input("x", dtype::boolean, {dim::fixed(1), dim::fixed(1), dim::fixed(2), dim::fixed(2)});
         const value_id grid =
             b.input("grid", dtype::f32, {dim::fixed(1), dim::fixed(2), dim::fixed(2), dim::fixed(2)});
         b.output(b.node("GridSample", {x, grid}));
         const bool image[4] = {};
         return run(b.take(), {{"x", image}, {"grid", ramp(8)}});
       }},
      {"A value other than a tensor of numbers would have to be copied between kinds of memory.",
       [] {
         model_builder b;
         b.output(b.node("Identity", {b.input("x", dtype::string, {dim::fixed(1)})}));
         return load(b.take(), {}, runtime<partial<heap_device>>{});
       }},
  };
}

status out_of_memory_of_extents() {
  model_builder b;
  b.output(b.node("ConstantOfShape", {b.input("extents", dtype::i64, {dim::fixed(2)})}));
  return run(b.take(), {{"extents", {std::int64_t{1} << 40, std::int64_t{1} << 40}}});
}

status stopped(bool by_the_clock) {
  std::stop_source stop;
  run_settings settings;
  if (by_the_clock) settings.timeout = std::chrono::milliseconds{20};
  else settings.stop = stop.get_token(), stop.request_stop();
  return run(endless(), {{"start", 1.0f}}, {}, settings);
}

/// All codes and causes in the page's order.
std::vector<std::pair<status_code, causes>> all_causes() {
  using enum status_code;
  session_options stopping, small, no_compiling;
  std::stop_source stop;
  stop.request_stop();
  stopping.stop = stop.get_token();
  small.memory_limit = 64;
  no_compiling.config.emplace_back("session.disable_model_compile", "1");
  return {
      {fail, joined(causes_of_fail(), context_causes_of_fail(), package_causes_of_fail())},
      {invalid_argument, joined(causes_of_invalid_argument(), context_causes_of_invalid_argument(),
                                package_causes_of_invalid_argument())},
      {no_suchfile,
       {{"A file that was named is not there.", [] { return status_of(cpu_runtime{}.load("/nowhere.onnx")); }}}},
      {runtime_exception,
       {{"A kernel threw an exception, when it was bound or when it ran; or the execute of a provider did.",
         [] {
           CHECK(run_throwing({true}).code() == runtime_exception);
           CHECK(run_throwing({false, true}).words() == "node 'Neg_0' (Neg): the kernel is lost");
           return run_returning({ok, true});
         }}}},
      {invalid_protobuf,
       {{"The bytes are not protobuf, end early, or are not a model.",
         [] { return status_of(cpu_runtime{}.load(std::vector<char>{'n', 'o', ' ', 'm', 'o', 'd', 'e', 'l'})); }}}},
      {not_implemented, joined(causes_of_not_implemented(), context_causes_of_not_implemented())},
      {invalid_graph, joined(causes_of_bad_models(), context_causes_of_bad_models())},
      {ep_fail,
       {{"A hook of a provider threw an exception, while the model was loading.",
         [] {
           return load_grouped(
               {[](const graph_view&) -> std::vector<node_group> { throw std::runtime_error{"lost"}; }});
         }}}},
      {model_load_canceled,
       {{"session_options::stop was requested while the model was loading.",
         [stopping] { return load(one_node("Neg"), stopping); }}}},
      {model_requires_compilation,
       {{"A provider compiles nodes, and session.disable_model_compile is 1.",
         [no_compiling] { return load_grouped({all_in_one}, no_compiling); }}}},
      {not_found,
       {{"The program: there is no test folder below the folders that conformance was given.",
         []() -> status {
           const scratch_folder folder;
           return code_of_program("conformance " + folder.path.string());
         }}}},
      {canceled, {{"run_settings::stop was requested while the model ran.", [] { return stopped(false); }}}},
      {deadline_exceeded, {{"A run did not end within run_settings::timeout.", [] { return stopped(true); }}}},
      {out_of_memory,
       {{"A run needs more memory than session_options::memory_limit allows, or than there is.",
         [small] {
           model_builder b;
           b.output(b.node("Tanh", {b.node("Neg", {b.input("x", dtype::f32, {dim::fixed(4096)})})}));
           return run(b.take(), {{"x", ramp(4096)}}, small);
         }},
        {"The extents of a value are too large for any memory.", out_of_memory_of_extents},
        {"An arena of fixed size is full.",
         [] {
           std::byte memory[64];
           arena small_one{memory};
           return status_of(small_one.take<float>(100));
         }}}},
  };
}

std::vector<std::pair<std::string, std::string>> rows_of_page() {
  std::ifstream file{std::string{source_dir} + "/docs/errors.md"};
  std::vector<std::pair<std::string, std::string>> rows;
  bool inside = false;
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("## ", 0) == 0) inside = line == "## Causes and cures";
    if (!inside || line.rfind("| ", 0) != 0 || line.rfind("| Code |", 0) == 0) continue;
    const std::size_t second = line.find(" | "), third = line.find(" | ", second + 3);
    REQUIRE(third != std::string::npos);
    CHECK_MESSAGE(line.size() > third + 8, "no cure: ", line);
    rows.emplace_back(line.substr(2, second - 2), line.substr(second + 3, third - second - 3));
  }
  return rows;
}

}  // namespace

TEST_CASE("every cause in docs/errors.md happens, with the code that the page gives") {
  for (const auto& of_one_code : all_causes())
    for (const auto& cause : of_one_code.second) {
      const status got = cause.second();
      INFO(cause.first, " ", std::string{got.words()});
      CHECK(std::string{got.name()} == status{of_one_code.first}.name());
    }
}

TEST_CASE("docs/errors.md lists just the causes that are tested") {
  std::vector<std::pair<std::string, std::string>> tested;
  for (const auto& [code, list] : all_causes())
    for (const auto& each : list) tested.emplace_back(status{code}.name(), each.first);
  const auto listed = rows_of_page();
  for (std::size_t i = 0; i < std::max(tested.size(), listed.size()); ++i) {
    REQUIRE(i < tested.size());
    REQUIRE(i < listed.size());
    CHECK(listed[i] == tested[i]);
  }
}

TEST_CASE("codes that are not cameo's own arrive as a provider returned them") {
  for (const status_code code :
       {status_code::no_model, status_code::engine_error, status_code::runtime_exception, status_code::model_loaded})
    CHECK(run_returning({code}).code() == code);
}
