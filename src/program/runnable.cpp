#include "program/runnable.hpp"
#include "file/messages.hpp"

#include "program/runtime.hpp"

#include <filesystem>

namespace cameo::program {
namespace {

bool is_folder(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_directory(path, error);
}

/// Nothing was said that a package's own options would have to give way to.
bool leaves_options_to_package(const common_options& o) {
  return o.providers.empty() && !o.policy && o.config.empty() && o.threads == 0 && !o.strict &&
         o.optimize == optimization_level::all;
}

/// A folder without a manifest is no package; with one it is, whatever is wrong with it.
result<package> open_package(const std::string& folder) {
  package_problem why;
  result<package> made = package::open(folder, {}, &why);
  if (made || why.fault != package_fault::not_found || !why.file.empty()) return made;
  return failed(status_code::invalid_argument, "no model, and no model package: {}", made.error().words());
}

result<session> load_component(const package& from, const std::string& component, const common_options& o) {
  if (component.empty() && from.components().size() != 1)
    return failed(status_code::invalid_argument, "{}: has {} components; name one with --component", from.folder(),
                  from.components().size());
  const program_runtime with;
  const session_options options = o.for_package();
  const result<component_context> chosen =
      with.select(from, component.empty() ? from.components().front().name : component, options, o.variants());
  if (!chosen) return status{chosen.error()};
  return leaves_options_to_package(o) ? with.load(*chosen) : with.load(*chosen, options);
}

}  // namespace

void add_package_options(const command& it, std::string& component, common_options& common) {
  it.add("--component", component, "Of a model package: this component (default: all, as one)").type_name("NAME");
  add_ranked_option(it, common);
}

result<session> load_session(const std::string& model, const std::string& component, const common_options& o) {
  if (!is_folder(model)) return program_runtime{}.load(model, o.session());
  const result<package> from = open_package(model);
  if (!from) return status{from.error()};
  return load_component(*from, component, o);
}

result<runnable> runnable::load(const std::string& model, const std::string& component, const common_options& o) {
  runnable made;
  if (is_folder(model) && component.empty()) {
    const result<package> from = open_package(model);
    if (!from) return status{from.error()};
    const program_runtime with;
    result<pipeline> whole =
        leaves_options_to_package(o) ? with.load(*from, o.variants()) : with.load(*from, o.for_package(), o.variants());
    if (!whole) return std::move(whole).error();
    made.whole_ = *std::move(whole);
    return made;
  }
  result<session> one = load_session(model, component, o);
  if (!one) return std::move(one).error();
  made.single_.push_back(*std::move(one));
  return made;
}

const session& runnable::taker_of(std::string_view input) const {
  for (std::size_t i = 0; i < size(); ++i)
    if (part(i).input(input)) return part(i);
  return part(0);
}

}  // namespace cameo::program
