# Functions for kernels and programs without the host libraries: for the target tier, which is built with
# -fno-exceptions and -fno-rtti, and for processors for which code is only cross compiled.

# Makes some of the host's headers visible, which are the same on every platform, without its other headers. Headers in
# CAMEO_BORROW_FROM come first, for example those of another version of Highway.
function(cameo_borrow_headers target)
  set(folder ${PROJECT_BINARY_DIR}/borrowed)
  file(MAKE_DIRECTORY ${folder})
  foreach(name IN LISTS ARGN)
    find_path(CAMEO_BORROWED_${name} ${name} PATHS ${CAMEO_BORROW_FROM} /usr/include NO_DEFAULT_PATH NO_CMAKE_FIND_ROOT_PATH)
    if(NOT CAMEO_BORROWED_${name})
      message(FATAL_ERROR "no /usr/include/${name}: install the packages of cmake/bootstrap.sh")
    endif()
    file(CREATE_LINK ${CAMEO_BORROWED_${name}}/${name} ${folder}/${name} SYMBOLIC)
  endforeach()
  target_include_directories(${target} SYSTEM PRIVATE ${folder})
endfunction()

# cameo_add_kernels(TARGET NAME...) adds sources to a target: cpu's kernels of these headers, and the folders of cpu
# on which all kernels depend, for the compiler's default instruction set. They need no other libraries of cameo.
function(cameo_add_kernels target)
  set(cpu ${PROJECT_SOURCE_DIR}/eps/cpu)
  string(TOLOWER "${CMAKE_SYSTEM_NAME}" system)
  set(paths ${PROJECT_SOURCE_DIR}/src/os/${system}/processor_features.cpp ${cpu}/src/quantized/integer_*.cpp)
  foreach(floor machine operands functions skeletons microkernels products windows)
    list(APPEND paths ${cpu}/src/${floor}/*.cpp)
  endforeach()
  foreach(name IN LISTS ARGN)
    set(those ${cpu}/src/*/${name}.cpp ${cpu}/src/*/${name}.*.cpp ${cpu}/src/*/${name}_*.cpp)
    file(GLOB found CONFIGURE_DEPENDS ${those})
    if(NOT found)
      message(FATAL_ERROR "cameo_add_kernels(${target}): eps/cpu/src has no source '${name}.cpp' or '${name}_*.cpp'")
    endif()
    list(APPEND paths ${those})
  endforeach()
  file(GLOB sources CONFIGURE_DEPENDS ${paths})
  list(REMOVE_DUPLICATES sources)
  list(REMOVE_ITEM sources ${cpu}/src/machine/peak.simd.cpp)  # only for the host
  target_sources(${target} PRIVATE ${sources})
  cameo_compile_together(${target})
  target_include_directories(${target} PUBLIC ${cpu}/include PRIVATE ${cpu}/src ${PROJECT_SOURCE_DIR}/src)
  target_compile_definitions(${target} PRIVATE CAMEO_SINGLE_TARGET)
  target_compile_options(${target} PRIVATE -ffp-contract=off)
  target_link_libraries(${target} PUBLIC cameo_minimal PRIVATE cameo_options)
  cameo_borrow_headers(${target} hwy)
endfunction()

# Links a program for a target: static except for libc and libm.
function(cameo_link_minimal target)
  target_link_libraries(${target} PRIVATE cameo_options cameo_minimal ${ARGN})
  target_compile_options(${target} PRIVATE -fno-pie)
  if(NOT CMAKE_SYSTEM_NAME STREQUAL "Generic")
    target_link_options(${target} PRIVATE -no-pie -static-libgcc -static-libstdc++ -Wl,--as-needed)
  endif()
endfunction()
