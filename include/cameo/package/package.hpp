#pragma once
#include <cameo/core/duration.hpp>
#include <cameo/core/result.hpp>
#include <cameo/file/file_bytes.hpp>
#include <cameo/package/io.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace CAMEO_NAMESPACE {

namespace detail {
class held_folder;
}  // namespace detail

/// The kind of an error in a package, for callers that decide by it and do not read messages.
enum class package_fault : std::uint8_t { none, io, schema, version, confinement, not_found, integrity, argument };
namespace detail {
/// "schema"; the names that `cameo package --json` prints.
CAMEO_API std::string_view name_of(package_fault);
}  // namespace detail

/// One error or warning, and its place.
struct package_problem {
  package_fault fault = package_fault::none;
  bool is_error = true;  // false: a warning
  std::string file;      // "manifest.json": below the package's folder
  std::string at;        // where in it: "/components/decoder/variants/npu/device", a JSON pointer; empty: all of it
  std::string words;
  /// "manifest.json: /components/decoder: needs an object or a path"
  CAMEO_API std::string text() const;
};

/// Pairs of name and text, in the order of the file.
using package_options_list = std::vector<std::pair<std::string, std::string>>;

/// A variant's data for one executor: only that executor interprets it; for "ort", cameo does.
struct executor_info {
  std::string name;                 // "ort"
  std::optional<std::string> file;  // JSON, below the variant's folder, as written; nullopt: it is in the manifest
  std::string json;                 // the JSON object
};

/// One precompiled form of a component. All strings are the file's; absent ones are nullopt or empty.
struct package_variant {
  std::string name;
  std::optional<std::string> directory;  // as written; nullopt: the variant's name
  std::optional<std::string> ep;         // a provider's long name, exact
  std::optional<std::string> device;     // "cpu", "gpu", "npu"
  std::optional<std::string> compatibility;
  std::optional<std::string> architecture;  // of the older layouts, and of packages converted from them
  std::vector<executor_info> executors;
  std::optional<std::string> model_file;  // of executor "ort", below the variant's folder or in a shared asset
  package_options_list session_options;   // the same; values that are paths are absolute
  package_options_list provider_options;  // the same
  package_options_list option_paths;      // of session_options, the values that are paths, as written
  std::string metadata;                   // JSON; empty: none
  std::string unknown;                    // fields of a later minor version, a JSON object; empty: none
  std::string folder;                     // its path below the package's; empty: none (the package is not on disk)
};

/// A model of a package, in several variants.
struct package_component {
  std::string name;
  std::optional<std::string> file;  // component.json or similar, below the package's folder; nullopt: in the manifest
  std::optional<std::string> component_name;
  std::string base;  // where the variants' folders lie, below the package's folder; empty: in that folder itself
  std::string metadata;
  std::string unknown;
  std::vector<package_variant> variants;  // in declaration order

  /// The variant of that name; null if it does not exist.
  CAMEO_API const package_variant* find(std::string_view variant) const;
};

/// A folder that variants share, named by a hash of its content.
struct package_asset {
  std::string uri;         // "sha256:" and 64 hexadecimal digits
  std::string path;        // below the package's folder; an installed package may have it elsewhere
  bool is_listed = false;  // in the manifest; the others were found in shared_assets/
};

/// How a package was written: schema 1, the variant list of the first drafts, or that with metadata.json.
enum class package_layout : std::uint8_t { schema_1, metadata, flat };

