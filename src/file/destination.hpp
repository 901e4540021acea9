#pragma once
#include "os/folders.hpp"

#include <string>

namespace CAMEO_NAMESPACE {

/// The file that a writer's path leads to after following links.
struct destination {
  std::string path;
  os::file_facts there;  // the facts of the existing file
  os::handle own;        // set if the path names a file that this process has open: "/dev/stdout"
  bool appends = false;  // the path names a file that another process has open, so bytes are appended to it

  /// True if a new file replaces the destination, which is a regular file or does not exist. Otherwise bytes are
  /// written into the existing one.
  bool is_replaced() const {
    return !own && !appends && (there.kind == os::file_kind::nothing || there.kind == os::file_kind::file);
  }
};

/// Follows the links of `path`, including a last one whose target does not exist yet. In a folder that all users may
/// write to, it follows only links of the folder's owner or of this user. FAIL for a folder, for links that form a
/// cycle, and with the system's message.
result<destination> find_destination(const std::string& path);

/// The folder of a path, with its last slash; empty: the current folder.
std::string folder_part(const std::string& path);

}  // namespace CAMEO_NAMESPACE
