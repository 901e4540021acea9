# The libraries of design: a layer is a folder, its sources are globbed.

# Headers alone; the layers above the line between target and host, but one include folder serves all.
file(GLOB_RECURSE cameo_public_headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/cameo/*.hpp)
add_library(cameo_target INTERFACE)
target_include_directories(cameo_target INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                                                  $<INSTALL_INTERFACE:include>)
target_compile_features(cameo_target INTERFACE cxx_std_20)

# cameo_add_library(NAME LAYERS core kernel ... SOURCES single files of other layers EXCEPT names of files that another
# library has DEPENDS targets that users need too PRIVATE libraries for its .cpp only HEADERS_OF libraries of which the
# .cpp files need the headers alone) makes cameo_NAME from src/<layer>/**.cpp.
function(cameo_add_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "EXCEPT" "LAYERS;SOURCES;DEPENDS;PRIVATE;HEADERS_OF")
  set(sources)
  foreach(layer IN LISTS arg_LAYERS)
    file(GLOB_RECURSE found CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${layer}/*.cpp)
    list(APPEND sources ${found})
  endforeach()
  if(arg_EXCEPT)
    list(FILTER sources EXCLUDE REGEX "/${arg_EXCEPT}[.]cpp$")
  endif()
  list(TRANSFORM arg_SOURCES PREPEND ${PROJECT_SOURCE_DIR}/src/)
  list(APPEND sources ${arg_SOURCES})
  add_library(cameo_${name} STATIC ${sources})
  target_include_directories(cameo_${name} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(cameo_${name} PUBLIC ${arg_DEPENDS})
  cameo_compile_hidden(cameo_${name})
  cameo_link_privately(cameo_${name} ${arg_PRIVATE})
  cameo_use_headers(cameo_${name} ${arg_HEADERS_OF})
endfunction()

# Compiles the sources of a folder as one file, or as one per AT_ONCE of them: two fifths of the processor time with g++, as
# each reads the same headers and instantiates the same templates. Names are unique within a folder for that. Sources with
# options of their own are compiled alone, and so are those of the target tier, whose programs link the objects they need.
# Other programs leave out what they do not need with -Wl,--gc-sections.
function(cameo_compile_together target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "AT_ONCE" "")
  if(NOT CAMEO_TOGETHER OR CAMEO_CODE_ONLY)
    return()
  endif()
  if(NOT arg_AT_ONCE)
    set(arg_AT_ONCE 16)
  endif()
  get_target_property(sources ${target} SOURCES)
  set(before)
  foreach(source IN LISTS sources)
    set(base ${PROJECT_SOURCE_DIR})
    cmake_path(IS_PREFIX PROJECT_BINARY_DIR ${source} generated)
    if(generated)  # the same name in each build folder, for the compiler cache
      set(base ${PROJECT_BINARY_DIR})
    endif()
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${base} OUTPUT_VARIABLE folder)
    cmake_path(GET folder PARENT_PATH folder)
    string(MAKE_C_IDENTIFIER "${folder}" group)
    if(NOT group STREQUAL before)
      set(number 0)
      set(before ${group})
    endif()
    math(EXPR part "${number} / ${arg_AT_ONCE}")
    math(EXPR number "${number} + 1")
    set_property(SOURCE ${source} PROPERTY UNITY_GROUP ${group}_${part})
    if(source MATCHES "[.]simd[.]cpp$")  # it includes itself once per instruction set, or is for one
      set_property(SOURCE ${source} PROPERTY SKIP_UNITY_BUILD_INCLUSION ON)
    endif()
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")  # it takes the sources that are included for headers, in which it is a mistake
    target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
  endif()
  target_compile_options(${target} PRIVATE -ffunction-sections -fdata-sections)
endfunction()

# What a command does once, such as reading its line or drawing a page: optimised for size it is a third smaller. The
# program's own files are not: `cameo bench` measures with them.
function(cameo_compile_small target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-Os>)
endfunction()

# For the static library and the shared one alike: what is not marked CAMEO_API is hidden.
function(cameo_compile_hidden target)
  target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:cameo_options>)
  target_compile_definitions(${target} PRIVATE CAMEO_BUILDS_LIBRARY)
  set_target_properties(${target} PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  if(NOT CAMEO_CODE_ONLY)
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  endif()
  cameo_compile_together(${target})
  if(cameo_tells_fuzzers)
    target_compile_options(${target} PRIVATE -fsanitize=fuzzer-no-link)
  endif()
endfunction()

# Third parties of the .cpp files: their headers are system headers, whose warnings are not ours.
function(cameo_link_privately target)
  target_link_libraries(${target} PRIVATE ${ARGN})
  set_property(TARGET ${target} APPEND PROPERTY CAMEO_PRIVATE_LIBRARIES ${ARGN})
  cameo_use_headers(${target} ${ARGN})
endfunction()

# cameo_need(TARGET the CMake package, Debian's): a library whose headers are used. A project that has cameo as a part may have
# brought its own, which is then taken.
macro(cameo_need target package debian)
  if(NOT TARGET ${target})
    find_package(${package} QUIET)
  endif()
  if(NOT TARGET ${target})
    cameo_lacks(${package} ${debian})
  endif()
endmacro()

# Whether the fmt that the target fmt::fmt leads to is used by its headers alone: from version 10 on, see src/file/fmt.cpp.
# Its headers say which version it is: the package that find_package saw may be another one, where a project that has cameo
# as a part brought its own. Headers that are not found are used alone, which works with every version.
function(cameo_fmt_is_headers_alone to)
  get_target_property(folders fmt::fmt INTERFACE_INCLUDE_DIRECTORIES)
  string(REGEX MATCHALL "/[^;>]*" folders "${folders}")  # out of expressions such as BUILD_INTERFACE
  set(${to} TRUE PARENT_SCOPE)
  foreach(folder IN LISTS folders)
    foreach(header base.h core.h)  # since version 11, and before
      if(EXISTS "${folder}/fmt/${header}")
        file(STRINGS "${folder}/fmt/${header}" line REGEX "^#define FMT_VERSION +[0-9]+" LIMIT_COUNT 1)
        if(line MATCHES " ([0-9]+)$" AND CMAKE_MATCH_1 LESS 100000)
          set(${to} FALSE PARENT_SCOPE)
        endif()
      endif()
    endforeach()
  endforeach()
endfunction()

# Their headers alone: whoever links cameo's static libraries needs no target of theirs. fmt is renamed, see
# src/file/fmt.cpp.
function(cameo_use_headers target)
  foreach(library IN LISTS ARGN)
    if(TARGET ${library})
      target_include_directories(${target} SYSTEM PRIVATE $<TARGET_PROPERTY:${library},INTERFACE_INCLUDE_DIRECTORIES>)
    endif()
    if(library STREQUAL "fmt::fmt")
      cameo_fmt_is_headers_alone(headers_alone)
      target_compile_definitions(${target} PRIVATE "FMT_BEGIN_NAMESPACE=namespace fmt { inline namespace cameo_v1 {"
        "FMT_END_NAMESPACE=}}")
      if(headers_alone)
        target_compile_definitions(${target} PRIVATE FMT_HEADER_ONLY)
      endif()
    endif()
  endforeach()
endfunction()

# cameo_python_parts: what the module of the Python package is linked with, which is a project of its own in src/python; and
# how it finds that in this build, without compiling it again.
function(cameo_add_python_parts)
  add_library(cameo_python_parts INTERFACE)
  target_link_libraries(cameo_python_parts INTERFACE cameo_inspect ${cameo_program_providers} cameo_cameo)
  cameo_packaged_libraries(libraries)
  list(REMOVE_ITEM libraries c)
  list(TRANSFORM libraries PREPEND cameo_)
  foreach(target IN LISTS libraries ITEMS cameo_target cameo_cameo cameo_options cameo_inspect cameo_python_parts)
    string(REGEX REPLACE "^cameo_" "" name ${target})
    set_property(TARGET ${target} PROPERTY EXPORT_NAME ${name})
  endforeach()
  export(TARGETS ${libraries} cameo_target cameo_cameo cameo_options cameo_inspect cameo_python_parts
    NAMESPACE cameo_built:: FILE ${PROJECT_BINARY_DIR}/cameo-built.cmake)
endfunction()