/// How strictly a package is read.
struct package_open_options {
  bool strict = true;          // unknown fields are errors
  bool verify_assets = false;  // hash every shared asset
  /// No other writer changes the package until the object is destroyed: its edits change what it was opened with.
  bool exclusive = false;
  /// How long `exclusive`, `commit` and `prune` wait for another process or object that writes to the package.
  detail::duration wait = detail::duration::from_nanoseconds(30'000'000'000);
};

/// What `package::validate` checks, besides what opening needs.
struct package_checks {
  bool paths = true;           // every model file and variant folder must be there
  bool assets = false;         // every shared asset has the hash that is its name
  bool unknown_fields = true;  // they give a warning
};

/// How a package is written: components that were files stay files, or all are in the manifest.
enum class package_form : std::uint8_t { preserve, dense };

/// Owns a parsed and checked model package: a folder with a manifest, components, and a variant of each for every
/// target. Opening reads and checks every JSON file and holds the folder open; paths are followed from that handle, so
/// files that are swapped later can't lead outside. Edits change this object; `commit` and `save_as` write it to
/// disk. Movable; const members may be called by several threads at once. Pointers and references to components
/// are valid until the next edit.
class package {
 public:
  /// Opens the package in `folder`. FAIL naming file and JSON path for any error in it; `why`, if given, then receives
  /// the first error in parts. With `exclusive`, FAIL naming the process that changes the package.
  CAMEO_API static result<package> open(const std::string& folder, const package_open_options& = {},
                                        package_problem* why = nullptr);
  /// A new package without components, in memory; `save_as` gives it a folder.
  CAMEO_API static result<package> make(std::string name);
  /// Collects all errors and warnings of the package in `folder` (at most 1,000, then a last one states that there are
  /// more). FAIL with the first error if there is one.
  CAMEO_API static status validate(const std::string& folder, const package_checks&, std::vector<package_problem>& to);

  CAMEO_API package(package&&) noexcept;
  CAMEO_API package& operator=(package&&) noexcept;
  CAMEO_API ~package();

  /// The folder as it was passed to `open`; empty for a package that is not on disk yet.
  CAMEO_API const std::string& folder() const;
  /// The layout that was read; schema_1 after it has been written.
  CAMEO_API package_layout layout() const;
  /// Major and minor number.
  CAMEO_API std::pair<int, int> schema_version() const;  // major, minor; {0, 0} for the older layouts
  /// True if its paths may lead anywhere ("layout": "installed").
  CAMEO_API bool is_installed() const;
  /// A label, as are version and description: it has no effect.
  CAMEO_API const std::optional<std::string>& name() const;
  /// A label: "3".
  CAMEO_API const std::optional<std::string>& version() const;
  /// A label for people.
  CAMEO_API const std::optional<std::string>& description() const;
  /// JSON; empty: none.
  CAMEO_API std::string_view metadata() const;
  /// The inputs and outputs of the package as a whole, from its metadata; std::nullopt when they are absent or not in
  /// cameo's form. Parsed anew with each call.
  CAMEO_API std::optional<package_io> io() const;
  /// Fields of a later minor version: a JSON object; empty: none.
  CAMEO_API std::string_view unknown() const;
  /// In declaration order.
  CAMEO_API std::span<const package_component> components() const;
  /// Those in the manifest first, then those that were found in shared_assets/.
  CAMEO_API std::span<const package_asset> assets() const;
  /// The component of that name; null if it does not exist.
  CAMEO_API const package_component* find(std::string_view component) const;
  /// The component of that name; INVALID_ARGUMENT listing the components for another name.
  CAMEO_API result<const package_component*> component(std::string_view name) const;
  /// INVALID_ARGUMENT listing the components, or the variants, for another name.
  CAMEO_API result<const package_variant*> variant(std::string_view component, std::string_view name) const;

  /// The absolute path of a text of one of the JSON files: a path relative to `base` (below the package's folder;
  /// empty: that folder), or "sha256:<hex>[/tail]". FAIL when it leads outside, is an unknown asset or, with
  /// `must_exist`, when nothing exists there; `why` as in `open`.
  CAMEO_API result<std::string> resolve(std::string_view base, std::string_view text, bool must_exist,
                                        package_problem* why = nullptr) const;
  /// The bytes of a file that a variant names (for example its `model_file`), read from the folder that is held open.
  /// NO_SUCHFILE when it does not exist, FAIL when it leads outside.
  CAMEO_API result<std::shared_ptr<const detail::file_bytes>> read(const package_variant&, std::string_view text) const;

