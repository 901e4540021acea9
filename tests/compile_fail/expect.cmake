# Usage: cmake -DFILE=tests/compile_fail/NAME.cpp -DBUILD=folder -DTARGET=target -P expect.cmake
# Builds a target that compiles the source, which must fail. The compiler's output must match the regular expression in
# the source's line "// expect: ", and that in its line "// naming: ", if there is one: the name of the type that is
# wrong. g++ prints the name before the message, clang after it.
cmake_minimum_required(VERSION 3.25)
foreach(word expect naming)
  file(STRINGS ${FILE} ${word} REGEX "^// ${word}: " LIMIT_COUNT 1)
  string(REPLACE "// ${word}: " "" ${word} "${${word}}")
endforeach()
if(expect STREQUAL "")
  message(FATAL_ERROR "${FILE} has no line '// expect: message of the compiler'")
endif()
execute_process(COMMAND ${CMAKE_COMMAND} --build ${BUILD} --target ${TARGET} RESULT_VARIABLE status OUTPUT_VARIABLE output
  ERROR_VARIABLE output)
if(status EQUAL 0)
  message(FATAL_ERROR "${FILE} compiles with CAMEO_MUST_FAIL\n${output}")
elseif(NOT output MATCHES "${expect}.*${naming}|${naming}.*${expect}")
  message(FATAL_ERROR "${FILE}: the compiler must report '${expect}' and name '${naming}', but reports:\n${output}")
endif()
