# Tests. What a file is follows from where it lies:
#   tests/<layer>/*_test.cpp, eps/*/tests/*_test.cpp   doctest, all in one runner; one ctest per file
#   tests/programs/NAME.cpp                            a program of its own that passes with exit status 0; one that
#                                                      replaces malloc says "// not with a sanitizer" in a line
#   tests/scripts/NAME.py                              a script, run with CAMEO_* in its environment; "# not with a
#                                                      sanitizer" in a line leaves it out there
#   tests/compile_fail/NAME.cpp                        must not compile, with the words it expects; its twin must
#   examples/NAME/                                     a program, run as a test
# Every public header is compiled alone, and tests/layers.py holds the includes to the order of the layers. What a machine
# lacks for some of them is looked for where they are configured, and they are left out with a sentence (cameo_left_out).

find_program(CAMEO_PYTHON python3)
set(CAMEO_VENV_PYTHON "${CAMEO_PYTHON}" CACHE STRING "A python3 with the packages of tests/requirements.txt, for tests")
if(NOT CAMEO_VENV_PYTHON)  # there was no python3 when the build was configured first
  set_property(CACHE CAMEO_VENV_PYTHON PROPERTY VALUE "${CAMEO_PYTHON}")
endif()
set(cameo_test_environment CAMEO_SOURCE_DIR=${PROJECT_SOURCE_DIR} CAMEO_BINARY_DIR=${PROJECT_BINARY_DIR}
    CAMEO_PROGRAM=${PROJECT_BINARY_DIR}/cameo CAMEO_PYTHON=${CAMEO_VENV_PYTHON} CAMEO_CXX=${CMAKE_CXX_COMPILER})

# Libraries for whatever tests: all of cameo and every provider that is built.
function(cameo_link_everything target)
  set(providers ${cameo_built_providers})
  list(TRANSFORM providers PREPEND cameo_ep_)
  target_link_libraries(${target} PRIVATE cameo_options cameo_c ${providers} cameo_cameo)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/tests ${PROJECT_BINARY_DIR}/generated)
endfunction()

# Builds with sanitizers, and with the other compiler, cost more to make than to run: unoptimised they compile in less than
# half the time. What tests spend their time in stays as it is: cameo_minimal, cameo_package, cameo_ep_frozen.
function(cameo_compile_fast)
  if(CMAKE_BUILD_TYPE STREQUAL "Debug")
    foreach(target IN LISTS ARGN)
      target_compile_options(${target} PRIVATE -O0)
    endforeach()
  endif()
endfunction()

function(cameo_add_test name)
  add_test(NAME ${name} COMMAND ${ARGN} WORKING_DIRECTORY ${PROJECT_BINARY_DIR})
  set_tests_properties(${name} PROPERTIES ENVIRONMENT "${cameo_test_environment}" TIMEOUT 1200)
endfunction()

# cameo_interop_sources(VARIABLE) gives those among its sources that include <cameo/interop/NAME.hpp> the headers of that
# library, which nothing else gets to see, and takes from the list those whose library is not here.
function(cameo_interop_sources variable)
  find_package(Eigen3 QUIET)
  find_package(xtensor QUIET)
  foreach(row eigen|Eigen3::Eigen|Eigen|libeigen3-dev xtensor|xtensor|xtensor|libxtensor-dev fmt|fmt::fmt|fmt|libfmt-dev)
    string(REPLACE "|" ";" row ${row})
    list(POP_FRONT row header target library package)
    foreach(source IN LISTS ${variable})
      file(STRINGS ${source} includes REGEX "^#include <cameo/interop/${header}[.]hpp>" LIMIT_COUNT 1)
      if(includes AND NOT TARGET ${target})
        cameo_left_out(${library} ${package} "the tests of <cameo/interop/${header}.hpp> are left out")
        list(REMOVE_ITEM ${variable} ${source})
      elseif(includes)
        get_target_property(folders ${target} INTERFACE_INCLUDE_DIRECTORIES)
        foreach(folder IN LISTS folders)
          # A system folder of the compiler keeps its place in the search.
          if(NOT folder IN_LIST CMAKE_CXX_IMPLICIT_INCLUDE_DIRECTORIES)
            set_property(SOURCE ${source} APPEND PROPERTY COMPILE_OPTIONS -isystem${folder})
          endif()
        endforeach()
      endif()
    endforeach()
  endforeach()
  set(${variable} ${${variable}} PARENT_SCOPE)
