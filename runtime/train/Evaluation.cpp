// Windows of units, sums on the devices, one division at the end.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/train/Evaluation.h"
#include "runtime/train/BadRow.h"

#include <algorithm>

namespace mg {

Dealing inferenceDealing(const Session &session, int64_t rows) {
  constexpr int64_t kUnitsPerWindow = 8;
  const std::span<const uint32_t> sizes = session.unitSizes();
  const int devices = session.deviceCount();
  const int64_t window =
      std::min<int64_t>(rows, kUnitsPerWindow * devices * sizes.back());
  return {devices, chooseUnitRows(sizes, window, devices), window};
}

static std::vector<MetricValue>
evaluationMeans(const Session &session, int train, std::string_view prefix) {
  std::vector<MetricValue> means;
  const schema::Train &table = *session.bundle().tables().trains()->Get(
      static_cast<flatbuffers::uoffset_t>(train));
  for (const schema::Metric *metric : *table.metrics())
    means.push_back(
        {fmt::format("{}{}", prefix, metric->name()->string_view()),
         session.evaluationSums(train, static_cast<int>(means.size())).mean()});
  return means;
}

Expected<std::vector<MetricValue>> evaluateRows(Session &session, int train,
                                                DataView rows,
                                                std::string_view prefix,
                                                const std::atomic<bool> &stop) {
  const schema::Bundle &tables = session.bundle().tables();
  const schema::Train &table =
      *tables.trains()->Get(static_cast<flatbuffers::uoffset_t>(train));
  const Dealing dealing = inferenceDealing(session, rows.rows);
  Gather gather(rows, dealing);
  session.clearEvaluation(train);
  for (int64_t first = 0; first < rows.rows; first += dealing.windowRows) {
    if (stop)
      return failure(Code::Interrupted, "stopped after {} of {} rows", first,
                     rows.rows);
    gather.setWindow(first, std::min(dealing.windowRows, rows.rows - first));
    MG_TRY_ASSIGN(
        found, session.evaluate(train, static_cast<uint32_t>(dealing.unitRows),
                                gather));
    if (found.check >= 0)
      return tl::unexpected<Error>(badRow(
          found, *table.checks(), *table.inputs(), tables, *rows.set, gather));
  }
  return evaluationMeans(session, train, prefix);
}

} // namespace mg
