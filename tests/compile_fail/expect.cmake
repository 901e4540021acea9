# cmake -DFILE=tests/compile_fail/NAME.cpp -DBUILD=folder -DTARGET=target -P expect.cmake: builds a target of that source,
# which must fail. The compiler must say the words of the source's line "// expect: ", a regular expression, and name the
# culprit of the line "// naming: ", where there is one: g++ names first, clang last.
cmake_minimum_required(VERSION 3.25)
foreach(word expect naming)
  file(STRINGS ${FILE} ${word} REGEX "^// ${word}: " LIMIT_COUNT 1)
  string(REPLACE "// ${word}: " "" ${word} "${${word}}")
endforeach()
if(expect STREQUAL "")
  message(FATAL_ERROR "${FILE} has no line '// expect: words of the compiler'")
endif()
execute_process(COMMAND ${CMAKE_COMMAND} --build ${BUILD} --target ${TARGET} RESULT_VARIABLE status OUTPUT_VARIABLE output
  ERROR_VARIABLE output)
if(status EQUAL 0)
  message(FATAL_ERROR "${FILE} compiles with CAMEO_MUST_FAIL\n${output}")
elseif(NOT output MATCHES "${expect}.*${naming}|${naming}.*${expect}")
  message(FATAL_ERROR "${FILE}: the compiler must say '${expect}' of '${naming}', but says:\n${output}")
endif()