endfunction()

# FlatBuffers' own code for the schema of ORT files: a second opinion on what is a sound one. It takes the compiler of schemas
# and the headers that its code includes. Code of an earlier configuration, when both were here, is removed.
function(cameo_generate_flatbuffers)
  set(generated ${PROJECT_BINARY_DIR}/generated/flatbuffers)
  set(schema ${PROJECT_SOURCE_DIR}/src/format/ort.fbs)
  find_program(CAMEO_FLATC flatc)
  find_path(CAMEO_FLATBUFFERS flatbuffers/flatbuffers.h)
  if(CAMEO_FLATC AND CAMEO_FLATBUFFERS)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${schema})
    execute_process(COMMAND ${CAMEO_FLATC} --cpp -o ${generated} ${schema} COMMAND_ERROR_IS_FATAL ANY)
  else()
    file(REMOVE_RECURSE ${generated})
    cameo_left_out("FlatBuffers" "flatbuffers-compiler, libflatbuffers-dev"
      "its opinion on ORT files is not compared with cameo's in tests/format/ort_verifier_test.cpp")
  endif()
endfunction()

# doctest, of which tests in C++ need the header.
function(cameo_find_doctest to)
  find_package(doctest QUIET)
  if(NOT TARGET doctest::doctest)
    cameo_left_out("doctest" "doctest-dev" "the tests in C++ (cameo_tests, and tests/programs that include it) are left out")
    set(${to} FALSE PARENT_SCOPE)
  else()
    set(${to} TRUE PARENT_SCOPE)
  endif()
endfunction()

