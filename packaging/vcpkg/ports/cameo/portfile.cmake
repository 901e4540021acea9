# An overlay port: cameo is built from its source archive where that lies beside this file (packaging/source_archive writes
# it), else from the tree that this folder is part of.
set(archive "${CMAKE_CURRENT_LIST_DIR}/cameo-${VERSION}.tar.gz")
if(EXISTS "${archive}")
  vcpkg_extract_source_archive(SOURCE_PATH ARCHIVE "${archive}")
else()
  get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../../../.." ABSOLUTE)
endif()

vcpkg_check_features(OUT_FEATURE_OPTIONS feature_options FEATURES program CAMEO_PROGRAM
  regex CAMEO_RE2)
if(NOT "pictures" IN_LIST FEATURES)
  list(APPEND feature_options -DCAMEO_PICTURES=)
endif()
string(COMPARE EQUAL "${VCPKG_LIBRARY_LINKAGE}" "dynamic" is_shared)
set(libraries static)
if(is_shared)
  set(libraries shared)
endif()

vcpkg_cmake_configure(
  SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS -DCAMEO_TESTS=OFF -DCAMEO_BENCHMARKS=OFF -DCAMEO_WERROR=OFF -DCAMEO_LIBRARIES=${libraries} ${feature_options}
)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/cameo)
vcpkg_fixup_pkgconfig()
if("program" IN_LIST FEATURES)
  vcpkg_copy_tools(TOOL_NAMES cameo AUTO_CLEAN)
endif()

file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share"
  "${CURRENT_PACKAGES_DIR}/share/doc")
file(INSTALL "${CMAKE_CURRENT_LIST_DIR}/usage" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
