#include "program/options.hpp"

#include "build/runtime.hpp"
#include "core/nearest.hpp"
#include "program/interrupt.hpp"
#include "program/progress.hpp"
#include "program/say.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>

namespace cameo::program {

session_options common_options::session() const {
  session_options made = for_package();
  static_cast<void>(build::choose_default_provider(made));  // --policy excludes --ep
  return made;
}

session_options common_options::for_package() const {
  session_options made;
  made.providers = providers;
  if (policy) static_cast<void>(made.prefer(*policy));  // one that there is: see add_policy_option
  made.config = config;
  if (strict) made.config.emplace_back("session.strict", "1");
  made.free_dims = free_dims;
  made.threads = threads;
  made.optimize = optimize;
  if (stoppable) made.stop = interrupt::token();
  if (!quiet)
    made.progress = [bar = std::make_shared<progress_bar>(false)](const load_progress& p) {
      if (p.stage == "done") bar->clear();
      else bar->show(p.fraction, p.stage);
    };
  made.log_from = log;
  made.log = [](log_level level, std::string_view words) {
    static constexpr std::string_view names[] = {"verbose", "info", "warning"};
    say(stderr, "{}: {}\n", names[std::size_t(level)], words);
  };
  return made;
}

namespace {

/// The value behind a name, among a few; null for another.
template <class T>
const T* named(std::span<const std::pair<std::string_view, T>> all, std::string_view name) {
  const auto at = std::find_if(all.begin(), all.end(), [&](const auto& each) { return each.first == name; });
  return at == all.end() ? nullptr : &at->second;
}

constexpr std::pair<std::string_view, optimization_level> levels[] = {{"none", optimization_level::none},
                                                                      {"basic", optimization_level::basic},
                                                                      {"extended", optimization_level::extended},
                                                                      {"layout", optimization_level::layout},
                                                                      {"all", optimization_level::all}};
/// By its name, or by its number.
const optimization_level* level_named(std::string_view name) {
  for (const auto& [known, level] : levels)
    if (name == known || name == std::to_string(int(level))) return &level;
  return nullptr;
}

constexpr const char* level_words = "none|basic|extended|layout|all";
std::string check_level(const std::string& level) {
  if (level_named(level)) return {};
  std::vector<std::string_view> names;
  for (const auto& each : levels) names.push_back(each.first);
  return "needs none, basic, extended, layout or all, not " + level + did_you_mean(level, names);
}

/// Headings of the help.
constexpr const char *session_group = "Session", *output_group = "Output", *package_group = "Model packages";

constexpr std::pair<std::string_view, log_level> severities[] = {
    {"verbose", log_level::verbose}, {"info", log_level::info}, {"warning", log_level::warning}};

}  // namespace

void add_ep_option(const command& it, std::vector<std::string>& to) {
  it.group(session_group)
      .add_each(
          "--ep", [&to](const std::string& name) { to.push_back(name); },
          "Execution provider, short or long name; repeatable, by priority (cpu)")
      .type_name("NAME");
}

namespace {

/// The providers of the build that load a library which a session names: those with an option of that name.
template <class... Ps>
std::vector<std::string> library_providers(type_list<Ps...>) {
  std::vector<std::string> names;
  const auto add = [&]<class P>(std::type_identity<P>) {
    if constexpr (requires { P::options; })
      for (const provider_option& o : P::options)
        if (o.key == "library") names.emplace_back(P::name);
  };
  (add(std::type_identity<Ps>{}), ...);
  return names;
}

}  // namespace

void add_library_option(const command& it, common_options& to) {
  const std::vector<std::string> loaders = library_providers(build::providers{});
  if (loaders.empty()) return;
  it.group(session_group)
      .add(
          "--ep-library",
          [&to, loaders](const std::string& words) {
            const std::size_t colon = std::min(words.find(':'), words.size());
            to.providers.insert(to.providers.begin(), loaders.begin(), loaders.end());
            for (const std::string& each : loaders) {
              to.config.emplace_back(fmt::format("ep.{}.library", each), words.substr(0, colon));
              if (colon < words.size())
                to.config.emplace_back(fmt::format("ep.{}.options", each), words.substr(colon + 1));
            }
          },
          "A vendor's plugin of ONNX Runtime as the first provider, with its options (docs/ort_plugin_host.md)")
      .type_name("PATH[:KEY=VALUE;...]");
}

void add_ranked_option(const command& it, common_options& to) {
  it.group(package_group)
      .add_flag("--ranked,!--no-ranked", to.ranked,
                "Of a model package: where nothing fits the first provider, ask the next one, which is the default; "
                "--no-ranked asks the first alone, as ONNX Runtime does, and without --ep and --policy cpu");
}

text_check key_and_value() {
  return [](const std::string& pair) {
    return pair.find('=') == pair.npos || pair.front() == '=' ? std::string{"needs KEY=VALUE"} : std::string{};
  };
}

std::pair<std::string, std::string> split_pair(const std::string& pair) {
  const std::size_t equals = pair.find('=');
  return {pair.substr(0, equals), pair.substr(equals + 1)};
}

namespace {

void add_sizes(const command& it, const char* option, dim_sizes& to, const char* words) {
  it.add_each(
        option, [&to](const std::string& pair) { static_cast<void>(parse_dim(pair, to.emplace_back())); }, words)
      .type_name("NAME=N")
      .check([](const std::string& pair) {
        std::pair<std::string, std::int64_t> parsed;
        return parse_dim(pair, parsed) ? std::string{} : "needs NAME=N with N from 0";
      });
}

}  // namespace

namespace {

/// Everything but --ep, --json and --quiet.
void add_session_options(const command& session, common_options& to) {
  session.add("--threads", to.threads, "Threads in all (default: what cpuset and CPU quota allow)")
      .type_name("N")
      .between(std::size_t{1}, std::size_t{1024});
  session
      .add_each(
          "--config", [&to](const std::string& pair) { to.config.push_back(split_pair(pair)); },
          "Session configuration entry, with ONNX Runtime's names; repeatable")
      .type_name("KEY=VALUE")
      .check(key_and_value());
  session.add_flag("--strict", to.strict, "What docs/oddities.md lists is an error (session.strict)");
  add_sizes(session, "--free-dim", to.free_dims,
            "Size of a symbolic dim of the inputs, for which the model is planned; repeatable");
  session
      .add(
          "--optimize", [&to](const std::string& level) { to.optimize = *level_named(level); },
          "Graph optimization: none, basic, extended, layout or all (default)")
      .type_name(level_words)
      .check(check_level);
  session
      .add(
          "--log", [&to](const std::string& from) { to.log = *named<log_level>(severities, from); },
          "Says on standard error what loading does, from this severity on: verbose, info or warning (default)")
      .one_of({"verbose", "info", "warning"});
}

}  // namespace

void add_common_options(const command& it, common_options& to, json_output json) {
  add_ep_option(it, to.providers);
  add_library_option(it, to);
  add_session_options(it.group(session_group), to);
  if (json == json_output::flag)
    it.group(output_group).add_flag("--json", to.json, "One JSON object on standard output, nothing else there");
  it.group(output_group).add_flag("--quiet", to.quiet, "No progress on standard error");
}

void add_list_options(const command& it, common_options& to) {
  it.add_each(
        "--ep", [&to](const std::string& name) { to.providers.push_back(name); },
        "Only these providers, short or long name; repeatable (all)")
      .type_name("NAME");
  it.add_flag("--json", to.json, "One JSON object on standard output, nothing else there");
  const command unseen = it.group(command::hidden);
  add_session_options(unseen, to);
  unseen.add_flag("--quiet", to.quiet, "No progress on standard error");
}

common_options side_options::over(common_options common) const {
  if (!providers.empty()) common.providers = providers;
  common.config.insert(common.config.end(), config.begin(), config.end());
  if (optimize) common.optimize = *optimize;
  return common;
}

void add_side_options(const command& it, const std::string& side, side_options& to) {
  const std::string words = side == "a" ? " of the first side" : " of the second side";
  const command group = it.group("Sides");
  const auto option = [&](const char* name) { return "--" + side + name; };
  group
      .add_each(
          option("-ep").c_str(), [&to](const std::string& name) { to.providers.push_back(name); },
          ("Execution provider" + words + ", instead of --ep; repeatable").c_str())
      .type_name("NAME");
  group
      .add_each(
          option("-config").c_str(), [&to](const std::string& pair) { to.config.push_back(split_pair(pair)); },
          ("Session configuration entry" + words + ", beside --config; repeatable").c_str())
      .type_name("KEY=VALUE")
      .check(key_and_value());
  group
      .add(
          option("-optimize").c_str(), [&to](const std::string& level) { to.optimize = *level_named(level); },
          ("Graph optimization" + words + ", instead of --optimize").c_str())
      .type_name(level_words)
      .check(check_level);
}

void add_policy_option(const command& it, common_options& to) {
  it.group(session_group)
      .add(
          "--policy", [&to](const std::string& name) { to.policy = *detail::device_policy_named(name); },
          "Chooses providers by their devices")
      .type_name("default|prefer_cpu|prefer_npu|prefer_gpu|max_performance|max_efficiency|min_overall_power")
      .excludes(it["--ep"])
      .check([](const std::string& name) {
        const result<device_policy> known = detail::device_policy_named(name);
        return known ? std::string{} : std::string{known.error().words()};
      });
}

void add_dim_option(const command& it, dim_sizes& to, const char* words) { add_sizes(it, "--dim", to, words); }

int fail(const status& error) {
  std::fflush(stdout);
  const int code = report(error);
  return interrupt::happened() ? interrupt::exit_code : code;
}

void warn(std::string_view words) {
  std::fflush(stdout);
  say(stderr, "warning: {}\n", words);
}

status require_other_file(const std::string& model, const std::string& output) {
  std::error_code error;
  if (!std::filesystem::equivalent(model, output, error) || error || !std::filesystem::is_regular_file(output, error))
    return {};
  return {status_code::invalid_argument,
          output + ": is the model that is read, and would be replaced; give the output another name"};
}

std::string_view level_name(optimization_level level) {
  for (const auto& [name, known] : levels)
    if (known == level) return name;
  return {};
}

nlohmann::ordered_json bytes_written(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return {};
  const std::uintmax_t bytes = std::filesystem::file_size(path, error);
  return error ? nlohmann::ordered_json{} : nlohmann::ordered_json(bytes);
}

std::string size_written(const std::string& path) {
  const nlohmann::ordered_json bytes = bytes_written(path);
  return bytes.is_null() ? "written" : bytes.dump() + " bytes";
}

std::string to_text(const nlohmann::ordered_json& object, int indent) {
  return object.dump(indent, ' ', true, nlohmann::ordered_json::error_handler_t::replace);
}

void print_json(const nlohmann::ordered_json& object) {
  nlohmann::ordered_json whole{{"version", json_version}};
  whole.update(object);
  const std::string text = to_text(whole) + "\n";
  std::fwrite(text.data(), 1, text.size(), stdout);
}

std::string shape_text(const extents& shape) { return fmt::format("[{}]", fmt::join(shape.dims(), ",")); }

}  // namespace cameo::program
