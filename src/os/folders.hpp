#pragma once
#include "os/files.hpp"

#include <cameo/core/function_ref.hpp>

#include <string_view>

namespace CAMEO_NAMESPACE::os {

/// The system's errors for a name that is in use, and for a path that leads through too many links.
status name_is_taken();
status too_many_links();

/// Opens a folder. NO_SUCHFILE if there is none.
result<handle> open_folder(const handle& from, const std::string& path, access = access::reading);
/// Opens the file or folder at a path. All links are followed as long as they stay below the folder. NO_SUCHFILE if
/// there is nothing. FAIL also if the system has no such call: then the caller follows the path itself.
result<handle> open_beneath(const handle& folder, const std::string& path, access);

/// Calls `found` with every name in a folder that is open for reading. The kind is `other` if the system must open the
/// file to find its kind.
status list(const handle& folder, detail::function_ref<void(std::string_view name, file_kind)> found);

/// False if the name is in use.
result<bool> make_folder(const std::string& path);
/// Renames a folder. An empty folder with the new name is replaced; anything else with that name is an error.
status move_folder(const std::string& from, const std::string& to);
/// Writes the names in a folder to the disk. Has no effect if the file system cannot do this, or if there is no such
/// folder.
void flush_folder(const std::string& path);

/// The target of a symbolic link. An empty name means `folder` itself, which was opened as a link.
result<std::string> read_link(const handle& folder, const std::string& name);
/// True for a link in a folder where every user may put files, if neither the folder's owner nor this user put it
/// there. Systems refuse to follow it when they open a path; code that reads links by itself has to check for it.
bool is_planted_link(const std::string& path);
/// True for a link to a file that a process has open ("/dev/stdout"); such a file may have no path.
bool leads_to_open_file(const std::string& path);
/// A handle to that file if this process has it open; empty otherwise.
handle own_open_file(const std::string& path);

/// Renames a file in its folder. A file that had the new name is removed, but processes that have it open keep it.
status replace_file(const std::string& from, const std::string& to);
/// Renames as replace_file() does if the new name is free; returns false if it is in use.
result<bool> move_to_free_name(const std::string& from, const std::string& to);
/// Gives a file a second name.
status add_name(const std::string& path, const std::string& another);
/// Removes the name of a file.
status remove_name(const handle& folder, const std::string& name);
/// Gives a new file the owner and the permissions of the file at `path`, as far as this user may.
void keep_rights(const std::string& path, const handle& of_new);

}  // namespace CAMEO_NAMESPACE::os
