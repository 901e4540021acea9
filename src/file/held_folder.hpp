#pragma once
#include <cameo/file/file_bytes.hpp>
#include "os/files.hpp"

namespace CAMEO_NAMESPACE {

/// The greatest number of links in one path, which is Linux's limit.
inline constexpr int most_links = 40;

/// The rules for paths that are read from a file, for one purpose.
struct path_rule {
  std::string_view what;    // the purpose, for messages: "external data"
  bool inner_dot_dot;       // `sub/../file` is allowed if it stays inside
  bool plain_names;         // names must not look like other names, nor mean another file on another system
  bool anywhere;            // every path is allowed, because whoever installed the package trusts it
  status_code refused;      // the code of the error for a refused path
  std::string_view remedy;  // advice in the error for a link that leads outside; empty: there is none
};
/// The weights of a model, in its folder.
inline constexpr path_rule external_data_path{
    "external data",
    true,
    false,
    false,
    status_code::invalid_graph,
    "set external_data_folder (session key session.model_external_initializers_file_folder_path) to the folder that "
    "has it, or put a copy in the link's place"};
/// The contexts of a compiled model, in its folder.
inline constexpr path_rule context_path{
    "context",
    true,
    false,
    false,
    status_code::invalid_graph,
    "set ep.context_file_path to a model's path in the folder that has it, or put a copy in the link's place"};
/// Files of a model package.
inline constexpr path_rule package_path{"path", false, true, false, status_code::fail, {}};
/// Files of an installed package, which may be anywhere on this machine.
inline constexpr path_rule installed_path{"path", true, false, true, status_code::fail, {}};

/// Why a path was not followed: its text is malformed, it leads outside, or the system returned an error.
enum class path_error : std::uint8_t { none, malformed, outside, system };

/// The open file that a path led to when it was looked up, so that a later replacement has no effect on reading. If
/// there is no error and `kind` is `nothing`, the file does not exist.
struct found_path {
  path_error error = path_error::none;
  os::file_kind kind = os::file_kind::nothing;  // never a link, because links are followed
  std::string why;                              // the error in words: "leads out of the folder"
  os::handle handle;
  detail::file_id id;

  bool has_kind(os::file_kind wanted) const { return error == path_error::none && kind == wanted; }
};

/// Whether a found file is opened for reading, or only to find its path.
enum class open_for : bool { place, reading };
/// How a path is followed: by the system if it can confine a path to a folder (`kernel`), or part by part (`walk`).
enum class follow : bool { kernel, walk };

namespace detail {
/// An open folder, so that a later replacement has no effect. Paths that are read from files are resolved from it; with
/// all their links, they must stay inside it. Thread-safe.
class held_folder {
 public:
  /// Opens a folder; an empty path is the current one. NO_SUCHFILE when it does not exist.
  static result<held_folder> open(const std::string& path);
  /// A folder that was found and opened for reading. `path` is its name in messages.
  static held_folder opened(found_path found, std::string path);

  const std::string& path() const { return path_; }
  const os::handle& handle() const { return handle_; }
  const file_id& id() const { return id_; }
  /// Follows a path that the rule allows. Links may also lead into the folders `also`.
  found_path find(const path_rule&, std::string_view location, open_for, std::span<const file_id> also = {},
                  follow = follow::kernel) const;
  /// The regular file that `location` leads to. It must be relative, without a drive or a name that a system reserves
  /// for devices, and neither `..` nor a symbolic link may lead out of the folder. An error has the rule's code and
  /// names `location` and `whose`, the owner of the path ("initializer 'w'").
  result<found_path> file(const path_rule&, std::string_view location, std::string_view whose, open_for) const;
  /// The bytes of the regular file that `location` leads to; see file().
  result<std::shared_ptr<const file_bytes>> map(const path_rule&, std::string_view location,
                                                std::string_view whose) const;
  /// The error for a result of find() that is not a regular file; ok for one.
  status refused(const path_rule&, const found_path&, std::string_view location, std::string_view whose) const;
  /// The present path of the file that was found; if the system can't report it, the path that was followed.
  std::string path_of(const found_path&, std::string_view location) const;

 private:
  held_folder(std::string path, os::handle handle, file_id id)
      : path_{std::move(path)}, handle_{std::move(handle)}, id_{id} {}
  std::string path_;
  os::handle handle_;
  file_id id_;
};
}  // namespace detail

/// The reason why the text of a path violates the rule; empty if it does not.
std::string_view malformed(const path_rule&, std::string_view location);
namespace detail {
/// Maps a file that is open for reading, as file_bytes::map. `path` is its name in messages.
result<std::shared_ptr<const file_bytes>> map_opened(const os::handle&, std::string path);
/// Maps a file that was found by a rule. An error other than OUT_OF_MEMORY has the rule's code.
result<std::shared_ptr<const file_bytes>> map_found(const path_rule&, const found_path&, std::string path,
                                                    std::string_view whose);
}  // namespace detail
}  // namespace CAMEO_NAMESPACE
