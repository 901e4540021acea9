#pragma once
#include "os/folders.hpp"

#include <string>

namespace CAMEO_NAMESPACE {

/// What a path names for a writer, once links are followed.
struct destination {
  std::string path;
  os::file_facts there;  // of what is there
  os::handle own;        // to the file that this process has open, when the path names one: "/dev/stdout"
  bool appends = false;  // a file that another process has open: it is written into at its end

  /// A regular file, or nothing: a new file may take the place. Everything else is written into.
  bool is_replaced() const {
    return !own && !appends && (there.kind == os::file_kind::nothing || there.kind == os::file_kind::file);
  }
};

/// Follows the links of `path` as the system does, also one that leads to nothing yet; in a folder where everybody may
/// put files, only links of its owner or of this user. FAIL for a folder, for links that lead nowhere or round in a
/// circle, and with the system's words.
result<destination> find_destination(const std::string& path);

/// The folder that a path's last name is in, with its last slash; empty: the current one.
std::string folder_part(const std::string& path);

}  // namespace CAMEO_NAMESPACE