function(cameo_add_doctests)
  cameo_find_doctest(found)
  if(NOT found)
    return()
  endif()
  file(GLOB files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/*/*_test.cpp ${PROJECT_SOURCE_DIR}/eps/*/tests/*_test.cpp)
  list(FILTER files INCLUDE REGEX "${CAMEO_TEST_FILTER}")
  foreach(file IN LISTS files)  # tests of providers that are not built are not built either
    if(file MATCHES "/eps/([^/]+)/tests/" AND NOT CMAKE_MATCH_1 IN_LIST cameo_built_providers)
      list(REMOVE_ITEM files ${file})
    endif()
  endforeach()
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/generated/cameo/test_paths.hpp @ONLY CONTENT
"#pragma once
// Written by CMake: where a test finds its files.
#include <string_view>

namespace cameo::test {
inline constexpr std::string_view source_dir = \"@PROJECT_SOURCE_DIR@\";
inline constexpr std::string_view build_dir = \"@PROJECT_BINARY_DIR@\";
inline constexpr std::string_view program = \"@PROJECT_BINARY_DIR@/cameo\";
}  // namespace cameo::test
")
  cameo_generate_flatbuffers()
  cameo_interop_sources(files)
  add_executable(cameo_tests ${PROJECT_SOURCE_DIR}/tests/main.cpp ${files})
  set_target_properties(cameo_tests PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
  cameo_link_everything(cameo_tests)
  cameo_use_headers(cameo_tests doctest::doctest)
  # They cost more to compile than to run, and in eights a third.
  cameo_compile_together(cameo_tests AT_ONCE 8)
  cameo_compile_fast(cameo_tests)
  target_compile_options(cameo_tests PRIVATE $<$<CONFIG:Release>:-O1>)
  # What is not public is tested too.
  target_include_directories(cameo_tests PRIVATE ${PROJECT_SOURCE_DIR}/src
                                                 $<TARGET_PROPERTY:cameo_ep_cpu,INCLUDE_DIRECTORIES>)
  target_include_directories(cameo_tests SYSTEM PRIVATE ${PROJECT_BINARY_DIR}/generated)
  if(CAMEO_FLATBUFFERS)
    target_include_directories(cameo_tests SYSTEM PRIVATE ${CAMEO_FLATBUFFERS})
  endif()
  foreach(file IN LISTS files)
    file(RELATIVE_PATH path ${PROJECT_SOURCE_DIR} ${file})
    string(REGEX REPLACE "^tests/|_test\\.cpp$|/tests" "" name ${path})
    string(REPLACE "/" "." name ${name})
    cameo_add_test(${name} cameo_tests --no-intro --source-file=*${path})
    set_tests_properties(${name} PROPERTIES FAIL_REGULAR_EXPRESSION "test cases: +0 ;test cases: 0 ")
  endforeach()
endfunction()

# The headers that nearly all files of tests/compile_fail include, compiled once: the rest of such a file is a few lines.
function(cameo_add_compile_fail_tests)
  set(source ${PROJECT_BINARY_DIR}/generated/compile_fail_headers.cpp)
  file(CONFIGURE OUTPUT ${source} CONTENT "// A target must have a source.\n")
  add_library(compile_fail_headers OBJECT ${source})
  target_compile_options(compile_fail_headers PRIVATE -O0)
  cameo_link_everything(compile_fail_headers)
  target_precompile_headers(compile_fail_headers PRIVATE <cameo/cameo.hpp> <cameo/op/onnx.hpp> <cameo/transform/rule.hpp>)
  foreach(file IN LISTS ARGN)
    cameo_compile_fail_test(${file})
  endforeach()
endfunction()

# The twin is part of the build; the file with CAMEO_MUST_FAIL is built by the test, where the compiler must say the
# expected words and name the culprit ("// expect: " and "// naming: ", regular expressions).
function(cameo_compile_fail_test file)
  get_filename_component(name ${file} NAME_WE)
  file(STRINGS ${file} expect REGEX "^// expect: " LIMIT_COUNT 1)
  file(STRINGS ${file} naming REGEX "^// naming: " LIMIT_COUNT 1)
  if(NOT expect)
    message(FATAL_ERROR "${file}: no line '// expect: words of the compiler'")
  endif()
  string(REPLACE "// expect: " "" expect "${expect}")
  string(REPLACE "// naming: " "" naming "${naming}")
  cameo_interop_sources(file)
  if(NOT file)
    return()
  endif()
  add_library(compile_fail_${name}_good OBJECT ${file})
  add_library(compile_fail_${name}_bad OBJECT EXCLUDE_FROM_ALL ${file})
  target_compile_definitions(compile_fail_${name}_bad PRIVATE CAMEO_MUST_FAIL)
  foreach(twin compile_fail_${name}_good compile_fail_${name}_bad)
    target_compile_options(${twin} PRIVATE -O0)
    cameo_link_everything(${twin})
    if(name MATCHES "^cpu_")
      target_include_directories(${twin} PRIVATE $<TARGET_PROPERTY:cameo_ep_cpu,INCLUDE_DIRECTORIES>)
      target_compile_definitions(${twin} PRIVATE CAMEO_SINGLE_TARGET)
    else()
      target_precompile_headers(${twin} REUSE_FROM compile_fail_headers)
    endif()
  endforeach()
  add_test(NAME compile_fail.${name}
    COMMAND ${CMAKE_COMMAND} --build ${PROJECT_BINARY_DIR} --target compile_fail_${name}_bad)
  set_tests_properties(compile_fail.${name} PROPERTIES RESOURCE_LOCK build_tree COST 20
    PASS_REGULAR_EXPRESSION "${expect}.*${naming}|${naming}.*${expect}")  # g++ names first, clang last
endfunction()

# cameo_headers: one source per public header, which includes nothing else, with the warnings of strict projects.
function(cameo_add_header_check)
  set(sources)
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/cameo/*.hpp)
  foreach(provider IN LISTS cameo_built_providers)
    file(GLOB_RECURSE found CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/eps/${provider}/include/*.hpp)
    list(APPEND headers ${found})
  endforeach()
  foreach(header IN LISTS headers)
    string(REGEX REPLACE "^.*/include/" "" path ${header})
    set(source ${PROJECT_BINARY_DIR}/generated/headers/${path}.cpp)
    file(CONFIGURE OUTPUT ${source} CONTENT "#include <${path}>\n")
    list(APPEND sources ${source})
  endforeach()
  cameo_interop_sources(sources)
  if(EXISTS ${PROJECT_SOURCE_DIR}/tests/include_cost.cpp)  # timed by CI, kept right here
    list(APPEND sources ${PROJECT_SOURCE_DIR}/tests/include_cost.cpp)
  endif()
  if(sources)
    add_library(cameo_headers OBJECT ${sources})
    # What strict projects ask for, who may not see our headers as a system's; tests/scripts/headers.py asks clang.
    target_compile_options(cameo_headers PRIVATE -O0 -Wpedantic -Wshadow -Wconversion -Wsign-conversion
                           -Wold-style-cast)
    cameo_link_everything(cameo_headers)
  endif()
endfunction()

# Nothing of ours runs before main. Instrumented and unoptimised objects are another matter, and so is cameo_onnx:
# protobuf's headers include <iostream>, which puts an initialiser into every file that sees them.
function(cameo_add_initialiser_tests)
  if(CAMEO_SANITIZE OR NOT CMAKE_BUILD_TYPE STREQUAL "Release")
    return()
  endif()
  set(libraries cameo_minimal cameo_package cameo_host cameo_format)
  foreach(provider IN LISTS cameo_built_providers)
    list(APPEND libraries cameo_ep_${provider})
  endforeach()
  foreach(library IN LISTS libraries)
    get_target_property(type ${library} TYPE)
    if(type STREQUAL "STATIC_LIBRARY")
      cameo_add_test(no_static_initialiser.${library} ${CMAKE_OBJDUMP} -h $<TARGET_FILE:${library}>)
      set_tests_properties(no_static_initialiser.${library} PROPERTIES FAIL_REGULAR_EXPRESSION "init_array|\\.ctors")
    endif()
  endforeach()
endfunction()

# cameo_fuzzer(NAME LENGTH of the longest input SEEDS folders DICTIONARY words that inputs are made of SOURCES that are in no
# library of this build): libFuzzer, which clang brings, at tests/fuzz/NAME.cpp, eight seconds as a test. The libraries tell it
# where inputs lead (cameo_compile_hidden).
function(cameo_fuzzer name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "LENGTH;DICTIONARY" "SOURCES;SEEDS")
  if(NOT "tests/fuzz/${name}.cpp" MATCHES "${CAMEO_TEST_FILTER}")
    return()
  endif()
  add_executable(fuzz_${name} ${PROJECT_SOURCE_DIR}/tests/fuzz/${name}.cpp ${arg_SOURCES})
  cameo_link_everything(fuzz_${name})
  cameo_use_headers(fuzz_${name} fmt::fmt nlohmann_json::nlohmann_json)
  target_include_directories(fuzz_${name} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/eps)
  target_compile_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
  target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
  set_target_properties(fuzz_${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  set(found ${PROJECT_BINARY_DIR}/fuzz_${name})  # inputs that go further than those before
  file(MAKE_DIRECTORY ${found})
  if(arg_DICTIONARY)
    set(arg_DICTIONARY -dict=${arg_DICTIONARY})
  endif()
  cameo_add_test(fuzz.${name} fuzz_${name} ${arg_DICTIONARY} -max_total_time=8 -max_len=${arg_LENGTH} -rss_limit_mb=3000 -timeout=10
    -print_final_stats=1 -artifact_prefix=${found}/ ${found} ${arg_SEEDS})
  set_tests_properties(fuzz.${name} PROPERTIES COST 16)
endfunction()

function(cameo_add_fuzzers)
  if(NOT cameo_tells_fuzzers)
    return()
  endif()
  set(seeds ${PROJECT_SOURCE_DIR}/tests/data)
  if(TEST format.onnx_round_trip)  # which makes a seed
    set(made ${PROJECT_BINARY_DIR}/fuzz_onnx_seeds)
    file(MAKE_DIRECTORY ${made})
    cameo_fuzzer(onnx LENGTH 16384 SEEDS ${made} ${seeds}/epctx)
    if(TARGET fuzz_onnx)
      set_tests_properties(format.onnx_round_trip PROPERTIES FIXTURES_SETUP onnx_seeds)
      set_tests_properties(fuzz.onnx PROPERTIES FIXTURES_REQUIRED onnx_seeds)
    endif()
  endif()
  cameo_fuzzer(ort LENGTH 16384 SEEDS ${seeds}/ort)
  cameo_fuzzer(ovep_bin LENGTH 200000 SOURCES ${PROJECT_SOURCE_DIR}/eps/openvino/src/container.cpp
    SEEDS ${seeds}/epctx/one_partition_external ${seeds}/epctx/two_partitions_external)
  cameo_fuzzer(package LENGTH 16384 SEEDS ${PROJECT_SOURCE_DIR}/tests/fuzz/package_seeds
    DICTIONARY ${PROJECT_SOURCE_DIR}/tests/fuzz/package.dict)
  cameo_fuzzer(pictures LENGTH 4096 SEEDS ${seeds}/pictures)
  if(TARGET cameo_ep_frozen AND TEST eps.frozen.container)  # which makes the seeds
    set(seeds ${PROJECT_BINARY_DIR}/fuzz_frozen_seeds)
    file(MAKE_DIRECTORY ${seeds})
    cameo_fuzzer(frozen LENGTH 32768 SEEDS ${seeds})
    if(TARGET fuzz_frozen)
      set_tests_properties(eps.frozen.container PROPERTIES FIXTURES_SETUP frozen_seeds)
      set_tests_properties(fuzz.frozen PROPERTIES FIXTURES_REQUIRED frozen_seeds)
    endif()
  endif()
endfunction()

# libbest_target.so: preloaded, it holds instruction sets back (tests/run --target). It reaches the kernels where Highway
# is a shared library of the system.
function(cameo_add_best_target)
  add_library(best_target SHARED ${PROJECT_SOURCE_DIR}/tests/program/best_target.cpp)
  set_target_properties(best_target PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  target_link_libraries(best_target PRIVATE cameo_options)
  cameo_link_privately(best_target cameo_external::hwy)
endfunction()

function(cameo_add_tests)
  set(slow_to_compile cameo_program cameo_program_parts cameo_inspect)
  if(CAMEO_SANITIZE)
    list(APPEND slow_to_compile cameo_host cameo_format cameo_onnx cameo_c cameo_ep_cpu cameo_ep_openvino
      cameo_ep_ort_plugin_host cameo_ort_plugin_export)
  endif()
  foreach(target IN LISTS slow_to_compile)
    if(TARGET ${target})
      cameo_compile_fast(${target})
    endif()
  endforeach()
  cameo_add_doctests()
  cameo_add_fuzzers()
  if(NOT CAMEO_SANITIZE)
    cameo_add_best_target()
  endif()
  cameo_add_initialiser_tests()
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")  # one compiler is enough to see that nothing is missing
    cameo_add_header_check()
  endif()
  if(NOT CAMEO_SANITIZE STREQUAL "thread")  # what the compiler must say, both must say
    file(GLOB files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/compile_fail/*.cpp)
    list(FILTER files INCLUDE REGEX "${CAMEO_TEST_FILTER}")
    cameo_add_compile_fail_tests(${files})
  endif()
  file(GLOB files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/programs/*.cpp)
  list(FILTER files INCLUDE REGEX "${CAMEO_TEST_FILTER}")
  cameo_interop_sources(files)
  cameo_find_doctest(with_doctest)
  foreach(file IN LISTS files)
    get_filename_component(name ${file} NAME_WE)
    file(STRINGS ${file} own_allocator REGEX "^// not with a sanitizer" LIMIT_COUNT 1)
    file(STRINGS ${file} doctest REGEX "^#include <doctest/" LIMIT_COUNT 1)
    if((CAMEO_SANITIZE AND own_allocator) OR (doctest AND NOT with_doctest))
      continue()
    endif()
    add_executable(test_${name} ${file})
    set_target_properties(test_${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
    cameo_link_everything(test_${name})
    cameo_compile_fast(test_${name})
    target_link_libraries(test_${name} PRIVATE ${CMAKE_DL_LIBS})
    cameo_add_test(program.${name} test_${name})
  endforeach()
  if("tests/program/ort_only.cpp" MATCHES "${CAMEO_TEST_FILTER}")  # linked with what it names, and nothing else
    add_executable(ort_only ${PROJECT_SOURCE_DIR}/tests/program/ort_only.cpp)
    set_target_properties(ort_only PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
    target_link_libraries(ort_only PRIVATE cameo_options cameo_ep_cpu cameo_format)
    cameo_compile_fast(ort_only)
  endif()
  if(TARGET cameo_inspect AND NOT CAMEO_SANITIZE AND "tests/program/page_of_three.cpp" MATCHES "${CAMEO_TEST_FILTER}")
    set(fusing ${PROJECT_SOURCE_DIR}/examples/fusing_provider)
    add_executable(page_of_three ${PROJECT_SOURCE_DIR}/tests/program/page_of_three.cpp ${fusing}/groups.cpp
                                 ${fusing}/program.cpp ${fusing}/context.cpp)
    set_target_properties(page_of_three PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
    target_link_libraries(page_of_three PRIVATE cameo_inspect)
    cameo_link_everything(page_of_three)
    cameo_compile_fast(page_of_three)
  endif()
  if(TARGET cameo_program AND "tests/program/references/" MATCHES "${CAMEO_TEST_FILTER}")
    cameo_add_program_of_references()
  endif()
  cameo_add_python_tests()
endfunction()

# What tests in Python need, and their scripts with it.
function(cameo_find_test_python to)
  set(${to} FALSE PARENT_SCOPE)
  if(NOT CAMEO_VENV_PYTHON)
    cameo_left_out("python3" "python3, python3-venv" "the tests in Python, and of models that Python makes, are left out")
    return()
  endif()
  execute_process(COMMAND ${CAMEO_VENV_PYTHON} -c
    "from importlib.util import find_spec as f; exit(not (f('onnx') and f('numpy') and f('onnxruntime')))"
    RESULT_VARIABLE without ERROR_QUIET)
  if(without)
    cameo_left_out("onnx and onnxruntime for ${CAMEO_VENV_PYTHON}"
      "none, but tests/run makes a python3 that has them; -DCAMEO_VENV_PYTHON names another"
      "the tests in Python, and of models that Python makes, are left out")
    return()
  endif()
  set(${to} TRUE PARENT_SCOPE)
endfunction()

function(cameo_add_python_tests)
  if(CAMEO_PYTHON)
    cameo_add_test(layers ${CAMEO_PYTHON} ${PROJECT_SOURCE_DIR}/tests/layers.py ${PROJECT_SOURCE_DIR})
    cameo_add_test(layers.notices ${CAMEO_PYTHON} ${PROJECT_SOURCE_DIR}/tests/layers.py --self-test)
    cameo_add_test(ort_schema ${CAMEO_PYTHON} ${PROJECT_SOURCE_DIR}/src/format/generate_ort_schema.py --check)
  endif()
  cameo_find_test_python(found)
  if(NOT found)
    return()
  endif()
  cameo_add_test(onnx_schema ${CAMEO_VENV_PYTHON} ${PROJECT_SOURCE_DIR}/src/format/generate_onnx_schema.py --check)
  if(NOT TARGET cameo_program)
    cameo_left_out("program" "libcli11-dev, with CAMEO_PROGRAM on" "the scripts that test it are left out")
    return()
  endif()
  file(GLOB files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/scripts/*.py)
  list(FILTER files INCLUDE REGEX "${CAMEO_TEST_FILTER}")
  foreach(file IN LISTS files)
    get_filename_component(name ${file} NAME_WE)
    file(STRINGS ${file} release_only REGEX "^# not with a sanitizer" LIMIT_COUNT 1)
    if(CAMEO_SANITIZE AND release_only)
      continue()
    endif()
    cameo_add_test(script.${name} ${CAMEO_VENV_PYTHON} ${file})
    set_tests_properties(script.${name} PROPERTIES COST 30)  # the longest begin first
  endforeach()
  if(openvino IN_LIST cameo_built_providers AND NOT CAMEO_SANITIZE AND "eps/openvino/tests" MATCHES "${CAMEO_TEST_FILTER}")
    cameo_add_test(script.openvino_both_ways ${CAMEO_VENV_PYTHON} ${PROJECT_SOURCE_DIR}/eps/openvino/tests/contexts.py)
    set_property(TEST script.openvino_both_ways APPEND PROPERTY ENVIRONMENT CAMEO_OPENVINO_PYTHON=${CAMEO_OPENVINO_PYTHON}
      CAMEO_ORT_OPENVINO_PYTHON=${CAMEO_ORT_OPENVINO_PYTHON})
  endif()
endfunction()

# The program's commands on compiled models with the reference providers of tests/context: what depends on the list of
# providers is compiled a second time.
function(cameo_add_program_of_references)
  set(program ${PROJECT_SOURCE_DIR}/src/program)
  set(folder ${PROJECT_BINARY_DIR}/tests/references)
  add_executable(cameo_references ${PROJECT_SOURCE_DIR}/tests/program/references/main.cpp ${program}/options.cpp
    ${program}/peak.cpp ${program}/compile.cpp ${program}/share.cpp ${program}/weight_sharing.cpp ${program}/run.cpp
    ${program}/runnable.cpp ${program}/given_inputs.cpp ${program}/pictures.cpp)
  set_target_properties(cameo_references PROPERTIES OUTPUT_NAME cameo RUNTIME_OUTPUT_DIRECTORY ${folder})
  target_include_directories(cameo_references BEFORE PRIVATE ${PROJECT_SOURCE_DIR}/tests/program/references
    ${PROJECT_SOURCE_DIR}/src)
  cameo_link_everything(cameo_references)
  target_link_libraries(cameo_references PRIVATE cameo_program_parts)
  cameo_compile_together(cameo_references)
  cameo_compile_fast(cameo_references)
  cameo_use_headers(cameo_references CLI11::CLI11 nlohmann_json::nlohmann_json fmt::fmt)
  add_custom_command(TARGET cameo_references POST_BUILD
    COMMAND ${CMAKE_COMMAND} -E create_symlink cameo ${folder}/ep_weight_sharing_ctx_gen)
endfunction()

# cameo_example(ARGS ... SAYS regex NEEDS_MODELS): the program of examples/NAME. Run as a test, it ends with status 0; run
# again, it says what the expression matches (ctest holds a test to one of the two). NEEDS_MODELS: it reads what the
# test example.make_models makes.
function(cameo_example)
  cmake_parse_arguments(PARSE_ARGV 0 arg "NEEDS_MODELS" "SAYS" "ARGS")
  get_filename_component(name ${CMAKE_CURRENT_SOURCE_DIR} NAME)
  file(GLOB sources CONFIGURE_DEPENDS *.cpp)
  add_executable(example_${name} ${sources})
  set_target_properties(example_${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/examples)
  target_link_libraries(example_${name} PRIVATE cameo_options cameo::cameo)
  set(tests example.${name})
  if(arg_SAYS)
    list(APPEND tests example.${name}.says)
  endif()
  if(arg_NEEDS_MODELS AND NOT TEST example.make_models)
    return()
  endif()
  foreach(test IN LISTS tests)
    cameo_add_test(${test} example_${name} ${arg_ARGS})
    if(arg_NEEDS_MODELS)
      set_tests_properties(${test} PROPERTIES FIXTURES_REQUIRED example_models)
    endif()
  endforeach()
  if(arg_SAYS)
    set_tests_properties(example.${name}.says PROPERTIES PASS_REGULAR_EXPRESSION "${arg_SAYS}")
  endif()
endfunction()

# Every folder of examples/ says itself what it makes. Without tests they are built by their names alone, as
# examples/quickstart does.
function(cameo_add_examples)
  set(unless_named)
  if(NOT CAMEO_TESTS)
    set(unless_named EXCLUDE_FROM_ALL)
  else()
    cameo_find_test_python(found)
    if(found)
      cameo_add_test(example.make_models ${CAMEO_VENV_PYTHON} ${PROJECT_SOURCE_DIR}/examples/make_models.py
        ${PROJECT_BINARY_DIR}/examples/models)
      set_tests_properties(example.make_models PROPERTIES FIXTURES_SETUP example_models)
    endif()
  endif()
  file(GLOB folders CONFIGURE_DEPENDS LIST_DIRECTORIES true ${PROJECT_SOURCE_DIR}/examples/*)
  foreach(folder IN LISTS folders)
    if(EXISTS ${folder}/CMakeLists.txt)
      add_subdirectory(${folder} ${unless_named})
    endif()
  endforeach()
endfunction()
