#include <cameo/package/package.hpp>

#include "core/nearest.hpp"
#include "file/messages.hpp"
#include "package/impl.hpp"

#include <algorithm>

namespace CAMEO_NAMESPACE {
namespace {

status as_status(const std::string& folder, const package_problem& problem) {
  return status{status_code::fail, problem.text()}.in(folder.empty() ? "." : folder);
}

/// The end of a message about an unknown name: "; it has a, b; did you mean 'a'?"
template <class T>
std::string it_has(const std::vector<T>& all, std::string_view name) {
  std::vector<std::string_view> names;
  for (const T& each : all) names.push_back(each.name);
  return "; it has " + names_of(all) + did_you_mean(name, names);
}

}  // namespace

result<std::unique_ptr<package::impl>> read_folder(const std::string& folder, const package_open_options& options,
                                                   read_extent extent, std::vector<package_problem>& problems,
                                                   std::shared_ptr<const folder_lock> lock) {
  auto made = std::make_unique<package::impl>();
  made->folder = folder;
  made->options = options;
  result<detail::held_folder> root = detail::held_folder::open(folder);
  if (!root) {
    if (root.error().code() == status_code::out_of_memory) return std::move(root).error();
    problem_list{problems}.add(
        root.error().code() == status_code::no_suchfile ? package_fault::not_found : package_fault::io, {{}},
        "not a folder that can be opened, as a package is");
    return as_status(folder, problems.front());
  }
  made->root = std::make_shared<const detail::held_folder>(*std::move(root));
  if (options.exclusive && !lock) {
    result<folder_lock> taken = folder_lock::take(*made->root, options.wait);
    if (!taken) {
      problem_list{problems}.add(package_fault::io, {{}}, std::string{taken.error().words()});
      return std::move(taken).error();
    }
    lock = std::make_shared<const folder_lock>(*std::move(taken));
  }
  made->lock = std::move(lock);
  package_reader reader{*made, problems, extent};
  if (reader.read() && options.verify_assets) {
    problem_list more{problems};
    verify_assets(*made, more);
  }
  for (const package_problem& p : problems)
    if (p.is_error) return as_status(folder, p);
  return made;
}

package::package(std::unique_ptr<impl> made) : impl_{std::move(made)} {}
package::package(package&&) noexcept = default;
package& package::operator=(package&&) noexcept = default;
package::~package() = default;

package_component* package::impl::find(std::string_view name) {
  const auto at =
      std::find_if(components.begin(), components.end(), [&](const package_component& c) { return c.name == name; });
  return at == components.end() ? nullptr : &*at;
}

const package_variant* package_component::find(std::string_view variant) const {
  const auto at =
      std::find_if(variants.begin(), variants.end(), [&](const package_variant& v) { return v.name == variant; });
  return at == variants.end() ? nullptr : &*at;
}

result<package> package::open(const std::string& folder, const package_open_options& options, package_problem* why) {
  return guarded([&]() -> result<package> {
    std::vector<package_problem> problems;
    auto made = read_folder(folder, options, {}, problems);
    if (made) return package{*std::move(made)};
    if (why)
      for (const package_problem& p : problems)
        if (p.is_error) {
          *why = p;
          break;
        }
    return made.error();
  });
}

result<package> package::make(std::string name) {
  return guarded([&]() -> result<package> {
    auto made = std::make_unique<impl>();
    if (!name.empty()) made->name = std::move(name);
    made->manifest_changed = true;
    return package{std::move(made)};
  });
}

status package::validate(const std::string& folder, const package_checks& checks, std::vector<package_problem>& to) {
  return guarded([&]() -> status {
    package_open_options options;
    options.strict = false;
    to.clear();
    options.verify_assets = checks.assets;
    const auto made = read_folder(folder, options, {checks.paths, checks.unknown_fields}, to);
    return made ? status{} : status{made.error()};
  });
}

const std::string& package::folder() const { return impl_->folder; }
package_layout package::layout() const { return impl_->layout; }
std::pair<int, int> package::schema_version() const { return {impl_->major, impl_->minor}; }
bool package::is_installed() const { return impl_->installed; }
const std::optional<std::string>& package::name() const { return impl_->name; }
const std::optional<std::string>& package::version() const { return impl_->version; }
const std::optional<std::string>& package::description() const { return impl_->description; }
std::string_view package::metadata() const { return impl_->metadata; }
std::string_view package::unknown() const { return impl_->unknown; }
std::span<const package_component> package::components() const { return impl_->components; }
std::span<const package_asset> package::assets() const { return impl_->assets.all(); }
const package_component* package::find(std::string_view component) const { return impl_->find(component); }

result<const package_component*> package::component(std::string_view name) const {
  return guarded([&]() -> result<const package_component*> {
    if (const package_component* found = find(name)) return found;
    return failed(status_code::invalid_argument, "the package has no component '{}'{}", name,
                  it_has(impl_->components, name));
  });
}

result<const package_variant*> package::variant(std::string_view in, std::string_view name) const {
  return guarded([&]() -> result<const package_variant*> {
    const result<const package_component*> found = component(in);
    if (!found) return status{found.error()};
    if (const package_variant* v = (*found)->find(name)) return v;
    return failed(status_code::invalid_argument, "component '{}' has no variant '{}'{}", in, name,
                  it_has((*found)->variants, name));
  });
}

result<std::string> package::resolve(std::string_view base, std::string_view text, bool must_exist,
                                     package_problem* why) const {
  return guarded([&]() -> result<std::string> {
    target to = follow_text(*impl_, base, text);
    if (to.fault == package_fault::none && must_exist && to.at.kind == os::file_kind::nothing)
      to.fault = package_fault::not_found, to.words = fmt::format("there is nothing at '{}'", to.path);
    if (to.fault == package_fault::none) return joined(impl_->root_path(), to.path);
    if (why) *why = {to.fault, true, {}, {}, to.words};
    return status{status_code::fail, to.words};
  });
}

namespace {

/// The target of a path that a variant names, opened for reading. If the variant has no folder, it is `nothing`.
result<target> opened_from(const package::impl& in, const package_variant& v, std::string_view text) {
  target to = follow_text(in, v.folder, text, open_for::reading);
  if (to.fault != package_fault::none) return status{status_code::fail, to.words}.in("variant '" + v.name + "'");
  if (v.folder.empty() && !text.starts_with('/') && !as_asset(text))
    to.path = joined(v.directory.value_or(v.name), text), to.at = {};
  return to;
}

}  // namespace

result<std::shared_ptr<const detail::file_bytes>> package::read(const package_variant& v, std::string_view text) const {
  return guarded([&]() -> result<std::shared_ptr<const detail::file_bytes>> {
    const result<target> to = opened_from(*impl_, v, text);
    if (!to) return status{to.error()};
    if (to->at.kind != os::file_kind::file)
      return failed(status_code::no_suchfile, "variant '{}': there is no file '{}'", v.name, to->path);
    return detail::map_opened(to->at.handle, joined(impl_->root_path(), to->path));
  });
}

result<std::shared_ptr<const detail::held_folder>> package::open_folder(const package_variant& v,
                                                                        std::string_view text) const {
  return guarded([&]() -> result<std::shared_ptr<const detail::held_folder>> {
    result<target> to = opened_from(*impl_, v, text);
    if (!to) return std::move(to).error();
    if (to->at.kind != os::file_kind::folder)
      return failed(status_code::no_suchfile, "variant '{}': there is no folder '{}'", v.name, to->path);
    return std::make_shared<const detail::held_folder>(
        detail::held_folder::opened(std::move(to->at), joined(impl_->root_path(), text == "." ? v.folder : to->path)));
  });
}

result<std::shared_ptr<const detail::held_folder>> package::open_folder_of(const package_variant& v,
                                                                           std::string_view file) const {
  const std::string_view folder = parent_of(file);
  return open_folder(v, folder.empty() ? "." : folder);
}

}  // namespace CAMEO_NAMESPACE
