#pragma once
#include "os/libraries.hpp"

#include <span>
#include <string>
#include <vector>

namespace CAMEO_NAMESPACE::eps::openvino_detail {

/// The folder of the program or library that contains this code: an absolute path without links. Empty if the system
/// does not provide it.
std::string folder_of_this_code();

/// The folder of a file, without the last slash.
std::string folder_of(const std::string& file);

/// Loads the first library that can be loaded, and appends the errors of the others to `why`. Each is an absolute path,
/// or a name without a folder, which is searched in the system's search path. No library is loaded relative to the
/// working folder, since other users may be able to write there.
os::library load_first(std::span<const std::string> files, std::string& why);

/// The paths where one of cameo's libraries may be: beside this code, in the library folder of an installed program, in
/// the library folder where this build will be installed, and in the system's search path.
std::vector<std::string> candidates_for(const std::string& name);

}  // namespace CAMEO_NAMESPACE::eps::openvino_detail
