#pragma once
#include <string>

namespace cameo::program {

/// The version, and in further lines the commit, the compiler, the providers, and their instruction sets on this
/// machine.
std::string version_text();

/// The commit that the program was built from, and whether files were changed. CMake generates it with each build.
const char* built_commit();

}  // namespace cameo::program
