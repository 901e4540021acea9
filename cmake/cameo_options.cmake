# How everything of cameo is compiled: cameo_options carries the warnings and is linked privately by every target. What
# is set here ends with cameo's own folder; a project that has cameo as a subdirectory keeps its own ways, and its flags
# are cameo's.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

if(PROJECT_IS_TOP_LEVEL)
  set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
  if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
  endif()
  if(CMAKE_CXX_FLAGS_RELEASE STREQUAL "-O3 -DNDEBUG")  # nobody chose it; a kernel's source asks for -O3 where it gains
    set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
  endif()
  include(cameo_compiler_cache)
endif()

# LLVM's linker takes an eighth of the time for objects that clang has instrumented.
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
else()  # with other flags g++ has other false alarms, and those who have cameo as a part can do nothing about them
  target_compile_options(cameo_options INTERFACE -w)
endif()
if(CAMEO_WERROR)
  target_compile_options(cameo_options INTERFACE -Werror)
endif()
if(NOT PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  message(NOTICE "cameo: no build type, so its kernels are compiled without optimisation; -DCMAKE_BUILD_TYPE=Release")
endif()

if(CAMEO_CODE_ONLY)  # for the whole build: the inline namespace of everything changes with it
  add_compile_options(-fno-exceptions -fno-rtti)
  # What nobody calls stays out of programs, and so do tables for unwinding, which nobody does.
  add_compile_options(-ffunction-sections -fdata-sections -fno-asynchronous-unwind-tables -fno-unwind-tables)
  add_link_options(-Wl,--gc-sections)
  set(CMAKE_POSITION_INDEPENDENT_CODE OFF)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")  # every function is called from one or two places: a tenth of the code
    if(NOT DEFINED CMAKE_INTERPROCEDURAL_OPTIMIZATION)
      set(CMAKE_INTERPROCEDURAL_OPTIMIZATION ON)
    endif()
    set(inlining --param=max-inline-insns-size=6)
    if(CMAKE_SIZEOF_VOID_P EQUAL 4)  # calls are short there
      set(inlining --param=max-inline-insns-size=5 -fno-partial-inlining)
    endif()
    add_compile_options(${inlining})
    add_link_options(${inlining})
  endif()
  if(CMAKE_CXX_FLAGS_MINSIZEREL STREQUAL "-Os -DNDEBUG")  # nobody chose it
    set(CMAKE_CXX_FLAGS_MINSIZEREL "-Oz -DNDEBUG")
  endif()
  add_compile_definitions(CAMEO_CODE_ONLY)
endif()

# The libraries tell libFuzzer, which clang brings, where inputs lead; other programs do not notice.
if(CAMEO_TESTS AND CAMEO_SANITIZE MATCHES "address" AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  set(cameo_tells_fuzzers ON)
endif()

if(CAMEO_SANITIZE)
  add_compile_options(-fsanitize=${CAMEO_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${CAMEO_SANITIZE})
  if(CAMEO_SANITIZE MATCHES "undefined")
    add_compile_options(-fno-sanitize-recover=undefined)
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # g++ 12 sees uninitialised members of std::optional in instrumented code that it does not see without.
    target_compile_options(cameo_options INTERFACE -Wno-maybe-uninitialized)
  endif()
endif()
