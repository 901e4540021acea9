// Selects the variant of a component for this machine, and loads sessions of it.
#include <cameo/context/compatibility.hpp>
#include <cameo/session/component_context.hpp>

#include "core/guarded.hpp"
#include "file/letters.hpp"
#include "file/messages.hpp"
#include "session/loaded.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace CAMEO_NAMESPACE {

/// The selection and the opened files. An error of opening a file is stored, and returned when a session needs the
/// file.
struct component_context::impl {
  std::string component, folder;
  package_variant variant;
  detail::ep_intent intent;
  cameo::selection selected;  // points into `variant` and `intent`
  std::vector<ep_device> devices;
  opened_places places;
  status model_error, weights_error, contexts_error;

  void open_model(const package&);
  void open_folders(const package&);
  result<session_options> options_for_session(const session_options* given, opened_places&) const;
};

namespace {

constexpr std::string_view contexts_key = config_key<"ep.context_file_path">.key, weights_key = weights_folder_key.key;

variant_fit as_variant_fit(compiled_fit fit) {
  switch (fit) {
    case compiled_fit::not_applicable: return variant_fit::not_applicable;
    case compiled_fit::optimal: return variant_fit::optimal;
    case compiled_fit::prefer_recompilation: return variant_fit::prefer_recompilation;
    case compiled_fit::unsupported: return variant_fit::unsupported;
  }
  return variant_fit::not_applicable;
}

/// Appends a provider for the selection: an entry for each of its devices or, if it lists none, one without a kind.
void add_facts(detail::ep_intent& to, const provider& p, std::span<const ep_device> devices) {
  const auto judge = [p](std::string_view text) -> result<variant_fit> {
    const result<compiled_fit> fit = fit_of(p, text);
    if (!fit) return status{fit.error()};
    return as_variant_fit(*fit);
  };
  const std::size_t before = to.devices.size();
  for (const ep_device& d : devices) {
    if (d.ep != p.row->long_name) continue;
    to.devices.push_back(
        {d.ep, std::string{detail::name_of(d.kind())}, d.device.hardware.vendor, d.device.metadata, judge});
    to.behind.emplace_back(d);
  }
  if (to.devices.size() > before) return;
  to.devices.push_back({std::string{p.row->long_name}, {}, std::string{p.row->vendor.name}, {}, judge});
  to.behind.emplace_back();
}

/// The devices for sessions of the variant: those that the options or the policy chose individually; if there are none
/// and the variant is for one kind of device, the device that was selected for it.
std::vector<ep_device> captured(const detail::ep_intent& intent, const selection& selected) {
  const std::optional<std::string>& kind = selected.variant->device;
  std::vector<ep_device> made;
  for (const ep_device& d : intent.chosen)
    if (d.ep == selected.device->ep && (!kind || detail::device_kind_named(*kind) == d.kind())) made.push_back(d);
  const std::optional<ep_device>& one = intent.behind[std::size_t(selected.device - intent.devices.data())];
  if (made.empty() && kind && one) made.push_back(*one);
  return made;
}

bool has_key(const session_options& options, std::string_view key) {
  return std::any_of(options.config.begin(), options.config.end(), [&](const auto& each) { return each.first == key; });
}

/// Checks the choice of a caller's policy. FAIL if the variant or the device does not exist. If the policy chose no
/// device, sets the first device of the variant's provider.
status settle(selection& made, const package_component& of, const detail::ep_intent& intent) {
  const auto refuse = [&](std::string_view words) {
    return failed(status_code::fail, "component '{}': the policy chose {}", of.name, words);
  };
  const auto is_among = [](const auto* one, const auto& all) {
    return std::any_of(all.begin(), all.end(), [&](const auto& each) { return &each == one; });
  };
  if (!is_among(made.variant, of.variants)) return refuse("a variant that is not the component's");
  if (made.device)
    return is_among(made.device, intent.devices) ? status{} : refuse("a device that was not in the request");
  const auto first = std::find_if(intent.devices.begin(), intent.devices.end(),
                                  [&](const device_facts& d) { return d.ep == made.variant->ep; });
  if (first == intent.devices.end())
    return refuse(fmt::format("variant '{}' and no device, and there is no provider '{}' here", made.variant->name,
                              made.variant->ep.value_or("")));
  made.device = &*first;
  return {};
}

/// The long names of the providers that the options name or a policy chose, without a fallback that was only appended.
std::vector<std::string> wished(const session_options& how, const detail::ep_intent& intent) {
  std::vector<std::string> made;
  const auto add = [&](const std::string& ep) {
    if (std::find(made.begin(), made.end(), ep) == made.end()) made.push_back(ep);
  };
  for (const ep_device& d : intent.chosen) add(d.ep);
  if (how.providers.empty()) return made;
  made.clear();
  for (const device_facts& d : intent.devices) add(d.ep);
  made.resize(std::min(made.size(), how.providers.size()));
  return made;
}

/// Warns of variants for providers that were named or chosen but not considered, because another provider precedes
/// them.
void warn_ignored(const session_options& how, const package_component& of, const selection& made,
                  const detail::ep_intent& intent) {
  if (!how.log || made.verdicts.size() != of.variants.size()) return;
  const std::vector<std::string> eps = wished(how, intent);
  for (std::size_t i = 0; i < made.verdicts.size(); ++i) {
    const package_variant& v = of.variants[i];
    if (!v.ep || *v.ep == made.verdicts[i].ep || std::find(eps.begin(), eps.end(), *v.ep) == eps.end()) continue;
    const std::string words =
        fmt::format("component '{}': variant '{}' is for {}, which was not considered: {} precedes it", of.name, v.name,
                    *v.ep, made.verdicts[i].ep);
    call_user("session_options::log", [&] { how.log(log_level::warning, words); });
  }
}

/// The error that no variant fits. If a variant's provider exists but was not considered, it states how to change that.
status nothing_fits(const package_component& of, const selection& made, const detail::ep_intent& intent) {
  const status words = no_suitable_variant(of, made, intent.devices);
  for (std::size_t i = 0; i < std::min(made.verdicts.size(), of.variants.size()); ++i) {
    const package_variant& v = of.variants[i];
    const bool is_here = std::any_of(intent.devices.begin(), intent.devices.end(),
                                     [&](const device_facts& d) { return v.ep && d.ep == *v.ep; });
    if (!is_here || made.verdicts[i].ep == *v.ep) continue;
    return failed(words.code(),
                  "{} (variant '{}' is for {}, which was not considered: name it as a provider, or let the policy try "
                  "all providers, best_fit{{.ranked = true}})",
                  words.words(), v.name, *v.ep);
  }
  return words;
}

}  // namespace

