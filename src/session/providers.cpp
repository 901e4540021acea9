// Which providers a session uses, on which of their devices, with which options.
#include "file/letters.hpp"
#include "plan/guarded.hpp"
#include "session/session_impl.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <range/v3/view/transform.hpp>

#include <algorithm>
#include <utility>

namespace cameo::inline CAMEO_ABI {
namespace {

bool is_named(const provider& p, std::string_view name) { return p.row->name == name || p.row->long_name == name; }

bool uses(std::span<const provider> providers, const provider& p) {
  return std::any_of(providers.begin(), providers.end(), [&](const provider& q) { return q.row == p.row; });
}

/// Fallbacks stay last without being named.
void append_fallbacks(std::span<const provider> all, std::vector<provider>& to) {
  for (const provider& p : all)
    if (p.row->is_fallback && !uses(to, p)) to.push_back(p);
}

/// Whether "ep.<of>.<key>" speaks of this provider.
bool means(const provider_row& row, std::string_view of) {
  return of == row.name || context_source{row.long_name, true}.is(of);
}

status no_option(std::string_view where, const provider_row& row, std::string_view option) {
  if (row.options.empty())
    return {status_code::invalid_argument,
            fmt::format("{}: {} has no option '{}'; it has none", where, row.long_name, option)};
  return {status_code::invalid_argument,
          fmt::format("{}: {} has no option '{}'; it has {}", where, row.long_name, option,
                      fmt::join(row.options | ranges::views::transform(&provider_option::key), ", "))};
}

/// What a model says of itself, for delegates.
text_pairs metadata_of(const model& net) {
  text_pairs made{{"producer_name", std::string{net.producer_name}},
                  {"producer_version", std::string{net.producer_version}},
                  {"domain", std::string{net.domain}},
                  {"model_version", std::to_string(net.model_version)},
                  {"doc_string", std::string{net.doc_string}},
                  {"graph_name", std::string{net.main().name}},
                  {"graph_description", std::string{net.main().doc_string}}};
  for (const auto& [key, value] : net.metadata) made.emplace_back(key, value);
  return made;
}

/// What a policy chose: the devices, in its order.
result<std::vector<ep_device>> chosen(const std::vector<std::size_t>& numbers, const std::vector<ep_device>& from) {
  const auto refuse = [](const std::string& words) {
    return status{status_code::fail, "choosing devices: the policy " + words};
  };
  if (numbers.empty()) return refuse("chose none");
  if (numbers.size() > most_devices)
    return refuse(fmt::format("chose {} devices; {} is the most", numbers.size(), most_devices));
  std::vector<ep_device> made;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i] >= from.size())
      return refuse(fmt::format("chose device number {}; there are {}", numbers[i], from.size()));
    if (std::find(numbers.begin(), numbers.begin() + std::ptrdiff_t(i), numbers[i]) !=
        numbers.begin() + std::ptrdiff_t(i))
      return refuse(fmt::format("chose device number {} twice", numbers[i]));
    made.push_back(from[numbers[i]]);
  }
  return made;
}

}  // namespace

status session_options::append(std::span<const ep_device> of_one_provider, const text_pairs& provider_options) {
  if (of_one_provider.empty())
    return {status_code::invalid_argument, "appending a provider by its devices: at least one is needed"};
  const std::string& ep = of_one_provider.front().ep;
  for (const ep_device& d : of_one_provider)
    if (d.ep != ep)
      return {
          status_code::invalid_argument,
          fmt::format("appending a provider by its devices: they are of {} and of {}; append one at a time", ep, d.ep)};
  providers.push_back(ep);
  devices.insert(devices.end(), of_one_provider.begin(), of_one_provider.end());
  for (const auto& [key, text] : provider_options)
    config.emplace_back(fmt::format("ep.{}.{}", lower_case(ep), key), text);
  return {};
}

status session_options::prefer(device_policy policy) {
  result<device_delegate> made = delegate_of(policy);
  if (!made) return std::move(made).error();
  choose_devices = std::move(*made);
  return {};
}

/// A key "ep." is one of the table, or names an option that a provider of the runtime has, used or not.
status session::impl::require_known_keys(std::span<const provider> of_runtime) const {
  std::vector<std::string> known;
  for (const provider& p : of_runtime)
    for (const provider_option& each : p.row->options)
      for (const std::string& name : {std::string{p.row->name}, lower_case(p.row->long_name)})
        known.push_back(fmt::format("ep.{}.{}", name, each.key));
  const std::span<const config_key_row> rows = config_keys();
  for (const auto& [key, text] : options.config) {
    if (!key.starts_with("ep.")) continue;
    if (std::any_of(rows.begin(), rows.end(), [&k = key](const config_key_row& row) { return row.key == k; })) continue;
    const std::string_view rest = std::string_view{key}.substr(3);
    const std::string_view of = rest.substr(0, rest.find('.')),
                           option = rest.substr(std::min(of.size() + 1, rest.size()));
    const auto owner = std::find_if(of_runtime.begin(), of_runtime.end(),
                                    [&](const provider& p) { return means(*p.row, of) && of.size() < rest.size(); });
    if (owner == of_runtime.end()) return unknown_key(key, known);
    const auto& its = owner->row->options;
    if (std::none_of(its.begin(), its.end(), [&](const provider_option& each) { return each.key == option; }))
      return no_option(fmt::format("session key '{}'", key), *owner->row, option);
  }
  return {};
}

