// Runs passes: each worker works through the segments of its devices; at
// collectives all meet. Nothing here blocks inside a segment, so any number of
// devices runs on any number of workers.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/device/cpu/CpuDevices.h"

#include "runtime/collective/AllReduce.h"
#include "runtime/device/cpu/Barrier.h"
#include "runtime/device/cpu/CodeImage.h"
#include "runtime/device/cpu/Cores.h"
#include "runtime/device/cpu/HostMemory.h"
#include "runtime/device/cpu/Plan.h"
#include "runtime/device/cpu/WorkerPool.h"

#include <bit>
#include <chrono>
#include <cstring>
#include <vector>

namespace mg {
namespace {

using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// How W workers are dealt to N devices: teams of `teamSize` where W >= N, else
/// a contiguous run of devices a worker.
struct Dealing {
  int devices, workers, teamSize;

  Dealing(int devices, int threads)
      : devices(devices),
        workers(threads >= devices ? threads / devices * devices : threads),
        teamSize(threads >= devices ? threads / devices : 1) {}

  int member(int worker) const { return worker % teamSize; }
  int firstDevice(int worker) const {
    return static_cast<int>(int64_t(devices) * (worker / teamSize) /
                            (workers / teamSize));
  }
  int endDevice(int worker) const {
    return firstDevice(worker - worker % teamSize + teamSize);
  }
};

struct alignas(64) CpuDevice {
  CpuDevice(HostMemory state, HostMemory arena, int teamSize, bool spin)
      : state(std::move(state)), arena(std::move(arena)), team(teamSize, spin) {
  }

  HostMemory state, arena;
  HostMemory levels; // copies of the window, one a level of the tree of sums
  Barrier team;
  DeviceTimes times; // written by member 0 of the team only
};

class CpuDevices final : public DeviceGroup {
public:
  CpuDevices(Dealing dealing, bool spin)
      : dealing(dealing), everyone(dealing.workers, spin) {}

  static Expected<std::unique_ptr<DeviceGroup>> open(const CpuProgram &program,
                                                     int devices, int threads);

  int deviceCount() const override { return dealing.devices; }
  int workerCount() const override { return dealing.workers; }
  std::byte *state(int device) override { return at(device).state.data(); }
  void run(const Pass &next) override;
  DeviceTimes times(int device) const override {
    return devices[static_cast<size_t>(device)]->times;
  }
  void resetTimes() override;
  Status reserveTree(int units, uint64_t windowBytes) override;

private:
  Status allocate(const CpuProgram &program, bool spin);
  CpuDevice &at(int device) { return *devices[static_cast<size_t>(device)]; }

  void work(int worker);
  void runUnits(int device, int member);
  void addPair(int device, int member, int pair, bool isLast);
  void clearWindow(int device);
  void feed(int device, int member, int unit, void (UnitFeed::*call)(int, int));
  void runTogether(int worker);
  void runSegment(const EntryPlan &plan, const Segment &segment, int device,
                  int member);
  void reduce(const EntryPlan &plan, const Segment &segment, int worker);

