// Counts NVIDIA GPUs without a CUDA library at hand: those that a driver
// offers, and those that are only on the PCI bus.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

namespace mg {

struct GpuProbe {
  int visible = 0; // a driver offers them to this process
  int onBus = 0;   // NVIDIA display or 3D controllers on the PCI bus, with or
                   // without a driver
};

/// Looks below `root` ("" is the machine itself; tests give a folder). The
/// driver library is asked only where device nodes are there but /proc does not
/// tell (WSL, some sandboxes), since loading it takes a while.
GpuProbe probeGpus(const std::string &root = "");

} // namespace mg
