# The libraries that cameo is linked with, as targets cameo_external::NAME, since the names of their targets differ
# between distributions. This file is used by the build, and is installed for programs that link the static libraries.
# Libraries of which cameo only uses headers are not here, because programs do not need them.

# cameo_lacks(WHAT PACKAGE): an error for a missing library, with the name of its Debian package. In the installed
# package find_package(cameo) fails, which a project may allow.
macro(cameo_lacks what package)
  string(CONCAT cameo_words "cameo needs ${what}, which CMake does not find. Debian has it in the package ${package}; "
    "a copy elsewhere is found with -DCMAKE_PREFIX_PATH=FOLDER")
  if(NOT CMAKE_FIND_PACKAGE_NAME)
    message(FATAL_ERROR "${cameo_words}")
  endif()
  set(${CMAKE_FIND_PACKAGE_NAME}_FOUND FALSE)
  set(${CMAKE_FIND_PACKAGE_NAME}_NOT_FOUND_MESSAGE "${cameo_words}")
  return()
endmacro()

# cameo_left_out(WHAT PACKAGE WORDS): reports a missing optional library and the feature that is left out, WORDS. Each
# message is printed once. With CAMEO_LEAVE_OUT off, as in tests/run, it is an error, so that no test is left out
# unnoticed.
function(cameo_left_out what package words)
  set(sentence "cameo: no ${what} here (Debian: ${package}), so ${words}")
  if(DEFINED CAMEO_LEAVE_OUT AND NOT CAMEO_LEAVE_OUT)
    message(FATAL_ERROR "${sentence}. CAMEO_LEAVE_OUT is off, which makes this an error")
  endif()
  string(MD5 key "${sentence}")
  get_property(said GLOBAL PROPERTY cameo_left_out_${key} SET)
  if(NOT said)
    message(STATUS "${sentence}")
    set_property(GLOBAL PROPERTY cameo_left_out_${key} TRUE)
  endif()
endfunction()

# cameo_look_for(NAME FIND arguments... TARGETS targets... MODULES modules...) makes cameo_external::NAME if the
# library is found: by find_package(FIND), which makes one of TARGETS, or by pkg-config, which has one of MODULES. All
# targets are global, since other folders link them.
function(cameo_look_for name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "FIND;TARGETS;MODULES")
  if(TARGET cameo_external::${name})
    return()
  endif()
  if(arg_FIND)
    find_package(${arg_FIND} QUIET GLOBAL)
  endif()
  foreach(target IN LISTS arg_TARGETS ITEMS PkgConfig::cameo_${name})
    if(target STREQUAL "PkgConfig::cameo_${name}" AND arg_MODULES AND PkgConfig_FOUND)
      pkg_check_modules(cameo_${name} QUIET IMPORTED_TARGET GLOBAL ${arg_MODULES})
    endif()
    if(TARGET ${target})
      add_library(cameo_external::${name} INTERFACE IMPORTED GLOBAL)
      set_property(TARGET cameo_external::${name} PROPERTY INTERFACE_LINK_LIBRARIES ${target})
      return()
    endif()
  endforeach()
endfunction()

# Some libraries have no CMake package, and are found by pkg-config.
find_package(PkgConfig QUIET)
set(cameo_found_by "")
if(NOT PkgConfig_FOUND)
  set(cameo_found_by ", and pkg-config, which finds it, in pkg-config")
endif()

cameo_look_for(threads FIND Threads TARGETS Threads::Threads)
if(NOT TARGET cameo_external::threads)
  cameo_lacks("the system's threads" libc6-dev)
endif()
cameo_look_for(protobuf FIND Protobuf TARGETS protobuf::libprotobuf)
if(NOT TARGET cameo_external::protobuf)
  cameo_lacks("protobuf" libprotobuf-dev)
endif()
cameo_look_for(onnx_proto FIND ONNX TARGETS onnx_proto ONNX::onnx_proto)
if(NOT TARGET cameo_external::onnx_proto)
  cameo_lacks("onnx (its messages)" libonnx-dev)
endif()
cameo_look_for(hwy FIND hwy CONFIG TARGETS hwy::hwy MODULES libhwy)
if(NOT TARGET cameo_external::hwy)
  cameo_lacks("Highway" "libhwy-dev${cameo_found_by}")
endif()
cameo_look_for(utf8proc FIND utf8proc CONFIG TARGETS utf8proc::utf8proc MODULES libutf8proc)
if(NOT TARGET cameo_external::utf8proc)
  cameo_lacks("utf8proc" "libutf8proc-dev${cameo_found_by}")
endif()

# RE2 is optional: without it cpu has no RegexFullMatch. In the installed package CAMEO_RE2 is on if the build had RE2.
if(CAMEO_RE2)
  cameo_look_for(re2 FIND re2 CONFIG TARGETS re2::re2 MODULES re2)
  if(TARGET cameo_external::re2)
    get_target_property(cameo_re2 cameo_external::re2 INTERFACE_LINK_LIBRARIES)
    get_target_property(cameo_re2_options ${cameo_re2} INTERFACE_COMPILE_OPTIONS)
    if(cameo_re2 STREQUAL "PkgConfig::cameo_re2" AND cameo_re2_options)  # some distributions' RE2 has none
      # The flag -pthread has no effect if the C library contains the threads, but with it a compiler cache would store
      # all of cpu twice, with RE2 and without. cameo_external::threads links the threads.
      list(REMOVE_ITEM cameo_re2_options -pthread)
      set_property(TARGET ${cameo_re2} PROPERTY INTERFACE_COMPILE_OPTIONS ${cameo_re2_options})
    endif()
  elseif(CMAKE_FIND_PACKAGE_NAME)
    cameo_lacks("RE2" "libre2-dev${cameo_found_by}")
  else()
    cameo_left_out("RE2" "libre2-dev${cameo_found_by}" "the provider cpu has no RegexFullMatch and no Tokenizer")
  endif()
endif()

# The libraries with which cpu's ImageDecoder reads files: the module of pkg-config, which every distribution has;
# Debian's package; the format. Each is optional. In the installed package CAMEO_PICTURES lists those that the build
# had.
set(cameo_picture_jpeg libjpeg libjpeg-dev JPEG)
set(cameo_picture_png libpng libpng-dev PNG)
set(cameo_picture_tiff libtiff-4>=4.5 libtiff-dev TIFF)
set(cameo_picture_webp libwebp libwebp-dev WebP)
set(cameo_picture_openjp2 libopenjp2>=2.5 libopenjp2-7-dev "JPEG 2000")
foreach(cameo_library IN LISTS CAMEO_PICTURES)
  if(NOT DEFINED cameo_picture_${cameo_library})
    message(FATAL_ERROR "cameo: CAMEO_PICTURES names '${cameo_library}'; it may have jpeg, png, tiff, webp and openjp2")
  endif()
  list(GET cameo_picture_${cameo_library} 0 cameo_module)
  list(GET cameo_picture_${cameo_library} 1 cameo_debian)
  list(GET cameo_picture_${cameo_library} 2 cameo_format)
  cameo_look_for(${cameo_library} MODULES ${cameo_module})
  string(REGEX REPLACE ">=.*" "" cameo_module ${cameo_module})
  if(TARGET cameo_external::${cameo_library})
    continue()
  elseif(CMAKE_FIND_PACKAGE_NAME)
    cameo_lacks("${cameo_module}" "${cameo_debian}${cameo_found_by}")
  else()
    cameo_left_out("${cameo_module}" "${cameo_debian}${cameo_found_by}"
      "the provider cpu and the program read no ${cameo_format} files")
  endif()
endforeach()
