// Finds the arrays that an out-of-memory message names: stored ones by their
// names, temporaries by the command that makes them.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/program/Memory.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

namespace mg {
namespace {

struct NamedArray {
  uint64_t bytes;
  std::string name;
};

std::string inMebibytes(uint64_t bytes) {
  return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / (1 << 20));
}

template <typename List>
void addStored(const List *list, std::string_view kind,
               std::vector<NamedArray> &arrays) {
  for (const auto *item : *list)
    arrays.push_back(
        {item->array()->bytes(),
         fmt::format("{} '{}'", kind, item->array()->name()->string_view())});
}

/// The first command that binds a range of the arena is the one that makes it.
void addTemporaries(const schema::Bundle &tables,
                    std::vector<NamedArray> &arrays) {
  std::set<std::pair<uint64_t, uint64_t>> seen;
  for (const schema::Entry *entry : *tables.entries())
    for (const schema::Command *command : *entry->commands()) {
      const schema::Launch *launch = command->op_as_Launch();
      if (!launch)
        continue;
      std::string_view name =
          command->name()
              ? command->name()->string_view()
              : tables.kernels()->Get(launch->kernel())->name()->string_view();
      for (const schema::Range *range : *launch->bindings())
        if (range->region() == schema::Region::Arena &&
            seen.insert({range->offset(), range->bytes()}).second)
          arrays.push_back(
              {range->bytes(), fmt::format("temporary of '{}'", name)});
    }
}

std::vector<NamedArray> largestArrays(const schema::Bundle &tables,
                                      size_t count) {
  std::vector<NamedArray> arrays;
  addStored(tables.variables(), "variable", arrays);
  addStored(tables.slots(), "slot", arrays);
  addStored(tables.inputs(), "input", arrays);
  addStored(tables.outputs(), "output", arrays);
  addTemporaries(tables, arrays);
  std::sort(arrays.begin(), arrays.end(),
            [](auto &a, auto &b) { return a.bytes > b.bytes; });
  if (arrays.size() > count)
    arrays.erase(arrays.begin() + static_cast<std::ptrdiff_t>(count),
                 arrays.end());
  return arrays;
}

} // namespace

std::string describeMemory(const schema::Bundle &tables, uint64_t devices) {
  std::string text = fmt::format(
      "{} device{} of {} state and {} arena each; largest:", devices,
      devices == 1 ? "" : "s", inMebibytes(tables.state_bytes()),
      inMebibytes(tables.arena_bytes()));
  std::string_view separator = " ";
  for (const NamedArray &array : largestArrays(tables, 3)) {
    text += fmt::format("{}{} ({})", separator, array.name,
                        inMebibytes(array.bytes));
    separator = ", ";
  }
  return text + "; use fewer devices, or compile with a smaller --batch-size "
                "and accumulate";
}

Status checkMemory(const schema::Bundle &tables, uint64_t devices,
                   uint64_t available) {
  uint64_t planned = devices * (tables.state_bytes() + tables.arena_bytes());
  if (planned <= available)
    return {};
  return failure(Code::OutOfMemory,
                 "{} of memory are needed, {} are available: {}",
                 inMebibytes(planned), inMebibytes(available),
                 describeMemory(tables, devices));
}

} // namespace mg
