# Writes FILE, a source with the commit of the tree in SOURCE; it stays as it is while that does. COMMIT says it where
# there is no git, as in an archive.
cmake_minimum_required(VERSION 3.25)  # of its own, because it runs as a script: without it CMake warns about policies

if(NOT COMMIT)
  execute_process(COMMAND git -C ${SOURCE} describe --always --abbrev=12 --dirty --exclude=*
    OUTPUT_VARIABLE COMMIT OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
if(NOT COMMIT)
  set(COMMIT "unknown")
endif()
file(CONFIGURE OUTPUT ${FILE} @ONLY CONTENT
"// Written by CMake with each build.
#include \"program/version.hpp\"
const char* cameo::program::built_commit() { return \"@COMMIT@\"; }
")
