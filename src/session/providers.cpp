// Chooses the providers of a session and their devices, and sets the providers' options.
#include "core/guarded.hpp"
#include "core/nearest.hpp"
#include "file/letters.hpp"
#include "file/messages.hpp"
#include "session/stages.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <range/v3/view/transform.hpp>

#include <algorithm>
#include <utility>

namespace CAMEO_NAMESPACE {
namespace {

bool is_named(const provider& p, std::string_view name) { return p.row->name == name || p.row->long_name == name; }

bool uses(std::span<const provider> providers, const provider& p) {
  return std::any_of(providers.begin(), providers.end(), [&](const provider& q) { return q.row == p.row; });
}

/// Appends the fallbacks, which need not be named.
void append_fallbacks(std::span<const provider> all, std::vector<provider>& to) {
  for (const provider& p : all)
    if (p.row->is_fallback && !uses(to, p)) to.push_back(p);
}

/// The model's metadata, for device policies.
detail::text_pairs metadata_of(const model& net) {
  detail::text_pairs made{{"producer_name", std::string{net.producer_name}},
                          {"producer_version", std::string{net.producer_version}},
                          {"domain", std::string{net.domain}},
                          {"model_version", std::to_string(net.model_version)},
                          {"doc_string", std::string{net.doc_string}},
                          {"graph_name", std::string{net.main().name}},
                          {"graph_description", std::string{net.main().doc_string}}};
  for (const auto& [key, value] : net.metadata) made.emplace_back(key, value);
  return made;
}

/// The devices whose indices a policy returned, in its order. FAIL if the indices are invalid.
result<std::vector<ep_device>> chosen(const std::vector<std::size_t>& numbers, const std::vector<ep_device>& from) {
  const auto refuse = [](const std::string& words) {
    return status{status_code::fail, "choosing devices: the policy " + words};
  };
  if (numbers.empty()) return refuse("chose none");
  if (numbers.size() > detail::most_devices)
    return refuse(fmt::format("chose {} devices; {} is the most", numbers.size(), detail::most_devices));
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

status session_options::append(std::span<const ep_device> of_one_provider, const detail::text_pairs& provider_options) {
  return guarded([&]() -> status {
    if (of_one_provider.empty())
      return {status_code::invalid_argument, "appending a provider by its devices: at least one is needed"};
    const std::string& ep = of_one_provider.front().ep;
    for (const ep_device& d : of_one_provider)
      if (d.ep != ep)
        return failed(status_code::invalid_argument,
                      "appending a provider by its devices: they are of {} and of {}; append one at a time", ep, d.ep);
    providers.push_back(ep);
    devices.insert(devices.end(), of_one_provider.begin(), of_one_provider.end());
    for (const auto& [key, text] : provider_options)
      config.emplace_back(fmt::format("ep.{}.{}", lower_case(ep), key), text);
    return {};
  });
}

status session_options::prefer(device_policy policy) {
  return guarded([&]() -> status {
    result<detail::device_delegate> made = detail::delegate_of(policy);
    if (!made) return std::move(made).error();
    choose_devices = std::move(*made);
    return {};
  });
}

namespace {

/// Appends the options that the caller or a device set for a provider, with their keys in session::config.
void publish(const provider_row& row, const provider_options& set, detail::text_pairs& to) {
  for (const provider_option& each : row.options) {
    bool is_set = set.is_set(each.key);
    for (const provider_device& device : set.devices()) is_set = is_set || find_text(device.options, each.key);
    if (is_set) to.emplace_back(fmt::format("ep.{}.{}", lower_case(row.long_name), each.key), set[each.key]);
  }
}

/// The options of a provider that the session's configuration keys and the chosen devices set.
result<provider_options> options_for(const provider_row& row, const session_options& options,
                                     std::span<const provider_device> devices) {
  provider_options set{row.options, devices};
  for (const provider_device& device : devices)
    for (const auto& [key, text] : device.options)
      if (!set.find(key)) return no_option(fmt::format("device '{}'", device.name), row, key);
  for (const auto& [key, text] : options.config) {
    const std::string_view rest = std::string_view{key}.substr(key.rfind("ep.", 0) == 0 ? 3 : key.size());
    const std::size_t dot = rest.find('.');
    if (dot == rest.npos || !is_key_of(row, rest.substr(0, dot))) continue;
    if (!set.set(rest.substr(dot + 1), text))
      return no_option(fmt::format("session key '{}'", key), row, rest.substr(dot + 1));
  }
  return set;
}

/// Replaces a provider for which the session has options or devices by a copy that is configured with them.
status configure(provider& p, const load_settings& how, chosen_providers& of) {
  const provider_row& row = *p.row;
  std::vector<provider_device> mine;
  for (const ep_device& d : of.devices)
    if (d.ep == row.long_name) mine.push_back(d.device);
  result<provider_options> set = options_for(row, how.options, mine);
  if (!set) return std::move(set).error();
  // A provider whose programs differ for such contexts has this option (docs/contexts.md); for others, set() has no
  // effect.
  if (how.config.is_weightless()) static_cast<void>(set->set("weightless", "1"));
  if (how.config.is_on(config_key<"session.round_float16">)) static_cast<void>(set->set("round_float16", "1"));
  publish(row, *set, of.options);
  if (set->empty()) return {};
  const auto make = [&] { return row.configured(p.self.get(), *set); };
  result<std::shared_ptr<const void>> made = guarded_hook(make);
  if (!made) return std::move(made).error().in(row.long_name);
  if (*made) p.self = std::move(*made);
  return {};
}

/// The kinds of the devices that were chosen for a provider; if none were, of all its devices.
detail::device_kinds kinds_of(const provider& p, std::vector<ep_device> chosen) {
  std::erase_if(chosen, [&](const ep_device& d) { return d.ep != p.row->long_name; });
  detail::device_kinds has;
  for (const ep_device& d : chosen.empty() ? detail::devices_of({&p, 1}) : chosen) has.add(d.kind());
  return has;
}

result<chosen_providers> configured(chosen_providers&& made, const load_settings& how) {
  for (provider& p : made.list)
    if (status s = configure(p, how, made); !s) return s;
  if (how.used_rules())
    for (const provider& p : made.list) made.kinds.push_back(kinds_of(p, made.devices));
  return std::move(made);
}

constexpr const config_key_row& no_fallback = config_key<"session.disable_cpu_ep_fallback">;

/// The provider of the runtime that the session options name.
result<provider> provider_named(const std::string& name, std::span<const provider> before, const load_settings& how) {
  const std::span<const provider> all = how.of_runtime;
  const auto found = std::find_if(all.begin(), all.end(), [&](const provider& p) { return is_named(p, name); });
  if (found == all.end()) {
    const auto names = all | ranges::views::transform([](const provider& p) { return p.row->name; });
    return failed(status_code::invalid_argument, "there is no provider '{}' in this runtime; it has {}{}", name,
                  fmt::join(names, ", "), did_you_mean(name, names));
  }
  if (uses(before, *found)) return failed(status_code::fail, "provider '{}' is named twice", found->row->name);
  if (found->row->is_fallback && how.config.is_on(no_fallback))
    return failed(status_code::invalid_argument,
                  "{} is set, but the fallback '{}' is named as a provider; do one or the other", no_fallback.key,
                  found->row->name);
  return *found;
}

}  // namespace

result<chosen_providers> choose_by_list(const load_settings& how) {
  chosen_providers made;
  if (how.options.providers.empty()) {
    made.list.assign(how.of_runtime.begin(), how.of_runtime.end());
    return configured(std::move(made), how);
  }
  for (const std::string& name : how.options.providers) {
    result<provider> p = provider_named(name, made.list, how);
    if (!p) return std::move(p).error();
    made.list.push_back(*std::move(p));
  }
  for (const ep_device& d : how.options.devices)
    if (std::none_of(made.list.begin(), made.list.end(), [&](const provider& p) { return p.row->long_name == d.ep; }))
      return failed(status_code::invalid_argument,
                    "session options have a device of {}, which is not among their providers", d.ep);
  made.devices = how.options.devices;
  append_fallbacks(how.of_runtime, made.list);
  return configured(std::move(made), how);
}

/// The policy receives all devices in order of preference. The providers are in the order of their first chosen device.
result<chosen_providers> choose_by_policy(const load_settings& how, const model& net) {
  std::vector<ep_device> sorted = detail::devices_of(how.of_runtime, [&](const provider_row& row, const status& why) {
    how.warn(fmt::format("{} can't list its devices: {}", row.long_name, why.words()));
  });
  detail::sort_by_preference(sorted);
  const detail::text_pairs about = metadata_of(net);
  const auto choose = [&] { return how.options.choose_devices(device_request{sorted, about}); };
  result<std::vector<std::size_t>> numbers = guarded_hook(choose);
  if (!numbers) return with_code(status_code::fail, numbers.error()).in("choosing devices");
  result<std::vector<ep_device>> devices = chosen(*numbers, sorted);
  if (!devices) return std::move(devices).error();
  chosen_providers made;
  made.devices = std::move(*devices);
  if (how.config.is_on(no_fallback)) {
    std::erase_if(made.devices, [](const ep_device& d) { return d.is_fallback; });
    if (made.devices.empty())
      return failed(status_code::fail, "choosing devices: the policy chose the fallback alone, and {} is set",
                    no_fallback.key);
  }
  for (const ep_device& d : made.devices)
    for (const provider& p : how.of_runtime)
      if (p.row->long_name == d.ep && !uses(made.list, p)) made.list.push_back(p);
  append_fallbacks(how.of_runtime, made.list);
  return configured(std::move(made), how);
}

std::vector<claim_row> chosen_providers::claimers() const {
  std::vector<claim_row> rows;
  for (const provider& p : list)
    rows.push_back(claimer(p, rows.size() < kinds.size() ? kinds[rows.size()] : detail::device_kinds{}));
  return rows;
}

}  // namespace CAMEO_NAMESPACE