/// Session options narrow and reorder the runtime's list; or a policy chooses, once the model has been read.
status session::impl::choose_providers(const session_parts& parts) {
  all.assign(parts.providers.begin(), parts.providers.end());
  if (!options.providers.empty()) return choose_named();
  if (!options.devices.empty())
    return {status_code::invalid_argument,
            "session options have devices, and no providers that they are of; use session_options::append"};
  choose_devices = options.choose_devices ? options.choose_devices : parts.choose_devices;
  if (choose_devices) return {};
  providers = all;
  return configure_providers();
}

status session::impl::choose_named() {
  for (const std::string& name : options.providers) {
    const auto found = std::find_if(all.begin(), all.end(), [&](const provider& p) { return is_named(p, name); });
    if (found == all.end()) {
      const auto names = all | ranges::views::transform([](const provider& p) { return p.row->name; });
      return {status_code::invalid_argument,
              fmt::format("there is no provider '{}' in this runtime; it has {}", name, fmt::join(names, ", "))};
    }
    if (uses(providers, *found))
      return {status_code::fail, fmt::format("provider '{}' is named twice", found->row->name)};
    if (found->row->is_fallback && config.is_on("session.disable_cpu_ep_fallback"))
      return {status_code::invalid_argument,
              fmt::format("session.disable_cpu_ep_fallback is set, and yet the fallback '{}' is named as a provider; "
                          "do one or the other",
                          found->row->name)};
    providers.push_back(*found);
  }
  for (const ep_device& d : options.devices)
    if (std::none_of(providers.begin(), providers.end(), [&](const provider& p) { return p.row->long_name == d.ep; }))
      return {status_code::invalid_argument,
              fmt::format("session options have a device of {}, which is not among their providers", d.ep)};
  devices = options.devices;
  append_fallbacks(all, providers);
  return configure_providers();
}

/// A policy sees all devices in the order of preference. Providers follow in the order of their first device.
status session::impl::choose_by_devices() {
  if (!choose_devices) return {};
  const device_delegate policy = std::exchange(choose_devices, {});
  std::vector<ep_device> sorted = devices_of(all, [this](const provider_row& row, const status& why) {
    if (logs(log_level::warning))
      options.log(log_level::warning, fmt::format("{} can't say which devices it has: {}", row.long_name, why.words()));
  });
  sort_by_preference(sorted);
  const text_pairs about = metadata_of(*net);
  const auto ask = [&] { return policy(device_request{sorted, about}); };
  result<std::vector<std::size_t>> numbers = guarded<result<std::vector<std::size_t>>>(ask);
  if (!numbers) return status{status_code::fail, std::string{numbers.error().words()}}.in("choosing devices");
  result<std::vector<ep_device>> made = chosen(*numbers, sorted);
  if (!made) return std::move(made).error();
  devices = std::move(*made);
  if (config.is_on("session.disable_cpu_ep_fallback")) {
    std::erase_if(devices, [](const ep_device& d) { return d.is_fallback; });
    if (devices.empty())
      return {status_code::fail,
              "choosing devices: the policy chose the fallback alone, and session.disable_cpu_ep_fallback is set"};
  }
  for (const ep_device& d : devices)
    for (const provider& p : all)
      if (p.row->long_name == d.ep && !uses(providers, p)) providers.push_back(p);
  append_fallbacks(all, providers);
  return configure_providers();
}

/// Publishes options that the user or a device set, under the provider's long name; defaults of the table stay unset.
void session::impl::publish(const provider_row& row, const provider_options& set) {
  for (const provider_option& each : row.options) {
    bool is_said = set.is_set(each.key);
    for (const provider_device& device : set.devices()) is_said = is_said || find_text(device.options, each.key);
    if (is_said) config.set(fmt::format("ep.{}.{}", lower_case(row.long_name), each.key), set[each.key]);
  }
}

/// Providers with options or devices of the session's are replaced by copies of them that have these.
status session::impl::configure_providers() {
  for (provider& p : providers) {
    const provider_row& row = *p.row;
    std::vector<provider_device> mine;
    for (const ep_device& d : devices)
      if (d.ep == row.long_name) mine.push_back(d.device);
    provider_options set{row.options, mine};
    for (const provider_device& device : mine)
      for (const auto& [key, text] : device.options)
        if (!set.find(key)) return no_option(fmt::format("device '{}'", device.name), row, key);
    for (const auto& [key, text] : options.config) {
      const std::string_view rest = std::string_view{key}.substr(key.rfind("ep.", 0) == 0 ? 3 : key.size());
      const std::size_t dot = rest.find('.');
      if (dot == rest.npos || !means(row, rest.substr(0, dot))) continue;
      if (!set.set(rest.substr(dot + 1), text))
        return no_option(fmt::format("session key '{}'", key), row, rest.substr(dot + 1));
    }
    publish(row, set);
    if (set.empty()) continue;
    const auto make = [&] { return row.configured(p.self.get(), set); };
    result<std::shared_ptr<const void>> made = guarded<result<std::shared_ptr<const void>>>(make);
    if (!made) return std::move(made).error().in(row.long_name);
    if (*made) p.self = std::move(*made);
  }
  return {};
}

}  // namespace cameo::inline CAMEO_ABI
