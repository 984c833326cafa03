// A bundle's entries as CPU devices run them: every name, offset and grid
// resolved once, when the session is opened.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "runtime/base/Status.h"
#include "runtime/device/cpu/CodeImage.h"
#include "runtime/schema/bundle_generated.h"

#include <cstdint>
#include <span>
#include <vector>

namespace mg {

/// Where one device's regions lie.
struct DeviceMemory {
  std::byte *state, *arena;
  const std::byte *constants;
};

/// One launch, copy or fill of one device. Its blocks may run in any order and
/// at the same time.
struct Command {
  enum class Kind : uint8_t { Launch, Copy, Fill };
  Kind kind;
  bool meetAfter = true; // whether the device's team meets before what follows
  uint8_t fillByte = 0;
  uint32_t gridX = 1, gridY = 1;
  uint64_t blocks = 1;
  KernelFunction function = nullptr;
  void *const *bindings = nullptr;
  const int64_t *scalars = nullptr;
  std::byte *to = nullptr;
  const std::byte *from = nullptr;
  uint64_t bytes = 0;

  void runBlocks(uint64_t begin, uint64_t end) const;
};

struct CollectivePlan {
  schema::Reduction reduction;
  schema::DType dtype;
  uint64_t bytes;
  std::vector<std::byte *> arrays; // one a device
};

/// Commands [begin, end) of every device, then collectives [firstCollective,
/// endCollective) between all devices.
struct Segment {
  uint32_t begin = 0, end = 0, firstCollective = 0, endCollective = 0;
};

struct EntryPlan {
  std::vector<Segment> segments;
  std::vector<CollectivePlan> collectives;
  std::vector<std::vector<Command>> commands; // per device
  std::vector<std::vector<void *>>
      bindings; // per device: what Command.bindings points into
};

/// Plans of all entries for these devices, with the target's code and grids.
/// The tables must outlive them (scalars stay in place). Errors: BadInput when
/// the image lacks a kernel.
Expected<std::vector<EntryPlan>>
planEntries(const schema::Bundle &tables, const schema::Target &target,
            const CodeImage &code, std::span<const DeviceMemory> devices);

/// The address of a range; constants are never written: the bundle's checks see
/// to copy, fill and collectives.
std::byte *addressOf(const schema::Range &range, const DeviceMemory &memory);

} // namespace mg
