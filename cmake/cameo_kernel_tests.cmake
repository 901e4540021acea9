# The kernels of cpu that have a code per instruction set, and their tests, without the libraries that the rest of cameo
# needs: for processors that are only cross compiled for. One instruction set, the compiler's own.

# Headers of the host that are the same everywhere, without the host's others. -DCAMEO_BORROW_FROM=FOLDER: those that lie
# there are taken first, as another version of Highway.
function(cameo_borrow_headers target)
  set(folder ${PROJECT_BINARY_DIR}/borrowed)
  file(MAKE_DIRECTORY ${folder})
  foreach(name IN LISTS ARGN)
    unset(from)
    foreach(place IN ITEMS ${CAMEO_BORROW_FROM} /usr/include)
      if(NOT DEFINED from AND EXISTS ${place}/${name})
        set(from ${place}/${name})
      endif()
    endforeach()
    if(NOT DEFINED from)
      message(FATAL_ERROR "no /usr/include/${name}: install the packages of cmake/bootstrap.sh")
    endif()
    file(CREATE_LINK ${from} ${folder}/${name} SYMBOLIC)
  endforeach()
  target_include_directories(${target} SYSTEM PRIVATE ${folder})
endfunction()

function(cameo_add_kernel_tests)
  set(cpu ${PROJECT_SOURCE_DIR}/eps/cpu)
  set(sources)
  # What kernels share; the kernels of attention are spread over several files.
  file(GLOB parts CONFIGURE_DEPENDS ${cpu}/src/common/*.cpp ${cpu}/src/cells/*.cpp
    ${cpu}/src/attention/*.cpp ${cpu}/src/quantised/integer_*.cpp
    ${cpu}/src/quantised/nbits_*.cpp ${cpu}/src/quantised/stacked_product.cpp)
  set(tests)
  foreach(name gemm conv nchwc math transformer integer_product nbits)
    set(test ${cpu}/tests/${name}_test.cpp)
    if(NOT EXISTS ${test})
      continue()
    endif()
    list(APPEND tests ${test})
    # A kernel's sources have the name of its header.
    file(STRINGS ${test} includes REGEX "#include <cameo/eps/cpu/[a-z0-9_]+[.]hpp>")
    foreach(line IN LISTS includes)
      string(REGEX REPLACE ".*/([a-z0-9_]+)[.]hpp>" "\\1" header ${line})
      file(GLOB found CONFIGURE_DEPENDS ${cpu}/src/*/${header}.cpp ${cpu}/src/*/${header}_*.cpp)
      list(APPEND sources ${found})
    endforeach()
  endforeach()
  list(APPEND sources ${parts})
  list(REMOVE_DUPLICATES sources)
  cameo_keep_vectors_apart(with_vectors ${sources})
  set_property(SOURCE ${tests} PROPERTY COMPILE_OPTIONS "$<$<CONFIG:Release>:-O1>")
  add_executable(cameo_kernel_tests ${PROJECT_SOURCE_DIR}/tests/main.cpp ${tests} ${sources})
  cameo_compile_together(cameo_kernel_tests)
  target_include_directories(cameo_kernel_tests PRIVATE ${cpu}/include ${cpu}/src ${PROJECT_SOURCE_DIR}/src)
  target_compile_definitions(cameo_kernel_tests PRIVATE CAMEO_SINGLE_TARGET)
  target_compile_options(cameo_kernel_tests PRIVATE -ffp-contract=off)
  target_link_libraries(cameo_kernel_tests PRIVATE cameo_options cameo_minimal)
  cameo_borrow_headers(cameo_kernel_tests hwy doctest)
  foreach(test IN LISTS tests)  # side by side: a processor that is played takes its time
    cmake_path(GET test STEM name)
    add_test(NAME kernels.${name} COMMAND cameo_kernel_tests --no-intro --source-file=*/${name}.cpp)
    set_tests_properties(kernels.${name} PROPERTIES FAIL_REGULAR_EXPRESSION "test cases: +0 ;test cases: 0 ")
  endforeach()
  # Kernels take the best products of integers that the processor has: of these, smull and sdot; of qemu's own, usdot.
  foreach(processor cortex-a57 neoverse-n1)
    add_test(NAME kernels.integer_product.${processor}
      COMMAND cameo_kernel_tests --no-intro --source-file=*/integer_product_test.cpp)
    set_tests_properties(kernels.integer_product.${processor} PROPERTIES ENVIRONMENT QEMU_CPU=${processor}
      FAIL_REGULAR_EXPRESSION "test cases: +0 ;test cases: 0 ")
  endforeach()
endfunction()
