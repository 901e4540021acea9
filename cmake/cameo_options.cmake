# The options with which cameo is compiled. cameo_options contains the warnings, and every target links it privately.
# The settings apply only to cameo's folder. The flags of a project that has cameo as a subdirectory apply to cameo,
# too.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

if(PROJECT_IS_TOP_LEVEL)
  set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
  if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
  endif()
  if(CMAKE_CXX_FLAGS_RELEASE STREQUAL "-O3 -DNDEBUG")  # CMake's default; sources of kernels that gain from -O3 set it
    set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
  endif()
  include(cameo_compiler_cache)
endif()

# LLVM's linker needs an eighth of the time for objects that clang has instrumented.
if(PROJECT_IS_TOP_LEVEL AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  include(CheckLinkerFlag)
  check_linker_flag(CXX -fuse-ld=lld CAMEO_HAS_LLD)
  if(CAMEO_HAS_LLD)
    add_link_options(-fuse-ld=lld)
  endif()
endif()

add_library(cameo_options INTERFACE)
if(CAMEO_WERROR OR PROJECT_IS_TOP_LEVEL)
  target_compile_options(cameo_options INTERFACE -Wall -Wextra)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(cameo_options INTERFACE -Wshadow=local)
  endif()
else()  # other flags cause other false warnings of g++, which projects that contain cameo can't avoid
  target_compile_options(cameo_options INTERFACE -w)
endif()
if(CAMEO_WERROR)
  target_compile_options(cameo_options INTERFACE -Werror)
endif()
if(NOT PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  message(NOTICE "cameo: no build type, so its kernels are compiled without optimization; -DCMAKE_BUILD_TYPE=Release")
endif()

if(CAMEO_CODE_ONLY)  # for the whole build, since it changes the inline namespace
  add_compile_options(-fno-exceptions -fno-rtti)
  # Unused functions are removed from programs. Tables for unwinding are not needed without exceptions.
  add_compile_options(-ffunction-sections -fdata-sections -fno-asynchronous-unwind-tables -fno-unwind-tables)
  add_link_options(-Wl,--gc-sections)
  set(CMAKE_POSITION_INDEPENDENT_CODE OFF)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")  # most functions have one or two callers, so this saves a tenth of the code
    if(NOT DEFINED CMAKE_INTERPROCEDURAL_OPTIMIZATION)
      set(CMAKE_INTERPROCEDURAL_OPTIMIZATION ON)
    endif()
    set(inlining --param=max-inline-insns-size=6)
    if(CMAKE_SIZEOF_VOID_P EQUAL 4)  # calls take few bytes
      set(inlining --param=max-inline-insns-size=5 -fno-partial-inlining)
    endif()
    add_compile_options(${inlining})
    add_link_options(${inlining})
  endif()
  if(CMAKE_CXX_FLAGS_MINSIZEREL STREQUAL "-Os -DNDEBUG")  # CMake's default
    set(CMAKE_CXX_FLAGS_MINSIZEREL "-Oz -DNDEBUG")
  endif()
  add_compile_definitions(CAMEO_CODE_ONLY)
endif()

# The libraries report their coverage to clang's libFuzzer. Other programs are not affected.
if(CAMEO_TESTS AND CAMEO_SANITIZE MATCHES "address" AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  set(cameo_has_fuzzer_coverage ON)
endif()

if(CAMEO_SANITIZE)
  add_compile_options(-fsanitize=${CAMEO_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${CAMEO_SANITIZE})
  if(CAMEO_SANITIZE MATCHES "undefined")
    add_compile_options(-fno-sanitize-recover=undefined)
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # g++ 12 warns about uninitialized members of std::optional in instrumented code only.
    target_compile_options(cameo_options INTERFACE -Wno-maybe-uninitialized)
  endif()
endif()
