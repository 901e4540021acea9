#pragma once
#include "file/folder_lock.hpp"
#include "file/held_folder.hpp"
#include "file/letters.hpp"
#include "file/messages.hpp"
#include "file/unicode.hpp"
#include "package/json.hpp"

#include <cameo/core/function_ref.hpp>

#include <functional>
#include <map>
#include <set>
#include <unordered_map>

namespace CAMEO_NAMESPACE {

/// Folders in folders that a package's files may lie in.
inline constexpr int deepest_folder = 64;

/// An error for a request that can't be fulfilled: INVALID_ARGUMENT.
template <class... Args>
status refused(fmt::format_string<Args...> format, Args&&... args) {
  return failed(status_code::invalid_argument, format, std::forward<Args>(args)...);
}

constexpr std::string_view manifest_file = "manifest.json";
constexpr std::string_view component_file = "component.json";
constexpr std::string_view assets_folder = "shared_assets";
constexpr std::string_view ort_executor = "ort";

/// Files that become a variant's, or an asset's, when the package is written.
struct staged_files {
  std::string component, variant;  // empty: an asset
  std::string asset;               // its URI
  std::string from;
};

/// Shared assets in their order, each found by its URI.
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
  std::shared_ptr<const detail::held_folder> root;  // null: nowhere yet
  package_layout layout = package_layout::schema_1;
  int major = 1, minor = 0;
  bool installed = false;
  std::optional<std::string> name, version, description;
  std::string metadata, unknown;
  std::vector<package_component> components;
  asset_list assets;
  package_open_options options;
  std::uint64_t state = 0;                  // a hash of all that reading it found: what has another was changed since
  std::shared_ptr<const folder_lock> lock;  // of a package that was opened to be changed

  // Edits since the package was read: what they have made of it, and they themselves, to be applied again when
  // another writer has changed the package meanwhile.
  std::vector<std::function<status(package&)>> edits;
  bool manifest_changed = false;
  std::set<std::string> changed;  // components that are files, by name
  std::vector<staged_files> staged;
  std::vector<std::string> superseded;  // folders and files that nothing names once it is written, below the root

  bool is_edited() const { return manifest_changed || !changed.empty() || !staged.empty(); }
  const path_rule& rule() const { return installed ? installed_path : package_path; }
  /// The folder's own path, absolute.
  std::string root_path() const;
  package_component* find(std::string_view component);

  /// Sets one of the package's labels; `called` is its field in the manifest.
  template <class Text>
  void set(Text impl::* field, const char* called, Text to);
  /// The right to write to the folder: the package's own lock, or another one until the result is destroyed.
  result<std::shared_ptr<const folder_lock>> locked() const;
  /// What is in the folder now, with the edits. FAIL when they do not go with what others have changed meanwhile.
  result<std::unique_ptr<impl>> merged() const;
};

/// "<uri>" and the rest of the text after it, if the text names an asset.
struct asset_reference {
  std::string_view uri, tail;
  bool has_tail = false;
};
std::optional<asset_reference> as_asset(std::string_view text);

/// Where a text leads: below the root, or absolute in an installed package. A fault and words when it leads nowhere.
struct led_to {
  std::string path;
  found_path at;
  package_fault fault = package_fault::none;
  std::string words;
};
led_to follow_text(const package::impl&, std::string_view base, std::string_view text, open_for = open_for::place);

/// `text` seen from `base`; both below the root.
std::string joined(std::string_view base, std::string_view text);
/// The folder that a file lies in; empty: the root.
std::string_view parent_of(std::string_view path);

/// `name`, or with a number behind it: none of those that are taken, which come in lower case.
std::string free_name(const std::string& name, const std::set<std::string>& taken);
/// Whether a file of the package's own is called so, or may be: no variant may, and no component's folder.
bool is_own_name(std::string_view name);
/// ".name.1234.0.tmp", "manifest.json.1234.0.tmp": what a crash leaves of a commit.
bool is_passing(std::string_view name);
/// "component.json", "component-2.json"
bool is_component_file(std::string_view name);

