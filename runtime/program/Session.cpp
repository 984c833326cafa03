// A session: which entries a step, an evaluation or a prediction runs, and the
// values in the state region that the host reads and writes around them.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/program/Session.h"

#include "runtime/device/cpu/CpuDevices.h"
#include "runtime/device/cpu/CpuFeatures.h"
#include "runtime/device/cpu/HostMemory.h"
#include "runtime/program/Checks.h"
#include "runtime/program/Memory.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <mutex>
#include <set>

namespace mg {
namespace {

constexpr int maxDevices = 4096, maxThreads = 1024;
constexpr int64_t checkBase = int64_t(1)
                              << 62; // a check record holds checkBase - row

template <typename T> T load(const std::byte *address) {
  T value;
  std::memcpy(&value, address, sizeof value);
  return value;
}
template <typename T> void store(std::byte *address, T value) {
  std::memcpy(address, &value, sizeof value);
}

/// Where a train's or predict's inputs and outputs lie on each device.
struct Staging {
  std::vector<std::vector<std::byte *>> inputs;
  std::vector<std::vector<const std::byte *>> outputs;
};

struct CheckRecord {
  int64_t key = 0, value = 0; // as in the bundle: key 0 while all is well
};

/// Fills inputs and control values before each unit, hands outputs on after it,
/// and keeps each device's worst check records: the update all-reduces them,
/// after which nobody knows whose value it was.
class SessionFeed final : public UnitFeed {
public:
  SessionFeed(DeviceGroup &group, const schema::Control &control,
              UnitSource &source, const Staging &staging,
              std::span<Unit> current)
      : group(group), control(control), source(source), staging(staging),
        current(current) {}

  /// The worst of each device's `checks` over its units, in `records` and,
  /// after its last unit, in its window.
  void keepRecords(
      const flatbuffers::Vector<flatbuffers::Offset<schema::Check>> *list,
      std::span<const int> counts, std::span<CheckRecord> space) {
    checks = list;
    units = counts;
    records = space;
  }
  void sendOutputs(Session::OutputSink &to) { sink = &to; }
  /// Each unit starts from 0 sums; what it made of them goes to
  /// `to[device * perDevice + k * metrics]` on.
  void takeSums(const schema::Train &train, std::span<Session::Sums> to,
                size_t perDevice) {
    evaluated = &train;
    unitSums = to;
    sumsPerDevice = perDevice;
  }

  void before(int device, int k) override {
    auto index = static_cast<size_t>(device);
    Unit unit = source.fill(device, k, staging.inputs[index]);
    std::byte *state = group.state(device);
    store(state + control.row0(), unit.row0);
    store(state + control.rows(), unit.rows);
    current[index] = unit;
    if (evaluated)
      for (const schema::Metric *metric : *evaluated->metrics())
        store(state + metric->evaluation(), Session::Sums{});
  }

  void after(int device, int k) override {
    auto index = static_cast<size_t>(device);
    if (sink) {
      std::lock_guard lock(sinkMutex);
      sink->take(device, k, current[index], staging.outputs[index]);
    }
    std::byte *state = group.state(device);
    if (evaluated) {
      Session::Sums *to =
          &unitSums[index * sumsPerDevice +
                    static_cast<size_t>(k) * evaluated->metrics()->size()];
      for (const schema::Metric *metric : *evaluated->metrics())
        *to++ = load<Session::Sums>(state + metric->evaluation());
    }
    for (uint32_t i = 0; checks && i < checks->size(); ++i) {
      std::byte *window = state + checks->Get(i)->window();
      CheckRecord &worst = records[index * checks->size() + i];
      if (auto found = load<CheckRecord>(window); found.key > worst.key)
        worst = found;
      if (k + 1 == units[index])
        store(window, worst);
    }
  }

private:
  DeviceGroup &group;
  const schema::Control &control;
  UnitSource &source;
  const Staging &staging;
  std::span<Unit> current;
  const flatbuffers::Vector<flatbuffers::Offset<schema::Check>> *checks =
      nullptr;
  std::span<const int> units;
  std::span<CheckRecord> records;
  const schema::Train *evaluated = nullptr;
  std::span<Session::Sums> unitSums;
  size_t sumsPerDevice = 0;
  Session::OutputSink *sink = nullptr;
  std::mutex sinkMutex;
};

class DeviceSession final : public Session {
public:
  DeviceSession(std::shared_ptr<Bundle> bundle,
                std::unique_ptr<DeviceGroup> group,
                const SessionOptions &options);

