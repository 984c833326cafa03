// N logical CPU devices in this process: memory of their own, workers shared
// (RATIONALE R4).
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "runtime/base/Status.h"
#include "runtime/device/Device.h"

#include <memory>

namespace mg {

/// A verified bundle as a CPU sees it; all of it must outlive the devices.
struct CpuProgram {
  const schema::Bundle &tables;
  const schema::Target &target; // the one chosen
  std::span<const std::byte> constants, image;
};

/// `threads` 0: the cores this process may use. Errors: OutOfMemory,
/// Unsupported, and what loading code can say.
Expected<std::unique_ptr<DeviceGroup>> openCpuDevices(const CpuProgram &program,
                                                      int devices, int threads);

} // namespace mg
