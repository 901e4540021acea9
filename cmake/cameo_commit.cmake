# Writes FILE, a source with the commit of the tree in SOURCE; it stays as it is while that does. COMMIT says it where
# there is no git, as in an archive. An archive that lies in a repository of something else does not have that one's commit:
# only a tree that is the top of its repository has one. It may belong to another user than the one who builds.
cmake_minimum_required(VERSION 3.25)  # of its own, because it runs as a script: without it CMake warns about policies

if(NOT COMMIT)
  set(git git -c safe.directory=${SOURCE} -C ${SOURCE})
  execute_process(COMMAND ${git} rev-parse --show-prefix
    OUTPUT_VARIABLE folder_inside RESULT_VARIABLE outside OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if("${outside}" STREQUAL "0" AND folder_inside STREQUAL "")
    execute_process(COMMAND ${git} describe --always --abbrev=12 --dirty --exclude=*
      OUTPUT_VARIABLE COMMIT OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  endif()
endif()
if(NOT COMMIT)
  set(COMMIT "unknown")
endif()
file(CONFIGURE OUTPUT ${FILE} @ONLY CONTENT
"// Written by CMake with each build.
#include \"program/version.hpp\"
const char* cameo::program::built_commit() { return \"@COMMIT@\"; }
")
