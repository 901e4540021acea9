# ccache compiles, if it is here and the user has chosen no other launcher. It gets its settings from the command line, whoever
# starts the build: paths are taken relative to the root of the tree, so that another build folder, preset or checkout finds
# the same objects. (Positions in debug information may name the other folder.)
find_program(CAMEO_CCACHE ccache)
if(CAMEO_CCACHE AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  cmake_path(GET CMAKE_CURRENT_LIST_DIR PARENT_PATH cameo_cache_root)
  set(CMAKE_CXX_COMPILER_LAUNCHER env CCACHE_BASEDIR=${cameo_cache_root} CCACHE_NOHASHDIR=1 ${CAMEO_CCACHE})
elseif(NOT CAMEO_CCACHE)
  message(STATUS "cameo: no ccache here (Debian: ccache), so each new build folder compiles everything again")
endif()
