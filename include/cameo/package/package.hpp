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

/// The kind of an error in a package, for programs that handle kinds of errors differently.
enum class package_fault : std::uint8_t { none, io, schema, version, confinement, not_found, integrity, argument };
namespace detail {
/// The name of a kind of error, as `cameo package --json` prints it: "schema".
CAMEO_API std::string_view name_of(package_fault);
}  // namespace detail

/// One error or warning, with its location.
struct package_problem {
  package_fault fault = package_fault::none;
  bool is_error = true;  // false: a warning
  std::string file;      // relative to the package's folder: "manifest.json"
  std::string at;        // JSON pointer in the file: "/components/decoder/variants/npu/device"; empty: the whole file
  std::string words;     // the message
  /// Formats location and message: "manifest.json: /components/decoder: needs an object or a path".
  CAMEO_API std::string text() const;
};

/// Pairs of name and text, in the order of the file.
using package_options_list = std::vector<std::pair<std::string, std::string>>;

/// A variant's data for one executor, which alone interprets it. cameo is an executor of the name "ort".
struct executor_info {
  std::string name;                 // "ort"
  std::optional<std::string> file;  // JSON file, relative to the variant's folder, as written; nullopt: in the manifest
  std::string json;                 // the JSON object
};

/// One variant of a component: the component's model for one target. Strings are as in the file; absent ones are
/// nullopt or empty.
struct package_variant {
  std::string name;
  std::optional<std::string> directory;  // as written; nullopt: the variant's name
  std::optional<std::string> ep;         // a provider's long name; case matters
  std::optional<std::string> device;     // "cpu", "gpu", "npu"
  std::optional<std::string> compatibility;
  std::optional<std::string> architecture;  // of the older layouts, and of packages converted from them
  std::vector<executor_info> executors;
  std::optional<std::string> model_file;  // executor "ort": relative to the variant's folder, or in a shared asset
  package_options_list session_options;   // executor "ort"; values that are paths are absolute
  package_options_list provider_options;  // executor "ort"
  package_options_list option_paths;      // those of session_options that are paths, with the values as written
  std::string metadata;                   // JSON; empty: none
  std::string unknown;                    // fields of a later minor version, a JSON object; empty: none
  std::string folder;                     // relative to the package's; empty: none (the package is not on disk)
};

/// A model of a package, with its variants.
struct package_component {
  std::string name;
  std::optional<std::string> file;  // "component.json", relative to the package's folder; nullopt: in the manifest
  std::optional<std::string> component_name;
  std::string base;      // the folder of the variants' folders, relative to the package's; empty: the package's folder
  std::string metadata;  // JSON; empty: none
  std::string unknown;   // fields of a later minor version, a JSON object; empty: none
  std::vector<package_variant> variants;  // in declaration order

  /// The variant of that name; null if it does not exist.
  CAMEO_API const package_variant* find(std::string_view variant) const;
};

/// A folder that variants share, named by a hash of its contents.
struct package_asset {
  std::string uri;         // "sha256:" and 64 hexadecimal digits
  std::string path;        // relative to the package's folder; outside of it only in an installed package
  bool is_listed = false;  // true: in the manifest; false: found in shared_assets/
};

/// The file layout of a package: schema 1, or one of the two of the first drafts: with metadata.json files
/// (`metadata`), or a list of variants (`flat`).
enum class package_layout : std::uint8_t { schema_1, metadata, flat };