component_context::component_context(std::shared_ptr<const impl> made) : impl_{std::move(made)} {}
const std::string& component_context::component() const { return impl_->component; }
const package_variant& component_context::variant() const { return impl_->variant; }
const std::string& component_context::folder() const { return impl_->folder; }
const std::string& component_context::ep() const { return impl_->selected.device->ep; }
const std::vector<ep_device>& component_context::devices() const { return impl_->devices; }
const selection& component_context::selected() const { return impl_->selected; }

void component_context::impl::open_model(const package& from) {
  if (!variant.model_file) {
    model_error = {status_code::fail,
                   fmt::format("component '{}': variant '{}' names no model file (executor_info.ort.model_file)",
                               component, variant.name)};
    return;
  }
  auto file = from.read(variant, *variant.model_file);
  auto beside = from.open_folder_of(variant, *variant.model_file);
  if (file && beside) {
    places.model = *std::move(file), places.model_folder = *std::move(beside);
    return;
  }
  model_error = (file ? beside.error() : file.error()).in(fmt::format("component '{}'", component));
}

/// Opens the folders that the package's session options name, so that their later replacement has no effect.
void component_context::impl::open_folders(const package& from) {
  for (const auto& [key, text] : variant.option_paths) {
    if (key != weights_key && key != contexts_key) continue;
    auto opened = key == weights_key ? from.open_folder(variant, text) : from.open_folder_of(variant, text);
    const std::string where = fmt::format("component '{}', variant '{}', {}", component, variant.name, key);
    status& error = key == weights_key ? weights_error : contexts_error;
    if (opened) (key == weights_key ? places.weights : places.contexts) = *std::move(opened);
    else error = with_code(status_code::fail, opened.error()).in(where);
  }
}

