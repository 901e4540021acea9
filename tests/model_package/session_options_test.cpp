// Tests the options of a package's sessions: those of the package, of the caller, and of the selected devices.
#include "sessions.hpp"

namespace cameo::test {
namespace {

std::string_view npu_option(const session& s, const std::string& key) {
  static std::string name;
  name = "ep.refnpuexecutionprovider." + key;
  return s.config(name);
}

using names = std::vector<std::string>;

/// A variant for the NPU with options of both kinds, and a plain one.
const std::string with_options = variant_json(
    "npu", runs_on(on_npu, R"("device": "npu")",
                   R"("session_options": {"session.intra_op_num_threads": "3", "session.disable_prepacking": "1"},
                      "provider_options": {"level": "2"})"));

TEST_CASE("case 18: the package's options are used only if the caller gives none") {
  const numbered_package pkg{
      variant_json("v", runs_on(on_cpu, {}, R"("session_options": {"session.intra_op_num_threads": "3",
        "session.graph_optimization_level": "disable_all", "session.disable_prepacking": "1"})")),
      {{"v", 1}}};
  const cpu_runtime with;
  const component_context c = selected(with, pkg.at.path());
  const auto plain = with.load(c);
  REQUIRE(added_by(plain) == "1");
  CHECK(plain->thread_count() == 3);
  CHECK(plain->config("session.disable_prepacking") == "1");
  session_options own;
  own.threads = 2;
  const auto given = with.load(c, own);
  REQUIRE(added_by(given) == "1");
  CHECK(given->thread_count() == 2);
  CHECK(given->config("session.disable_prepacking") == "0");
  const auto empty = with.load(c, {});
  REQUIRE(added_by(empty) == "1");
  CHECK(empty->config("session.disable_prepacking") == "0");
  CHECK(empty->config("session.graph_optimization_level") == "enable_all");
}

TEST_CASE("without options: the selected provider, its device's defaults, and the package's options over them") {
  const numbered_package pkg{with_options, {{"npu", 1}}};
  npu_runtime npu;
  npu.state->devices = {npu_device("NPU", device_kind::npu, {{"mode", "fast"}, {"level", "1"}})};
  const component_context c = selected(npu.loader, pkg.at.path(), using_providers({"refnpu"}));
  REQUIRE(c.devices().size() == 1);
  const auto s = npu.loader.load(c);
  REQUIRE(added_by(s) == "1");
  CHECK(s->providers() == names{"refnpu", "cpu"});
  CHECK(s->placements().at(0).provider == "refnpu");
  CHECK(npu_option(*s, "mode") == "fast");
  CHECK(npu_option(*s, "level") == "2");
  CHECK(s->thread_count() == 3);
  CHECK(s->config("session.disable_prepacking") == "1");
  CHECK(npu.state->device_names == names{"NPU"});
  CHECK(npu.state->modes == names{"fast"});
}

TEST_CASE("with options that name no provider: the selected provider, without the package's options") {
  const numbered_package pkg{with_options, {{"npu", 1}}};
  npu_runtime npu;
  npu.state->devices = {npu_device("NPU", device_kind::npu, {{"mode", "fast"}, {"level", "1"}})};
  const component_context c = selected(npu.loader, pkg.at.path(), using_providers({"refnpu"}));
  session_options own = keys({{"ep.refnpu.mode", "mine"}});
  own.threads = 2;
  const auto s = npu.loader.load(c, own);
  REQUIRE(added_by(s) == "1");
  CHECK(s->placements().at(0).provider == "refnpu");
  CHECK(npu_option(*s, "mode") == "mine");
  CHECK(npu_option(*s, "level") == "1");  // the device's default
  CHECK(s->thread_count() == 2);
  CHECK(s->config("session.disable_prepacking") == "0");
  CHECK(npu.state->device_names == names{"NPU"});
}

TEST_CASE("with options that name providers: these in their order, without the selected provider") {
  const numbered_package pkg{with_options, {{"npu", 1}}};
  npu_runtime npu;
  npu.state->devices = {npu_device("NPU", device_kind::npu, {{"mode", "fast"}})};
  const component_context c = selected(npu.loader, pkg.at.path(), using_providers({"refnpu"}));
  for (const names& wanted : {names{"cpu"}, names{"cpu", "refnpu"}, names{"refnpu", "cpu"}}) {
    const auto s = npu.loader.load(c, using_providers(wanted));
    REQUIRE(added_by(s) == "1");
    CHECK(s->providers() == wanted);
    CHECK(s->devices().empty());
    CHECK(npu_option(*s, "level").empty());
    CHECK(s->config("session.disable_prepacking") == "0");
  }
  CHECK(npu.state->modes.empty());  // no option was set
  CHECK(npu.loader.load(c, using_providers({"nobody"})).error().code() == status_code::invalid_argument);
  session_options devices_alone;
  devices_alone.devices = c.devices();
  CHECK(npu.loader.load(c, devices_alone).error().code() == status_code::invalid_argument);
}

TEST_CASE("options that were passed to select() are not used for sessions") {
  const numbered_package pkg{variant_json("npu", runs_on(on_npu)), {{"npu", 1}}};
  npu_runtime npu;
  session_options how = using_providers({"refnpu"});
  how.config = {{"ep.refnpu.mode", "asked"}, {"session.disable_prepacking", "1"}};
  how.threads = 3;
  const component_context c = selected(npu.loader, pkg.at.path(), how);
  for (const auto& s : {npu.loader.load(c), npu.loader.load(c, keys({}))}) {
    REQUIRE(added_by(s) == "1");
    CHECK(npu_option(*s, "mode").empty());
    CHECK(s->config("session.disable_prepacking") == "0");
  }
  how.config = {{"session.no_such_key", "1"}};
  CHECK(npu.loader.select(opened(pkg.at.path()), "main", how).error().code() == status_code::invalid_argument);
  CHECK(npu.loader.select(opened(pkg.at.path()), "main", using_providers({"nobody"})).error().code() ==
        status_code::invalid_argument);
}

TEST_CASE("a provider that can't be configured with the package's options is an error; cpu is not used instead") {
  const auto of = [](const std::string& options) {
    return variant_json("npu", runs_on(on_npu, {}, "\"provider_options\": {" + options + "}"));
  };
  const struct {
    std::string options;
    status_code code;
    std::string words;
  } rows[] = {{R"("mode": "impossible")", status_code::ep_fail, "there is no mode"},
              {R"("novel": "1")", status_code::invalid_argument, "novel"}};
  for (const auto& row : rows) {
    const numbered_package pkg{of(row.options), {{"npu", 1}}};
    const npu_runtime npu;
    const component_context c = selected(npu.loader, pkg.at.path(), using_providers({"refnpu", "cpu"}));
    const auto s = npu.loader.load(c);
    REQUIRE_FALSE(s);
    CHECK(s.error().code() == row.code);
    CHECK(has(s.error().words(), row.words));
    CHECK(has(s.error().words(), on_npu));
    CHECK(added_by(npu.loader.load(c, {})) == "1");  // the package's options are not used
  }
  const numbered_package pkg{variant_json("npu", runs_on(on_npu)), {{"npu", 1}}};
  const npu_runtime npu;
  const component_context c = selected(npu.loader, pkg.at.path(), using_providers({"refnpu"}));
  CHECK(cpu_runtime{}.load(c).error().code() ==
        status_code::invalid_argument);  // another runtime, without that provider
  CHECK(added_by(cpu_runtime{}.load(c, using_providers({"cpu"}))) == "1");
}

// --- folders of the package, which sessions use unless the caller sets others ---

TEST_CASE("the package's folder of weights is used unless the caller sets one, by key or by member") {
  const package_folder at;
  write_adding(at / "v/m.onnx", 1, "w.data");
  write_adding(at / "other/m.onnx", 2, "w.data");
  fs::create_directories(at / "v/weights");
  fs::rename(at / "v/w.data", at / "v/weights/w.data");
  const std::string key = "session.model_external_initializers_file_folder_path";
  at.write("manifest.json",
           manifest_of(variant_json("v", runs_on(on_cpu, {}, "\"session_options\": {\"" + key + "\": \"weights\"}"))));
  const cpu_runtime with;
  const component_context c = selected(with, at.path());
  CHECK(added_by(with.load(c)) == "1");
  CHECK(added_by(with.load(c, using_providers({"cpu"}))) == "1");
  CHECK(added_by(with.load(c, keys({{key, at / "other"}}))) == "2");
  session_options own;
  own.external_data_folder = at / "other";
  CHECK(added_by(with.load(c, own)) == "2");
}

/// Writes a model that npu compiled as "v/m.onnx", with its context in a file.
void write_compiled(const npu_runtime& npu, const package_folder& at, const std::string& to = "v/m.onnx",
                    bool embed = false) {
  fs::create_directories(fs::path{at / to}.parent_path());
  compile_options options;
  options.input = plain();
  options.output = at / to;
  options.embed = embed;
  options.session.providers = {"refnpu", "cpu"};
  const auto report = npu.loader.compile(std::move(options));
  REQUIRE(verdict(report) == "OK");
  REQUIRE(report->compiled_nodes == 1);
  npu.state->counters.compiled = 0;
}

const std::string gen2 = R"("compatibility_string": "gen2")";

TEST_CASE("a compiled model in a package runs from its context, in the same folder or in the model") {
  for (const bool embed : {false, true}) {
    const package_folder at;
    const npu_runtime npu;
    write_compiled(npu, at, "v/m.onnx", embed);
    CHECK(files_below(at / "v").size() == (embed ? 1 : 2));
    at.write("manifest.json", manifest_of(variant_json("v", runs_on(on_npu, gen2))));
    const component_context c = selected(npu.loader, at.path(), using_providers({"refnpu"}));
    CHECK(c.selected().verdicts[0].score == 100);
    for (const auto& s : {npu.loader.load(c), npu.loader.load(c, {})}) {
      REQUIRE(verdict(s) == "OK");
      CHECK(near(outputs_of(*s), expected()));
    }
    CHECK(npu.state->counters.compiled == 0);
    CHECK(npu.state->counters.opened > 0);
  }
}

TEST_CASE("a context file is read from the folder that the package's option names, unless the caller sets another") {
  const package_folder at;
  const npu_runtime npu;
  write_compiled(npu, at);
  const std::string context = [&] {
    for (const auto& [name, bytes] : files_below(at / "v"))
      if (name != "m.onnx") return name;
    return std::string{};
  }();
  REQUIRE(!context.empty());
  fs::create_directories(at / "v/contexts");
  fs::create_directories(at / "own");
  fs::copy_file(at / ("v/" + context), at / ("own/" + context));
  fs::rename(at / ("v/" + context), at / ("v/contexts/" + context));
  at.write("manifest.json", manifest_of(variant_json("v", runs_on(on_npu, gen2))));
  CHECK_FALSE(npu.loader.load(
      selected(npu.loader, at.path(), using_providers({"refnpu"}))));  // the context is not beside the model
  at.write("v/contexts/x.onnx", "");
  at.write("manifest.json",
           manifest_of(variant_json(
               "v", runs_on(on_npu, gen2, R"("session_options": {"ep.context_file_path": "contexts/x.onnx"})"))));
  const component_context c = selected(npu.loader, at.path(), using_providers({"refnpu"}));
  for (const auto& s : {npu.loader.load(c), npu.loader.load(c, {})}) {
    REQUIRE(verdict(s) == "OK");
    CHECK(near(outputs_of(*s), expected()));
  }
  CHECK(verdict(npu.loader.load(c, keys({{"ep.context_file_path", at / "own/x.onnx"}}))) == "OK");
  CHECK_FALSE(npu.loader.load(c, keys({{"ep.context_file_path", at / "nowhere/x.onnx"}})));
}

// --- devices ---

/// A runtime with two GPUs and an NPU of one provider, each with a different default.
npu_runtime many_devices() {
  npu_runtime made;
  made.state->devices = {npu_device("GPU.0", device_kind::gpu, {{"mode", "gpu0"}}),
                         npu_device("GPU.1", device_kind::gpu, {{"mode", "gpu1"}}),
                         npu_device("NPU", device_kind::npu, {{"mode", "npu"}})};
  return made;
}

std::vector<ep_device> some_devices(const npu_runtime& of, const names& wanted) {
  std::vector<ep_device> made;
  for (const ep_device& d : of.loader.devices())
    for (const std::string& name : wanted)
      if (d.device.name == name) made.push_back(d);
  return made;
}

TEST_CASE("a variant for a kind of device runs on exactly one of that kind, with its defaults") {
  const npu_runtime npu = many_devices();
  for (const auto& [kind, name, mode] : {std::tuple{"gpu", "GPU.0", "gpu0"}, std::tuple{"NPU", "NPU", "npu"}}) {
    const numbered_package pkg{variant_json("v", runs_on(on_npu, "\"device\": \"" + std::string{kind} + "\"")),
                               {{"v", 1}}};
    const component_context c = selected(npu.loader, pkg.at.path(), using_providers({"refnpu"}));
    REQUIRE(c.devices().size() == 1);
    CHECK(c.devices()[0].device.name == name);
    for (const auto& s : {npu.loader.load(c), npu.loader.load(c, {})}) {
      REQUIRE(added_by(s) == "1");
      CHECK(npu.state->device_names == names{name});
      CHECK(npu_option(*s, "mode") == mode);
      CHECK(s->devices().size() == 1);
    }
  }
}

TEST_CASE("the caller's devices are used, and a variant for any kind of device runs on all of them") {
  const npu_runtime npu = many_devices();
  const numbered_package any{variant_json("v", runs_on(on_npu)), {{"v", 1}}};
  const numbered_package gpu{variant_json("v", runs_on(on_npu, R"("device": "gpu")")), {{"v", 1}}};
  const auto chosen = [&](const numbered_package& pkg, const names& wanted) {
    session_options how;
    REQUIRE(how.append(some_devices(npu, wanted)));
    const auto c = npu.loader.select(opened(pkg.at.path()), "main", how);
    if (!c) return names{std::string{c.error().name()}};
    CHECK(added_by(npu.loader.load(*c)) == "1");
    return npu.state->device_names;
  };
  CHECK(chosen(any, {"GPU.1", "NPU"}) == names{"GPU.1", "NPU"});
  CHECK(chosen(gpu, {"GPU.1", "NPU"}) == names{"GPU.1"});
  CHECK(chosen(gpu, {"GPU.0", "GPU.1"}) == names{"GPU.0", "GPU.1"});
  CHECK(chosen(gpu, {"NPU"}) == names{"FAIL"});
  const component_context c = selected(npu.loader, any.at.path(), using_providers({"refnpu"}));
  CHECK(c.devices().empty());  // the provider may use any of its devices
}

TEST_CASE("a policy chooses the provider that variants are compared with, as an option or in the runtime's type") {
  const numbered_package both{
      variant_json("plain", runs_on(on_cpu)) + "," + variant_json("npu", runs_on(on_npu, R"("device": "npu")")),
      {{"plain", 1}, {"npu", 2}}};
  const package p = opened(both.at.path());
  const npu_runtime npu = many_devices();
  session_options how;
  REQUIRE(how.prefer(device_policy::prefer_npu));
  const auto by_option = npu.loader.select(p, "main", how);
  REQUIRE(name_in(by_option) == "npu");
  REQUIRE(by_option->devices().size() == 1);
  CHECK(by_option->devices()[0].device.name == "NPU");
  REQUIRE(how.prefer(device_policy::prefer_cpu));
  CHECK(name_in(npu.loader.select(p, "main", how)) == "plain");
  const runtime<devices_by<prefer_npu>, npu_provider, eps::cpu> typed{npu_provider{npu.state}, eps::cpu{}};
  const auto by_type = typed.select(p, "main");
  REQUIRE(name_in(by_type) == "npu");
  const auto s = typed.load(*by_type);
  CHECK(added_by(s) == "2");
  CHECK(npu_option(*s, "mode") == "npu");
  CHECK(name_in(typed.select(p, "main", using_providers({"cpu"}))) == "plain");  // a name has precedence
  npu.state->devices.clear();
  CHECK(name_in(typed.select(p, "main")) == "plain");  // this machine has no NPU
}

TEST_CASE("with a policy that chose an NPU, a package without a variant for it fails, unless ranked") {
  const numbered_package pkg{variant_json("plain", runs_on(on_cpu)), {{"plain", 1}}};
  const npu_runtime npu = many_devices();
  session_options how;
  REQUIRE(how.prefer(device_policy::prefer_npu));
  const package p = opened(pkg.at.path());
  const auto none = npu.loader.select(p, "main", how);
  REQUIRE_FALSE(none);
  CHECK(none.error().code() == status_code::fail);
  const auto ranked = npu.loader.select(p, "main", how, best_fit{.ranked = true});
  REQUIRE(name_in(ranked) == "plain");
  CHECK(added_by(npu.loader.load(*ranked)) == "1");
}

int asked = 0;
struct counting_policy {
  result<std::vector<std::size_t>> operator()(const device_request& request) const {
    ++asked;
    return prefer_npu{}(request);
  }
};

TEST_CASE("a policy is called when a variant is selected, and not again for its sessions") {
  const numbered_package pkg{variant_json("npu", runs_on(on_npu)), {{"npu", 2}}};
  const npu_runtime npu = many_devices();
  const runtime<devices_by<counting_policy>, npu_provider, eps::cpu> typed{npu_provider{npu.state}, eps::cpu{}};
  session_options how;
  how.choose_devices = counting_policy{};
  const auto check = [&](const auto& with, const session_options& options) {
    asked = 0;
    const component_context c = selected(with, pkg.at.path(), options);
    CHECK(asked == 1);
    CHECK(added_by(with.load(c)) == "2");
    CHECK(npu.state->device_names == names{"NPU"});
    CHECK(added_by(with.load(c, options)) == "2");
    CHECK(asked == 1);
  };
  check(npu.loader, how);
  check(typed, {});
  how.choose_devices = [](const device_request&) -> result<std::vector<std::size_t>> {
    return status{status_code::fail, "no idea"};
  };
  const auto failed = npu.loader.select(opened(pkg.at.path()), "main", how);
  REQUIRE_FALSE(failed);
  CHECK(has(failed.error().words(), "no idea"));
}

// --- a caller's policy for variants ---

struct last_variant {
  selection operator()(const selection_request& request) const {
    selection made;
    made.variant = &request.component.variants.back();
    return made;
  }
};
/// A policy that chooses a variant or a device that was not in its request.
struct from_elsewhere {
  const package_variant* variant = nullptr;
  const device_facts* device = nullptr;
  selection operator()(const selection_request& request) const {
    selection made;
    made.variant = variant ? variant : &request.component.variants.front();
    made.device = device;
    return made;
  }
};

TEST_CASE("a caller's policy may choose any variant of an existing provider") {
  const numbered_package pkg{
      variant_json("plain", runs_on(on_cpu)) + "," +
          variant_json("npu", runs_on(on_npu, R"("device": "npu", "compatibility_string": "bad")")),
      {{"plain", 1}, {"npu", 2}}};
  const npu_runtime npu = many_devices();
  const component_context c = selected(npu.loader, pkg.at.path(), session_options{}, last_variant{});
  CHECK(c.variant().name == "npu");
  CHECK(c.ep() == on_npu);
  CHECK(added_by(npu.loader.load(c)) == "2");
  const package p = opened(pkg.at.path());
  const auto words = [&](const auto& with, const auto& policy) {
    const auto made = with.select(p, "main", {}, policy);
    REQUIRE_FALSE(made);
    CHECK(made.error().code() == status_code::fail);
    return std::string{made.error().words()};
  };
  CHECK(has(words(cpu_runtime{}, last_variant{}), "there is no provider 'RefNpuExecutionProvider' here"));
  const package_variant other = p.components()[0].variants[0];
  CHECK(has(words(npu.loader, from_elsewhere{&other}), "not the component's"));
  const device_facts device = cpu_device();
  CHECK(has(words(npu.loader, from_elsewhere{nullptr, &device}), "not in the request"));
  const auto nothing = [](const selection_request&) { return selection{}; };
  CHECK(has(words(npu.loader, nothing), "no suitable variant"));
  const auto thrower = [](const selection_request&) -> selection { throw std::runtime_error{"thrown"}; };
  CHECK_FALSE(npu.loader.select(p, "main", {}, thrower));
}

// --- files that are replaced ---

TEST_CASE("files that replace a package's files after the selection are never read") {
  const package_folder at;
  for (const auto& [folder, c] : {std::pair{"pkg/v", 1.0f}, std::pair{"outside", 2.0f}}) {
    write_adding(at / (std::string{folder} + "/m.onnx"), c, "w.data");
    fs::create_directories(at / (std::string{folder} + "/weights"));
    fs::rename(at / (std::string{folder} + "/w.data"), at / (std::string{folder} + "/weights/w.data"));
  }
  at.write(
      "pkg/manifest.json",
      manifest_of(variant_json(
          "v", runs_on(on_cpu, {},
                       R"("session_options": {"session.model_external_initializers_file_folder_path": "weights"})"))));
  const cpu_runtime with;
  const component_context c = selected(with, at / "pkg");
  for (const auto& [place, link] :
       {std::pair{"pkg/v/m.onnx", "../../outside/m.onnx"}, std::pair{"pkg/v/weights", "../../outside/weights"},
        std::pair{"pkg/v", "../outside"}, std::pair{"pkg", "outside"}}) {
    fs::rename(at / place, at / "gone");
    at.link(link, place);
    CHECK(added_by(with.load(c)) == "1");
    CHECK(added_by(with.load(c, {})) == "1");
    fs::remove(at / place);
    fs::rename(at / "gone", at / place);
  }
  fs::rename(at / "pkg/v/weights/w.data", at / "gone");
  at.link("../../../outside/weights/w.data", "pkg/v/weights/w.data");
  CHECK(with.load(c).error().code() == status_code::invalid_graph);  // a link in the open folder that leads outside
}

TEST_CASE("files that replace a package's files between opening and selection are refused") {
  const package_folder at;
  write_adding(at / "pkg/v/m.onnx", 1);
  write_adding(at / "outside/m.onnx", 2);
  at.write("pkg/manifest.json", manifest_of(variant_json("v", runs_on(on_cpu))));
  const package p = opened(at / "pkg");
  const cpu_runtime with;
  for (const auto& [place, link] :
       {std::pair{"pkg/v/m.onnx", "../../outside/m.onnx"}, std::pair{"pkg/v", "../outside"}}) {
    fs::rename(at / place, at / "gone");
    at.link(link, place);
    const auto c = with.select(p, "main");
    REQUIRE(name_in(c) == "v");
    const auto s = with.load(*c);
    REQUIRE_FALSE(s);
    CHECK(s.error().code() == status_code::fail);
    fs::remove(at / place);
    fs::rename(at / "gone", at / place);
    CHECK(added_by(with.load(*with.select(p, "main"))) == "1");
  }
  fs::rename(at / "pkg", at / "gone");
  at.link("outside", "pkg");
  CHECK(added_by(with.load(*with.select(p, "main"))) == "1");  // read through the open folder
}

TEST_CASE("a compiled model's context is read through an open folder, the model's or one that an option names") {
  const auto hostile = [](const std::string& name, const std::string& bytes) {
    return fs::path{name}.extension() == ".onnx" ? bytes : std::string{"REFCTX 9.9.9 0\n"};
  };
  for (const bool is_named : {false, true}) {
    CAPTURE(is_named);
    const package_folder at;
    const npu_runtime npu;
    write_compiled(npu, at, "pkg/v/m.onnx");
    const std::string swapped = is_named ? "pkg/v/contexts" : "pkg/v";
    if (is_named) {
      fs::create_directories(at / swapped);
      for (const auto& [name, bytes] : files_below(at / "pkg/v"))
        if (name != "m.onnx") fs::rename(at / ("pkg/v/" + name), at / (swapped + "/" + name));
    }
    at.write("pkg/manifest.json",
             manifest_of(variant_json(
                 "v", runs_on(on_npu, gen2,
                              is_named ? R"("session_options": {"ep.context_file_path": "contexts/x.bin"})" : ""))));
    at.make("outside");
    for (const auto& [name, bytes] : files_below(at / swapped)) at.write("outside/" + name, hostile(name, bytes));
    const component_context c = selected(npu.loader, at / "pkg", using_providers({"refnpu"}));
    fs::rename(at / swapped, at / "gone");
    at.link(at / "outside", swapped);
    for (const auto& s : {npu.loader.load(c), npu.loader.load(c, {})}) {
      REQUIRE(verdict(s) == "OK");
      CHECK(near(outputs_of(*s), expected()));
    }
  }
}

}  // namespace
}  // namespace cameo::test
