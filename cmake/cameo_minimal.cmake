# The target tier, built with -fno-exceptions and -fno-rtti: its kernels and its tests.

# Sources of cpu's kernels by the names of their headers, and what all of them share.
function(cameo_kernel_sources to)
  set(cpu ${PROJECT_SOURCE_DIR}/eps/cpu)
  set(sources)
  foreach(name unary_math binary_arithmetic)
    list(APPEND sources ${cpu}/src/elementwise/${name}.cpp)
  endforeach()
  cameo_kernel_floors(parts)
  file(GLOB more CONFIGURE_DEPENDS ${cpu}/src/quantized/integer_*.cpp)
  list(APPEND parts ${more})
  list(FILTER parts EXCLUDE REGEX "/(attention_kernels|nchwc_kernels|nchwc_line_kernels)[.]cpp$")
  foreach(name IN LISTS ARGN)
    file(GLOB found CONFIGURE_DEPENDS ${cpu}/src/*/${name}.cpp ${cpu}/src/*/${name}_*.cpp)
    list(APPEND sources ${found})
  endforeach()
  list(APPEND sources ${parts})
  list(REMOVE_DUPLICATES sources)
  set(${to} ${sources} PARENT_SCOPE)
endfunction()

# cameo_minimal_kernels: kernels of cpu for the compiler's own instruction set. A program links what its kernel list
# names, no more: every function has a section of its own.
function(cameo_add_minimal_kernels)
  include(cameo_kernel_tests)
  cameo_kernel_sources(sources conv pool gemm axis_normalization reshape transpose unary)
  string(TOLOWER "${CMAKE_SYSTEM_NAME}" system)
  file(GLOB found CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/os/${system}/processor_features.cpp)
  list(APPEND sources ${found})
  add_library(cameo_minimal_kernels STATIC EXCLUDE_FROM_ALL ${sources})
  target_include_directories(cameo_minimal_kernels PUBLIC ${PROJECT_SOURCE_DIR}/eps/cpu/include
    PRIVATE ${PROJECT_SOURCE_DIR}/eps/cpu/src ${PROJECT_SOURCE_DIR}/src)
  target_compile_definitions(cameo_minimal_kernels PRIVATE CAMEO_SINGLE_TARGET)
  target_compile_options(cameo_minimal_kernels PRIVATE -fno-pie -ffp-contract=off)
  target_link_libraries(cameo_minimal_kernels PUBLIC cameo_minimal PRIVATE cameo_options)
  cameo_borrow_headers(cameo_minimal_kernels hwy)
endfunction()

# A program for a target: static but for libc and libm, and nothing in it that nobody calls.
function(cameo_link_minimal target)
  target_link_libraries(${target} PRIVATE cameo_options cameo_minimal ${ARGN})
  target_compile_options(${target} PRIVATE -fno-pie)
  if(NOT CMAKE_SYSTEM_NAME STREQUAL "Generic")
    target_link_options(${target} PRIVATE -no-pie -static-libgcc -static-libstdc++ -Wl,--as-needed)
  endif()
endfunction()
