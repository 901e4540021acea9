#pragma once
// The causes in docs/errors.md that concern model packages.
#include "model_package/packages.hpp"
#include "session/context_causes.hpp"

namespace cameo::test {

/// The status of loading the component "main" of a package with this manifest.
inline status package_session(const std::string& manifest, std::string_view component = "main") {
  const package_folder folder;
  folder.write("manifest.json", manifest).make("v");
  const result<package> p = package::open(folder.path());
  if (!p) return p.error();
  const auto selected = cpu_runtime{}.select(*p, component);
  if (!selected) return selected.error();
  const auto made = cpu_runtime{}.load(*selected);
  return made ? status{} : made.error();
}

inline context_causes package_causes_of_fail() {
  return {
      {"A model package can't be opened: something in its files is wrong, or leads out of it.",
       [] {
         CHECK(package_session("{}").code() == status_code::fail);
         return package_session(manifest_of(variant_json("v", R"("variant_directory": "../v")")));
       }},
      {"No variant of a package's component fits the providers that were named, or chosen.",
       [] { return package_session(manifest_of(npu_variant("v", "opt"))); }},
      {"A model package can't be changed: another writer has its lock, or has committed what contradicts the edits.",
       [] {
         const package_folder folder;
         folder.write("manifest.json", manifest_of(""));
         package mine = opened(folder.path()), other = opened(folder.path());
         mine.set_name("mine");
         other.set_name("another's");
         CHECK(other.commit());
         return mine.commit();
       }},
      {"The variant that was selected names no model file, or a folder that is not there.",
       [] { return package_session(manifest_of(cpu_variant("v"))); }}};
}

inline context_causes package_causes_of_invalid_argument() {
  return {{"A model's path is a folder, or a package has no component of that name.", [] {
             const package_folder folder;
             const auto made = cpu_runtime{}.load(folder.path());
             CHECK((!made && made.error().code() == status_code::invalid_argument));
             return package_session(manifest_of(cpu_variant("v")), "other");
           }}};
}

}  // namespace cameo::test
