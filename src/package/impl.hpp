#pragma once
#include "file/folder_lock.hpp"
#include "file/held_folder.hpp"
#include "file/letters.hpp"
#include "file/messages.hpp"
#include "file/unicode.hpp"
#include "package/json.hpp"

#include <cameo/core/function_ref.hpp>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <unordered_map>

namespace CAMEO_NAMESPACE {

/// The greatest nesting depth of folders in a package.
inline constexpr int deepest_folder = 64;

/// Returns INVALID_ARGUMENT with a message, for a request that can't be fulfilled.
template <class... Args>
status refused(fmt::format_string<Args...> format, Args&&... args) {
  return failed(status_code::invalid_argument, format, std::forward<Args>(args)...);
}

/// The first 20 names of a list, for messages: "a, b, ...".
template <class T>
std::string names_of(const std::vector<T>& all, std::string_view quote = {}) {
  static constexpr std::size_t most = 20;
  std::string made;
  for (std::size_t i = 0; i < std::min(all.size(), most); ++i)
    made += fmt::format("{}{}{}{}", i ? ", " : "", quote, all[i].name, quote);
  return all.empty() ? "none" : all.size() > most ? made + ", ..." : made;
}

constexpr std::string_view manifest_file = "manifest.json";
constexpr std::string_view component_file = "component.json";
constexpr std::string_view assets_folder = "shared_assets";
constexpr std::string_view ort_executor = "ort";

/// A folder whose files are copied to a variant or to an asset when the package is written.
struct staged_files {
  std::string component, variant;  // empty for an asset
  std::string asset;               // the asset's URI; empty for a variant
  std::string source;              // the folder to be copied
};

/// The shared assets in order, with an index by URI.
class asset_list {
 public:
  const package_asset* find(std::string_view uri) const {
    const auto found = at_.find(std::string{uri});
    return found == at_.end() ? nullptr : &all_[found->second];
  }
  void add(package_asset asset) {
    at_.emplace(asset.uri, all_.size());
    all_.push_back(std::move(asset));
  }
  template <class Which>
  void erase_if(Which which) {
    std::erase_if(all_, which);
    at_.clear();
    for (std::size_t i = 0; i < all_.size(); ++i) at_.emplace(all_[i].uri, i);
  }
  const std::vector<package_asset>& all() const { return all_; }
  auto begin() const { return all_.begin(); }
  auto end() const { return all_.end(); }

 private:
  std::vector<package_asset> all_;
  std::unordered_map<std::string, std::size_t> at_;
};

struct package::impl {
  std::string folder;
  std::shared_ptr<const detail::held_folder> root;  // null: the package is not on disk yet
  package_layout layout = package_layout::schema_1;
  int major = 1, minor = 0;
  bool installed = false;
  std::optional<std::string> name, version, description;
  std::string metadata, unknown;
  std::vector<package_component> components;
  asset_list assets;
  package_open_options options;
  std::uint64_t state = 0;                  // a hash of everything that was read, to detect changes by other writers
  std::shared_ptr<const folder_lock> lock;  // set if the package was opened with `exclusive`

  // The edits since the package was read, as functions, so that they can be repeated if another writer has changed the
  // package meanwhile, and their results.
  std::vector<std::function<status(package&)>> edits;
  bool manifest_changed = false;
  std::set<std::string> changed;  // names of changed components that have separate files
  std::vector<staged_files> staged;
  std::vector<std::string> superseded;  // paths that the package no longer names once it is written

  bool is_edited() const { return manifest_changed || !changed.empty() || !staged.empty(); }
  const path_rule& rule() const { return installed ? installed_path : package_path; }
  /// The absolute path of the package's folder.
  std::string root_path() const;
  package_component* find(std::string_view component);

  /// Sets one of the package's texts; `called` is its field in the manifest.
  template <class Text>
  void set(Text impl::* field, const char* called, Text to);
  /// The lock for writing to the folder: that of the package, or one that is held until the result is destroyed.
  result<std::shared_ptr<const folder_lock>> locked() const;
  /// The present contents of the folder with the edits. FAIL when they conflict with changes of other writers.
  result<std::unique_ptr<impl>> merged() const;
};

/// A text "<uri>" or "<uri>/<tail>" that names an asset or a path in it.
struct asset_reference {
  std::string_view uri, tail;
  bool has_tail = false;
};
std::optional<asset_reference> as_asset(std::string_view text);

/// The target of a path in a package: relative to the package's folder, or absolute in an installed package. If the
/// path can't be followed, it has a fault and its message.
struct target {
  std::string path;
  found_path at;
  package_fault fault = package_fault::none;
  std::string words;
};
target follow_text(const package::impl&, std::string_view base, std::string_view text, open_for = open_for::place);

/// The path `text` relative to the folder `base`, unless it is absolute.
std::string joined(std::string_view base, std::string_view text);
/// The folder of a path; empty: the package's folder.
std::string_view parent_of(std::string_view path);

/// `name`, with a number appended if it is among the case-folded names in `taken`.
std::string free_name(const std::string& name, const std::set<std::string>& taken);
/// True for names that are reserved for files of the package, so that no variant and no component's folder may have
/// them.
bool is_own_name(std::string_view name);
/// True for temporary names, which a crash during a commit leaves: ".name.1234.0.tmp", "manifest.json.1234.0.tmp".
bool is_temporary(std::string_view name);
/// True for the names of component files: "component.json", "component-2.json".
bool is_component_file(std::string_view name);

/// Collects errors and warnings; package::open returns the first error.
class problem_list {
 public:
  explicit problem_list(std::vector<package_problem>& to) : all_{to} {}
  void add(package_fault, const place&, std::string words, bool is_error = true);
  bool failed() const { return errors_ > 0; }
  const package_problem* first_error() const;

