// State table ↔ safetensors.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/checkpoint/Checkpoint.h"
#include "runtime/checkpoint/Safetensors.h"
#include "runtime/checkpoint/StateTable.h"

#include <algorithm>
#include <cstring>

namespace mg {
namespace {

std::string describe(const schema::Array &array) {
  return describeArray(array.dtype(), shapeOf(array));
}

Status checkTensor(const SafetensorsFile &file, const StateEntry &entry) {
  const Tensor *tensor = file.find(entry.name);
  if (!tensor)
    return failure(Code::BadInput, "{} '{}' is missing, expected {}",
                   entry.isSlot() ? "optimizer slot" : "variable", entry.name,
                   describe(*entry.array));
  const std::span<const int64_t> shape = shapeOf(*entry.array);
  if (tensor->dtype != entry.array->dtype() ||
      !std::equal(shape.begin(), shape.end(), tensor->shape.begin(),
                  tensor->shape.end()))
    return failure(Code::BadInput, "'{}' is {}, expected {}", entry.name,
                   describeArray(tensor->dtype, tensor->shape),
                   describe(*entry.array));
  return {};
}

/// A slot's name has a '/', a variable's has none: a file may hold the slots of
/// another optimizer.
Status checkUnknown(const SafetensorsFile &file,
                    const std::vector<StateEntry> &table) {
  for (const Tensor &tensor : file.tensors())
    if (tensor.name.find('/') == std::string::npos &&
        !findState(table, tensor.name))
      return failure(Code::BadInput, "the model has no variable '{}' ({})",
                     tensor.name, describeArray(tensor.dtype, tensor.shape));
  return {};
}

bool holdsSlots(const SafetensorsFile &file,
                const std::vector<StateEntry> &table) {
  const auto present = [&](const StateEntry &entry) {
    return entry.isSlot() && file.find(entry.name);
  };
  const bool wanted =
      std::any_of(table.begin(), table.end(),
                  [](const StateEntry &entry) { return entry.isSlot(); });
  return !wanted || std::any_of(table.begin(), table.end(), present);
}

void writeToDevices(Session &session, const StateEntry &entry,
                    const Tensor &tensor) {
  for (int device = 0; device < session.deviceCount(); ++device)
    std::memcpy(session.state(device, *entry.array).data(), tensor.data.data(),
                tensor.data.size());
}

/// Calls use(key, value, write) for every scalar of an optimizer and every sum
/// of the epoch so far.
template <typename Use> void forEachReal(Session &session, Use use) {
  const schema::Bundle &tables = session.bundle().tables();
  for (const schema::Scalar *scalar : *tables.scalars()) {
    const auto *train = tables.trains()->Get(scalar->train());
    use(fmt::format("scalar/{}/{}", train->name()->string_view(),
                    scalar->array()->name()->string_view()),
        readScalar(session, *scalar),
        [&](double value) { writeScalar(session, *scalar, value); });
  }
  for (uint32_t t = 0; t < tables.trains()->size(); ++t) {
    const schema::Train &train = *tables.trains()->Get(t);
    for (uint32_t m = 0; m < train.metrics()->size(); ++m) {
      const int at[] = {static_cast<int>(t), static_cast<int>(m)};
      const std::string key =
          fmt::format("epoch/{}/{}", train.name()->string_view(),
                      train.metrics()->Get(m)->name()->string_view());
      const Session::Sums sums = session.epochSums(at[0], at[1]);
      use(key + "/sum", sums.weighted, [&](double value) {
        session.setEpochSums(at[0], at[1],
                             {value, session.epochSums(at[0], at[1]).weight});
      });
      use(key + "/weight", sums.weight, [&](double value) {
        session.setEpochSums(at[0], at[1],
                             {session.epochSums(at[0], at[1]).weighted, value});
      });
    }
  }
}

Expected<LoadedCheckpoint> load(Session &session, const SafetensorsFile &file,
                                LoadScope scope) {
  const std::vector<StateEntry> table = stateTable(session.bundle().tables());
  LoadedCheckpoint result;
  result.hasSlots = holdsSlots(file, table);
  const bool loadSlots = scope != LoadScope::Variables && result.hasSlots;
  const auto isLoaded = [&](const StateEntry &entry) {
    return loadSlots || !entry.isSlot();
  };
  MG_TRY(checkUnknown(file, table));
  for (const StateEntry &entry : table)
    if (isLoaded(entry))
      MG_TRY(checkTensor(file, entry));
  for (const StateEntry &entry : table)
    if (isLoaded(entry))
      writeToDevices(session, entry, *file.find(entry.name));
  if (!loadSlots)
    return result;
  session.setStepCount(file.number("step", 0));
  session.setSeed(static_cast<uint64_t>(
      file.number("seed", static_cast<int64_t>(session.seed()))));
  result.position = {std::max<int64_t>(0, file.number("epoch", 0)),
                     std::max<int64_t>(0, file.number("row", 0))};
  if (scope == LoadScope::Resume)
    forEachReal(session, [&](const std::string &key, double, auto write) {
      if (const std::optional<double> value = file.real(key))
        write(*value);
    });
  return result;
}

} // namespace

Status saveCheckpoint(Session &session, const std::string &path,
                      Position position) {
  std::vector<Tensor> tensors;
  for (const StateEntry &entry : stateTable(session.bundle().tables())) {
    const std::span<const int64_t> shape = shapeOf(*entry.array);
    tensors.push_back({entry.name,
                       entry.array->dtype(),
                       {shape.begin(), shape.end()},
                       session.state(0, *entry.array)});
  }
  Metadata metadata = {{"format", "mg"},
                       {"step", fmt::format("{}", session.stepCount())},
                       {"seed", fmt::format("{}", session.seed())},
                       {"epoch", fmt::format("{}", position.epoch)},
                       {"row", fmt::format("{}", position.row)}};
  forEachReal(session, [&](std::string key, double value, auto) {
    metadata[std::move(key)] = fmt::format("{}", value);
  });
  return writeSafetensors(path, tensors, metadata);
}

Expected<LoadedCheckpoint>
loadCheckpoint(Session &session, const std::string &path, LoadScope scope) {
  MG_TRY_ASSIGN(file, SafetensorsFile::open(path));
  Expected<LoadedCheckpoint> result = load(session, file, scope);
  if (!result)
    return tl::unexpected<Error>(std::move(result).error().in(path));
  return result;
}

} // namespace mg
