# Functions that tests and examples share. What a machine lacks for some of them is looked for where they are configured,
# and they are left out with a sentence (cameo_left_out).

set(cameo_has_test_python FALSE)
if(CAMEO_TESTS)
  enable_testing()
  find_program(CAMEO_PYTHON python3)
  set(CAMEO_VENV_PYTHON "${CAMEO_PYTHON}" CACHE STRING "A python3 with the packages of tests/requirements.txt, for tests")
  if(NOT CAMEO_VENV_PYTHON)  # there was no python3 when the build was configured first
    set_property(CACHE CAMEO_VENV_PYTHON PROPERTY VALUE "${CAMEO_PYTHON}")
  endif()
  set(cameo_test_environment CAMEO_SOURCE_DIR=${PROJECT_SOURCE_DIR} CAMEO_BINARY_DIR=${PROJECT_BINARY_DIR}
      CAMEO_PROGRAM=${PROJECT_BINARY_DIR}/cameo CAMEO_PYTHON=${CAMEO_VENV_PYTHON} CAMEO_CXX=${CMAKE_CXX_COMPILER})

  # Whether CAMEO_VENV_PYTHON has what tests in Python need, and the models that Python makes.
  if(NOT CAMEO_VENV_PYTHON)
    cameo_left_out("python3" "python3, python3-venv" "the tests in Python, and of models that Python makes, are left out")
  else()
    execute_process(COMMAND ${CAMEO_VENV_PYTHON} -c
      "from importlib.util import find_spec as f; exit(not (f('onnx') and f('numpy') and f('onnxruntime')))"
      RESULT_VARIABLE without ERROR_QUIET)
    if(without)
      cameo_left_out("onnx and onnxruntime for ${CAMEO_VENV_PYTHON}"
        "none, but tests/run makes a python3 that has them; -DCAMEO_VENV_PYTHON names another"
        "the tests in Python, and of models that Python makes, are left out")
    else()
      set(cameo_has_test_python TRUE)
    endif()
  endif()
endif()

# cameo_add_test(NAME command...): nothing in a build without tests.
function(cameo_add_test name)
  if(NOT CAMEO_TESTS)
    return()
  endif()
  add_test(NAME ${name} COMMAND ${ARGN} WORKING_DIRECTORY ${PROJECT_BINARY_DIR})
  set_tests_properties(${name} PROPERTIES ENVIRONMENT "${cameo_test_environment}" TIMEOUT 1200)
endfunction()

# Libraries for whatever tests: all of cameo and every provider that is built.
function(cameo_link_everything target)
  set(providers ${cameo_built_providers})
  list(TRANSFORM providers PREPEND cameo_ep_)
  target_link_libraries(${target} PRIVATE cameo_options cameo_c ${providers} cameo_cameo)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/tests ${PROJECT_BINARY_DIR}/generated)
endfunction()

# Builds with sanitizers, and with the other compiler, cost more to make than to run: unoptimized they compile in less than
# half the time. What tests spend their time in stays as it is: cameo_minimal, cameo_package, cameo_ep_frozen.
function(cameo_compile_fast)
  foreach(target IN LISTS ARGN)
    if(TARGET ${target} AND CMAKE_BUILD_TYPE STREQUAL "Debug")
      target_compile_options(${target} PRIVATE -O0)
    endif()
  endforeach()
endfunction()
