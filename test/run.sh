#!/usr/bin/env bash
# Builds everything and runs every test; ends in ctest's closing line and its exit status.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Usage: ./test/run.sh [what else ctest shall be told, such as -R hygiene or -L slow]
set -euo pipefail
# shellcheck source=examples/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/../examples/setup.sh"

# What only tests need: NumPy is the reference of the numeric tests, clang-format-22 looks at the style.
mg_test_packages=(libgtest-dev python3-numpy clang-format-22)

mg_check_machine
mg_check_packages "${mg_packages[@]}" "${mg_test_packages[@]}"
mg_leave_sudo "$mg_root/test/run.sh" "$@"
mg_build_targets ON
exec ctest --test-dir "$mg_build" --output-on-failure --no-tests=error -j "$(mg_jobs)" "$@"
