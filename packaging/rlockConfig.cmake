# find_package(rlock) gives the targets rlock::rlock, the shared library, and rlock::static, the archive.
# SPDX-License-Identifier: Apache-2.0
get_filename_component(_rlock_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
# Debian has libraries in a folder of the architecture, below lib.
if(NOT EXISTS "${_rlock_prefix}/include/rlock/rlock.h")
  get_filename_component(_rlock_prefix "${_rlock_prefix}/.." ABSOLUTE)
endif()
get_filename_component(_rlock_lib "${CMAKE_CURRENT_LIST_DIR}/../.." ABSOLUTE)

if(NOT TARGET rlock::rlock)
  add_library(rlock::rlock SHARED IMPORTED)
  set_target_properties(rlock::rlock PROPERTIES
    IMPORTED_LOCATION "${_rlock_lib}/librlock.so"
    INTERFACE_INCLUDE_DIRECTORIES "${_rlock_prefix}/include")
endif()
if(NOT TARGET rlock::static AND EXISTS "${_rlock_lib}/librlock.a")
  add_library(rlock::static STATIC IMPORTED)
  set_target_properties(rlock::static PROPERTIES
    IMPORTED_LOCATION "${_rlock_lib}/librlock.a"
    INTERFACE_INCLUDE_DIRECTORIES "${_rlock_prefix}/include"
    INTERFACE_LINK_LIBRARIES "hiredis;yaml;uuid;ssl;crypto;dl;pthread")
endif()
unset(_rlock_prefix)
unset(_rlock_lib)