/// Options of package::open.
struct package_open_options {
  bool strict = true;          // unknown fields are errors
  bool verify_assets = false;  // the hash of every shared asset is checked
  /// Holds the package's write lock until the object is destroyed, so that no other writer changes what it has read.
  bool exclusive = false;
  /// The time that opening with `exclusive`, `commit` and `prune` wait for another process or object that holds the
  /// package's write lock.
  detail::duration wait = detail::duration::from_nanoseconds(30'000'000'000);
};

/// The checks of package::validate in addition to those of package::open.
struct package_checks {
  bool paths = true;           // every model file and variant folder must exist
  bool assets = false;         // every shared asset must have the hash that is its name
  bool unknown_fields = true;  // unknown fields are reported as warnings
};

/// How a package is written: components in separate files stay there (`preserve`), or all are put into the manifest
/// (`dense`).
enum class package_form : std::uint8_t { preserve, dense };

/// Owns a parsed and checked model package: a folder with a manifest and components, each of which has a variant per
/// target. Opening reads and checks every JSON file and keeps the folder open; paths are resolved from that handle, so
/// that files which are replaced later can't lead outside the package. Edits change this object; `commit` and `save_as`
/// write it to disk. Movable; several threads may call const members at once. Pointers and references to components are
/// valid until the next edit.
class package {
 public:
  /// Opens the package in `folder`. FAIL, naming file and JSON path, for any error in it; `why`, if given, then
  /// receives the first error. With `exclusive`, FAIL, naming the process that holds the write lock.
  CAMEO_API static result<package> open(const std::string& folder, const package_open_options& = {},
                                        package_problem* why = nullptr);
  /// Creates a package without components in memory; `save_as` writes it to a folder.
  CAMEO_API static result<package> make(std::string name);
  /// Appends all errors and warnings of the package in `folder` to `to` (at most 1,000, then a last one that there are
  /// more). FAIL with the first error if there is one.
  CAMEO_API static status validate(const std::string& folder, const package_checks&, std::vector<package_problem>& to);

  CAMEO_API package(package&&) noexcept;
  CAMEO_API package& operator=(package&&) noexcept;
  CAMEO_API ~package();

  /// The folder that was passed to `open` or `save_as`; empty for a package that is not on disk yet.
  CAMEO_API const std::string& folder() const;
  /// The layout that was read; schema_1 after the package has been written.
  CAMEO_API package_layout layout() const;
  /// The major and the minor number of the schema's version; {0, 0} for the older layouts.
  CAMEO_API std::pair<int, int> schema_version() const;
  /// True if paths may lead outside the package's folder ("layout": "installed").
  CAMEO_API bool is_installed() const;
  /// The name of the package. It is for display only, as are version and description.
  CAMEO_API const std::optional<std::string>& name() const;
  /// The version, for display only: "3".
  CAMEO_API const std::optional<std::string>& version() const;
  /// The description, for display only.
  CAMEO_API const std::optional<std::string>& description() const;
  /// The metadata as JSON; empty: none.
  CAMEO_API std::string_view metadata() const;
  /// The inputs and outputs of the whole package, from its metadata; std::nullopt when they are absent or not in
  /// cameo's format. The metadata is parsed in each call.
  CAMEO_API std::optional<package_io> io() const;
  /// The manifest's fields of a later minor version, a JSON object; empty: none.
  CAMEO_API std::string_view unknown() const;
  /// The components in declaration order.
  CAMEO_API std::span<const package_component> components() const;
  /// The shared assets: first those in the manifest, then those that were found in shared_assets/.
  CAMEO_API std::span<const package_asset> assets() const;
  /// The component of that name; null if it does not exist.
  CAMEO_API const package_component* find(std::string_view component) const;
  /// The component of that name; INVALID_ARGUMENT, listing the components, if it does not exist.
  CAMEO_API result<const package_component*> component(std::string_view name) const;
  /// The variant of that name; INVALID_ARGUMENT, listing the components or the variants, if it does not exist.
  CAMEO_API result<const package_variant*> variant(std::string_view component, std::string_view name) const;

  /// The absolute path that `text` of a JSON file stands for: a path relative to the folder `base`, which is relative
  /// to the package's folder, or "sha256:<hex>[/tail]" in a shared asset. FAIL when the path leads outside the package,
  /// the asset is unknown or, with `must_exist`, nothing exists there. An error is also written to `why`, if it is
  /// not null.
  CAMEO_API result<std::string> resolve(std::string_view base, std::string_view text, bool must_exist,
                                        package_problem* why = nullptr) const;
  /// The bytes of a file that a variant names (for example its `model_file`), read through the package's open folder.
  /// NO_SUCHFILE when it does not exist, FAIL when its path leads outside the package.
  CAMEO_API result<std::shared_ptr<const detail::file_bytes>> read(const package_variant&, std::string_view text) const;

