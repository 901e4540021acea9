# The shared library, the targets for other projects, and the installed package. The static libraries and the shared one
# consist of the same objects.

# Lists the packaged libraries. The shared library contains the providers of the program.
function(cameo_packaged_libraries to)
  set(libraries minimal package host format onnx ort_plugin_export c)
  foreach(provider IN LISTS cameo_program_list)
    list(APPEND libraries ep_${provider})
  endforeach()
  set(${to} ${libraries} PARENT_SCOPE)
endfunction()

function(cameo_add_shared_library)
  if(NOT BUILD_SHARED_LIBS AND NOT (CAMEO_INSTALL AND "shared" IN_LIST CAMEO_LIBRARIES AND NOT CAMEO_SANITIZE))
    return()
  endif()
  cameo_packaged_libraries(libraries)
  set(objects)
  set(linked)
  foreach(library IN LISTS libraries)
    get_target_property(type cameo_${library} TYPE)
    if(type STREQUAL "STATIC_LIBRARY")
      list(APPEND objects $<TARGET_OBJECTS:cameo_${library}>)
    endif()
    get_target_property(private cameo_${library} CAMEO_PRIVATE_LIBRARIES)
    if(private)
      list(APPEND linked ${private})
    endif()
  endforeach()
  list(REMOVE_DUPLICATES linked)
  add_library(cameo_shared SHARED ${objects})
  # While the major version is 0, a new minor version may be incompatible: see the version file of the package.
  set_target_properties(cameo_shared PROPERTIES OUTPUT_NAME cameo LINKER_LANGUAGE CXX VERSION ${PROJECT_VERSION}
    SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR} LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/libcameo.map)
  target_link_libraries(cameo_shared PUBLIC cameo_target PRIVATE ${linked})
  target_compile_definitions(cameo_shared INTERFACE CAMEO_USES_SHARED)
  # Calls within the library are bound to the library, whatever else the process has loaded. No symbol may be undefined.
  target_link_options(cameo_shared PRIVATE -Wl,-Bsymbolic-functions
    -Wl,--version-script=${PROJECT_SOURCE_DIR}/cmake/libcameo.map)
  if(NOT CAMEO_SANITIZE)  # the sanitizer's functions are defined in the program
    target_link_options(cameo_shared PRIVATE -Wl,--no-undefined)
  endif()
  foreach(provider IN LISTS cameo_program_list)
    target_include_directories(cameo_shared INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/eps/${provider}/include>)
  endforeach()
endfunction()

# Makes cameo::NAME for every library; with BUILD_SHARED_LIBS all except the headers are the shared library.
function(cameo_name_targets)
  cameo_packaged_libraries(libraries)
  add_library(cameo::target ALIAS cameo_target)
  foreach(library IN LISTS libraries ITEMS cameo)
    if(BUILD_SHARED_LIBS AND TARGET cameo_shared)
      add_library(cameo::${library} ALIAS cameo_shared)
    else()
      add_library(cameo::${library} ALIAS cameo_${library})
    endif()
  endforeach()
endfunction()

