# Compiles with ccache, if it is installed and the user has set no other launcher. Its settings are part of the command
# line: paths are relative to the root of the tree, so that other build folders, presets and checkouts find the same
# objects. (Debug information may then contain paths of another folder.)
find_program(CAMEO_CCACHE ccache)
if(CAMEO_CCACHE AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  cmake_path(GET CMAKE_CURRENT_LIST_DIR PARENT_PATH cameo_cache_root)
  set(CMAKE_CXX_COMPILER_LAUNCHER env CCACHE_BASEDIR=${cameo_cache_root} CCACHE_NOHASHDIR=1 ${CAMEO_CCACHE})
elseif(NOT CAMEO_CCACHE)
  message(STATUS "cameo: no ccache here (Debian: ccache), so each new build folder compiles everything again")
endif()
