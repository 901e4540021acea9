# Functions that tests and examples share. Tests whose dependencies are missing are left out with a message
# (cameo_left_out) where they are configured.

set(cameo_has_test_python FALSE)
if(CAMEO_TESTS)
  enable_testing()
  find_program(CAMEO_PYTHON python3)
  set(CAMEO_VENV_PYTHON "${CAMEO_PYTHON}" CACHE STRING "A python3 with the packages of tests/requirements.txt, for tests")
  if(NOT CAMEO_VENV_PYTHON)  # there was no python3 when the build was first configured
    set_property(CACHE CAMEO_VENV_PYTHON PROPERTY VALUE "${CAMEO_PYTHON}")
  endif()
  set(cameo_test_environment CAMEO_SOURCE_DIR=${PROJECT_SOURCE_DIR} CAMEO_BINARY_DIR=${PROJECT_BINARY_DIR}
      CAMEO_PROGRAM=${PROJECT_BINARY_DIR}/cameo CAMEO_PYTHON=${CAMEO_VENV_PYTHON} CAMEO_CXX=${CMAKE_CXX_COMPILER})

  # Checks whether CAMEO_VENV_PYTHON has the packages that tests in Python, and models that Python makes, need.
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

# cameo_add_test(NAME command...) adds a test. It does nothing in a build without tests.
function(cameo_add_test name)
  if(NOT CAMEO_TESTS)
    return()
  endif()
  add_test(NAME ${name} COMMAND ${ARGN} WORKING_DIRECTORY ${PROJECT_BINARY_DIR})
  set_tests_properties(${name} PROPERTIES ENVIRONMENT "${cameo_test_environment}" TIMEOUT 1200)
endfunction()

# Links a test with all libraries of cameo and all providers of the build.
function(cameo_link_everything target)
  set(providers ${cameo_built_providers})
  list(TRANSFORM providers PREPEND cameo_ep_)
  target_link_libraries(${target} PRIVATE cameo_options cameo_c ${providers} cameo_cameo)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/tests ${PROJECT_BINARY_DIR}/generated)
endfunction()

# Compiles targets without optimization in Debug builds, in less than half the time: builds with sanitizers, and with
# the other compiler, take longer to compile than to run. Not for the libraries in which tests spend most of their
# time: cameo_minimal, cameo_package, cameo_ep_frozen.
function(cameo_compile_fast)
  foreach(target IN LISTS ARGN)
    if(TARGET ${target} AND CMAKE_BUILD_TYPE STREQUAL "Debug")
      target_compile_options(${target} PRIVATE -O0)
    endif()
  endforeach()
endfunction()