result<detail::ep_intent> detail::loader::intent(const session_options& how) const {
  return guarded_hook([&]() -> result<detail::ep_intent> {
    const result<load_settings> with = load_settings::make(*this, how);
    if (!with) return with.error();
    const session_options& options = with->options;
    const model unknown;  // the model is selected later, so a policy receives no metadata
    const result<chosen_providers> by =
        options.choose_devices ? choose_by_policy(*with, unknown) : choose_by_list(*with);
    if (!by) return by.error();
    detail::ep_intent made;
    made.is_wish = !options.providers.empty() || options.choose_devices;
    made.chosen = by->devices;
    for (const provider& p : by->list) {
      const bool is_chosen = std::any_of(by->devices.begin(), by->devices.end(),
                                         [&](const ep_device& d) { return d.ep == p.row->long_name; });
      add_facts(made, p, is_chosen ? by->devices : detail::devices_of(std::span{&p, 1}));
    }
    return made;
  });
}

result<component_context> detail::loader::select(const package& from, std::string_view component,
                                                 const session_options& how, variant_choice choose) const {
  const auto all = [&]() -> result<component_context> {
    const result<const package_component*> found = from.component(component);
    if (!found) return status{found.error()};
    result<detail::ep_intent> intent = this->intent(how);
    if (!intent) return std::move(intent).error();
    auto made = std::make_shared<component_context::impl>();
    made->intent = std::move(*intent);
    made->selected = call_user(
        "the policy", [&] { return choose({**found, from.layout(), made->intent.devices, made->intent.is_wish}); });
    warn_ignored(how, **found, made->selected, made->intent);
    if (!made->selected.variant) return nothing_fits(**found, made->selected, made->intent);
    if (status s = settle(made->selected, **found, made->intent); !s) return s;
    made->component = (*found)->name;
    made->variant = *made->selected.variant;
    made->selected.variant = &made->variant;
    made->devices = captured(made->intent, made->selected);
    if (!made->variant.folder.empty())
      if (result<std::string> folder = from.resolve({}, made->variant.folder, false)) made->folder = *std::move(folder);
    made->open_model(from);
    made->open_folders(from);
    return component_context{std::move(made)};
  };
  result<component_context> made = guarded_hook(all);
  if (!made) return std::move(made).error().in(from.folder());
  return made;
}

/// The options for a session: without options of the caller, the package's; otherwise the caller's, and those of the
/// package that name folders which the caller does not set.
result<session_options> component_context::impl::options_for_session(const session_options* given,
                                                                     opened_places& opened) const {
  session_options options = given ? *given : session_options{};
  const std::string& ep = selected.device->ep;
  if (options.providers.empty() && options.devices.empty()) options.providers = {ep}, options.devices = devices;
  for (const auto& [key, text] : variant.session_options) {
    const bool is_path = std::any_of(variant.option_paths.begin(), variant.option_paths.end(),
                                     [&, &wanted = key](const auto& each) { return each.first == wanted; });
    const bool is_set = has_key(options, key) || (key == weights_key && !options.external_data_folder.empty());
    if ((given && !is_path) || is_set) continue;
    options.config.emplace_back(key, text);
    if (key == weights_key) {
      if (!weights_error) return status{weights_error};
      opened.weights = places.weights;
    }
    if (key == contexts_key) {
      if (!contexts_error) return status{contexts_error};
      opened.contexts = places.contexts;
    }
  }
  if (!given)
    for (const auto& [key, text] : variant.provider_options)
      options.config.emplace_back(fmt::format("ep.{}.{}", lower_case(ep), key), text);
  return options;
}

result<session> detail::loader::load(const component_context& from, const session_options* given) const {
  return guarded_hook([&]() -> result<session> {
    const component_context::impl& c = *from.impl_;
    opened_places places{c.places.model, c.places.model_folder, {}, {}};
    result<session_options> options = c.options_for_session(given, places);
    if (!options) return std::move(options).error();
    if (!c.model_error) return status{c.model_error};
    const std::string path = places.model->path();
    const auto read = [&](const load_settings& how) { return read_path(how, path); };
    return session::impl::make(*this, *options, path, std::move(places), read);
  });
}

}  // namespace CAMEO_NAMESPACE