/// Collects what is wrong; the first error is what `open` fails with.
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

/// What reading looks at beyond what opening needs.
struct read_extent {
  bool paths = false;          // every file has to be there
  bool unknown_fields = true;  // are worth a warning where they are no error
};

class package_reader {
 public:
  package_reader(package::impl& to, std::vector<package_problem>& problems, read_extent extent)
      : to_{to}, problems_{problems}, extent_{extent} {}
  /// The manifest and all it names. False when something is wrong.
  bool read();
  const problem_list& problems() const { return problems_; }

 private:
  friend class older_reader;
  std::optional<json_document> load(const std::string& file, const place& named_at);
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
    int asked = 0;
    bool is_listed = false;
    std::unordered_map<std::string, os::file_kind> entries;
  };
  const listed_folder* listed(std::string_view base);
  bool is_plain_name(std::string_view text);
  led_to follow(std::string_view base, std::string_view text);
  void note(std::string_view text);
  std::optional<std::string> text_of(const json&, std::string_view field, const place&);
  std::string unknown_of(const json&, std::span<const std::string_view> known, const place&);

  package::impl& to_;
  problem_list problems_;
  read_extent extent_;
  std::size_t bytes_ = 0, values_ = 0;  // of JSON, in all files so far
  std::unordered_map<std::string, listed_folder> folders_;
  std::string plain_name_;                      // of is_plain_name()
  bool in_listed_folder_ = false;               // the variant that is read lies in a folder that a listing shows as one
  std::map<std::string, std::string> spelled_;  // what the package calls its folders, by their names without case
};

/// The layouts before schema 1; false when the manifest is of neither.
bool is_older_layout(const package::impl&, const json& manifest);
void read_older(package_reader&, package::impl&, problem_list&, const json& manifest, const place&);

/// The "io" of `additional_metadata`; nullopt when it is missing, or of another form.
std::optional<package_io> read_io(std::string_view metadata, bool& is_there);

/// The text of a file that is open for reading.
result<std::string> read_text(const os::handle&, std::size_t most);
/// What is in an open folder, by name.
status list_folder(const os::handle& folder, std::unordered_map<std::string, os::file_kind>& to);
/// The names alone, sorted.
result<std::vector<std::string>> names_in(const os::handle& folder);
/// Adds an error for every asset whose hash is not the one in its name.
void verify_assets(const package::impl&, problem_list&);
result<std::string> hash_opened_folder(const os::handle&, std::string_view called);

/// What reading the package in `folder` gives; all that is wrong is in `problems`. `lock` is the right to change it, if
/// the caller holds it already; otherwise it is taken here where the options ask for it.
result<std::unique_ptr<package::impl>> read_folder(const std::string& folder, const package_open_options&, read_extent,
                                                   std::vector<package_problem>& problems,
                                                   std::shared_ptr<const folder_lock> lock = nullptr);

/// A variant as reading it back would make it. INVALID_ARGUMENT saying what is wrong with it.
result<package_variant> checked_variant(const package::impl&, const package_component&, const package_variant&);
json to_json(const package_variant&, const std::optional<std::string>& directory);
/// The body for a file or, with `at_root`, for the manifest, where variant folders are named from the root.
json to_json(const package_component&, bool at_root);
json to_json(const package::impl&);

/// FAIL with a message also if there is something with that name.
status make_new_folder(const std::string& path);
/// Copies a tree; links are followed as long as they stay inside. Paths for which `skips` is true are left out. Copied
/// files have reached the disk. FAIL with a message, and files that were already copied stay.
status copy_tree(const detail::held_folder& from, std::string_view below, const std::string& to,
                 detail::function_ref<bool(const std::string&)> skips);

}  // namespace CAMEO_NAMESPACE
