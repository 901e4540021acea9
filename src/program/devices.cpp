#include "build/runtime.hpp"
#include "core/nearest.hpp"
#include "file/messages.hpp"
#include "program/options.hpp"
#include "program/say.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace cameo::program {
namespace {

using json = nlohmann::ordered_json;

struct devices_options {
  common_options common;
  bool by_preference = false;
};

/// A provider of the program with its devices, or the reason why they cannot be listed.
struct listed_provider {
  const provider_row* row = nullptr;
  std::vector<ep_device> devices;
  std::optional<status> failure;
};

json to_json(const detail::text_pairs& pairs) {
  json made = json::object();
  for (const auto& [key, text] : pairs) made[key] = text;
  return made;
}

json to_json(const ep_device& d) {
  const hardware_device& hardware = d.device.hardware;
  return {{"name", d.device.name},
          {"kind", detail::name_of(d.kind())},
          {"vendor", hardware.vendor},
          {"vendor_id", hardware.vendor_id},
          {"device_id", hardware.id},
          {"hardware", to_json(hardware.metadata)},
          {"metadata", to_json(d.device.metadata)},
          {"options", to_json(d.device.options)}};
}

json to_json(const listed_provider& p) {
  json devices = json::array(), options = json::array();
  for (const ep_device& d : p.devices) devices.push_back(to_json(d));
  for (const provider_option& o : p.row->options)
    options.push_back({{"key", o.key}, {"default", o.otherwise}, {"meaning", o.meaning}});
  json made{{"name", p.row->name},
            {"ep", p.row->long_name},
            {"vendor", p.row->vendor.name},
            {"vendor_id", p.row->vendor.id},
            {"fallback", p.row->is_fallback}};
  if (p.failure) made["devices"] = nullptr, made["error"] = std::string{p.failure->words()};
  else made["devices"] = std::move(devices);
  made["options"] = std::move(options);
  return made;
}

/// "Intel (0x8086)"
std::string maker_text(std::string_view name, std::uint32_t id) {
  if (name.empty() && !id) return "an unknown maker";
  return id ? fmt::format("{} ({:#06x})", name, id) : std::string{name};
}

std::string kind_text(const ep_device& d) {
  return fmt::format("{}, {}", detail::name_of(d.kind()),
                     maker_text(d.device.hardware.vendor, d.device.hardware.vendor_id));
}

void print_pairs(std::string_view title, const detail::text_pairs& pairs) {
  for (const auto& [key, text] : pairs) say("    {} {} = {}\n", title, key, text);
}

void print(const listed_provider& p) {
  const provider_row& row = *p.row;
  say("{}  {}{}{}\n", row.name, row.long_name,
      row.vendor.name.empty() ? "" : ", by " + maker_text(row.vendor.name, row.vendor.id),
      row.is_fallback ? ", the fallback" : "");
  if (p.failure) say("  can't list its devices: {}\n", p.failure->words());
  else if (p.devices.empty()) say("  states no devices\n");
  for (const ep_device& d : p.devices) {
    say("  device {}: {}\n", d.device.name, kind_text(d));
    print_pairs("hardware", d.device.hardware.metadata);
    print_pairs("metadata", d.device.metadata);
    print_pairs("default option", d.device.options);
  }
  for (const provider_option& o : row.options)
    say("  option {} ({}): {}\n", o.key, o.otherwise.empty() ? "empty" : o.otherwise, o.meaning);
}

/// The providers of --ep, or all. INVALID_ARGUMENT for one that is not in the program.
result<std::vector<listed_provider>> listed(const std::vector<std::string>& names) {
  const build::runtime with;
  std::vector<listed_provider> all;
  for (const provider& p : with.providers()) all.push_back({p.row, {}, {}});
  for (const std::string& name : names)
    if (std::none_of(all.begin(), all.end(),
                     [&](const listed_provider& p) { return p.row->name == name || p.row->long_name == name; })) {
      std::vector<std::string_view> known;
      for (const listed_provider& p : all) known.push_back(p.row->name);
      return failed(status_code::invalid_argument, "no provider '{}' in this build; it has {}{}", name,
                    fmt::join(known, ", "), did_you_mean(name, known));
    }
  const auto provider_named = [&](std::string_view name) -> listed_provider& {
    return *std::find_if(all.begin(), all.end(), [&](const listed_provider& p) { return p.row->name == name; });
  };
  for (ep_device& d : with.devices(
           [&](const provider_row& row, const status& why) { provider_named(row.name).failure = status{why}; }))
    provider_named(d.provider).devices.push_back(std::move(d));
  if (!names.empty())
    std::erase_if(all, [&](const listed_provider& p) {
      return std::find(names.begin(), names.end(), p.row->name) == names.end() &&
             std::find(names.begin(), names.end(), p.row->long_name) == names.end();
    });
  return all;
}

int list_devices(const devices_options& o) {
  const result<std::vector<listed_provider>> all = listed(o.common.providers);
  if (!all) return fail(all.error());
  if (!o.by_preference) {
    json providers = json::array();
    for (const listed_provider& p : *all)
      if (o.common.json) providers.push_back(to_json(p));
      else print(p);
    if (o.common.json) print_json({{"providers", std::move(providers)}});
    return 0;
  }
  std::vector<ep_device> devices;
  for (const listed_provider& p : *all) devices.insert(devices.end(), p.devices.begin(), p.devices.end());
  detail::sort_by_preference(devices);
  json list = json::array();
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const ep_device& d = devices[i];
    json one{{"provider", d.provider}, {"ep", d.ep}};
    one.update(to_json(d));
    if (o.common.json) list.push_back(std::move(one));
    else say("{}  {} of {}: {}\n", i, d.device.name, d.provider, kind_text(d));
  }
  if (o.common.json) print_json({{"devices", std::move(list)}});
  return 0;
}

}  // namespace

void add_devices(command_line& app) {
  auto o = std::make_shared<devices_options>();
  const command it =
      app.add_command("devices", "Lists the providers of this build, their devices here, and their options");
  it.add_flag("--preference", o->by_preference,
              "Devices alone, in the order in which policies (--policy of other commands) get them");
  add_list_options(it, o->common);
  it.does([o] { return list_devices(*o); });
}

}  // namespace cameo::program
