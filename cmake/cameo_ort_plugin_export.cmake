# cameo_add_ort_plugin(NAME npu TYPE acme::my_npu HEADER my_npu.hpp SOURCES files... LIBRARIES targets...) makes the
# target NAME: libNAME.so, a plugin with which ONNX Runtime 1.23 and newer uses the provider TYPE. HEADER declares
# TYPE, and is included from the caller's folder. SOURCES and LIBRARIES are those of the provider. See
# docs/ort_plugin_export.md.
set(cameo_ort_plugin_export_map ${CMAKE_CURRENT_LIST_DIR}/ort_plugin_export.map)

function(cameo_add_ort_plugin)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME;TYPE;HEADER" "SOURCES;LIBRARIES")
  foreach(needed NAME TYPE HEADER)
    if(NOT arg_${needed})
      message(FATAL_ERROR "cameo_add_ort_plugin: ${needed} is missing; it takes NAME, TYPE and HEADER, and may have "
                          "SOURCES and LIBRARIES")
    endif()
  endforeach()
  set(source ${CMAKE_CURRENT_BINARY_DIR}/${arg_NAME}_ort_plugin.cpp)
  file(CONFIGURE OUTPUT ${source} @ONLY CONTENT
"// Written by cameo_add_ort_plugin.
#include <cameo/ort_plugin_export/export.hpp>

#include \"@arg_HEADER@\"

CAMEO_EXPORT_ORT_PLUGIN(@arg_TYPE@);
")
  add_library(${arg_NAME} MODULE ${source} ${arg_SOURCES})
  set_target_properties(${arg_NAME} PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
    LINK_DEPENDS ${cameo_ort_plugin_export_map})
  target_include_directories(${arg_NAME} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
  target_link_libraries(${arg_NAME} PRIVATE ${arg_LIBRARIES} cameo::ort_plugin_export)
  target_link_options(${arg_NAME} PRIVATE -Wl,--version-script=${cameo_ort_plugin_export_map} -Wl,--gc-sections
    -Wl,-Bsymbolic)
  if(NOT CAMEO_SANITIZE)  # the sanitizer's functions are defined in the program
    target_link_options(${arg_NAME} PRIVATE -Wl,--no-undefined)
  endif()
endfunction()
