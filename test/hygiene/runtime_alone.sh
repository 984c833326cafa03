#!/usr/bin/env bash
# The runtime configures, builds and passes its tests with LLVM and MLIR out of sight (MG_COMPILER=OFF).
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Usage: runtime_alone.sh SOURCE BUILD C-COMPILER C++-COMPILER COMPILER-LAUNCHER
# The compilers themselves may be LLVM's; no header, library or CMake file of LLVM may be used.
set -euo pipefail
export CCACHE_SLOPPINESS=pch_defines,time_macros
source=$1 build=$2 c_compiler=$3 cxx_compiler=$4 launcher=$5

cmake -S "$source" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DMG_COMPILER=OFF -DMG_TESTS=ON \
  -DCMAKE_DISABLE_FIND_PACKAGE_LLVM=ON -DCMAKE_DISABLE_FIND_PACKAGE_MLIR=ON -DCMAKE_DISABLE_FIND_PACKAGE_LLD=ON \
  -DCMAKE_IGNORE_PREFIX_PATH="/usr/lib/llvm-22;/usr/lib/llvm-22/bin" \
  -DCMAKE_C_COMPILER="$c_compiler" -DCMAKE_CXX_COMPILER="$cxx_compiler" \
  -DCMAKE_C_COMPILER_LAUNCHER="$launcher" -DCMAKE_CXX_COMPILER_LAUNCHER="$launcher"
if used=$(grep -oE '(-I|-isystem|-l|-L)[^" ]*(llvm|mlir)[^" ]*' "$build/compile_commands.json" "$build/build.ninja"); then
  printf 'error: with MG_COMPILER=OFF the build still uses LLVM:\n%s\n' "$used" >&2
  exit 1
fi
cmake --build "$build" --parallel 2
exec ctest --test-dir "$build" --output-on-failure --no-tests=error -j 2 --exclude-regex '^hygiene'
