#pragma once
#include <cameo/file/file_bytes.hpp>
#include "os/files.hpp"

namespace CAMEO_NAMESPACE {

/// Links that one path may lead through: as many as Linux follows.
inline constexpr int most_links = 40;

/// The rules for a path that is written in a file, by its purpose: one row per use.
struct path_rule {
  std::string_view what;  // "external data", for messages
  bool inner_dot_dot;     // `sub/../file` is fine as long as it stays inside
  bool plain_names;       // no names that another system reads otherwise, or that look like others
  bool anywhere;          // absolute, out of the folder, by any link: the installer of such a package trusts it
  status_code refused;
  std::string_view remedy;  // for a file outside, which its reader trusts: what to do; empty: nothing
};
/// Weights of a model, beside it.
inline constexpr path_rule external_data_path{
    "external data",
    true,
    false,
    false,
    status_code::invalid_graph,
    "set external_data_folder (session key session.model_external_initializers_file_folder_path) to the folder that "
    "has it, or put a copy in the link's place"};
/// Contexts of a compiled model, beside it.
inline constexpr path_rule context_path{
    "context",
    true,
    false,
    false,
    status_code::invalid_graph,
    "set ep.context_file_path to a model's path in the folder that has it, or put a copy in the link's place"};
/// What lies in a model package.
inline constexpr path_rule package_path{"path", false, true, false, status_code::fail, {}};
/// Paths of a package to other places on this machine.
inline constexpr path_rule installed_path{"path", true, false, true, status_code::fail, {}};

/// What keeps a path from being followed: how it is written, where it leads, or the system.
enum class path_trouble : std::uint8_t { none, malformed, outside, system };

/// What lay behind a path when it was looked up, held open: what is read of it is that file, whatever takes its name
/// meanwhile. Without trouble and with nothing found, there is no such file.
struct found_path {
  path_trouble trouble = path_trouble::none;
  os::file_kind kind = os::file_kind::nothing;  // never a link: those are followed
  std::string why;                              // "leads out of the folder", if there is trouble
  os::handle handle;
  detail::file_id id;

  bool is(os::file_kind wanted) const { return trouble == path_trouble::none && kind == wanted; }
};

/// Whether a found file is wanted for reading, or only to know where it is.
enum class open_for : bool { place, reading };
/// How links are followed: `kernel` asks the system to stay inside if it can, and walks part by part if it can't.
enum class follow : bool { kernel, walk };

namespace detail {
/// A folder held open, whatever takes its name meanwhile. Paths written in files are followed from it, part by part,
/// with every link; what they lead to has to lie inside. Thread-safe.
class held_folder {
 public:
  /// An empty path is the current folder. NO_SUCHFILE when there is none.
  static result<held_folder> open(const std::string& path);
  /// A folder that was found and opened for reading; `path` is what messages call it.
  static held_folder of(found_path found, std::string path);

  const std::string& path() const { return path_; }
  const os::handle& handle() const { return handle_; }
  const file_id& id() const { return id_; }
  /// Follows `location` if the rule allows such a path. Links may also lead into the folders `also`.
  found_path find(const path_rule&, std::string_view location, open_for, std::span<const file_id> also = {},
                  follow = follow::kernel) const;
  /// The regular file that a relative `location` leads to, if it stays inside: not absolute, no drive, no name that a
  /// system reserves for devices, no `..` that leads out, no symlink that leads out. The rule's status naming the
  /// location otherwise. `whose` names the owner of the path ("initializer 'w'").
  result<found_path> file(const path_rule&, std::string_view location, std::string_view whose, open_for) const;
  /// The bytes of that file.
  result<std::shared_ptr<const file_bytes>> map(const path_rule&, std::string_view location,
                                                std::string_view whose) const;
  /// Its words where find() has found no such file; ok for a regular file.
  status refused(const path_rule&, const found_path&, std::string_view location, std::string_view whose) const;
  /// The present path of the file that was found, as far as the system knows it.
  std::string path_of(const found_path&, std::string_view location) const;

 private:
  held_folder(std::string path, os::handle handle, file_id id)
      : path_{std::move(path)}, handle_{std::move(handle)}, id_{id} {}
  std::string path_;
  os::handle handle_;
  file_id id_;
};
}  // namespace detail

/// Why a path can't be what it is written to be, by the rule; empty if it can.
std::string_view malformed(const path_rule&, std::string_view location);
namespace detail {
/// The bytes of a file that is open for reading, as file_bytes::map has them; `path` is what messages call it.
result<std::shared_ptr<const file_bytes>> map_opened(const os::handle&, std::string path);
/// Maps a file that a rule found; an error has the code of the rule, but for OUT_OF_MEMORY.
result<std::shared_ptr<const file_bytes>> map_found(const path_rule&, const found_path&, std::string path,
                                                    std::string_view whose);
}  // namespace detail
}  // namespace CAMEO_NAMESPACE
