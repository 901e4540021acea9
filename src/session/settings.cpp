// The settings that a model is loaded with, from the user's options and the runtime.
#include "session/settings.hpp"
#include "core/nearest.hpp"
#include "file/messages.hpp"

#include "file/letters.hpp"
#include "os/processors.hpp"
#include "session/placement_rules.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <range/v3/view/transform.hpp>

#include <algorithm>

namespace CAMEO_NAMESPACE {
namespace {

/// Returns INVALID_ARGUMENT for a key "ep..." that is not in the table and does not name an option of a provider of the
/// runtime. The session need not use the provider.
status require_known_keys(const session_options& options, std::span<const provider> of_runtime) {
  std::vector<std::string> known;
  for (const provider& p : of_runtime)
    for (const provider_option& each : p.row->options)
      for (const std::string& name : {std::string{p.row->name}, lower_case(p.row->long_name)})
        known.push_back(fmt::format("ep.{}.{}", name, each.key));
  for (const auto& [key, text] : options.config) {
    if (!key.starts_with("ep.") || row_of(key)) continue;
    const std::string_view rest = std::string_view{key}.substr(3);
    const std::string_view of = rest.substr(0, rest.find('.')),
                           option = rest.substr(std::min(of.size() + 1, rest.size()));
    const auto owner = std::find_if(of_runtime.begin(), of_runtime.end(), [&](const provider& p) {
      return of.size() < rest.size() && is_key_of(*p.row, of);
    });
    if (owner == of_runtime.end()) return unknown_key(key, known);
    if (std::ranges::find(owner->row->options, option, &provider_option::key) == owner->row->options.end())
      return no_option(fmt::format("session key '{}'", key), *owner->row, option);
  }
  return {};
}

std::size_t machine_memory() {
  const std::size_t known = os::machine_memory();
  return known > 0 ? known : std::size_t{1} << 34;
}

void tell_of_config(const load_settings& how) {
  for (const auto& [key, value] : how.options.config) {
    const config_key_row* const row = row_of(key);
    if (!row) continue;
    if (row->support == key_support::ignored)
      how.warn(fmt::format("session key '{}' has no effect: {}", key, row->meaning));
    else if (row->values == key_values::on_or_off && value != "0" && value != "1")
      how.warn(fmt::format("session key '{}' is '{}', which counts as 0; it can be 0 or 1", key, value.substr(0, 40)));
  }
}

void name_exceptions_of_callbacks(session_options& options) {
  name_exceptions_of(options.log, "session_options::log");
  name_exceptions_of(options.progress, "session_options::progress");
  name_exceptions_of(options.read_context, "session_options::read_context");
  name_exceptions_of(options.write_context, "session_options::write_context");
  if (options.stop.stop_possible()) {
    struct named {
      stop_token own;
      bool stop_requested() const {
        return call_user("session_options::stop", [&] { return own.stop_requested(); });
      }
    };
    options.stop = stop_token{named{std::move(options.stop)}};
  }
}

}  // namespace

bool is_key_of(const provider_row& row, std::string_view of) {
  return of == row.name || context_source{row.long_name, true}.matches(of);
}

status no_option(std::string_view where, const provider_row& row, std::string_view option) {
  if (row.options.empty())
    return failed(status_code::invalid_argument, "{}: {} has no option '{}'; it has none", where, row.long_name,
                  option);
  const auto keys = row.options | ranges::views::transform(&provider_option::key);
  return failed(status_code::invalid_argument, "{}: {} has no option '{}'; it has {}{}", where, row.long_name, option,
                fmt::join(keys, ", "), did_you_mean(option, keys));
}

result<load_settings> load_settings::make(const detail::loader& by, const session_options& wanted) {
  load_settings made;
  session_options& options = made.options = wanted;
  name_exceptions_of_callbacks(options);
  made.of_runtime = by.providers, made.formats = by.formats, made.transforms = by.transforms;
  made.workspace = options.workspace ? options.workspace : by.workspace;
  result<session_config> config = session_config::make(options);
  if (!config) return std::move(config).error();
  made.config = std::move(*config);
  if (status s = require_known_keys(options, by.providers); !s) return s;
  if (status s = made.config.apply_to(options); !s) return s;
  tell_of_config(made);
  result<placement_rules> rules = placement_rules_of(made.config);
  if (!rules) return std::move(rules).error();
  made.rules = std::move(*rules);
  if (options.providers.empty() && !options.devices.empty())
    return status{status_code::invalid_argument,
                  "session options have devices, and no providers that they are of; use session_options::append"};
  if (!options.providers.empty()) options.choose_devices = {};
  else if (!options.choose_devices) options.choose_devices = by.choose_devices;
  made.memory_limit = options.memory_limit ? options.memory_limit : machine_memory();
  return made;
}

/// The value of the key lists names of transforms, separated by ',' or ';'.
std::vector<std::string_view> load_settings::disabled_transforms() const {
  std::string_view list = config[config_key<"optimization.disable_specified_optimizers">];
  std::vector<std::string_view> names;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find_first_of(",;"), list.size());
    if (const std::string_view name = list.substr(0, end); !name.empty()) names.push_back(name);
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return names;
}

const detail::format_row& format_of(std::span<const detail::format_row> formats, std::span<const std::byte> bytes,
                                    std::string_view path) {
  for (const detail::format_row& f : formats)
    if (f.recognizes(bytes, path)) return f;
  return formats.back();
}

/// Names of formats are upper case in values of keys, and are compared exactly.
result<const detail::format_row*> load_settings::format_named(std::string_view value) const {
  const auto is = [&](std::string_view name) {
    return std::equal(name.begin(), name.end(), value.begin(), value.end(),
                      [](char a, char b) { return (a >= 'a' && a <= 'z' ? char(a - 32) : a) == b; });
  };
  for (const detail::format_row& f : formats)
    if (is(f.name)) return &f;
  if (value != "ORT") return &formats.back();
  return status{status_code::invalid_argument, "'ORT' is not among the formats that this runtime was given"};
}

}  // namespace CAMEO_NAMESPACE