  /// A folder that a variant names (".": its own, "sha256:<hex>": a shared asset), held open to read a model's further
  /// files (read_options::folder): paths are followed from the open folder, even if another one takes its name later.
  /// It may outlive the package. NO_SUCHFILE when it does not exist, FAIL when it leads outside.
  CAMEO_API result<std::shared_ptr<const detail::held_folder>> open_folder(const package_variant&,
                                                                           std::string_view text = ".") const;
  /// The same for the folder of a file that a variant names: its model's folder.
  CAMEO_API result<std::shared_ptr<const detail::held_folder>> open_folder_of(const package_variant&,
                                                                              std::string_view file) const;

  // --- edits: INVALID_ARGUMENT for names that are empty, exist already, or do not exist ---

  /// nullopt removes it.
  CAMEO_API void set_name(std::optional<std::string>);
  /// nullopt removes it.
  CAMEO_API void set_version(std::optional<std::string>);
  /// nullopt removes it.
  CAMEO_API void set_description(std::optional<std::string>);
  /// JSON of any kind; empty removes it. INVALID_ARGUMENT when it is not JSON.
  CAMEO_API status set_metadata(std::string_view json);
  /// nullopt removes it. INVALID_ARGUMENT when the metadata is no JSON object.
  CAMEO_API status set_io(const std::optional<package_io>&);
  /// Appends an empty component: in the manifest, or, if `external`, in a file of its own, in a folder with the
  /// component's name. INVALID_ARGUMENT also for a name that differs from another in upper and lower case
  /// alone, for components and variants: some file systems take them for the same.
  CAMEO_API status add_component(std::string name, bool external = false);
  /// Removes a component with its variants.
  CAMEO_API status remove_component(std::string_view name);
  /// Appends a variant. `from` is a folder whose files become the variant's when the package is written; the
  /// fields `directory` and `folder` are chosen then. `executors` may have any names but "ort", which is made from
  /// `model_file` and the options unless it is given. INVALID_ARGUMENT for data that `open` would refuse, and when
  /// `from` or the named shared asset has no such model.
  CAMEO_API status add_variant(std::string_view component, package_variant, const std::string& from);
  /// Removes a variant; its files stay until `prune`.
  CAMEO_API status remove_variant(std::string_view component, std::string_view name);
  /// Adds a folder as a shared asset, written with the package; returns its URI. A non-empty `expected` must equal it.
  CAMEO_API result<std::string> add_asset(const std::string& from, std::string_view expected = {});
  /// Removes the asset from the package; its files are removed by `prune` with `assets`.
  CAMEO_API status remove_asset(std::string_view uri);

  /// Writes the edits into the package's folder, always as schema 1: after a crash at any moment the folder
  /// holds the old package or the new one. Files of removed parts stay until `prune`. One commit at a time: others
  /// wait, and FAIL naming the process that holds the lock when that takes longer than package_open_options::wait. When
  /// another writer has changed the package since it was opened, the edits are applied again to its present state;
  /// FAIL, and nothing is written, when they contradict it.
  CAMEO_API status commit(package_form = package_form::preserve);
  /// Writes the whole package to a folder that is empty or does not exist, and is then created; complete or absent.
  /// This object is that package afterwards. FAIL when the folder is not empty.
  CAMEO_API status save_as(const std::string& to, package_form = package_form::preserve);
  /// Removes what a package on disk no longer names: folders of removed variants, superseded component files, and
  /// leftovers of a crash. Shared assets only with `assets`; never anything that a text in the package names, nor other
  /// files. Returns the paths, below the package's folder; `dry_run` only lists them. It uses the state of the folder
  /// while it holds the lock, for which it waits as `commit` does. FAIL with edits not committed.
  CAMEO_API result<std::vector<std::string>> prune(bool dry_run = false, bool assets = false);

  struct impl;  // the library's own

 private:
  CAMEO_API explicit package(std::unique_ptr<impl>);
  std::unique_ptr<impl> impl_;
};

/// "sha256:<hex>" of a folder: by content and names of its files, in any order, empty folders left out.
/// INVALID_ARGUMENT when it has symbolic links or names that are not plain.
CAMEO_API result<std::string> hash_folder(const std::string& path);

}  // namespace CAMEO_NAMESPACE