 private:
  std::vector<package_problem>& all_;
  std::size_t errors_ = 0;
};

/// The checks of a reader in addition to those of package::open.
struct read_extent {
  bool paths = false;          // every file must exist
  bool unknown_fields = true;  // unknown fields are warnings if they are not errors
};

class package_reader {
 public:
  package_reader(package::impl& to, std::vector<package_problem>& problems, read_extent extent)
      : made_{to}, problems_{problems}, extent_{extent} {}
  /// Reads the manifest and all files that it names. False if there are errors.
  bool read();
  const problem_list& problems() const { return problems_; }

 private:
  friend class older_reader;
  std::optional<json_document> load(const std::string& file, const place& named_at);
  bool require_object(const json&, const place&);
  void read_manifest(const json&, const place&);
  void read_version(const json&, const place&);
  void read_layout(const json&, const place&);
  void read_assets(const json&, const place&);
  void find_assets();
  void read_components(const json&, const place&);
  void read_component_reference(const std::string& name, const json&, const place&);
  void read_component(package_component, const json&, const place&);
  void read_variant(package_component&, const std::string& name, const json&, const place&);
  friend result<package_variant> checked_variant(const package::impl&, const package_component&,
                                                 const package_variant&);
  void read_executors(package_variant&, const std::string& folder, const json&, const place&);
  void read_ort(package_variant&, const std::string& folder, const json&, const place&);
  void read_options(package_options_list&, const json&, std::string_view field, const place&);
  void check_session_options(package_variant&, const std::string& folder, const place&);
  void check_variant(const package_variant&, const std::string& folder, const place&);
  void check_model_file(const package_variant&, const std::string& folder, const place&);
  void check_case(std::string_view path, const place&);
  struct listed_folder {
    int requests = 0;  // how often listed() was called for it
    bool is_listed = false;
    std::unordered_map<std::string, os::file_kind> entries;
  };
  const listed_folder* listed(std::string_view base);
  bool is_plain_name(std::string_view text);
  target follow(std::string_view base, std::string_view text);
  void note(std::string_view text);
  std::optional<std::string> text_of(const json&, std::string_view field, const place&);
  std::string unknown_of(const json&, std::span<const std::string_view> known, const place&);

  package::impl& made_;
  problem_list problems_;
  read_extent extent_;
  std::size_t bytes_ = 0, values_ = 0;  // of JSON, in all files so far
  std::unordered_map<std::string, listed_folder> folders_;
  std::string plain_name_;                      // the last name for which is_plain_name() was true
  bool in_listed_folder_ = false;               // a listing showed that the present variant's folder is a folder
  std::map<std::string, std::string> spelled_;  // the folders of the package by their case-folded paths
};

/// True for a manifest of a layout before schema 1.
bool is_older_layout(const package::impl&, const json& manifest);
void read_older(package_reader&, package::impl&, problem_list&, const json& manifest, const place&);

/// The inputs and outputs in additional_metadata.io; nullopt if `is_there` is set to false or the format is not
/// cameo's.
std::optional<package_io> read_io(std::string_view metadata, bool& is_there);

/// The contents of a file that is open for reading; FAIL if it has more than `most` bytes.
result<std::string> read_text(const os::handle&, std::size_t most);
/// Lists the entries of an open folder by name.
status list_folder(const os::handle& folder, std::unordered_map<std::string, os::file_kind>& to);
/// The names of the entries of an open folder, sorted.
result<std::vector<std::string>> names_in(const os::handle& folder);
/// Adds an error for every asset whose hash differs from its name.
void verify_assets(const package::impl&, problem_list&);
result<std::string> hash_opened_folder(const os::handle&, std::string_view called);

/// Reads the package in `folder`, and appends all errors and warnings to `problems`. `lock` is the package's lock if
/// the caller holds it; otherwise it is taken if the options have `exclusive`.
result<std::unique_ptr<package::impl>> read_folder(const std::string& folder, const package_open_options&, read_extent,
                                                   std::vector<package_problem>& problems,
                                                   std::shared_ptr<const folder_lock> lock = nullptr);

/// A variant as it would be read from a written package. INVALID_ARGUMENT if it would be invalid.
result<package_variant> checked_variant(const package::impl&, const package_component&, const package_variant&);
json to_json(const package_variant&, const std::optional<std::string>& directory);
/// The JSON of a component for a separate file or, with `at_root`, for the manifest, in which the variants' folders are
/// relative to the package's folder.
json to_json(const package_component&, bool at_root);
json to_json(const package::impl&);

/// Creates a folder; FAIL if the name exists.
status make_new_folder(const std::string& path);
/// Copies a tree of folders and flushes it to disk. Links are followed if they stay inside `from`. Paths for which
/// `skips` is true are omitted. After FAIL, the files that were copied so far remain.
status copy_tree(const detail::held_folder& from, std::string_view below, const std::string& to,
                 detail::function_ref<bool(const std::string&)> skips);

}  // namespace CAMEO_NAMESPACE
