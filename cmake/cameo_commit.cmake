# Writes FILE, a source with the commit of the tree in SOURCE. FILE is not touched if the commit is the same. COMMIT
# sets the commit if there is no git repository, as in an archive. Git's commit is only used if SOURCE is the top
# folder of the repository, since an archive may be unpacked in another project's repository. The repository may
# belong to another user.
cmake_minimum_required(VERSION 3.25)  # needed because this file is a script: without it CMake warns about policies

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