function(cameo_install_static libraries folder)
  set(static_targets cameo_target cameo_cameo)
  foreach(library IN LISTS libraries)
    list(APPEND static_targets cameo_${library})
  endforeach()
  foreach(target IN LISTS static_targets)
    string(REGEX REPLACE "^cameo_" "" name ${target})
    set_property(TARGET ${target} PROPERTY EXPORT_NAME ${name})
  endforeach()
  install(TARGETS ${static_targets} EXPORT cameo_static
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT cameo_static INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(EXPORT cameo_static NAMESPACE cameo_static:: FILE cameo-static.cmake DESTINATION ${folder}
    COMPONENT cameo_static)
  install(FILES ${PROJECT_SOURCE_DIR}/cmake/cameo_dependencies.cmake DESTINATION ${folder} COMPONENT cameo_static)
endfunction()

function(cameo_install)
  include(GNUInstallDirs)
  include(CMakePackageConfigHelpers)
  cameo_packaged_libraries(libraries)
  set(folder ${CMAKE_INSTALL_LIBDIR}/cmake/cameo)
  set(written ${PROJECT_BINARY_DIR}/package)

  if("static" IN_LIST CAMEO_LIBRARIES)
    cameo_install_static("${libraries}" ${folder})
  endif()
  if(TARGET cameo_shared AND "shared" IN_LIST CAMEO_LIBRARIES)
    set_property(TARGET cameo_shared PROPERTY EXPORT_NAME cameo)
    install(TARGETS cameo_target cameo_shared EXPORT cameo_shared
      LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT cameo_shared NAMELINK_COMPONENT cameo_development
      INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
    install(EXPORT cameo_shared NAMESPACE cameo_shared:: FILE cameo-shared.cmake DESTINATION ${folder}
      COMPONENT cameo_development)
  endif()
  if(TARGET cameo_program)
    set_property(TARGET cameo_program PROPERTY EXPORT_NAME program)
    install(TARGETS cameo_program EXPORT cameo_program
      RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT cameo_program)
    install(FILES ${PROJECT_BINARY_DIR}/ep_weight_sharing_ctx_gen DESTINATION ${CMAKE_INSTALL_BINDIR}
      COMPONENT cameo_program)
    if(NOT CMAKE_CROSSCOMPILING)
      set(share ${PROJECT_BINARY_DIR}/share)
      install(FILES ${share}/cameo.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT cameo_program)
      install(FILES ${share}/cameo DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT cameo_program)
      install(FILES ${share}/_cameo DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions COMPONENT cameo_program)
      install(FILES ${share}/cameo.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d
        COMPONENT cameo_program)
    endif()
    install(EXPORT cameo_program NAMESPACE cameo:: FILE cameo-program.cmake DESTINATION ${folder}
      COMPONENT cameo_program)
  endif()

  install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT cameo_headers
    FILES_MATCHING PATTERN "*.hpp" PATTERN "*.h")
  foreach(provider IN LISTS cameo_program_list)
    install(DIRECTORY ${PROJECT_SOURCE_DIR}/eps/${provider}/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
      COMPONENT cameo_headers FILES_MATCHING PATTERN "*.hpp")
  endforeach()
  set(words ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/THIRD_PARTY.md
    ${PROJECT_SOURCE_DIR}/packaging/licenses/Apache-2.0.txt)
  install(FILES ${words} DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/libcameo-dev COMPONENT cameo_headers)
  if(TARGET cameo_shared AND "shared" IN_LIST CAMEO_LIBRARIES)
    install(FILES ${words} DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/libcameo COMPONENT cameo_shared)
  endif()
  if(TARGET cameo_program)
    install(FILES ${words} DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/cameo COMPONENT cameo_program)
  endif()

  set(cameo_with_re2 OFF)
  set(cameo_pc_re2)
  if(TARGET cameo_external::re2)
    set(cameo_with_re2 ON)
    set(cameo_pc_re2 " re2")
  endif()
  set(cameo_with_pictures)
  set(cameo_pc_pictures)
  foreach(library IN LISTS CAMEO_PICTURES)
    if(TARGET cameo_external::${library})
      list(APPEND cameo_with_pictures ${library})
      list(GET cameo_picture_${library} 0 module)
      string(REGEX REPLACE ">=.*" "" module ${module})
      string(APPEND cameo_pc_pictures " ${module}")
    endif()
  endforeach()
  configure_package_config_file(${PROJECT_SOURCE_DIR}/packaging/cameoConfig.cmake.in ${written}/cameoConfig.cmake
    INSTALL_DESTINATION ${folder} NO_SET_AND_CHECK_MACRO NO_CHECK_REQUIRED_COMPONENTS_MACRO)
  # While the major version is 0, a new minor version may be incompatible.
  install(FILES ${PROJECT_SOURCE_DIR}/cmake/cameo_ort_plugin_export.cmake ${PROJECT_SOURCE_DIR}/cmake/ort_plugin_export.map
    DESTINATION ${folder} COMPONENT cameo_headers)
  write_basic_package_version_file(${written}/cameoConfigVersion.cmake COMPATIBILITY SameMinorVersion)
  install(FILES ${written}/cameoConfig.cmake ${written}/cameoConfigVersion.cmake DESTINATION ${folder}
    COMPONENT cameo_headers)
  cameo_install_pkg_config("${libraries}")
endfunction()

# Installs the files of pkg-config, which computes the prefix from the folder of the .pc file, so that the installed
# folder may be moved.
function(cameo_install_pkg_config libraries)
  set(folder ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
  file(RELATIVE_PATH cameo_pc_prefix /${folder} /)
  string(REGEX REPLACE "/$" "" cameo_pc_prefix "${cameo_pc_prefix}")
  set(cameo_pc_static)
  foreach(library IN LISTS libraries)
    get_target_property(type cameo_${library} TYPE)
    if(type STREQUAL "STATIC_LIBRARY")
      string(APPEND cameo_pc_static " -lcameo_${library}")
    endif()
  endforeach()
  foreach(name cameo cameo-static)
    configure_file(${PROJECT_SOURCE_DIR}/packaging/${name}.pc.in ${PROJECT_BINARY_DIR}/package/${name}.pc @ONLY)
  endforeach()
  if("static" IN_LIST CAMEO_LIBRARIES)
    install(FILES ${PROJECT_BINARY_DIR}/package/cameo-static.pc DESTINATION ${folder} COMPONENT cameo_static)
  endif()
  if(TARGET cameo_shared AND "shared" IN_LIST CAMEO_LIBRARIES)
    install(FILES ${PROJECT_BINARY_DIR}/package/cameo.pc DESTINATION ${folder} COMPONENT cameo_development)
  endif()
endfunction()
