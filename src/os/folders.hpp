#pragma once
#include "os/files.hpp"

#include <cameo/core/function_ref.hpp>

#include <string_view>

CAMEO_BEGIN_NAMESPACE
namespace os {

/// The system's errors for a name that is in use, and for a path that leads through too many links.
status name_is_taken();
status too_many_links();

/// Opens a folder. NO_SUCHFILE where there is none.
result<handle> open_folder(const handle& from, const std::string& path, access = access::reading);
/// Opens what is at a path, with all links followed as long as they stay below the folder. NO_SUCHFILE where there is
/// nothing. FAIL also where the system has no such call: then the caller follows the path itself.
result<handle> open_beneath(const handle& folder, const std::string& path, access);

/// Calls `found` with every name in a folder that is open for reading. The kind is `other` where the system does not
/// know it without opening the file.
status list(const handle& folder, detail::function_ref<void(std::string_view name, file_kind)> found);

/// False if there is something with that name.
result<bool> make_folder(const std::string& path);
/// Gives a folder another name. An empty folder with that name is replaced; anything else there is an error.
status move_folder(const std::string& from, const std::string& to);
/// Makes the names in a folder last. Has no effect where the file system can't, or there is no such folder.
void flush_folder(const std::string& path);

/// What a symbolic link contains. An empty name is that of a link which `folder` itself was opened as.
result<std::string> read_link(const handle& folder, const std::string& name);
/// True for a link in a folder where every user may put files that neither the folder's owner nor this user put there.
/// Systems refuse to follow it when they open a path; code that reads links by itself has to check for it.
bool is_planted_link(const std::string& path);
/// True for a link that leads to what a process has open, which may have no path at all ("/dev/stdout").
bool leads_to_open_file(const std::string& path);
/// A handle to that file if this process has it open; empty if another process has.
handle own_open_file(const std::string& path);

/// Gives a file another name in the same folder. The file that had that name is gone, but not for who has it open.
status replace_file(const std::string& from, const std::string& to);
/// The same if the name is free; false if it is not.
result<bool> move_to_free_name(const std::string& from, const std::string& to);
/// Gives a file a second name.
status add_name(const std::string& path, const std::string& another);
/// Removes the name of a file.
status remove_name(const handle& folder, const std::string& name);
/// Gives a new file the owner and the permissions of the one at a path, as far as this user may.
void keep_rights(const std::string& path, const handle& of_new);

}  // namespace os
CAMEO_END_NAMESPACE
