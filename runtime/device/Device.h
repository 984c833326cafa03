// What program/ asks of the devices that run a bundle: memory, and running
// entries on all of them in step. cpu/ implements it; another kind implements
// the same class and shares nothing with cpu/.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "runtime/base/Status.h"
#include "runtime/schema/bundle_generated.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace mg {

/// Per-device time split of everything run since the last reset, in seconds.
struct DeviceTimes {
  double busy = 0, waitingForDevices = 0, waitingForData = 0;
  uint64_t bytes = 0; // memory held by this device
};

/// What happens on a device before and after each of its units. Called on
/// worker threads: for one device never at the same time, for several devices
/// at once.
class UnitFeed {
public:
  virtual ~UnitFeed() = default;
  virtual void before(int device, int unit) = 0;
  virtual void after(int device, int unit) = 0;
};

/// How the sums of a device's units are added (RATIONALE R7).
enum class SumOrder {
  Sequence, // one unit after the other: firstUnit, then laterUnit
  Tree,     // in a binary tree: firstUnit and laterUnit by turns make a pair
};

/// One run over all devices. Entries are indices into Bundle.entries, -1 for
/// none.
struct Pass {
  std::span<const int> units; // per device; empty: no device has any
  int firstUnit = -1,
      laterUnit =
          -1; // entry for a device's first unit, and for each further one
  SumOrder order = SumOrder::Sequence;
  UnitFeed *feed = nullptr; // needed where there are units
  const schema::Train *train =
      nullptr; // whose sums these are; a device without units clears its window
  int together = -1; // entry that all devices run after their units; only it
                     // may hold collectives
};

/// The devices of one session, all of one kind, each with State and Arena
/// regions of its own. One run at a time.
class DeviceGroup {
public:
  virtual ~DeviceGroup() = default;
  virtual int deviceCount() const = 0;
  virtual int workerCount() const = 0;

  /// The state region of one device as the host sees it; not while a run goes
  /// on.
  virtual std::byte *state(int device) = 0;

  /// Memory for passes in tree order with up to `units` units a device and up
  /// to `windowBytes` bytes of window. Errors: OutOfMemory.
  virtual Status reserveTree(int units, uint64_t windowBytes) = 0;

  /// Returns when every device is done. Neither allocates nor locks.
  virtual void run(const Pass &pass) = 0;

  virtual DeviceTimes times(int device) const = 0;
  virtual void resetTimes() = 0;
};

} // namespace mg
