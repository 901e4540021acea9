# Functions for providers, which are folders eps/NAME/{include,src,tests} with a CMakeLists.txt of one call.

# cameo_add_provider(NAME cpu TYPE type PRIVATE libraries... HEADERS_OF libraries...) makes cameo_ep_NAME from
# eps/NAME/src/**.cpp. The test runner contains eps/NAME/tests/*_test.cpp. TYPE is the provider's type in the namespace
# cameo::eps, by default NAME. Only the headers of HEADERS_OF are used.
function(cameo_add_provider)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME;TYPE" "PRIVATE;HEADERS_OF")
  if(arg_TYPE)
    set_property(GLOBAL PROPERTY cameo_type_of_${arg_NAME} ${arg_TYPE})
  endif()
  set(target cameo_ep_${arg_NAME})
  set(folder ${PROJECT_SOURCE_DIR}/eps/${arg_NAME})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${folder}/src/*.cpp)
  if(sources)
    add_library(${target} STATIC ${sources})
    target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${folder}/include>
      PRIVATE ${folder}/src ${PROJECT_SOURCE_DIR}/src)  # tests/layers.py restricts this to some folders of src
    target_link_libraries(${target} PUBLIC cameo_host)
    cameo_compile_hidden(${target})
    cameo_link_privately(${target} ${arg_PRIVATE})
    cameo_use_headers(${target} ${arg_HEADERS_OF})
    if(CAMEO_SANITIZE)  # one instruction set suffices to find invalid accesses, and builds faster
      target_compile_definitions(${target} PRIVATE HWY_COMPILE_ONLY_STATIC)
    endif()
  else()
    add_library(${target} INTERFACE)
    target_include_directories(${target} INTERFACE $<BUILD_INTERFACE:${folder}/include>)
    target_link_libraries(${target} INTERFACE cameo_host)
  endif()
endfunction()

# For kernels that need an optional library: cameo_kernels_with(NAME source...) defines NAME for the sources if the
# library is there; otherwise cameo_kernels_without(words) sets what `cameo ops` prints about the missing kernels.
function(cameo_kernels_with name)
  set_property(SOURCE ${ARGN} APPEND PROPERTY COMPILE_DEFINITIONS ${name})
endfunction()
function(cameo_kernels_without words)
  set_property(GLOBAL APPEND PROPERTY cameo_kernels_without "${words}")
endfunction()

# Adds the providers of the program, and those that only the tests need.
macro(cameo_add_providers)
  set(cameo_program_list ${CAMEO_PROVIDERS})
  list(TRANSFORM cameo_program_list REPLACE "^ort_plugin$" "ort_plugin_host")  # the provider's short name
  if(CAMEO_EP_OPENVINO AND CAMEO_SANITIZE)  # only compiled, since the SDK is not instrumented
    add_subdirectory(eps/openvino)
  elseif(CAMEO_EP_OPENVINO)
    list(PREPEND cameo_program_list openvino)
  endif()
  list(REMOVE_ITEM cameo_program_list cpu)
  list(APPEND cameo_program_list cpu)  # the fallback is last
  list(REMOVE_DUPLICATES cameo_program_list)
  set(cameo_built_providers ${cameo_program_list})
  if(CAMEO_TESTS)
    list(APPEND cameo_built_providers null)
  endif()
  list(REMOVE_DUPLICATES cameo_built_providers)
  foreach(provider IN LISTS cameo_built_providers)
    if(EXISTS ${PROJECT_SOURCE_DIR}/eps/${provider}/CMakeLists.txt)
      add_subdirectory(eps/${provider})
    else()
      message(FATAL_ERROR "CAMEO_PROVIDERS names '${provider}', but there is no eps/${provider}/CMakeLists.txt")
    endif()
  endforeach()
endmacro()

# Writes <cameo/build/providers.hpp>, the list of the build's providers, from which src/build makes the runtime of all
# front ends, and <cameo/program/left_out.hpp>, what `cameo ops` prints about kernels whose library is missing.
macro(cameo_generate_providers_header)
  set(includes)
  set(types)
  set(cameo_program_providers)
  foreach(provider IN LISTS cameo_program_list)
    string(APPEND includes "#include <cameo/eps/${provider}.hpp>\n")
    get_property(type GLOBAL PROPERTY cameo_type_of_${provider})
    if(NOT type)
      set(type ${provider})
    endif()
    list(APPEND types "cameo::eps::${type}")
    list(APPEND cameo_program_providers cameo_ep_${provider})
  endforeach()
  list(JOIN types ", " types)
  get_property(left_out GLOBAL PROPERTY cameo_kernels_without)
  list(LENGTH left_out left_out_count)
  list(TRANSFORM left_out REPLACE "(.+)" "\"\\1\"")
  list(JOIN left_out ", " left_out)
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/generated/cameo/build/providers.hpp @ONLY CONTENT
"#pragma once
// Written by CMake from CAMEO_PROVIDERS.
#include <cameo/core/type_list.hpp>
@includes@
namespace cameo::build {
using providers = cameo::type_list<@types@>;
}
")
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/generated/cameo/program/left_out.hpp @ONLY CONTENT
"#pragma once
// Written by CMake from the calls of cameo_kernels_without.
#include <array>
#include <string_view>

namespace cameo::program {
/// Descriptions of the kernels whose library the build lacks.
inline constexpr std::array<std::string_view, @left_out_count@> left_out{{@left_out@}};
}  // namespace cameo::program
")
endmacro()

# Writes a list of the kernels and their headers, for `cameo reduce`.
function(cameo_generate_kernel_headers)
  set(rows)
  set(count 0)
  foreach(provider IN LISTS cameo_program_list)
    set(folder ${PROJECT_SOURCE_DIR}/eps/${provider}/include)
    file(GLOB headers RELATIVE ${folder} CONFIGURE_DEPENDS ${folder}/cameo/eps/${provider}/*.hpp)
    foreach(header IN LISTS headers)
      file(STRINGS ${folder}/${header} lines REGEX "^(struct|using|class) [a-z0-9_]+")
      foreach(line IN LISTS lines)
        string(REGEX REPLACE "^[a-z]+ ([a-z0-9_]+).*" "\\1" kernel "${line}")
        string(APPEND rows "    {\"${provider}\", \"${kernel}\", \"${header}\"},\n")
        math(EXPR count "${count} + 1")
      endforeach()
    endforeach()
  endforeach()
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/generated/cameo/program/kernel_headers.hpp @ONLY CONTENT
"#pragma once
// Written by CMake from the headers of the providers' kernels.
#include <array>
#include <string_view>

namespace cameo::program {
struct kernel_header {
  std::string_view provider, kernel, path;
};
inline constexpr std::array<kernel_header, @count@> kernel_headers{{
@rows@}};
}  // namespace cameo::program
")
endfunction()
