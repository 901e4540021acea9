#include "program/share.hpp"
#include "file/messages.hpp"

#include "build/runtime.hpp"
#include "core/config_keys.hpp"
#include "core/nearest.hpp"
#include "program/say.hpp"

#include <cameo/file/atomic_file.hpp>
#include <cameo/session/compile.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace cameo::program {

result<std::vector<std::pair<std::string, std::string>>> read_pairs(std::string_view text) {
  std::vector<std::pair<std::string, std::string>> pairs;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view pair = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (pair.empty()) continue;
    const std::size_t bar = pair.find('|');
    if (bar == 0 || bar == pair.npos) return failed(status_code::invalid_argument, "'{}' is not KEY|VALUE", pair);
    const std::string key{pair.substr(0, bar)};
    if (std::any_of(pairs.begin(), pairs.end(), [&](const auto& each) { return each.first == key; }))
      return failed(status_code::invalid_argument, "'{}' is set twice", key);
    pairs.emplace_back(key, pair.substr(bar + 1));
  }
  return pairs;
}

std::vector<std::string> read_list(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(','), text.size());
    if (end) parts.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

namespace {

/// The short name of a provider, which must be able to write EPContext models.
result<std::string> context_provider(const build::runtime& with, const std::string& name) {
  std::vector<std::string_view> known;
  for (const provider& p : with.providers()) {
    known.push_back(p.row->name);
    if (p.row->name != name && p.row->long_name != name) continue;
    if (p.row->contexts.sources.empty())
      return failed(status_code::not_implemented, "{} does not write contexts that models could share", p.row->name);
    return std::string{p.row->name};
  }
  return failed(status_code::invalid_argument, "there is no provider '{}' in this program; it has {}{}", name,
                fmt::join(known, ", "), did_you_mean(name, known));
}

}  // namespace

result<share_report> share(const share_request& o) {
  const build::runtime with;
  session_options session = o.session;
  session.providers.clear();
  for (const std::string& name : o.providers) {
    result<std::string> provider = context_provider(with, name);
    if (!provider) return std::move(provider).error();
    if (std::ranges::count(session.providers, *provider)) continue;  // --ep-library may name the same provider
    for (const auto& [key, text] : o.provider_options)
      session.config.emplace_back(fmt::format("ep.{}.{}", *provider, key), text);
    session.providers.push_back(*std::move(provider));
  }
  share_report report;
  file_batch files;
  for (std::size_t i = 0; i < o.models.size(); ++i) {
    compile_options how;
    how.input = o.models[i];
    how.session = session;
    how.optimize = optimization_level::basic;  // as in a session with ep.context_enable
    how.fail_if_output_exists = !o.force;
    how.files = &files;
    how.session.config.emplace_back(config_key<"ep.context_embed_mode">.key, "0");
    how.session.config.emplace_back(config_key<"ep.share_ep_contexts">.key, "1");
    how.session.config.emplace_back(config_key<"ep.stop_share_ep_contexts">.key, i + 1 == o.models.size() ? "1" : "0");
    result<compile_report> done = with.compile(std::move(how));
    if (!done) return std::move(done).error();
    if (std::any_of(report.models.begin(), report.models.end(),
                    [&](const compile_report& before) { return before.path == done->path; }))
      return failed(status_code::invalid_argument, "{}: two of the models would be written there; rename one",
                    done->path);
    report.models.push_back(std::move(*done));
  }
  if (status s = files.commit(); !s) return s;
  return report;
}

namespace {

struct share_command {
  common_options common;
  std::string models, provider_options;
  bool force = false;
};

int run_share(const share_command& o) {
  if (o.common.providers.empty()) return wrong_usage("cameo share", "needs --ep or --ep-library");
  share_request request;
  request.models = read_list(o.models);
  request.providers = o.common.providers;
  request.session = o.common.session();
  request.force = o.force;
  auto pairs = read_pairs(o.provider_options);
  if (!pairs) return fail(std::move(pairs).error().in("-i"));
  request.provider_options = std::move(*pairs);
  const result<share_report> done = share(request);
  if (!done) return fail(done.error());
  if (o.common.json) {
    nlohmann::ordered_json models = nlohmann::ordered_json::array();
    for (const compile_report& each : done->models)
      models.push_back({{"path", each.path}, {"compiled_nodes", each.compiled_nodes}});
    print_json({{"ep", request.providers.front()}, {"models", std::move(models)}});
  } else if (!o.common.quiet) {
    for (const compile_report& each : done->models) say("{}: compiled nodes: {}\n", each.path, each.compiled_nodes);
  }
  return 0;
}

}  // namespace

void add_share(command_line& app) {
  auto o = std::make_shared<share_command>();
  const command it = app.add_command("share",
                                     "Compiles models into one context that they share: N models give N files "
                                     "<stem>_ctx.onnx, and one file with the context beside the first");
  it.add("MODELS", o->models, "Models with commas between them, in one folder")
      .required()
      .check([](const std::string& list) { return read_list(list).empty() ? "names no model" : std::string{}; });
  it.add("-i,--ep-options", o->provider_options, "Options of the provider, as in \"key|value key|value\"")
      .type_name("OPTIONS");
  it.add_flag("--force", o->force, "Replaces models that exist; otherwise that is an error");
  add_common_options(it, o->common, json_output::flag);
  it.remove("--optimize");
  it["--ep"].description("The provider, by short or long name; repeatable, in order of priority");
  it.does([o] { return run_share(*o); });
}

}  // namespace cameo::program
