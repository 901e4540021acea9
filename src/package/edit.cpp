#include "file/messages.hpp"
#include "package/impl.hpp"

#include <algorithm>

namespace CAMEO_NAMESPACE {
namespace {

/// Checks that a name can be the name of a folder. INVALID_ARGUMENT if not.
status check_name(std::string_view what, std::string_view name) {
  if (name.empty()) return refused("a {} needs a name", what);
  const std::string_view why = name == "."                   ? "means the folder itself"
                               : name.find('/') != name.npos ? "has a slash in it"
                               : is_own_name(name)           ? "is reserved for files of the package"
                                                             : malformed(package_path, name);
  if (!why.empty()) return refused("the {} name '{}' {}, but it has to be the name of a folder", what, name, why);
  return {};
}

void mark_changed(package::impl& p, const package_component& c) {
  if (c.file) p.changed.insert(c.name);
  else p.manifest_changed = true;
}

void drop_staged(package::impl& p, std::string_view component, std::string_view variant) {
  p.staged.erase(std::remove_if(p.staged.begin(), p.staged.end(),
                                [&](const staged_files& s) {
                                  return s.asset.empty() && s.component == component &&
                                         (variant.empty() || s.variant == variant);
                                }),
                 p.staged.end());
}

/// True if the folder of a removed variant contains, or may contain, other files of the package.
bool holds_others(const package::impl& p, const std::string& folder) {
  if (folder.empty() || folder == "." || folder.starts_with('/')) return true;
  const auto is_in = [&](const std::string& path) { return path == folder || path.starts_with(folder + "/"); };
  return std::any_of(p.assets.begin(), p.assets.end(), [&](const package_asset& a) { return is_in(a.path); }) ||
         std::any_of(p.components.begin(), p.components.end(), [&](const package_component& c) {
           return is_in(c.base) || (c.file && is_in(*c.file)) ||
                  std::any_of(c.variants.begin(), c.variants.end(), [&](const auto& v) { return is_in(v.folder); });
         });
}

/// Adds the executor "ort", made from the variant's fields, unless the executors contain it.
void complete_ort(package_variant& v) {
  for (executor_info& each : v.executors) each.file.reset();
  const bool has_ort = std::any_of(v.executors.begin(), v.executors.end(),
                                   [](const executor_info& e) { return e.name == ort_executor; });
  if (has_ort || (!v.model_file && v.session_options.empty() && v.provider_options.empty())) return;
  json made = json::object();
  if (v.model_file) append(made, "model_file", *v.model_file);
  const auto put = [&](const char* field, const package_options_list& options) {
    if (options.empty()) return;
    json& all = append(made, field, json::object());
    for (const auto& [key, value] : options) append(all, key, value);
  };
  put("session_options", v.session_options);
  put("provider_options", v.provider_options);
  v.executors.insert(v.executors.begin(), {std::string{ort_executor}, {}, dump(made)});
}

/// Checks that the variant's model file exists, in the folder `from` that will be copied or in an asset.
/// INVALID_ARGUMENT if not.
status check_model(const package::impl& in, const package_variant& v, const std::string& from) {
  std::optional<detail::held_folder> files;
  if (!from.empty()) {
    result<detail::held_folder> opened = detail::held_folder::open(from);
    if (!opened) return with_code(status_code::invalid_argument, opened.error());
    files = *std::move(opened);
  }
  if (!v.model_file) return {};
  const std::optional<asset_reference> asset = as_asset(*v.model_file);
  if (!asset) {
    if (!files || files->find(in.rule(), *v.model_file, open_for::place).has_kind(os::file_kind::file)) return {};
    return refused("variant '{}': there is no file '{}' in the folder '{}'", v.name, *v.model_file, from);
  }
  const auto staged =
      std::find_if(in.staged.begin(), in.staged.end(), [&](const staged_files& s) { return s.asset == asset->uri; });
  bool is_there = false;
  if (staged == in.staged.end()) {
    is_there = follow_text(in, {}, *v.model_file).at.has_kind(os::file_kind::file);
  } else if (const result<detail::held_folder> opened = detail::held_folder::open(staged->source)) {
    is_there = asset->has_tail && opened->find(in.rule(), asset->tail, open_for::place).has_kind(os::file_kind::file);
  }
  return is_there ? status{} : refused("variant '{}': there is no file '{}'", v.name, *v.model_file);
}

}  // namespace

result<package_variant> checked_variant(const package::impl& in, const package_component& to,
                                        const package_variant& v) {
  for (const executor_info& each : v.executors)
    if (const parsed_json payload = parse_json(each.json); !payload.error.empty())
      return refused("executor '{}': {}", each.name, payload.error);
  for (const std::string* text : {&v.metadata, &v.unknown})
    if (const parsed_json read = parse_json(*text); !text->empty() && !read.error.empty())
      return refused("variant '{}': {}", v.name, read.error);
  if (!v.unknown.empty() && !parse_json(v.unknown).value.is_object())
    return refused("variant '{}': its unknown fields must be a JSON object", v.name);
  const json written = to_json(v, std::nullopt);
  // Writing and parsing the variant gives what a reader of the package would get.
  const parsed_json read = parse_json(dump(written));
  if (!read.error.empty()) return refused("variant '{}': {}", v.name, read.error);
  package::impl nowhere;
  nowhere.installed = in.installed;
  nowhere.minor = in.minor;
  nowhere.assets = in.assets;
  std::vector<package_problem> problems;
  package_reader reader{nowhere, problems, {}};
  package_component alone;
  alone.base = to.base;
  const place at{"variant"};
  reader.read_variant(alone, v.name, read.value, at / v.name);
  if (!problems.empty()) return refused("{}", problems.front().text());
  return std::move(alone.variants.front());
}

namespace {

/// The error of an edit that can't be repeated, because another writer has changed the same part of the package.
template <class... Args>
status conflicting(fmt::format_string<Args...> format, Args&&... args) {
  return failed(status_code::fail, format, std::forward<Args>(args)...);
}

}  // namespace

template <class Text>
void package::impl::set(Text impl::* field, const char* called, Text to) {
  edits.push_back([field, called, to, before = this->*field](package& p) -> status {
    const Text& now = (*p.impl_).*field;
    if (now != before && now != to) return conflicting("{} has another value now", called);
    return p.impl_->set(field, called, to), status{};
  });
  this->*field = std::move(to);
  manifest_changed = true;
}

void package::set_name(std::optional<std::string> name) { impl_->set(&impl::name, "package_name", std::move(name)); }

void package::set_version(std::optional<std::string> version) {
  impl_->set(&impl::version, "package_version", std::move(version));
}

void package::set_description(std::optional<std::string> description) {
  impl_->set(&impl::description, "description", std::move(description));
}

status package::set_metadata(std::string_view text) {
  return guarded([&]() -> status {
    std::string to;
    if (!text.empty()) {
      const parsed_json read = parse_json(text);
      if (!read.error.empty()) return refused("metadata: {}", read.error);
      to = dump(read.value);
    }
    impl_->set(&impl::metadata, "additional_metadata", std::move(to));
    return {};
  });
}

namespace {

/// An unused name for the folder of a new component.
std::string free_folder(const package::impl& p, const std::string& name) {
  std::set<std::string> taken;
  if (p.root)
    if (const result<std::vector<std::string>> names = names_in(p.root->handle()))
      for (const std::string& each : *names) taken.insert(without_case(each));
  for (const package_component& c : p.components) {
    taken.insert(without_case(c.base));
    for (const package_variant& v : c.variants) taken.insert(without_case(v.name));
  }
  return free_name(name, taken);
}

/// The contents of a component as text, to detect changes.
std::string facts_of(const package_component& c) {
  std::string made = c.file.value_or("") + dump(to_json(c, true));
  for (const package_variant& v : c.variants) made += "\n" + v.folder;
  return made;
}
std::string facts_of(const package_variant& v) { return v.folder + dump(to_json(v, v.directory)); }

}  // namespace

status package::add_component(std::string name, bool external) {
  return guarded([&]() -> status {
    if (name.empty()) return refused("a component needs a name");
    if (external)
      if (status s = check_name("component", name); !s) return s;
    for (const package_component& c : impl_->components) {
      if (c.name == name) return refused("there is a component '{}' already", name);
      if (without_case(c.name) == without_case(name))
        return refused("there is a component '{}' already, and some systems take '{}' for the same", c.name, name);
    }
    package_component made;
    made.name = name;
    if (external) {
      made.base = free_folder(*impl_, name);
      made.file = joined(made.base, component_file);
      impl_->changed.insert(name);
    }
    impl_->components.push_back(std::move(made));
    impl_->manifest_changed = true;
    // If another writer has added the same component, both writers' variants are kept in it.
    impl_->edits.push_back(
        [name, external](package& p) { return p.find(name) ? status{} : p.add_component(name, external); });
    return {};
  });
}

status package::remove_component(std::string_view name) {
  return guarded([&]() -> status {
    const result<const package_component*> found = component(name);
    if (!found) return status{found.error()};
    const std::string kept{name};  // `name` may refer to the component that is removed
    const std::size_t edits = impl_->edits.size();
    const std::string facts = facts_of(**found);
    std::vector<std::string> variants;
    for (const package_variant& v : (*found)->variants) variants.push_back(v.name);
    for (const std::string& v : variants)
      if (status s = remove_variant(kept, v); !s) return s;
    const auto at = impl_->components.begin() + (*found - impl_->components.data());
    if (at->file) impl_->superseded.push_back(*at->file);
    drop_staged(*impl_, kept, {});
    impl_->changed.erase(kept);
    impl_->components.erase(at);
    impl_->manifest_changed = true;
    impl_->edits.resize(edits);
    impl_->edits.push_back([kept, facts](package& p) -> status {
      const package_component* const now = p.find(kept);
      if (now && facts_of(*now) != facts) return conflicting("component '{}' has changed", kept);
      return p.remove_component(kept);
    });
    return {};
  });
}

status package::add_variant(std::string_view to, package_variant v, const std::string& from) {
  return guarded([&]() -> status {
    const result<const package_component*> found = component(to);
    if (!found) return status{found.error()};
    if (status s = check_name("variant", v.name); !s) return s;
    for (const package_variant& each : (*found)->variants) {
      if (each.name == v.name) return refused("component '{}' has a variant '{}' already", to, v.name);
      if (without_case(each.name) == without_case(v.name))
        return refused("component '{}' has a variant '{}' already, and some systems take '{}' for the same", to,
                       each.name, v.name);
    }
    const package_variant given = v;
    complete_ort(v);
    if (v.architecture && v.metadata.empty())
      v.metadata = dump(json{{"architecture", *v.architecture}, {"match_architecture", true}});
    result<package_variant> checked = checked_variant(*impl_, **found, v);
    if (!checked) return std::move(checked).error();
    if (status s = check_model(*impl_, *checked, from); !s) return s;
    package_component& c = *impl_->find(to);
    if (!from.empty()) impl_->staged.push_back({c.name, v.name, {}, from});
    c.variants.push_back(*std::move(checked));
    mark_changed(*impl_, c);
    impl_->edits.push_back(
        [component = c.name, given, from](package& p) { return p.add_variant(component, given, from); });
    return {};
  });
}

status package::remove_variant(std::string_view from, std::string_view name) {
  return guarded([&]() -> status {
    const result<const package_variant*> found = variant(from, name);
    if (!found) return status{found.error()};
    package_component& c = *impl_->find(from);
    const std::string folder = (*found)->folder;
    const std::string kept = (*found)->name;
    impl_->edits.push_back([component = c.name, kept, facts = facts_of(**found)](package& p) -> status {
      const result<const package_variant*> now = p.variant(component, kept);
      if (now && facts_of(**now) != facts)
        return conflicting("variant '{}' of component '{}' has changed", kept, component);
      return p.remove_variant(component, kept);
    });
    c.variants.erase(c.variants.begin() + (*found - c.variants.data()));
    drop_staged(*impl_, c.name, kept);
    if (!holds_others(*impl_, folder)) impl_->superseded.push_back(folder);
    mark_changed(*impl_, c);
    return {};
  });
}

result<std::string> package::add_asset(const std::string& from, std::string_view expected) {
  return guarded([&]() -> result<std::string> {
    result<std::string> uri = hash_folder(from);
    if (!uri) return with_code(status_code::invalid_argument, uri.error());
    if (!expected.empty() && *uri != expected)
      return refused("the files in '{}' have the hash {}, not {}", from, *uri, expected);
    if (impl_->assets.find(*uri)) return uri;
    impl_->assets.add({*uri, joined(assets_folder, "sha256-" + uri->substr(7)), false});
    impl_->staged.push_back({{}, {}, *uri, from});
    impl_->edits.push_back([from, kept = *uri](package& p) -> status {
      const result<std::string> again = p.add_asset(from, kept);
      return again ? status{} : status{again.error()};
    });
    return uri;
  });
}

status package::remove_asset(std::string_view uri) {
  return guarded([&]() -> status {
    const package_asset* const found = impl_->assets.find(uri);
    if (!found) return refused("the package has no shared asset '{}'", uri);
    impl_->manifest_changed |= found->is_listed;
    const std::string kept = found->uri;
    impl_->assets.erase_if([&](const package_asset& a) { return a.uri == kept; });
    impl_->staged.erase(std::remove_if(impl_->staged.begin(), impl_->staged.end(),
                                       [&](const staged_files& s) { return s.asset == kept; }),
                        impl_->staged.end());
    impl_->edits.push_back([kept](package& p) { return p.remove_asset(kept); });
    return {};
  });
}

result<std::shared_ptr<const folder_lock>> package::impl::locked() const {
  if (lock) return lock;
  result<folder_lock> taken = folder_lock::take(*root, options.wait);
  if (!taken) return std::move(taken).error();
  return std::make_shared<const folder_lock>(*std::move(taken));
}

result<std::unique_ptr<package::impl>> package::impl::merged() const {
  std::vector<package_problem> problems;
  package_open_options how = options;
  how.verify_assets = false;
  auto read = read_folder(folder, how, {}, problems, lock);
  if (!read) return std::move(read).error();
  (*read)->options = options;
  if ((*read)->state == state) return std::make_unique<impl>(*this);
  package now{*std::move(read)};
  for (const auto& edit : edits)
    if (const status s = edit(now); !s)
      return failed(status_code::fail,
                    "{}: another writer has changed the package since it was opened, and an edit conflicts with "
                    "that: {}; open it again",
                    folder, s.words());
  now.impl_->superseded.insert(now.impl_->superseded.end(), superseded.begin(), superseded.end());
  return std::move(now.impl_);
}

}  // namespace CAMEO_NAMESPACE
