# The libraries of docs/install.md. The sources of a layer are all sources in its folder.

# The headers. Target and host have one include folder.
file(GLOB_RECURSE cameo_public_headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/cameo/*.hpp)
add_library(cameo_target INTERFACE)
target_include_directories(cameo_target INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                                                  $<INSTALL_INTERFACE:include>)
target_compile_features(cameo_target INTERFACE cxx_std_20)

# cameo_add_library(NAME LAYERS ... SOURCES ... EXCEPT regex DEPENDS ... PRIVATE ... HEADERS_OF ...) makes cameo_NAME from
# src/<layer>/**.cpp.
#   SOURCES     files of other layers
#   EXCEPT      names of files that are in another library
#   DEPENDS     targets that users of the library need, too
#   PRIVATE     libraries that only the .cpp files need
#   HEADERS_OF  libraries of which only the .cpp files need the headers
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

# Compiles the sources of a folder together, up to AT_ONCE in one file. This takes two fifths of the processor time
# with g++, since the sources read the same headers and instantiate the same templates. It needs names that are unique
# within a folder. Sources with separate options are compiled alone, and so are those of the target tier, whose
# programs link only the objects that they need. Other programs remove unused code with -Wl,--gc-sections.
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
    if(generated)  # equal names in all build folders, for the compiler cache
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
    if(source MATCHES "[.]simd[.]cpp$")  # it includes itself once per instruction set, or is for one instruction set
      set_property(SOURCE ${source} PROPERTY SKIP_UNITY_BUILD_INCLUSION ON)
      # A source finds itself by its path, which the compiler cache makes relative to the working directory: without this
      # option the cache can't preprocess it, and compiles it each time.
      set_property(SOURCE ${source} APPEND PROPERTY COMPILE_OPTIONS -I.)
    endif()
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")  # g++ takes the included sources for headers, and warns
    target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
  endif()
  target_compile_options(${target} PRIVATE -ffunction-sections -fdata-sections)
endfunction()

# Optimizes a target for size, for code that a command runs once, such as parsing its arguments: it becomes a third
# smaller. The program's own files are not compiled in this way, since `cameo bench` measures with them.
function(cameo_compile_small target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-Os>)
endfunction()

# Hides symbols that are not marked CAMEO_API, in static libraries, too.
function(cameo_compile_hidden target)
  target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:cameo_options>)
  target_compile_definitions(${target} PRIVATE CAMEO_BUILDS_LIBRARY)
  set_target_properties(${target} PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  if(NOT CAMEO_CODE_ONLY)
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  endif()
  cameo_compile_together(${target})
  if(cameo_has_fuzzer_coverage)
    target_compile_options(${target} PRIVATE -fsanitize=fuzzer-no-link)
  endif()
endfunction()

# Links third-party libraries that only the .cpp files need. Their headers are system headers, without warnings.
function(cameo_link_privately target)
  target_link_libraries(${target} PRIVATE ${ARGN})
  set_property(TARGET ${target} APPEND PROPERTY CAMEO_PRIVATE_LIBRARIES ${ARGN})
  cameo_use_headers(${target} ${ARGN})
endfunction()

# cameo_need(TARGET PACKAGE DEBIAN): finds a library whose headers cameo uses, by its CMake package. A project that
# contains cameo may have made TARGET already.
macro(cameo_need target package debian)
  if(NOT TARGET ${target})
    find_package(${package} QUIET)
  endif()
  if(NOT TARGET ${target})
    cameo_lacks(${package} ${debian})
  endif()
endmacro()

# Sets a variable to whether fmt is used by its headers only: from version 10 on, see src/file/fmt.cpp. The version is
# read from the headers of fmt::fmt, which a project that contains cameo may have made from another copy than
# find_package finds. If the headers are not found, the result is true, which works with every version.
function(cameo_fmt_is_headers_alone to)
  get_target_property(folders fmt::fmt INTERFACE_INCLUDE_DIRECTORIES)
  string(REGEX MATCHALL "/[^;>]*" folders "${folders}")  # removes expressions such as BUILD_INTERFACE
  set(${to} TRUE PARENT_SCOPE)
  foreach(folder IN LISTS folders)
    foreach(header base.h core.h)  # since version 11, and before version 11
      if(EXISTS "${folder}/fmt/${header}")
        file(STRINGS "${folder}/fmt/${header}" line REGEX "^#define FMT_VERSION +[0-9]+" LIMIT_COUNT 1)
        if(line MATCHES " ([0-9]+)$" AND CMAKE_MATCH_1 LESS 100000)
          set(${to} FALSE PARENT_SCOPE)
        endif()
      endif()
    endforeach()
  endforeach()
endfunction()

# Uses only the headers of libraries, so that projects that link cameo's static libraries need no targets of them. The
# namespace of fmt is renamed, see src/file/fmt.cpp.
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

# Makes cameo_python_parts, with which the module of the Python package is linked, and exports it, so that the package's
# separate project in src/python can use this build instead of compiling everything again.
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
