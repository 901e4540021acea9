# Makes packages of a build: Debian packages (library, development files, program), and one relocatable archive.
#   cmake --preset install && cmake --build --preset install && cpack --config build/install/CPackConfig.cmake
# Needs dpkg-shlibdeps (dpkg-dev), which finds the packages that the libraries depend on, and file, by which dpkg-shlibdeps
# recognizes libraries. cpack checks that both are there when it runs (cameo_cpack_needs.cmake).

function(cameo_add_packages)
  set(abi ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  set(CPACK_PACKAGE_NAME cameo)
  set(CPACK_PACKAGE_VENDOR "The cameo authors")
  set(CPACK_PACKAGE_CONTACT "The cameo authors <cameo@localhost>")
  set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
  set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
  set(CPACK_PACKAGE_CHECKSUM SHA256)
  set(CPACK_STRIP_FILES ON)
  set(CPACK_VERBATIM_VARIABLES ON)
  set(CPACK_GENERATOR DEB TGZ)
  set(CPACK_ARCHIVE_COMPONENT_INSTALL OFF)
  set(CPACK_PROJECT_CONFIG_FILE ${PROJECT_SOURCE_DIR}/cmake/cameo_cpack_needs.cmake)

  set(CPACK_DEB_COMPONENT_INSTALL ON)
  set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)
  set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
  set(CPACK_DEBIAN_PACKAGE_SECTION libs)
  set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME libcameo${abi})
  # The dependency that packages of programs linked with the library get.
  set(shlibs ${PROJECT_BINARY_DIR}/package/shlibs)
  file(WRITE ${shlibs} "libcameo ${abi} libcameo${abi} (>= ${PROJECT_VERSION})\n")
  set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA ${shlibs})
  set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
  set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libcameo-dev)
  set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
  # The static libraries depend on these packages; the shared library must be that of this build.
  set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SHLIBDEPS OFF)
  set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS
    "libcameo${abi} (= ${PROJECT_VERSION}), libonnx-dev, libprotobuf-dev, libhwy-dev, libutf8proc-dev")
  if(TARGET cameo_external::re2)
    string(APPEND CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS ", libre2-dev")
  endif()
  foreach(library IN LISTS CAMEO_PICTURES)
    if(TARGET cameo_external::${library})
      list(GET cameo_picture_${library} 1 package)
      string(APPEND CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS ", ${package}")
    endif()
  endforeach()
  set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME cameo)
  set(CPACK_DEBIAN_PROGRAM_PACKAGE_SECTION science)

  # Components that depend on libraries outside of Debian, such as the helper of the provider openvino, are left out.
  set(CPACK_COMPONENTS_ALL cameo_shared cameo_headers cameo_static cameo_development)
  if(TARGET cameo_program)
    list(APPEND CPACK_COMPONENTS_ALL cameo_program)
  endif()
  include(CPack)
  cpack_add_component_group(library DISPLAY_NAME "Shared library" DESCRIPTION "The shared library of cameo")
  cpack_add_component_group(development DISPLAY_NAME "Development files"
    DESCRIPTION "Headers and static libraries of cameo, and what CMake and pkg-config read")
  cpack_add_component_group(program DISPLAY_NAME "Program" DESCRIPTION "The program cameo: runs, measures, inspects and compiles models")
  cpack_add_component(cameo_shared GROUP library)
  cpack_add_component(cameo_headers GROUP development)
  cpack_add_component(cameo_static GROUP development)
  cpack_add_component(cameo_development GROUP development)
  cpack_add_component(cameo_program GROUP program)
endfunction()