  /// Opens a folder that a variant names (".": the variant's folder, "sha256:<hex>": a shared asset), to read a model's
  /// external data (read_options::folder): paths are resolved from the open folder, even if it is replaced later. The
  /// result may outlive the package. NO_SUCHFILE when it does not exist, FAIL when its path leads outside the package.
  CAMEO_API result<std::shared_ptr<const detail::held_folder>> open_folder(const package_variant&,
                                                                           std::string_view text = ".") const;
  /// Opens the folder that contains a file which a variant names, for example the folder of its model.
  CAMEO_API result<std::shared_ptr<const detail::held_folder>> open_folder_of(const package_variant&,
                                                                              std::string_view file) const;

  // --- edits: INVALID_ARGUMENT for a name that is empty, exists already, or does not exist ---

  /// Sets the name; nullopt removes it.
  CAMEO_API void set_name(std::optional<std::string>);
  /// Sets the version; nullopt removes it.
  CAMEO_API void set_version(std::optional<std::string>);
  /// Sets the description; nullopt removes it.
  CAMEO_API void set_description(std::optional<std::string>);
  /// Sets the metadata, which may be any JSON value; empty removes it. INVALID_ARGUMENT when it is not JSON.
  CAMEO_API status set_metadata(std::string_view json);
  /// Sets the inputs and outputs in the metadata; nullopt removes them. INVALID_ARGUMENT when the metadata is not a
  /// JSON object.
  CAMEO_API status set_io(const std::optional<package_io>&);
  /// Appends an empty component: in the manifest or, if `external`, in a separate file in a folder with the component's
  /// name. INVALID_ARGUMENT also for a name that differs from another one only in case, because some file systems
  /// ignore it; this holds for variants, too.
  CAMEO_API status add_component(std::string name, bool external = false);
  /// Removes a component with its variants.
  CAMEO_API status remove_component(std::string_view name);
  /// Appends a variant. When the package is written, the files of the folder `from` are copied to the variant's folder,
  /// and the fields `directory` and `folder` are set. Unless `executors` contains "ort", that executor is made from
  /// `model_file` and the options. INVALID_ARGUMENT for data that `open` would refuse, and when the model file does not
  /// exist in `from` or in the named shared asset.
  CAMEO_API status add_variant(std::string_view component, package_variant, const std::string& from);
  /// Removes a variant; its files stay until `prune`.
  CAMEO_API status remove_variant(std::string_view component, std::string_view name);
  /// Adds the folder `from` as a shared asset, which is copied when the package is written, and returns its URI.
  /// INVALID_ARGUMENT if `expected` is neither empty nor that URI.
  CAMEO_API result<std::string> add_asset(const std::string& from, std::string_view expected = {});
  /// Removes the asset from the package; its files are removed by `prune` with `assets`.
  CAMEO_API status remove_asset(std::string_view uri);

  /// Writes the edits into the package's folder, always as schema 1. After a crash at any moment, the folder contains
  /// either the old or the new package. Files of removed components and variants stay until `prune`. The write lock is
  /// held meanwhile: FAIL, naming the process that holds it, if it is not free within package_open_options::wait. If
  /// another writer has changed the package since it was opened, the edits are applied to its present state; FAIL, and
  /// nothing is written, if they conflict with it.
  CAMEO_API status commit(package_form = package_form::preserve);
  /// Writes the whole package, completely or not at all, to a folder that is empty or does not exist (it is created).
  /// Afterwards this object is the package in that folder. FAIL when the folder is not empty.
  CAMEO_API status save_as(const std::string& to, package_form = package_form::preserve);
  /// Removes files that the package no longer needs: folders of removed variants, superseded component files, leftovers
  /// of a crash and, with `assets`, unused shared assets. Files that a path in the package names and files of other
  /// kinds stay. Returns the removed paths, relative to the package's folder; with `dry_run` it only lists them. It
  /// reads the folder's present state while it holds the write lock, for which it waits as `commit` does. FAIL if there
  /// are uncommitted edits.
  CAMEO_API result<std::vector<std::string>> prune(bool dry_run = false, bool assets = false);

  struct impl;  // private to the library

 private:
  CAMEO_API explicit package(std::unique_ptr<impl>);
  std::unique_ptr<impl> impl_;
};

/// The hash "sha256:<hex>" of the names and contents of a folder's files, whatever their order on disk; empty folders
/// are ignored. INVALID_ARGUMENT when the folder contains symbolic links or names that packages do not allow.
CAMEO_API result<std::string> hash_folder(const std::string& path);

}  // namespace CAMEO_NAMESPACE
