// Fills the staging buffers of every step anew, as a training run does.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/train/Bench.h"
#include "runtime/data/DataSet.h"
#include "runtime/train/BadRow.h"
#include "runtime/train/Philox.h"
#include "runtime/train/TrainLoop.h"

#include <algorithm>
#include <cstring>
#include <ctime>
#include <sys/resource.h>

namespace mg {
namespace {

const schema::Check *findCheck(const schema::Train &table,
                               std::string_view input) {
  if (table.checks())
    for (const schema::Check *check : *table.checks())
      if (check->input() && check->input()->string_view() == input)
        return check;
  return nullptr;
}

double uniform(uint64_t element) {
  const PhiloxCounter block =
      philox4x32({static_cast<uint32_t>(element),
                  static_cast<uint32_t>(element >> 32), 0, fnv1a32("bench")},
                 philoxKey(0));
  return static_cast<double>(block[0] >> 8) * 0x1p-24;
}

template <typename T> void store(std::byte *to, T value) {
  std::memcpy(to, &value, sizeof value);
}

/// Writes one element of a little-endian integer; the check's range fits the
/// type.
void storeInteger(std::byte *to, int64_t value, int64_t bytes) {
  std::memcpy(to, &value, static_cast<size_t>(bytes));
}

/// Rows of made-up values in the shape of an input.
std::vector<std::byte> makeRows(const schema::Array &array, int64_t rows,
                                const schema::Check *check) {
  const ElementType &type = elementType(array.dtype());
  const int64_t rowElements = bytesOf(shapeOf(array).subspan(1), 1);
  std::vector<std::byte> data(
      static_cast<size_t>(rows * rowElements * type.bytes));
  const uint64_t values =
      check ? static_cast<uint64_t>(check->maximum() - check->minimum()) + 1
            : 1;
  for (int64_t i = 0; i < rows * rowElements; ++i) {
    std::byte *to = data.data() + i * type.bytes;
    if (array.dtype() == schema::DType::F32)
      store(to, static_cast<float>(uniform(static_cast<uint64_t>(i))));
    else if (array.dtype() == schema::DType::F64)
      store(to, uniform(static_cast<uint64_t>(i)));
    else if (check && values)
      storeInteger(to,
                   check->minimum() +
                       static_cast<int64_t>(static_cast<uint64_t>(i) % values),
                   type.bytes);
  }
  return data;
}

Expected<DataSet> makeData(const schema::Bundle &tables,
                           const schema::Train &table, int64_t rows) {
  std::vector<DataSource> sources;
  for (uint32_t index : *table.inputs()) {
    const schema::Array &array = *tables.inputs()->Get(index)->array();
    auto data = std::make_shared<std::vector<std::byte>>(
        makeRows(array, rows, findCheck(table, array.name()->string_view())));
    InputArray made;
    made.dtype = array.dtype();
    const std::span<const int64_t> shape = shapeOf(array);
    made.shape.assign(shape.begin(), shape.end());
    made.shape[0] = rows;
    made.data = *data;
    made.owner = data;
    sources.push_back({array.name()->str(), "", std::move(made)});
  }
  return DataSet::open(sources, tables, table.inputs());
}

} // namespace

int64_t monotonicNs() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

Expected<BenchResult> bench(Session &session, const BenchPlan &plan) {
  const schema::Bundle &tables = session.bundle().tables();
  const schema::Train &table =
      *tables.trains()->Get(static_cast<flatbuffers::uoffset_t>(plan.train));
  MG_TRY_ASSIGN(dealing, trainDealing(session, plan.globalBatch));
  MG_TRY_ASSIGN(data, makeData(tables, table, dealing.windowRows));
  Gather gather(DataView::all(data), dealing);
  gather.setWindow(0, dealing.windowRows);
  session.clearEpoch(plan.train);
  BenchResult result;
  std::vector<double> micros;
  for (int64_t step = 0; step < plan.warmup + plan.steps; ++step) {
    const int64_t begin = monotonicNs();
    MG_TRY_ASSIGN(found, session.step(plan.train,
                                      static_cast<uint32_t>(dealing.unitRows),
                                      gather));
    const int64_t end = monotonicNs();
    if (found.check >= 0)
      return tl::unexpected<Error>(badRow(
          found, *table.checks(), *table.inputs(), tables, data, gather));
    if (step == 0)
      result.startToFirstStepMillis =
          static_cast<double>(end - plan.startTimeNs) / 1e6;
    if (step >= plan.warmup)
      micros.push_back(static_cast<double>(end - begin) / 1e3);
  }
  std::sort(micros.begin(), micros.end());
  result.stepMicrosMin = micros.front();
  result.stepMicrosMedian = micros[micros.size() / 2];
  return result;
}

std::string benchJson(const Session &session, const BenchResult &result) {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return fmt::format(
      R"({{"step_us_median": {:.1f}, "step_us_min": {:.1f}, "devices": {}, "threads": {}, )"
      R"("start_to_first_step_ms": {:.1f}, "peak_rss_mb": {:.1f}, "arena_bytes": {}, "bundle_bytes": {}}})",
      result.stepMicrosMedian, result.stepMicrosMin, session.deviceCount(),
      session.workerCount(), result.startToFirstStepMillis,
      static_cast<double>(usage.ru_maxrss) / 1024,
      session.bundle().tables().arena_bytes(), session.bundle().fileBytes());
}

} // namespace mg
