// Tests devices and the policies that choose among them. The numbers in the names of test cases are those of the
// acceptance cases for choosing providers by devices.
#include <cameo/ep/device.hpp>
#include <cameo/graph/model.hpp>
#include <cameo/session/compile.hpp>
#include <cameo/test_paths.hpp>
#include "context/ref_provider.hpp"
#include "session/models.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>

namespace external {
struct engine {};
}  // namespace external

template <>
struct cameo::ep_traits<external::engine> {
  static constexpr std::string_view name = "engine", long_name = "EngineExecutionProvider";
  static result<std::vector<provider_device>> devices(const external::engine&) {
    return std::vector<provider_device>{{"NPU", {device_kind::npu}, {}, {}}};
  }
  static bool claims(const external::engine&, const node_view&) { return false; }
  static status execute(const external::engine&, const step_view&, run_context&) { return status_code::fail; }
};

namespace cameo::test {
namespace {

using external::engine;
using words = std::vector<std::string>;

/// The options and devices that a provider was configured with, for tests.
struct seen {
  int configured = 0;
  words devices;
  std::string x, device_type;
  bool is_set = false;
};

/// A provider that runs Relu. Tag has its names, its vendor and its devices.
template <class Tag>
struct card {
  static constexpr std::string_view name = Tag::name, long_name = Tag::long_name;
  static constexpr provider_vendor vendor = Tag::vendor;
  static constexpr provider_option options[] = {{"x", "0", "a number"}, {"device_type", "any", "which device"}};
  seen* record = nullptr;

