// /proc, /dev and /sys first, libcuda last.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/log/GpuProbe.h"

#include <dlfcn.h>
#include <filesystem>
#include <fstream>

namespace mg {
namespace {

namespace fs = std::filesystem;

int countEntries(const fs::path &folder) {
  std::error_code error;
  int count = 0;
  for (fs::directory_iterator it(folder, error), end; !error && it != end;
       it.increment(error))
    ++count;
  return count;
}

bool exists(const fs::path &path) {
  std::error_code error;
  return fs::exists(path, error);
}

std::string firstWord(const fs::path &path) {
  std::string word;
  std::ifstream(path) >> word;
  return word;
}

/// PCI class 0x03xxxx is a display controller, vendor 0x10de is NVIDIA.
int countOnBus(const fs::path &folder) {
  std::error_code error;
  int count = 0;
  for (fs::directory_iterator it(folder, error), end; !error && it != end;
       it.increment(error))
    count += firstWord(it->path() / "vendor") == "0x10de" &&
             firstWord(it->path() / "class").starts_with("0x03");
  return count;
}

/// The library stays loaded: unloading a driver library that has started
/// threads is not safe.
int countByDriver() {
  void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return 0;
  const auto init =
      reinterpret_cast<int (*)(unsigned)>(dlsym(library, "cuInit"));
  const auto count =
      reinterpret_cast<int (*)(int *)>(dlsym(library, "cuDeviceGetCount"));
  int devices = 0;
  return init && count && init(0) == 0 && count(&devices) == 0 ? devices : 0;
}

} // namespace

GpuProbe probeGpus(const std::string &root) {
  GpuProbe probe;
  probe.onBus = countOnBus(root + "/sys/bus/pci/devices");
  // A container sees the host's /proc/driver/nvidia even without access to the
  // GPUs: the device nodes tell.
  if (exists(root + "/dev/nvidiactl") || exists(root + "/dev/dxg")) {
    probe.visible = countEntries(root + "/proc/driver/nvidia/gpus");
    if (probe.visible == 0 && root.empty())
      probe.visible = countByDriver();
  }
  return probe;
}

} // namespace mg
