#pragma once
#include <string>

namespace cameo::program {

/// The version, and in further lines what the program was built from and with, and what it uses on this machine.
std::string version_text();

/// The commit that it was built from, and whether there were changes; written by CMake with each build.
const char* built_commit();

}  // namespace cameo::program
