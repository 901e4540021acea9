#pragma once
#include <cameo/core/result.hpp>

#include <optional>
#include <string>
#include <string_view>

#include <sys/stat.h>

CAMEO_BEGIN_NAMESPACE

/// What a path names for a writer, once links are followed.
struct destination {
  std::string path;
  std::optional<struct stat> facts;  // of what is there
  int descriptor = -1;               // of this process, when the path names one: "/dev/stdout"
  bool appends = false;              // a file that another process has open: it is written into at its end

  /// A regular file, or nothing: a new file may take the place. Everything else is written into.
  bool is_replaced() const { return descriptor < 0 && !appends && (!facts || S_ISREG(facts->st_mode)); }
};

/// Follows the links of `path` as the system does, also one that leads to nothing yet; in a folder where everybody may
/// put files, only links of its owner or of this user (what Linux calls protected symlinks). FAIL for a folder, for
/// links that lead nowhere or round in a circle, and with the system's words.
result<destination> find_destination(const std::string& path);

/// FAIL: the path, what was tried, and the system's words for errno.
status system_error(const std::string& path, std::string_view doing);

/// The folder that a path's last name is in, with its last slash; empty: the current one.
std::string folder_part(const std::string& path);

CAMEO_END_NAMESPACE
