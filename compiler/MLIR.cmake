# Finds LLVM/MLIR 22 and sets what every compiler target needs. Links the shared libMLIR/libLLVM.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
find_package(MLIR REQUIRED CONFIG PATHS /usr/lib/llvm-22/lib/cmake/mlir)
if(NOT LLVM_VERSION_MAJOR EQUAL 22)
  message(FATAL_ERROR "found LLVM ${LLVM_PACKAGE_VERSION}, expected 22: install libmlir-22-dev and llvm-22-dev, or pass -DMLIR_DIR=")
endif()
set(MLIR_LINK_MLIR_DYLIB ON)
list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
include(TableGen)
include(AddLLVM)
include(AddMLIR)
separate_arguments(MG_LLVM_DEFINITIONS NATIVE_COMMAND ${LLVM_DEFINITIONS})

# Everything that includes LLVM or MLIR headers links this.
add_library(mg-mlir INTERFACE)
target_include_directories(mg-mlir SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
target_compile_definitions(mg-mlir INTERFACE ${MG_LLVM_DEFINITIONS})
target_compile_options(mg-mlir INTERFACE -fno-exceptions -Wall -Wno-unused-parameter)
target_link_libraries(mg-mlir INTERFACE MLIR LLVM)
target_link_options(mg-mlir INTERFACE -Wl,-rpath,${LLVM_LIBRARY_DIR})
# The compiler's own code is built lightly: its speed is LLVM's.
if(NOT CMAKE_BUILD_TYPE STREQUAL "Debug")
  target_compile_options(mg-mlir INTERFACE -O1)
endif()

# MLIR's headers take ten seconds to parse; every library of the compiler reuses one parse of them.
add_library(mg-pch STATIC ${CMAKE_SOURCE_DIR}/compiler/Precompiled.cpp)
target_link_libraries(mg-pch PUBLIC mg-mlir)
target_precompile_headers(mg-pch PRIVATE ${CMAKE_SOURCE_DIR}/compiler/Precompiled.h)
# mg_library(NAME SOURCES… [LINK LIBRARIES…]): a static library of the compiler.
function(mg_library name)
  cmake_parse_arguments(arg "" "" "LINK" ${ARGN})
  add_library(${name} STATIC ${arg_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PUBLIC ${arg_LINK} mg-mlir)
  target_precompile_headers(${name} REUSE_FROM mg-pch)
endfunction()