  const Bundle &bundle() const override { return *file; }
  int deviceCount() const override { return group->deviceCount(); }
  int workerCount() const override { return group->workerCount(); }
  bool isDeterministic() const override { return deterministic; }
  std::span<const uint32_t> unitSizes() const override {
    if (unitRows > 0)
      return {&unitRows, 1};
    return {tables.units()->data(), tables.units()->size()};
  }

  Status init(uint64_t seed) override;
  Expected<CheckFailure> step(int train, uint32_t unitRows,
                              UnitSource &source) override;
  Expected<CheckFailure> evaluate(int train, uint32_t unitRows,
                                  UnitSource &source) override;
  Expected<CheckFailure> predict(int predict, uint32_t unitRows,
                                 UnitSource &source, OutputSink &sink) override;

  void clearEpoch(int train) override { clear(*trainTable(train).epoch()); }
  void clearEvaluation(int train) override {
    clear(*trainTable(train).evaluation());
    evaluated.assign(trainTable(train).metrics()->size(), {});
  }
  Sums stepSums(int train, int metric) const override {
    return sums(0, metricTable(train, metric).window());
  }
  Sums epochSums(int train, int metric) const override {
    return sums(0, metricTable(train, metric).epoch());
  }
  void setEpochSums(int train, int metric, Sums sums) override {
    storeEverywhere(metricTable(train, metric).epoch(), sums);
  }
  Sums evaluationSums(int train, int metric) const override;

  std::span<std::byte> state(int device, const schema::Array &array) override {
    return {group->state(device) + array.offset(), array.bytes()};
  }
  int64_t stepCount() const override {
    return load<int64_t>(group->state(0) + tables.control()->step());
  }
  void setStepCount(int64_t step) override {
    storeEverywhere(tables.control()->step(), step);
  }
  uint64_t seed() const override {
    return load<uint64_t>(group->state(0) + tables.control()->seed());
  }
  void setSeed(uint64_t seed) override {
    storeEverywhere(tables.control()->seed(), seed);
  }

  DeviceTimes times(int device) const override { return group->times(device); }
  void resetTimes() override { group->resetTimes(); }

private:
  struct EntryKey {
    schema::Role role;
    int owner;
    uint32_t unit;
    bool operator==(const EntryKey &) const = default;
  };
  using Checks = flatbuffers::Vector<flatbuffers::Offset<schema::Check>>;

  const schema::Train &trainTable(int train) const {
    return *tables.trains()->Get(static_cast<uint32_t>(train));
  }
  const schema::Metric &metricTable(int train, int metric) const {
    return *trainTable(train).metrics()->Get(static_cast<uint32_t>(metric));
  }

  void writeScalars();
  Staging locate(const flatbuffers::Vector<uint32_t> *inputs,
                 const flatbuffers::Vector<uint32_t> *outputs);
  int findEntry(EntryKey key) const;
  Expected<int> unitEntry(EntryKey key) const;
  Status checkOwner(int owner, uint32_t count, std::string_view kind) const;
  void countUnits(const UnitSource &source);
  CheckFailure firstFailure(const Checks *checks,
                            std::span<const CheckRecord> records) const;
  void readRecords(const Checks *checks,
                   uint64_t (schema::Check::*offset)() const);
  void clear(const schema::Range &range);
  size_t mostUnits() const {
    return static_cast<size_t>(*std::max_element(units.begin(), units.end()));
  }
  void addUnitSums(size_t metrics, size_t perDevice);
  Sums sums(int device, uint64_t offset) const;
  template <typename T> void storeEverywhere(uint64_t offset, T value) {
    for (int device = 0; device < deviceCount(); ++device)
      store(group->state(device) + offset, value);
  }

