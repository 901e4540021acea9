#include "program/options.hpp"

#include "build/runtime.hpp"
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
  session_options made = *this;
  if (strict) made.config.emplace_back("session.strict", "1");
  if (stoppable) made.stop = interrupt::token();
  if (!quiet)
    made.progress = [bar = std::make_shared<progress_bar>(false)](const load_progress& p) {
      if (p.stage == "done") bar->clear();
      else bar->show(p.fraction, p.stage);
    };
  made.log = [](log_level level, std::string_view words) {
    static constexpr std::string_view names[] = {"verbose", "info", "warning"};
    say(stderr, "{}: {}\n", names[std::size_t(level)], words);
  };
  return made;
}

namespace {

/// Headings of the help.
constexpr const char *session_group = "Session", *output_group = "Output", *package_group = "Model packages";

/// Receives the text of an option, which its row accepts.
using option_reader = std::function<void(const option_row&, const std::string&)>;

/// Adds the flag of a row of the table of session options.
option add_row(const command& it, const option_row& row, const std::string& flag, const std::string& words,
               const option_reader& read) {
  if (row.is_switch()) return it.add_flag(flag.c_str(), [read, &row] { read(row, "1"); }, words.c_str());
  const auto take = [read, &row](const std::string& text) { read(row, text); };
  const option made = row.repeatable ? it.add_each(flag.c_str(), take, (words + "; repeatable").c_str())
                                     : it.add(flag.c_str(), take, words.c_str());
  return made.type_name(std::string{row.shown_value()}.c_str()).check([&row](const std::string& text) {
    session_options scratch;
    return std::string{row.set(scratch, text).words()};
  });
}

/// The option of a row among the common options.
option add_row(const command& it, const option_row& row, common_options& to) {
  const std::string initial = row.initial.empty() || row.is_switch() ? "" : fmt::format(" (default: {})", row.initial);
  return add_row(it, row, std::string{row.flag}, std::string{row.words} + initial,
                 [&to](const option_row& r, const std::string& text) {
                   static_cast<void>(r.set(to, text));
                   to.is_given |= r.name != "log_level";
                 });
}

const option_row& row_named(std::string_view name) { return **option_named(name); }

}  // namespace

void add_ep_option(const command& it, common_options& to) {
  add_row(it.group(session_group), row_named("providers"), to);
}

namespace {

/// The names of the providers of the build that load a library, because they have the option "library".
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

/// "--ep-library PATH[:OPTIONS]", where a provider of the build loads libraries.
void add_library_option(const command& it, common_options& to) {
  const std::vector<std::string> loaders = library_providers(build::providers{});
  if (loaders.empty()) return;
  it.group(session_group)
      .add(
          "--ep-library",
          [&to, loaders](const std::string& words) {
            const std::size_t colon = std::min(words.find(':'), words.size());
            to.is_given = true;
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

}  // namespace

void add_ranked_option(const command& it, common_options& to) {
  it.group(package_group)
      .add_flag(
          "--ranked,!--no-ranked", to.ranked,
          "If no variant of a model package fits the first provider, the next one is tried, which is the default; "
          "--no-ranked tries only the first, as ONNX Runtime does, which is cpu without --ep and --policy");
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

/// The options of the table, but for --ep and --policy, which not every command has; and --strict.
void add_session_options(const command& it, common_options& to) {
  for (const option_row& row : option_rows())
    if (row.name != "providers" && row.name != "policy") add_row(it, row, to);
  it["--log"].description("Prints what loading does on standard error, from this severity on (default: warning)");
  it.add_flag("--strict", to.strict, "What docs/oddities.md lists is an error (session.strict)");
}

}  // namespace

void add_common_options(const command& it, common_options& to, json_output json) {
  add_ep_option(it, to);
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

common_options side_options::applied_to(common_options common) const {
  const auto names_providers = [](const auto& each) { return each.first->name == "providers"; };
  if (std::ranges::any_of(given, names_providers)) common.providers.clear();
  for (const auto& [row, text] : given) static_cast<void>(row->set(common, text)), common.is_given = true;
  return common;
}

void add_side_options(const command& it, const std::string& side, side_options& to) {
  const std::string words = side == "a" ? "Of the first side: " : "Of the second side: ";
  for (const char* const name : {"providers", "config", "optimize"}) {
    const option_row& row = row_named(name);
    add_row(it.group("Sides"), row, "--" + side + std::string{row.flag.substr(1)}, words + std::string{row.words},
            [&to](const option_row& r, const std::string& text) { to.given.emplace_back(&r, text); });
  }
}

void add_policy_option(const command& it, common_options& to) {
  const option policy = add_row(it.group(session_group), row_named("policy"), to).excludes(it["--ep"]);
  if (it.has("--ep-library")) policy.excludes(it["--ep-library"]);
}

void add_dim_option(const command& it, dim_sizes& to, const char* words) {
  it.add_each(
        "--dim", [&to](const std::string& pair) { static_cast<void>(parse_dim(pair, to.emplace_back())); }, words)
      .type_name("NAME=N")
      .check([](const std::string& pair) {
        std::pair<std::string, std::int64_t> parsed;
        return parse_dim(pair, parsed) ? std::string{} : "needs NAME=N with N from 0";
      });
}

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
  static constexpr std::string_view names[] = {"none", "basic", "extended", "layout"};
  return level == optimization_level::all ? "all" : names[std::size_t(level)];
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