  result<std::vector<provider_device>> devices() const { return Tag::devices(); }
  result<card> configured(const provider_options& wanted) const {
    if (!record) return *this;
    *record = {
        record->configured + 1, {}, std::string{wanted["x"]}, std::string{wanted["device_type"]}, wanted.is_set("x")};
    for (const provider_device& d : wanted.devices()) record->devices.push_back(d.name);
    return *this;
  }
  bool claims(const node_view& node) const { return node.op_type() == "Relu"; }
  status execute(const step_view&, run_context& c) const {
    const auto x = c.input<float>(0);
    const auto y = c.output<float>(0, x.shape());
    if (!y) return y.error();
    for (std::int64_t i = 0; i < x.count(); ++i) (*y)[i] = std::max(x[i], 0.0f);
    return {};
  }
};

constexpr std::uint32_t acme = 0xacde;

provider_device device(std::string name, device_kind kind, detail::text_pairs about = {},
                       detail::text_pairs options = {}) {
  provider_device made;
  made.name = std::move(name), made.hardware = {kind, "Acme", acme, 1, std::move(about)};
  made.options = std::move(options);
  return made;
}
using stated = result<std::vector<provider_device>>;

struct q_tag {
  static constexpr std::string_view name = "q", long_name = "QExecutionProvider";
  static constexpr provider_vendor vendor{"Acme", acme};
  static stated devices() { return std::vector{device("NPU", device_kind::npu, {}, {{"x", "1"}})}; }
};
struct g0_tag {
  static constexpr std::string_view name = "g0", long_name = "BuiltInExecutionProvider";
  static constexpr provider_vendor vendor{"Acme", acme};
  static stated devices() { return std::vector{device("GPU", device_kind::gpu, {{"Discrete", "0"}})}; }
};
struct g1_tag {
  static constexpr std::string_view name = "g1", long_name = "ZoomExecutionProvider";
  static constexpr provider_vendor vendor{"Acme", acme};
  static stated devices() { return std::vector{device("GPU", device_kind::gpu, {{"Discrete", "1"}})}; }
};
struct other_tag {  // G1': another vendor's provider for the same GPU, whose name precedes in sorted order
  static constexpr std::string_view name = "other", long_name = "OtherExecutionProvider";
  static constexpr provider_vendor vendor{"Other", 5};
  static stated devices() { return g1_tag::devices(); }
};
struct many_tag {  // one provider for all kinds of devices
  static constexpr std::string_view name = "many", long_name = "ManyExecutionProvider";
  static constexpr provider_vendor vendor{"Acme", acme};
  static stated devices() {
    const auto of = [](const char* each) { return detail::text_pairs{{"device_type", each}}; };
    return std::vector{device("CPU", device_kind::cpu, {}, of("CPU")),
                       device("GPU.0", device_kind::gpu, {}, of("GPU.0")),
                       device("GPU.1", device_kind::gpu, {{"Discrete", "1"}}, of("GPU.1")),
                       device("NPU", device_kind::npu, {}, of("NPU"))};
  }
};
struct silent_tag {
  static constexpr std::string_view name = "silent", long_name = "SilentExecutionProvider";
  static constexpr provider_vendor vendor{};
  static stated devices() { return status{status_code::ep_fail, "the driver does not answer"}; }
};
struct throwing_tag {
  static constexpr std::string_view name = "throwing", long_name = "ThrowingExecutionProvider";
  static constexpr provider_vendor vendor{};
  static stated devices() { throw std::runtime_error{"the driver crashed"}; }
};
struct misled_tag {  // the device has an option that the provider's table lacks
  static constexpr std::string_view name = "misled", long_name = "MisledExecutionProvider";
  static constexpr provider_vendor vendor{};
  static stated devices() { return std::vector{device("NPU", device_kind::npu, {}, {{"z", "1"}})}; }
};
using q = card<q_tag>;
using g0 = card<g0_tag>;
using g1 = card<g1_tag>;
using other = card<other_tag>;
using many = card<many_tag>;
static_assert(device_provider<q> && has_vendor<q> && device_provider<eps::cpu> && !device_provider<ref_a>);

using all_cards = runtime<g0, q, g1, other, eps::cpu>;

std::unique_ptr<model> relu() {
  model_builder b;
  b.output(b.node("Relu", {b.input("x", dtype::f32, {dim::fixed(2)})}));
  return b.take();
}

std::string words_of(const status& s) { return std::string{s.name()} + ": " + std::string{s.words()}; }

/// The names of a session's providers, separated by spaces, or the error of loading.
template <class Runtime>
std::string chosen(const Runtime& runtime, const session_options& options = {}) {
  const auto s = runtime.load(relu(), options);
  if (!s) return words_of(s.error());
  std::string names;
  for (const std::string& each : s->providers()) names += (names.empty() ? "" : " ") + each;
  return names;
}
template <class Runtime>
std::string chosen(const Runtime& runtime, device_policy policy) {
  session_options options;
  CHECK(options.prefer(policy));
  return chosen(runtime, options);
}
/// Options with a policy that returns these indices.
session_options choosing(std::vector<std::size_t> numbers) {
  session_options options;
  options.choose_devices = [numbers](const device_request&) -> result<std::vector<std::size_t>> { return numbers; };
  return options;
}
session_options with_config(session_options options, std::vector<std::pair<std::string, std::string>> config) {
  options.config = std::move(config);
  return options;
}

words names_in(const std::vector<ep_device>& devices) {
  words names;
  for (const ep_device& d : devices) names.push_back(d.provider + "/" + d.device.name);
  return names;
}

TEST_CASE("devices are listed in the order of their providers, anew with each call") {
  const std::vector<ep_device> all = all_cards{}.devices();
  CHECK(names_in(all) == words{"g0/GPU", "q/NPU", "g1/GPU", "other/GPU", "cpu/CPU"});
  CHECK(all[1].ep == "QExecutionProvider");
  CHECK(all[1].vendor == "Acme");
  CHECK(all[1].vendor_id == acme);
  CHECK(all[1].kind() == device_kind::npu);
  CHECK(*find_text(all[1].device.options, "x") == "1");
  CHECK(!all[1].is_fallback);
  CHECK(all[4].is_fallback);
  CHECK(find_text(all[4].device.metadata, "version"));
  CHECK(find_text(all[4].device.metadata, "instruction_set"));
  CHECK(all[4].device.options.empty());
}

TEST_CASE("11: the same provider twice, no devices, devices of two providers") {
  const std::vector<ep_device> all = runtime<many, q, eps::cpu>{}.devices();
  const std::span<const ep_device> from{all};
  session_options options;
  CHECK(words_of(options.append({})) ==
        "INVALID_ARGUMENT: appending a provider by its devices: at least one is needed");
  CHECK(words_of(options.append(from.subspan(3, 2))) ==
        "INVALID_ARGUMENT: appending a provider by its devices: they are of ManyExecutionProvider and of "
        "QExecutionProvider; append one at a time");
  CHECK(options.providers.empty());
  CHECK(options.append(from.first(1)));
  CHECK(options.append(from.subspan(1, 1)));
  CHECK(chosen(runtime<many, q, eps::cpu>{}, options) == "FAIL: provider 'many' is named twice");
  session_options named;
  named.providers = {"q", "QExecutionProvider"};
  CHECK(chosen(runtime<many, q, eps::cpu>{}, named) == "FAIL: provider 'q' is named twice");
}

TEST_CASE("12: the order is NPUs, GPUs (discrete ones and the vendor's provider first), CPUs, and last the fallback") {
  const words sorted{"q/NPU", "g1/GPU", "other/GPU", "g0/GPU", "cpu/CPU"};
  CHECK(names_in(all_cards{}.devices_by_preference()) == sorted);
  std::vector<ep_device> all = all_cards{}.devices();
  const auto by_name = [](const ep_device& a, const ep_device& b) { return a.provider < b.provider; };
  std::sort(all.begin(), all.end(), by_name);
  do {
    std::vector<ep_device> some = all;
    detail::sort_by_preference(some);
    CHECK(names_in(some) == sorted);
  } while (std::next_permutation(all.begin(), all.end(), by_name));
}

TEST_CASE("equal devices of one provider stay in the listed order; those of equal providers are sorted by name") {
  std::vector<ep_device> all;
  words wanted{"f/GPU"};
  for (int i = 40; i > 0; --i) {  // so many that an unstable sort would change their order
    all.push_back({"g", "GExecutionProvider", "", 0, false, device(std::to_string(i * 7 % 41), device_kind::gpu)});
    wanted.push_back("g/" + all.back().device.name);
  }
  all.push_back({"f", "FExecutionProvider", "", 0, false, device("GPU", device_kind::gpu)});
  detail::sort_by_preference(all);
  CHECK(names_in(all) == wanted);
}

TEST_CASE("vendors are compared by number if both have one, otherwise by name; a fallback is last among CPUs") {
  const auto cpu = [](const char* name, std::string vendor, std::uint32_t id, bool is_fallback) {
    ep_device made{name, name, std::move(vendor), id, is_fallback, device("CPU", device_kind::cpu)};
    return made;
  };
  std::vector<ep_device> all{cpu("a_fallback", "Somebody", 0, true), cpu("b_by_words_alone", "Acme", 7, false),
                             cpu("c_without_number", "Acme", 0, false), cpu("d_by_number", "Trade Mark", acme, false)};
  detail::sort_by_preference(all);
  CHECK(names_in(all) == words{"c_without_number/CPU", "d_by_number/CPU", "b_by_words_alone/CPU", "a_fallback/CPU"});
}

TEST_CASE("13: policies take a device of their kind if there is one, then the CPU") {
  const all_cards with;
  const runtime<g0, eps::cpu> without_npu;
  CHECK(chosen(with, device_policy::prefer_npu) == "q cpu");
  CHECK(chosen(without_npu, device_policy::prefer_npu) == "cpu");
  CHECK(chosen(with, device_policy::prefer_gpu) == "g1 cpu");
  CHECK(chosen(with, device_policy::max_performance) == "g1 cpu");
  CHECK(chosen(with, device_policy::max_efficiency) == "q cpu");
  CHECK(chosen(with, device_policy::min_overall_power) == "q cpu");
  CHECK(chosen(with, device_policy::default_policy) == "cpu");
  CHECK(chosen(with, device_policy::prefer_cpu) == "cpu");
  CHECK(chosen(with) == "g0 q g1 other cpu");  // without a policy
  const runtime<many, eps::cpu> of_all_kinds;  // its CPU precedes the fallback
  CHECK(chosen(of_all_kinds, device_policy::prefer_cpu) == "many cpu");
  session_options options;
  CHECK(options.prefer(device_policy::prefer_cpu));
  const auto s = of_all_kinds.load(relu(), options);
  REQUIRE(s);
  CHECK(names_in(s->devices()) == words{"many/CPU", "cpu/CPU"});
}

TEST_CASE("14: an unknown number or name of a policy is an error") {
  session_options options;
  CHECK(words_of(options.prefer(device_policy{77})) ==
        "INVALID_ARGUMENT: 77 is not a device policy; they have numbers from 0 to 6");
  CHECK(!options.choose_devices);
  CHECK(*detail::device_policy_named("max_efficiency") == device_policy::max_efficiency);
  CHECK(*detail::device_policy_named("default") == device_policy::default_policy);
  const auto unknown = detail::device_policy_named("PREFER_NPU");
  REQUIRE(!unknown);
  CHECK(words_of(unknown.error()) ==
        "INVALID_ARGUMENT: 'PREFER_NPU' is not a device policy; there are default, prefer_cpu, prefer_npu, prefer_gpu, "
        "max_performance, max_efficiency, min_overall_power");
}

TEST_CASE("15: a delegate receives the sorted devices and the model's metadata, once") {
  std::unique_ptr<model> m = relu();
  m->producer_name = "trainer", m->producer_version = "2.1", m->domain = "org.example", m->model_version = 5;
  m->doc_string = "about the model", m->main().name = "net", m->main().doc_string = "about the graph";
  m->metadata.emplace_back("license", "MIT");
  words devices;
  detail::text_pairs about;
  int calls = 0;
  session_options options;
  options.choose_devices = [&](const device_request& request) -> result<std::vector<std::size_t>> {
    for (const ep_device& d : request.devices) devices.push_back(d.provider);
    about = request.model, ++calls;
    return std::vector<std::size_t>{1, 4, 0};
  };
  const auto s = all_cards{}.load(std::move(m), options);
  REQUIRE_MESSAGE(s, std::string{s.error().words()});
  CHECK(s->providers() == words{"g1", "cpu", "q"});
  CHECK(names_in(s->devices()) == words{"g1/GPU", "cpu/CPU", "q/NPU"});
  CHECK(devices == words{"q", "g1", "other", "g0", "cpu"});
  CHECK(calls == 1);
  CHECK(about == detail::text_pairs{{"producer_name", "trainer"},
                                    {"producer_version", "2.1"},
                                    {"domain", "org.example"},
                                    {"model_version", "5"},
                                    {"doc_string", "about the model"},
                                    {"graph_name", "net"},
                                    {"graph_description", "about the graph"},
                                    {"license", "MIT"}});
}

TEST_CASE(
    "15: a delegate chooses 1 to 8 different existing devices; its errors and exceptions are FAIL with its words") {
  const all_cards with;
  CHECK(chosen(with, choosing({})) == "FAIL: choosing devices: the policy chose none");
  CHECK(chosen(with, choosing({0, 1, 2, 3, 4, 0, 1, 2, 3})) ==
        "FAIL: choosing devices: the policy chose 9 devices; 8 is the most");
  CHECK(chosen(with, choosing({0, 5})) == "FAIL: choosing devices: the policy chose device number 5; there are 5");
  CHECK(chosen(with, choosing({0, 4, 0})) == "FAIL: choosing devices: the policy chose device number 0 twice");
  session_options options;
  options.choose_devices = [](const device_request&) -> result<std::vector<std::size_t>> {
    return status{status_code::not_found, "no card for this model"};
  };
  CHECK(chosen(with, options) == "FAIL: choosing devices: no card for this model");
  options.choose_devices = [](const device_request&) -> result<std::vector<std::size_t>> {
    throw std::runtime_error{"lost the list"};
  };
  CHECK(chosen(with, options) == "FAIL: choosing devices: lost the list");
  const runtime<many, card<silent_tag>, q, g0, g1, other, eps::cpu> ten;
  CHECK(chosen(ten, choosing({0, 1, 2, 3, 4, 5, 6, 7})) == "many q g1 other g0 cpu");  // 8 are allowed
}

TEST_CASE("15: a delegate is not called when providers are named; a fallback that it omits is appended") {
  int calls = 0;
  session_options options;
  options.choose_devices = [&](const device_request&) -> result<std::vector<std::size_t>> {
    return ++calls, std::vector<std::size_t>{0};
  };
  CHECK(chosen(all_cards{}, options) == "q cpu");
  CHECK(calls == 1);
  options.providers = {"g0"};
  CHECK(chosen(all_cards{}, options) == "g0 cpu");
  CHECK(calls == 1);
}

TEST_CASE("16: a device's default option is used unless the user sets it; the session has its key") {
  seen record;
  const runtime<q, eps::cpu> with{q{&record}, eps::cpu{}};
  session_options options;
  CHECK(options.prefer(device_policy::prefer_npu));
  const std::string key = "ep.qexecutionprovider.x";
  const auto by_device = with.load(relu(), options);
  REQUIRE(by_device);
  CHECK(record.x == "1");
  CHECK(!record.is_set);
  CHECK(by_device->config(key) == "1");
  CHECK(by_device->config("ep.qexecutionprovider.device_type") == "");  // not set
  for (const char* name : {"ep.q.x", "ep.qexecutionprovider.x"}) {
    const auto by_user = with.load(relu(), with_config(options, {{name, "2"}}));
    REQUIRE(by_user);
    CHECK(record.x == "2");
    CHECK(record.is_set);
    CHECK(by_user->config(key) == "2");
  }
  session_options named;  // its device was not chosen
  named.providers = {"q"};
  record = {};
  REQUIRE(with.load(relu(), named));
  CHECK(record.configured == 0);
  session_options appended;
  const std::vector<ep_device> all = with.devices();
  CHECK(appended.append(std::span{all}.first(1), {{"x", "3"}}));
  const auto by_call = with.load(relu(), appended);
  REQUIRE(by_call);
  CHECK(record.x == "3");
  CHECK(by_call->config(key) == "3");
  CHECK(names_in(by_call->devices()) == words{"q/NPU"});
  CHECK(by_call->providers() == words{"q", "cpu"});
}

TEST_CASE("devices of one provider make one instance that is given all of them, in order of preference") {
  seen record;
  const runtime<many, eps::cpu> with{many{&record}, eps::cpu{}};
  CHECK(chosen(with, choosing({0, 3, 1})) == "many cpu");  // the indices refer to NPU, GPU.1, GPU.0, CPU, cpu's CPU
  CHECK(record.configured == 1);
  CHECK(record.devices == words{"NPU", "CPU", "GPU.1"});
  CHECK(record.device_type == "NPU");  // of several devices that set the option, the first one's value
  CHECK(chosen(with, with_config(choosing({1, 0}), {{"ep.many.device_type", "NPU"}})) == "many cpu");
  CHECK(record.device_type == "NPU");
  CHECK(record.devices == words{"GPU.1", "NPU"});
}

TEST_CASE("options are checked against the provider's table, whether a device or the user sets them") {
  const runtime<q, card<misled_tag>, eps::cpu> with;
  const std::vector<ep_device> all = with.devices();
  session_options options;
  CHECK(options.append(std::span{all}.first(1), {{"y", "3"}}));
  CHECK(chosen(with, options) ==
        "INVALID_ARGUMENT: session key 'ep.qexecutionprovider.y': QExecutionProvider has no "
        "option 'y'; it has x, device_type");
  CHECK(chosen(with, with_config(choosing({0}), {{"ep.q.y", "3"}})) ==
        "INVALID_ARGUMENT: session key 'ep.q.y': QExecutionProvider has no option 'y'; it has x, device_type");
  session_options misled;
  CHECK(misled.append(std::span{all}.subspan(1, 1)));
  CHECK(chosen(with, misled) ==
        "INVALID_ARGUMENT: device 'NPU': MisledExecutionProvider has no option 'z'; it has x, device_type");
}

TEST_CASE("a provider that can't list its devices has none: policies ignore it, and the log has the reason") {
  const runtime<card<silent_tag>, card<throwing_tag>, q, eps::cpu> with;
  words failed;
  CHECK(names_in(with.devices([&](const provider_row& row, const status& why) {
          failed.push_back(std::string{row.name} + ": " + words_of(why));
        })) == words{"q/NPU", "cpu/CPU"});
  CHECK(failed == words{"silent: EP_FAIL: the driver does not answer", "throwing: EP_FAIL: the driver crashed"});
  words warnings;
  session_options options;
  options.log = [&](log_level, std::string_view line) { warnings.emplace_back(line); };
  options.log_from = log_level::warning;
  CHECK(options.prefer(device_policy::prefer_npu));
  CHECK(chosen(with, options) == "q cpu");
  CHECK(warnings == words{"SilentExecutionProvider can't list its devices: the driver does not answer",
                          "ThrowingExecutionProvider can't list its devices: the driver crashed"});
}

TEST_CASE("without a CPU policies fail; a user's policy does not need one") {
  const runtime<partial<q, g0>> cards;
  CHECK(chosen(cards, device_policy::prefer_npu) ==
        "FAIL: choosing devices: no provider has a device of kind cpu, and a policy needs one to fall back on");
  CHECK(chosen(cards, choosing({1})) == "g0");
  CHECK(chosen(runtime<partial<many>>{}, device_policy::prefer_gpu) == "many");
  CHECK(chosen(runtime<devices_by<prefer_npu>, partial<g1, many>>{}) == "many");
}

TEST_CASE("without fallback to cpu, it is removed from a policy's choice, and the others must run everything") {
  const std::pair<std::string, std::string> none{"session.disable_cpu_ep_fallback", "1"};
  session_options options;
  CHECK(options.prefer(device_policy::prefer_npu));
  options.config = {none};
  const auto s = all_cards{}.load(relu(), options);
  REQUIRE_MESSAGE(s, std::string{s.error().words()});
  CHECK(names_in(s->devices()) == words{"q/NPU"});
  CHECK(s->providers() == words{"q", "cpu"});  // the fallback is still listed
  CHECK(chosen(runtime<g0, eps::cpu>{}, options) ==
        "FAIL: choosing devices: the policy chose the fallback alone, and session.disable_cpu_ep_fallback is set");
  model_builder b;
  b.output(b.node("Neg", {b.node("Relu", {b.input("x", dtype::f32, {dim::fixed(2)})})}));
  const auto left_over = all_cards{}.load(b.take(), options);
  REQUIRE(!left_over);
  CHECK(left_over.error().code() == status_code::fail);
  CHECK(left_over.error().words().find("Neg") != std::string_view::npos);
  options.providers = {"cpu"};  // named explicitly
  CHECK(chosen(all_cards{}, options).find("INVALID_ARGUMENT: session.disable_cpu_ep_fallback") == 0);
}

/// A user's policy that chooses every device other than a CPU.
struct no_cpus {
  result<std::vector<std::size_t>> operator()(const device_request& request) const {
    std::vector<std::size_t> numbers;
    for (std::size_t i = 0; i < request.devices.size(); ++i)
      if (request.devices[i].kind() != device_kind::cpu) numbers.push_back(i);
    return numbers;
  }
};

TEST_CASE("a policy is part of a runtime's type; names and a policy in the options have precedence") {
  const runtime<devices_by<prefer_npu>, g0, q, eps::cpu> npu;
  CHECK(chosen(npu) == "q cpu");
  CHECK(names_in(npu.devices()) == words{"g0/GPU", "q/NPU", "cpu/CPU"});
  session_options named;
  named.providers = {"g0"};
  CHECK(chosen(npu, named) == "g0 cpu");
  CHECK(chosen(npu, device_policy::prefer_gpu) == "g0 cpu");
  CHECK(chosen(runtime<devices_by<no_cpus>, g0, q, eps::cpu>{}) == "q g0 cpu");
  seen record;
  CHECK(chosen(runtime<devices_by<prefer_npu>, q, eps::cpu>{q{&record}, eps::cpu{}}) == "q cpu");
  CHECK(record.configured == 1);
}

TEST_CASE("devices in the options without their provider are an error") {
  const std::vector<ep_device> all = all_cards{}.devices();
  session_options options;
  options.devices = {all[1]};
  CHECK(chosen(all_cards{}, options) ==
        "INVALID_ARGUMENT: session options have devices, and no providers that they are of; use "
        "session_options::append");
  options.providers = {"g0"};
  CHECK(chosen(all_cards{}, options) ==
        "INVALID_ARGUMENT: session options have a device of QExecutionProvider, which "
        "is not among their providers");
  options.providers = {"g0", "q"};
  CHECK(chosen(all_cards{}, options) == "g0 q cpu");
}

/// RefA with an NPU as its device.
struct ref_npu : ref_a {
  stated devices() const { return std::vector{device("NPU", device_kind::npu)}; }
};

TEST_CASE("a class that can't be edited lists devices by its ep_traits") {
  CHECK(names_in(runtime<engine, eps::cpu>{}.devices()) == words{"engine/NPU", "cpu/CPU"});
  CHECK(chosen(runtime<devices_by<prefer_npu>, engine, eps::cpu>{}) == "engine cpu");
}

TEST_CASE("a policy also applies to compiling") {
  std::string folder = (std::filesystem::temp_directory_path() / "cameo_devices_XXXXXX").string();
  REQUIRE(mkdtemp(folder.data()));
  const auto compiled_nodes = [&](const auto& runtime, device_policy policy) {
    compile_options how;
    how.input = relu(), how.output = folder + "/m.onnx", how.fail_if_output_exists = false;
    CHECK(how.session.prefer(policy));
    const auto done = runtime.compile(std::move(how));
    REQUIRE_MESSAGE(done, std::string{done.error().words()});
    return done->compiled_nodes;
  };
  const runtime<ref_npu, eps::cpu> with;
  CHECK(compiled_nodes(with, device_policy::prefer_npu) == 1);
  CHECK(compiled_nodes(with, device_policy::prefer_cpu) == 0);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace cameo::test