  const Dealing dealing;
  Barrier everyone;
  std::unique_ptr<CodeImage> code;
  std::vector<std::unique_ptr<CpuDevice>> devices;
  std::vector<EntryPlan> plans;
  std::unique_ptr<WorkerPool>
      pool; // last: its threads end before what they use goes
  const Pass *pass = nullptr;
};

Status CpuDevices::allocate(const CpuProgram &program, bool spin) {
  uint64_t stateBytes = program.tables.state_bytes(),
           arenaBytes = program.tables.arena_bytes();
  for (int i = 0; i < dealing.devices; ++i) {
    HostMemory state(stateBytes), arena(arenaBytes);
    if ((stateBytes && !state.data()) || (arenaBytes && !arena.data()))
      return failure(Code::OutOfMemory,
                     "the system refuses {} bytes of state and {} of arena for "
                     "device {} of {}",
                     stateBytes, arenaBytes, i, dealing.devices);
    devices.push_back(std::make_unique<CpuDevice>(
        std::move(state), std::move(arena), dealing.teamSize, spin));
    devices.back()->times.bytes = stateBytes + arenaBytes;
  }
  return {};
}

Expected<std::unique_ptr<DeviceGroup>>
CpuDevices::open(const CpuProgram &program, int count, int threads) {
  int cores = usableCores();
  Dealing dealing(count, threads > 0 ? threads : cores);
  bool spin = dealing.workers <= cores;
  auto group = std::make_unique<CpuDevices>(dealing, spin);
  MG_TRY(group->allocate(program, spin));
  MG_TRY_ASSIGN(code, CodeImage::load(program.image));
  group->code = std::move(code);

  std::vector<DeviceMemory> memory;
  for (auto &device : group->devices)
    memory.push_back(
        {device->state.data(), device->arena.data(), program.constants.data()});
  MG_TRY_ASSIGN(
      plans, planEntries(program.tables, program.target, *group->code, memory));
  group->plans = std::move(plans);
  MG_TRY_ASSIGN(pool, WorkerPool::start(dealing.workers, spin));
  group->pool = std::move(pool);
  return group;
}

Status CpuDevices::reserveTree(int units, uint64_t windowBytes) {
  // A tree of p pairs has at most one waiting subtree of each size below p.
  auto levels =
      static_cast<uint64_t>(std::bit_width(static_cast<unsigned>(units) / 2));
  for (auto &device : devices) {
    if (device->levels.bytes() >= levels * windowBytes)
      continue;
    device->times.bytes += levels * windowBytes - device->levels.bytes();
    device->levels = HostMemory(levels * windowBytes);
    if (!device->levels.data())
      return failure(Code::OutOfMemory,
                     "the system refuses {} bytes for the sums of {} units a "
                     "device",
                     levels * windowBytes, units);
  }
  return {};
}

void CpuDevices::resetTimes() {
  for (auto &device : devices)
    device->times = {.bytes = device->times.bytes};
}

void CpuDevices::run(const Pass &next) {
  pass = &next;
  pool->run([](void *self,
               int worker) { static_cast<CpuDevices *>(self)->work(worker); },
            this);
}

void CpuDevices::work(int worker) {
  if (!pass->units.empty())
    for (int device = dealing.firstDevice(worker);
         device < dealing.endDevice(worker); ++device)
      runUnits(device, dealing.member(worker));
  if (pass->together >= 0)
    runTogether(worker);
}

void CpuDevices::runUnits(int device, int member) {
  int units = pass->units[static_cast<size_t>(device)];
  for (int unit = 0; unit < units; ++unit) {
    feed(device, member, unit, &UnitFeed::before);
    at(device).team.arriveAndWait();
    bool isTree = pass->order == SumOrder::Tree, isLast = unit + 1 == units;
    bool isFirst = isTree ? unit % 2 == 0 : unit == 0;
    int entry = isFirst ? pass->firstUnit : pass->laterUnit;
    const EntryPlan &plan = plans[static_cast<size_t>(entry)];
    auto start = Clock::now();
    runSegment(plan, plan.segments.front(), device,
               member); // the bundle's checks see to it that there is only one
    if (isTree && (!isFirst || isLast))
      addPair(device, member, unit / 2, isLast);
    if (member == 0)
      at(device).times.busy += secondsSince(start);
    feed(device, member, unit, &UnitFeed::after);
  }
  if (units == 0 && member == 0 && pass->train)
    clearWindow(device);
  at(device).team.arriveAndWait();
}

/// The window holds the sums of pair `pair`. Bit t of `pair` is set if a
/// subtree of 2^t pairs waits at level t for its right half: the window takes
/// up those that are complete, or all of them when no pair follows, and else
/// waits itself. A member has the same slice at every level, so none has to
/// meet.
void CpuDevices::addPair(int device, int member, int pair, bool isLast) {
  std::byte *window = at(device).state.data(),
            *levels = at(device).levels.data();
  const schema::Range &range = *pass->train->window();
  auto eachSum = [&](auto use, int level) {
    std::byte *stored = levels + static_cast<uint64_t>(level) * range.bytes();
    for (const schema::Sum *sum : *pass->train->sums())
      use(*sum, stored + (sum->offset() - range.offset()),
          window + sum->offset());
  };
  auto add = [&](const schema::Sum &sum, std::byte *left, std::byte *right) {
    addSlice(sum.dtype(), right, left, right, sum.bytes(), member,
             dealing.teamSize);
  };
  auto store = [&](const schema::Sum &sum, std::byte *to, std::byte *from) {
    copySlice(to, from, sum.bytes(), member, dealing.teamSize);
  };
  int level = 0;
  for (; pair >> level; ++level) {
    bool waits = pair >> level & 1;
    if (waits)
      eachSum(add, level);
    else if (!isLast)
      break;
  }
  if (!isLast)
    eachSum(store, level);
}

void CpuDevices::clearWindow(int device) {
  std::byte *state = at(device).state.data();
  const schema::Range &window = *pass->train->window();
  std::memset(state + window.offset(), 0, window.bytes());
  for (const schema::Sum *sum : *pass->train->sums())
    fillNegativeZero(sum->dtype(), state + sum->offset(), sum->bytes());
}

void CpuDevices::feed(int device, int member, int unit,
                      void (UnitFeed::*call)(int, int)) {
  if (member != 0)
    return;
  auto start = Clock::now();
  (pass->feed->*call)(device, unit);
  at(device).times.waitingForData += secondsSince(start);
}

void CpuDevices::runTogether(int worker) {
  const EntryPlan &plan = plans[static_cast<size_t>(pass->together)];
  int member = dealing.member(worker), first = dealing.firstDevice(worker),
      end = dealing.endDevice(worker);
  for (const Segment &segment : plan.segments) {
    for (int device = first; device < end; ++device) {
      auto start = Clock::now();
      runSegment(plan, segment, device, member);
      if (member == 0)
        at(device).times.busy += secondsSince(start);
    }
    if (segment.firstCollective < segment.endCollective)
      reduce(plan, segment, worker);
  }
}

void CpuDevices::runSegment(const EntryPlan &plan, const Segment &segment,
                            int device, int member) {
  auto part = static_cast<uint64_t>(member),
       parts = static_cast<uint64_t>(dealing.teamSize);
  const std::vector<Command> &commands =
      plan.commands[static_cast<size_t>(device)];
  Barrier &team = at(device).team;
  for (uint32_t i = segment.begin; i < segment.end; ++i) {
    const Command &command = commands[i];
    command.runBlocks(command.blocks * part / parts,
                      command.blocks * (part + 1) / parts);
    if (command.meetAfter)
      team.arriveAndWait();
  }
}

/// Two meetings: no slice is read before every device has written it, none is
/// used before every slice is reduced.
void CpuDevices::reduce(const EntryPlan &plan, const Segment &segment,
                        int worker) {
  auto start = Clock::now();
  everyone.arriveAndWait();
  double waited = secondsSince(start);
  start = Clock::now();
  for (uint32_t i = segment.firstCollective; i < segment.endCollective; ++i) {
    const CollectivePlan &collective = plan.collectives[i];
    allReduceSlice(collective.reduction, collective.dtype, collective.arrays,
                   collective.bytes, worker, dealing.workers);
  }
  double reduced = secondsSince(start);
  start = Clock::now();
  everyone.arriveAndWait();
  waited += secondsSince(start);
  if (dealing.member(worker) != 0)
    return;
  int first = dealing.firstDevice(worker), end = dealing.endDevice(worker);
  for (int device = first; device < end;
       ++device) { // a worker's time is shared by its devices
    at(device).times.waitingForDevices += waited / (end - first);
    at(device).times.busy += reduced / (end - first);
  }
}

} // namespace

Expected<std::unique_ptr<DeviceGroup>>
openCpuDevices(const CpuProgram &program, int devices, int threads) {
  return CpuDevices::open(program, devices, threads);
}

} // namespace mg
