#pragma once
#include "os/libraries.hpp"

#include <span>
#include <string>
#include <vector>

namespace CAMEO_NAMESPACE::eps::openvino_detail {

/// Where the file lies that holds this code, a program's or a library's: absolute, with every link followed, whatever
/// it was started or loaded as. Empty where the system does not tell.
std::string folder_of_this_code();

/// The folder of a file, without the last slash.
std::string folder_of(const std::string& file);

/// The first of the libraries that can be loaded; what is wrong with those that are there is appended to
/// `why`. Each is an absolute path, or a name alone, which is looked for where the system looks. What would be found
/// from the working folder is not loaded: anybody may have put it there.
os::library first_of(std::span<const std::string> files, std::string& why);

/// Where a library of cameo's own may be: beside this code, where a program that is installed has its libraries, where
/// this build is to be installed, and where the system looks.
std::vector<std::string> places_of(const std::string& name);

}  // namespace CAMEO_NAMESPACE::eps::openvino_detail