  std::shared_ptr<Bundle> file;
  const schema::Bundle &tables;
  std::unique_ptr<DeviceGroup> group;
  std::vector<EntryKey> entries; // parallel to tables.entries()
  std::vector<Staging> trains, predicts;
  const bool deterministic;
  const uint32_t unitRows; // 0: any
  // Room for one step, made once: a step allocates nothing.
  std::vector<int> units;
  std::vector<Unit> current;
  std::vector<CheckRecord> records;
  // When deterministic: of each unit of a window, and of all rows so far.
  std::vector<Sums> unitSums, evaluated;
};

DeviceSession::DeviceSession(std::shared_ptr<Bundle> bundle,
                             std::unique_ptr<DeviceGroup> devices,
                             const SessionOptions &options)
    : file(std::move(bundle)), tables(file->tables()),
      group(std::move(devices)), deterministic(options.deterministic),
      unitRows(options.deterministic && options.unitRows == 0
                   ? tables.units()->Get(0)
                   : options.unitRows) {
  auto count = static_cast<size_t>(group->deviceCount());
  uint32_t checks = 0;
  for (const schema::Entry *entry : *tables.entries())
    entries.push_back({entry->role(), entry->owner(), entry->unit()});
  for (const schema::Train *train : *tables.trains()) {
    trains.push_back(locate(train->inputs(), nullptr));
    checks = std::max(checks, train->checks() ? train->checks()->size() : 0);
  }
  for (const schema::Predict *predict : *tables.predicts()) {
    predicts.push_back(locate(predict->inputs(), predict->outputs()));
    checks =
        std::max(checks, predict->checks() ? predict->checks()->size() : 0);
  }
  units.resize(count);
  current.resize(count);
  records.resize(count * checks);
  writeScalars();
}

void DeviceSession::writeScalars() {
  for (const schema::Scalar *scalar : *tables.scalars()) {
    if (scalar->array()->dtype() == schema::DType::F64)
      storeEverywhere(scalar->array()->offset(), scalar->value());
    else
      storeEverywhere(scalar->array()->offset(),
                      static_cast<float>(scalar->value()));
  }
}

Staging DeviceSession::locate(const flatbuffers::Vector<uint32_t> *inputs,
                              const flatbuffers::Vector<uint32_t> *outputs) {
  Staging staging;
  for (int device = 0; device < deviceCount(); ++device) {
    std::byte *state = group->state(device);
    auto &inputsHere = staging.inputs.emplace_back();
    for (uint32_t i = 0; inputs && i < inputs->size(); ++i)
      inputsHere.push_back(
          state + tables.inputs()->Get(inputs->Get(i))->array()->offset());
    auto &outputsHere = staging.outputs.emplace_back();
    for (uint32_t i = 0; outputs && i < outputs->size(); ++i)
      outputsHere.push_back(
          state + tables.outputs()->Get(outputs->Get(i))->array()->offset());
  }
  return staging;
}

int DeviceSession::findEntry(EntryKey key) const {
  auto found = std::find(entries.begin(), entries.end(), key);
  return found == entries.end() ? -1
                                : static_cast<int>(found - entries.begin());
}

Expected<int> DeviceSession::unitEntry(EntryKey key) const {
  if (int entry = findEntry(key); entry >= 0)
    return entry;
  return failure(Code::InvalidArgument,
                 "the bundle has no {} entry for units of {} rows, its units "
                 "have {}; compile with --batch-size={}",
                 schema::EnumNameRole(key.role), key.unit,
                 fmt::join(*tables.units(), ", "), key.unit);
}

Status DeviceSession::checkOwner(int owner, uint32_t count,
                                 std::string_view kind) const {
  if (owner >= 0 && static_cast<uint32_t>(owner) < count)
    return {};
  return failure(Code::InvalidArgument,
                 "{} {} does not exist, the bundle has {}", kind, owner, count);
}

void DeviceSession::countUnits(const UnitSource &source) {
  for (int device = 0; device < deviceCount(); ++device)
    units[static_cast<size_t>(device)] = source.unitCount(device);
}

Status DeviceSession::init(uint64_t seed) {
  setSeed(seed);
  setStepCount(0);
  for (const schema::Train *train : *tables.trains())
    for (const schema::Range *range :
         {train->window(), train->epoch(), train->evaluation()})
      clear(*range);
  Pass pass;
  pass.together = findEntry({schema::Role::Init, -1, 0});
  group->run(pass);
  return {};
}

Expected<CheckFailure> DeviceSession::step(int train, uint32_t unitRows,
                                           UnitSource &source) {
  MG_TRY(checkOwner(train, tables.trains()->size(), "train"));
  MG_TRY_ASSIGN(first,
                unitEntry({schema::Role::AccumulateFirst, train, unitRows}));
  MG_TRY_ASSIGN(later, unitEntry({schema::Role::Accumulate, train, unitRows}));
  const schema::Train &table = trainTable(train);
  countUnits(source);
  if (deterministic)
    MG_TRY(group->reserveTree(static_cast<int>(mostUnits()),
                              table.window()->bytes()));
  std::fill(records.begin(), records.end(), CheckRecord{});
  SessionFeed feed(*group, *tables.control(), source,
                   trains[static_cast<size_t>(train)], current);
  feed.keepRecords(table.checks(), units, records);
  group->run({.units = units,
              .firstUnit = first,
              .laterUnit = later,
              .order = deterministic ? SumOrder::Tree : SumOrder::Sequence,
              .feed = &feed,
              .train = &table,
              .together = findEntry({schema::Role::Update, train, 0})});
  CheckFailure failure = firstFailure(table.checks(), records);
  if (failure.check >= 0)
    return failure;
  readRecords(table.checks(),
              &schema::Check::window); // what the update itself may have found
  return firstFailure(table.checks(), records);
}

Expected<CheckFailure> DeviceSession::evaluate(int train, uint32_t unitRows,
                                               UnitSource &source) {
  MG_TRY(checkOwner(train, tables.trains()->size(), "train"));
  MG_TRY_ASSIGN(entry, unitEntry({schema::Role::Evaluate, train, unitRows}));
  countUnits(source);
  SessionFeed feed(*group, *tables.control(), source,
                   trains[static_cast<size_t>(train)], current);
  size_t metrics = trainTable(train).metrics()->size(),
         perDevice = mostUnits() * metrics;
  if (deterministic) {
    unitSums.resize(std::max(unitSums.size(), units.size() * perDevice));
    feed.takeSums(trainTable(train), unitSums, perDevice);
  }
  group->run(
      {.units = units, .firstUnit = entry, .laterUnit = entry, .feed = &feed});
  if (deterministic)
    addUnitSums(metrics, perDevice);
  readRecords(trainTable(train).checks(), &schema::Check::evaluation);
  return firstFailure(trainTable(train).checks(), records);
}

Expected<CheckFailure> DeviceSession::predict(int predict, uint32_t unitRows,
                                              UnitSource &source,
                                              OutputSink &sink) {
  MG_TRY(checkOwner(predict, tables.predicts()->size(), "predict"));
  MG_TRY_ASSIGN(entry, unitEntry({schema::Role::Predict, predict, unitRows}));
  const auto *checks =
      tables.predicts()->Get(static_cast<uint32_t>(predict))->checks();
  for (uint32_t i = 0; checks && i < checks->size(); ++i)
    storeEverywhere(checks->Get(i)->evaluation(), CheckRecord{});
  countUnits(source);
  SessionFeed feed(*group, *tables.control(), source,
                   predicts[static_cast<size_t>(predict)], current);
  feed.sendOutputs(sink);
  group->run(
      {.units = units, .firstUnit = entry, .laterUnit = entry, .feed = &feed});
  readRecords(checks, &schema::Check::evaluation);
  return firstFailure(checks, records);
}

void DeviceSession::readRecords(const Checks *checks,
                                uint64_t (schema::Check::*offset)() const) {
  size_t next = 0;
  for (int device = 0; device < deviceCount(); ++device)
    for (uint32_t i = 0; checks && i < checks->size(); ++i)
      records[next++] =
          load<CheckRecord>(group->state(device) + (checks->Get(i)->*offset)());
}

/// The lowest row of all; of equal rows the first check. check = -1 while all
/// is well.
CheckFailure
DeviceSession::firstFailure(const Checks *checks,
                            std::span<const CheckRecord> found) const {
  CheckFailure failure{-1, 0, 0};
  size_t count = checks ? checks->size() : 0;
  for (size_t check = 0; check < count; ++check)
    for (size_t device = 0; device < units.size(); ++device) {
      const CheckRecord &record = found[device * count + check];
      if (record.key == 0 ||
          (failure.check >= 0 && failure.row <= checkBase - record.key))
        continue;
      failure = {static_cast<int>(check), checkBase - record.key, record.value};
    }
  return failure;
}

void DeviceSession::clear(const schema::Range &range) {
  for (int device = 0; device < deviceCount(); ++device)
    std::memset(group->state(device) + range.offset(), 0, range.bytes());
}

Session::Sums DeviceSession::sums(int device, uint64_t offset) const {
  const std::byte *pair = group->state(device) + offset;
  return {load<double>(pair), load<double>(pair + sizeof(double))};
}

/// Adds the sums of a window's units in row order, whichever device had them.
void DeviceSession::addUnitSums(size_t metrics, size_t perDevice) {
  for (size_t device = 0; device < units.size(); ++device)
    for (size_t i = 0; i < static_cast<size_t>(units[device]) * metrics; ++i) {
      const Sums &own = unitSums[device * perDevice + i];
      evaluated[i % metrics].weighted += own.weighted;
      evaluated[i % metrics].weight += own.weight;
    }
}

Session::Sums DeviceSession::evaluationSums(int train, int metric) const {
  if (deterministic)
    return evaluated[static_cast<size_t>(metric)];
  Sums total;
  for (int device = 0; device < deviceCount(); ++device) {
    Sums own = sums(device, metricTable(train, metric).evaluation());
    total.weighted += own.weighted;
    total.weight += own.weight;
  }
  return total;
}

Status checkUnit(const schema::Bundle &tables, uint32_t unitRows) {
  const auto &sizes = *tables.units();
  if (unitRows == 0 ||
      std::find(sizes.begin(), sizes.end(), unitRows) != sizes.end())
    return {};
  return failure(Code::InvalidArgument,
                 "the bundle has no units of {} rows, it has {}; compile with "
                 "--batch-size={}",
                 unitRows, fmt::join(sizes, ", "), unitRows);
}

Status checkOptions(const SessionOptions &options) {
  if (options.deviceIds.empty() || options.deviceIds.size() > maxDevices)
    return failure(Code::InvalidArgument, "{} devices, expected 1 to {}",
                   options.deviceIds.size(), maxDevices);
  std::set<int> seen;
  for (int id : options.deviceIds)
    if (id < 0 || !seen.insert(id).second)
      return failure(Code::InvalidArgument, "device {} is {}", id,
                     id < 0 ? "negative" : "listed twice");
  if (options.threads < 0 || options.threads > maxThreads)
    return failure(Code::InvalidArgument,
                   "{} threads, expected 0 (the cores there are) to {}",
                   options.threads, maxThreads);
  return {};
}

} // namespace

Expected<std::unique_ptr<Session>>
Session::open(std::shared_ptr<Bundle> bundle, const SessionOptions &options) {
  MG_TRY(checkOptions(options));
  const schema::Bundle &tables = bundle->tables();
  MG_TRY(checkUnit(tables, options.unitRows));
  MG_TRY(checkMemory(tables, options.deviceIds.size(), availableMemory()));
  MG_TRY_ASSIGN(target, chooseCpuTarget(tables));
  bool constants = tables.constants() && tables.constants()->bytes() > 0;
  CpuProgram program{tables, *target,
                     constants ? bundle->blob(*tables.constants())
                               : std::span<const std::byte>(),
                     bundle->blob(*target->image())};
  auto group = openCpuDevices(
      program, static_cast<int>(options.deviceIds.size()), options.threads);
  if (group)
    return std::make_unique<DeviceSession>(std::move(bundle), std::move(*group),
                                           options);
  if (group.error().code == Code::OutOfMemory)
    group.error().message +=
        ": " + describeMemory(tables, options.deviceIds.size());
  return tl::unexpected(std::move(group).error());
}

} // namespace mg
