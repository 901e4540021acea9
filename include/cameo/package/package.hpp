#pragma once
#include <cameo/core/result.hpp>
#include <cameo/file/file_bytes.hpp>
#include <cameo/package/io.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cameo::inline CAMEO_ABI {

class held_folder;

/// What kind of thing is wrong with a package, for callers that decide by it and do not read words.
enum class package_fault : std::uint8_t { none, io, schema, version, confinement, not_found, integrity, argument };
/// "schema"; the names that `cameo package --json` prints.
CAMEO_API std::string_view name_of(package_fault);

/// One thing that is wrong, and where.
struct package_problem {
  package_fault fault = package_fault::none;
  bool is_error = true;  // or a warning
  std::string file;      // "manifest.json": below the package's folder
  std::string at;        // what in it: "/components/decoder/variants/npu/device", a JSON pointer; empty: all of it
  std::string words;
  /// "manifest.json: /components/decoder: needs an object or a path"
  CAMEO_API std::string text() const;
};

/// Texts by name, in the order of the file.
using package_options_list = std::vector<std::pair<std::string, std::string>>;

/// What a variant says to one executor: nobody interprets it but that executor, and for "ort" cameo.
struct executor_info {
  std::string name;                 // "ort"
  std::optional<std::string> file;  // a JSON file below the variant's folder, as written; none: it stands in the body
  std::string json;                 // the object
};

/// One precompiled form of a component. All strings are the file's; what it lacks is nullopt or empty.
struct package_variant {
  std::string name;
  std::optional<std::string> directory;  // as written; none: the variant's name
  std::optional<std::string> ep;         // a provider's long name, exact
  std::optional<std::string> device;     // "cpu", "gpu", "npu"
  std::optional<std::string> compatibility;
  std::optional<std::string> architecture;  // of the older layouts, and of what was made from them
  std::vector<executor_info> executors;
  std::optional<std::string> model_file;  // of executor "ort", below the variant's folder or in a shared asset
  package_options_list session_options;   // the same; keys that name a path have it absolute
  package_options_list provider_options;  // the same
  package_options_list option_paths;      // of session_options, those that name a path, as written
  std::string metadata;                   // JSON; empty: none
  std::string unknown;                    // fields of a later minor version, a JSON object; empty: none
  std::string folder;                     // where it lies, below the package's; empty: nowhere (a package on disk)
};

/// A model that a package has in several variants.
struct package_component {
  std::string name;
  std::optional<std::string> file;  // component.json or the like, below the package's folder; none: in the manifest
  std::optional<std::string> component_name;
  std::string base;  // where variant folders lie, below the package's folder; empty: there
  std::string metadata;
  std::string unknown;
  std::vector<package_variant> variants;  // in declaration order

  /// Null when there is none of that name.
  CAMEO_API const package_variant* find(std::string_view variant) const;
};

/// A folder that variants share, named by what is in it.
struct package_asset {
  std::string uri;         // "sha256:" and 64 hexadecimal digits
  std::string path;        // below the package's folder; an installed package may have it elsewhere
  bool is_listed = false;  // in the manifest; the others were found in shared_assets/
};

/// How a package was written: schema 1, the list of variants of the first drafts, or theirs with metadata.json.
enum class package_layout : std::uint8_t { schema_1, metadata, flat };

/// How strictly a package is read.
struct package_open_options {
  bool strict = true;          // unknown fields are errors
  bool verify_assets = false;  // hash every shared asset
  /// No other writer changes the package until the object is gone: its edits change what it was opened with.
  bool exclusive = false;
  /// How long this, `commit` and `prune` wait for another process or object that writes to the package.
  std::chrono::milliseconds wait{30000};
};

/// What `package::validate` looks at, besides what opening needs.
struct package_checks {
  bool paths = true;           // every model file and variant folder must be there
  bool assets = false;         // every shared asset is what its name says
  bool unknown_fields = true;  // give a warning
};

/// How a package is written: components that were files stay files, or all stand in the manifest.
enum class package_form : std::uint8_t { preserve, dense };

/// Owns a parsed and checked model package: a folder with a manifest, components, and a variant of each for every
/// target. Opening reads and checks every JSON file and holds the folder open; paths are followed from that handle, so
/// that nothing that is swapped later leads out of it. Edits change what this object holds; `commit` and `save_as` put
/// it on disk. Movable; const members may be called by several threads at once. Pointers and references to components
/// live until the next edit.
class package {
 public:
  /// Opens the package in `folder`. FAIL naming file and JSON path for whatever is wrong; `why`, if given, then has the
  /// first problem in parts. With `exclusive`, FAIL naming the process that changes the package.
  CAMEO_API static result<package> open(const std::string& folder, const package_open_options& = {},
                                        package_problem* why = nullptr);
  /// A new one without components, in memory; `save_as` gives it a folder.
  CAMEO_API static result<package> make(std::string name);
  /// Everything that is wrong with the package in `folder`, errors and warnings (at most 1,000, then a last one says
  /// so). FAIL with the first error if there is one.
  CAMEO_API static status validate(const std::string& folder, const package_checks&, std::vector<package_problem>& to);

  CAMEO_API package(package&&) noexcept;
  CAMEO_API package& operator=(package&&) noexcept;
  CAMEO_API ~package();

