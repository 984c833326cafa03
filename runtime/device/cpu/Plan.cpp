// Flattens entries: commands become blocks with pointers, collectives become
// the ends of segments.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/device/cpu/Plan.h"

#include <algorithm>
#include <cstring>

namespace mg {
namespace {

constexpr uint64_t chunkBytes = 64 << 10; // a block of a copy or fill

uint64_t chunks(uint64_t bytes) {
  return (bytes + chunkBytes - 1) / chunkBytes;
}

struct PlannedKernel {
  KernelFunction function;
  schema::Grid grid;
};

class EntryPlanner {
public:
  EntryPlanner(const schema::Entry &entry,
               std::span<const PlannedKernel> kernels,
               std::span<const DeviceMemory> devices)
      : entry(entry), kernels(kernels), devices(devices) {}

  EntryPlan plan() {
    reserve();
    for (const schema::Command *command : *entry.commands())
      add(*command);
    endSegment();
    for (std::vector<Command> &commands : result.commands)
      markMeetings(commands);
    return std::move(result);
  }

private:
  /// Bindings get their final size first: commands point into them.
  void reserve() {
    size_t bindings = 0;
    for (const schema::Command *command : *entry.commands())
      if (const auto *launch = command->op_as_Launch())
        bindings += launch->bindings()->size();
    result.commands.resize(devices.size());
    result.bindings.resize(devices.size());
    for (size_t i = 0; i < devices.size(); ++i) {
      result.commands[i].reserve(entry.commands()->size());
      result.bindings[i].reserve(bindings);
    }
  }

  void add(const schema::Command &command) {
    if (const auto *collective = command.op_as_Collective())
      return addCollective(*collective);
    if (collectivesPending())
      endSegment();
    for (size_t i = 0; i < devices.size(); ++i)
      result.commands[i].push_back(resolve(command, i));
    ++current.end;
  }

  Command resolve(const schema::Command &command, size_t device) {
    const DeviceMemory &memory = devices[device];
    if (const auto *copy = command.op_as_Copy())
      return {.kind = Command::Kind::Copy,
              .blocks = chunks(copy->to()->bytes()),
              .to = addressOf(*copy->to(), memory),
              .from = addressOf(*copy->from(), memory),
              .bytes = copy->to()->bytes()};
    if (const auto *fill = command.op_as_Fill())
      return {.kind = Command::Kind::Fill,
              .fillByte = fill->byte(),
              .blocks = chunks(fill->to()->bytes()),
              .to = addressOf(*fill->to(), memory),
              .bytes = fill->to()->bytes()};
    return resolveLaunch(*command.op_as_Launch(), device);
  }

  Command resolveLaunch(const schema::Launch &launch, size_t device) {
    std::vector<void *> &bindings = result.bindings[device];
    size_t first = bindings.size();
    for (const schema::Range *range : *launch.bindings())
      bindings.push_back(addressOf(*range, devices[device]));
    const auto &[function, grid] = kernels[launch.kernel()];
    return {.kind = Command::Kind::Launch,
            .gridX = grid.x(),
            .gridY = grid.y(),
            .blocks = uint64_t(grid.x()) * grid.y() * grid.z(),
            .function = function,
            .bindings = bindings.data() + first,
            .scalars = launch.scalars() ? launch.scalars()->data() : nullptr};
  }

  /// Collectives in a row share their meetings, unless one reads what another
  /// writes.
  void addCollective(const schema::Collective &collective) {
    if (devices.size() == 1)
      return;
    CollectivePlan plan{collective.reduction(),
                        collective.dtype(),
                        collective.range()->bytes(),
                        {}};
    for (const DeviceMemory &memory : devices)
      plan.arrays.push_back(addressOf(*collective.range(), memory));
    for (uint32_t i = current.firstCollective; i < current.endCollective; ++i)
      if (overlap(result.collectives[i], plan)) {
        endSegment();
        break;
      }
    result.collectives.push_back(std::move(plan));
    ++current.endCollective;
  }

  static bool overlap(const CollectivePlan &a, const CollectivePlan &b) {
    return a.arrays[0] < b.arrays[0] + b.bytes &&
           b.arrays[0] < a.arrays[0] + a.bytes;
  }

  bool collectivesPending() const {
    return current.endCollective > current.firstCollective;
  }

  void endSegment() {
    result.segments.push_back(current);
    current = {current.end, current.end, current.endCollective,
               current.endCollective};
  }

  /// A team need not meet before a collective, where all workers do, nor
  /// between two commands of one block: the same worker runs both.
  void markMeetings(std::vector<Command> &commands) {
    for (const Segment &segment : result.segments)
      for (uint32_t i = segment.begin; i < segment.end; ++i) {
        bool last = i + 1 == segment.end;
        bool allMeet = last && segment.endCollective > segment.firstCollective;
        bool sameWorker =
            !last && commands[i].blocks == 1 && commands[i + 1].blocks == 1;
        commands[i].meetAfter = !allMeet && !sameWorker;
      }
  }

  const schema::Entry &entry;
  std::span<const PlannedKernel> kernels;
  std::span<const DeviceMemory> devices;
  EntryPlan result;
  Segment current;
};

void launchBlocks(const Command &command, uint64_t begin, uint64_t end) {
  auto x = static_cast<uint32_t>(begin % command.gridX);
  uint64_t rows = begin / command.gridX;
  auto y = static_cast<uint32_t>(rows % command.gridY),
       z = static_cast<uint32_t>(rows / command.gridY);
  for (uint64_t block = begin; block < end; ++block) {
    command.function(command.bindings, command.scalars, x, y, z);
    if (++x < command.gridX)
      continue;
    x = 0;
    if (++y < command.gridY)
      continue;
    y = 0;
    ++z;
  }
}

} // namespace

void Command::runBlocks(uint64_t begin, uint64_t end) const {
  if (kind == Kind::Launch)
    return launchBlocks(*this, begin, end);
  uint64_t first = begin * chunkBytes, last = std::min(end * chunkBytes, bytes);
  if (first >= last)
    return;
  if (kind == Kind::Copy)
    std::memcpy(to + first, from + first, last - first);
  else
    std::memset(to + first, fillByte, last - first);
}

std::byte *addressOf(const schema::Range &range, const DeviceMemory &memory) {
  switch (range.region()) {
  case schema::Region::State:
    return memory.state + range.offset();
  case schema::Region::Arena:
    return memory.arena + range.offset();
  case schema::Region::Constant:
    return const_cast<std::byte *>(memory.constants) + range.offset();
  }
  return nullptr;
}

Expected<std::vector<EntryPlan>>
planEntries(const schema::Bundle &tables, const schema::Target &target,
            const CodeImage &code, std::span<const DeviceMemory> devices) {
  std::vector<PlannedKernel> kernels;
  for (uint32_t i = 0; i < tables.kernels()->size(); ++i) {
    const schema::Kernel &kernel = *tables.kernels()->Get(i);
    MG_TRY_ASSIGN(function, code.kernel(kernel.name()->c_str()));
    kernels.push_back({function, *target.grids()->Get(i)});
  }
  std::vector<EntryPlan> plans;
  for (const schema::Entry *entry : *tables.entries())
    plans.push_back(EntryPlanner(*entry, kernels, devices).plan());
  return plans;
}

} // namespace mg
