# The libraries that cameo's own are linked with, each behind a name of ours, cameo_external::NAME: what a distribution
# calls them differs. Used by the build, and installed for programs that link the static libraries. What cameo uses by
# its headers alone is not here: nobody else needs it.

include(CMakeFindDependencyMacro)

# In the installed package a library that is missing makes find_package(cameo) fail, which may be allowed to.
macro(cameo_find_dependency)
  if(CMAKE_FIND_PACKAGE_NAME)
    find_dependency(${ARGN})
  else()
    find_package(${ARGN} REQUIRED)
  endif()
endmacro()

# cameo_external(NAME target...) makes cameo_external::NAME from the first of the targets that there is.
function(cameo_external name)
  foreach(target IN LISTS ARGN)
    if(TARGET ${target})
      add_library(cameo_external::${name} INTERFACE IMPORTED GLOBAL)
      set_property(TARGET cameo_external::${name} PROPERTY INTERFACE_LINK_LIBRARIES ${target})
      return()
    endif()
  endforeach()
  message(FATAL_ERROR "cameo: none of the targets ${ARGN} came with the library '${name}'")
endfunction()

# Found in one folder and linked in others: global.
if(NOT TARGET cameo_external::threads)
  cameo_find_dependency(Threads GLOBAL)
  cameo_external(threads Threads::Threads)
endif()
if(NOT TARGET cameo_external::protobuf)
  cameo_find_dependency(Protobuf GLOBAL)
  cameo_external(protobuf protobuf::libprotobuf)
endif()
if(NOT TARGET cameo_external::onnx_proto)
  cameo_find_dependency(ONNX GLOBAL)
  cameo_external(onnx_proto onnx_proto ONNX::onnx_proto)
endif()

# Where there is no CMake package of them, pkg-config knows them.
if(NOT TARGET cameo_external::hwy)
  find_package(hwy CONFIG QUIET GLOBAL)
  if(NOT TARGET hwy::hwy)
    cameo_find_dependency(PkgConfig)
    pkg_check_modules(cameo_hwy REQUIRED QUIET IMPORTED_TARGET GLOBAL libhwy)
  endif()
  cameo_external(hwy hwy::hwy PkgConfig::cameo_hwy)
endif()
# RE2 may be missing: cpu then has no RegexFullMatch. In the installed package CAMEO_RE2 says whether it was there.
if(CAMEO_RE2 AND NOT TARGET cameo_external::re2)
  find_package(re2 CONFIG QUIET GLOBAL)
  if(NOT TARGET re2::re2)
    find_package(PkgConfig QUIET)
    if(PkgConfig_FOUND)
      pkg_check_modules(cameo_re2 QUIET IMPORTED_TARGET GLOBAL re2)
    endif()
  endif()
  if(TARGET re2::re2 OR TARGET PkgConfig::cameo_re2 OR CMAKE_FIND_PACKAGE_NAME)
    cameo_external(re2 re2::re2 PkgConfig::cameo_re2)
  else()
    message(NOTICE "cameo: no RE2 here, so the provider cpu has no RegexFullMatch")
  endif()
endif()