  /// As it was given to `open`; empty for one that is nowhere yet.
  CAMEO_API const std::string& folder() const;
  /// As it was read; schema_1 once it was written.
  CAMEO_API package_layout layout() const;
  /// Major and minor.
  CAMEO_API std::pair<int, int> schema_version() const;  // major, minor; {0, 0} for the older layouts
  /// Whether its paths may lead anywhere ("layout": "installed").
  CAMEO_API bool is_installed() const;
  /// A label, as the version and the description are: nothing depends on them.
  CAMEO_API const std::optional<std::string>& name() const;
  /// A label: "3".
  CAMEO_API const std::optional<std::string>& version() const;
  /// A label for people.
  CAMEO_API const std::optional<std::string>& description() const;
  /// JSON; empty: none.
  CAMEO_API std::string_view metadata() const;
  /// What the package takes and gives as a whole, by its metadata; nothing when it does not say, or not in cameo's
  /// form. Parsed anew with each call.
  CAMEO_API std::optional<package_io> io() const;
  /// Fields of a later minor version: a JSON object; empty: none.
  CAMEO_API std::string_view unknown() const;
  /// In declaration order.
  CAMEO_API std::span<const package_component> components() const;
  /// Listed ones first, then those that were found in shared_assets/.
  CAMEO_API std::span<const package_asset> assets() const;
  /// Null when there is none of that name.
  CAMEO_API const package_component* find(std::string_view component) const;
  /// INVALID_ARGUMENT naming those there are.
  CAMEO_API result<const package_component*> component(std::string_view name) const;
  /// INVALID_ARGUMENT naming the components, or the variants, that there are.
  CAMEO_API result<const package_variant*> variant(std::string_view component, std::string_view name) const;

  /// Where a text of one of the JSON files leads: a path relative to `base` (below the package's folder; empty: that
  /// folder), or "sha256:<hex>[/tail]". An absolute path. FAIL when it leads out, is an unknown asset, or, with
  /// `must_exist`, when nothing is there; `why` as in `open`.
  CAMEO_API result<std::string> resolve(std::string_view base, std::string_view text, bool must_exist,
                                        package_problem* why = nullptr) const;
  /// The bytes of a file that a variant names (its `model_file`, for one), read from the folder that is held open.
  /// NO_SUCHFILE when there is none, FAIL when it leads out.
  CAMEO_API result<std::shared_ptr<const file_bytes>> read(const package_variant&, std::string_view text) const;

  /// A folder that a variant names ("." is its own, "sha256:<hex>" a shared asset), held open for who reads a model's
  /// further files (read_options::folder): they are followed from what was opened, whatever takes its name later. It
  /// may outlive the package. NO_SUCHFILE when there is none, FAIL when it leads out.
  CAMEO_API result<std::shared_ptr<const held_folder>> open_folder(const package_variant&,
                                                                   std::string_view text = ".") const;
  /// The same for the folder that a file lies in which a variant names: its model's.
  CAMEO_API result<std::shared_ptr<const held_folder>> open_folder_of(const package_variant&,
                                                                      std::string_view file) const;

  // --- edits: INVALID_ARGUMENT for names that are empty, there already, or not there ---

  /// nullopt removes it.
  CAMEO_API void set_name(std::optional<std::string>);
  /// nullopt removes it.
  CAMEO_API void set_version(std::optional<std::string>);
  /// nullopt removes it.
  CAMEO_API void set_description(std::optional<std::string>);
  /// JSON of any kind; empty removes it. INVALID_ARGUMENT when it is none.
  CAMEO_API status set_metadata(std::string_view json);
  /// nullopt removes it. INVALID_ARGUMENT when the metadata is no object.
  CAMEO_API status set_io(const std::optional<package_io>&);
  /// An empty component at the end: in the manifest, or, if `external`, in a file of its own, in a folder that is
  /// called as the component is. INVALID_ARGUMENT also for a name that differs from another in upper and lower case
  /// alone, here and with variants: some systems take them for one.
  CAMEO_API status add_component(std::string name, bool external = false);
  /// With its variants.
  CAMEO_API status remove_component(std::string_view name);
  /// Adds a variant at the end. `from` is a folder whose files become the variant's when the package is written; the
  /// fields `directory` and `folder` are chosen then. `executors` may have anything but "ort", which is made from
  /// `model_file` and the options unless it is given. INVALID_ARGUMENT for what `open` would refuse, and when `from` or
  /// the shared asset that is named has no such model.
  CAMEO_API status add_variant(std::string_view component, package_variant, const std::string& from);
  /// Its files stay until `prune`.
  CAMEO_API status remove_variant(std::string_view component, std::string_view name);
  /// A folder that becomes a shared asset when the package is written; its URI. `expected`, if not empty, must be it.
  CAMEO_API result<std::string> add_asset(const std::string& from, std::string_view expected = {});
  /// The package forgets the asset; its files go when `prune` is told so.
  CAMEO_API status remove_asset(std::string_view uri);

  /// Writes the edits into the package's folder, as schema 1 whatever it was: after a crash at any moment the folder
  /// holds the old package or the new one. Files of what was removed stay until `prune`. One commit at a time: others
  /// wait, and FAIL naming the process that holds the lock when that takes longer than package_open_options::wait. When
  /// another writer has changed the package since it was opened, the edits are applied again to what is there now;
  /// FAIL, and nothing is written, when they contradict it.
  CAMEO_API status commit(package_form = package_form::preserve);
  /// Writes the whole package to a folder that is empty or not there yet, which it then is; complete or absent. This
  /// object is that package afterwards. FAIL when the folder has something in it.
  CAMEO_API status save_as(const std::string& to, package_form = package_form::preserve);
  /// Removes what a package on disk no longer names: folders of variants that are gone, superseded component files, and
  /// what a crash has left. Never a shared asset, unless `assets`, and nothing that any text in the package names, nor
  /// other files. The paths, below the package's folder; `dry_run` only lists them. Goes by what is in the folder
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

}  // namespace cameo::inline CAMEO_ABI
