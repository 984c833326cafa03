// Each unit's rows go straight to their place in the output file, whichever
// device computed them.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/train/Prediction.h"
#include "runtime/data/NpyWriter.h"
#include "runtime/train/BadRow.h"
#include "runtime/train/Evaluation.h"

#include <optional>

namespace mg {
namespace {

class FileSink : public Session::OutputSink {
public:
  explicit FileSink(std::vector<std::optional<NpyWriter>> &files,
                    std::vector<size_t> bytesOfRow)
      : writers(files), rowBytes(std::move(bytesOfRow)) {}

  void setWindow(int64_t first) { start = first; }

  void take(int, int, Unit unit,
            std::span<const std::byte *const> outputs) override {
    for (size_t i = 0; i < writers.size(); ++i) {
      if (!writers[i])
        continue;
      const size_t bytes = static_cast<size_t>(unit.rows) * rowBytes[i];
      if (Status status =
              writers[i]->writeRows(start + unit.row0, {outputs[i], bytes});
          !status)
        failed = std::move(status);
    }
  }

  /// What could not be written, once the window is done.
  Status result() const { return failed; }

private:
  std::vector<std::optional<NpyWriter>> &writers;
  const std::vector<size_t> rowBytes;
  int64_t start = 0;
  Status failed;
};

Expected<std::vector<std::optional<NpyWriter>>>
openWriters(const schema::Bundle &tables, const schema::Predict &table,
            int64_t rows, std::span<const std::string> paths) {
  std::vector<std::optional<NpyWriter>> writers(paths.size());
  for (uint32_t i = 0; i < paths.size(); ++i) {
    if (paths[i].empty())
      continue;
    const schema::Array &array =
        *tables.outputs()->Get(table.outputs()->Get(i))->array();
    const std::span<const int64_t> unitShape = shapeOf(array);
    std::vector<int64_t> shape(unitShape.begin(), unitShape.end());
    shape[0] = rows;
    MG_TRY_ASSIGN(writer, NpyWriter::create(paths[i], array.dtype(), shape));
    writers[i].emplace(std::move(writer));
  }
  return writers;
}

std::vector<size_t> rowBytesOf(const schema::Bundle &tables,
                               const schema::Predict &table) {
  std::vector<size_t> bytes;
  for (uint32_t index : *table.outputs())
    bytes.push_back(tables.outputs()->Get(index)->row_bytes());
  return bytes;
}

} // namespace

Status predictRows(Session &session, int predict, DataView rows,
                   std::span<const std::string> paths,
                   const std::atomic<bool> &stop) {
  const schema::Bundle &tables = session.bundle().tables();
  const schema::Predict &table =
      *tables.predicts()->Get(static_cast<flatbuffers::uoffset_t>(predict));
  MG_TRY_ASSIGN(writers, openWriters(tables, table, rows.rows, paths));
  FileSink sink(writers, rowBytesOf(tables, table));
  const Dealing dealing = inferenceDealing(session, rows.rows);
  Gather gather(rows, dealing);
  for (int64_t first = 0; first < rows.rows; first += dealing.windowRows) {
    if (stop)
      return failure(Code::Interrupted,
                     "stopped after {} of {} rows, nothing is written", first,
                     rows.rows);
    gather.setWindow(first, std::min(dealing.windowRows, rows.rows - first));
    sink.setWindow(first);
    MG_TRY_ASSIGN(
        found, session.predict(predict, static_cast<uint32_t>(dealing.unitRows),
                               gather, sink));
    if (found.check >= 0)
      return tl::unexpected<Error>(badRow(
          found, *table.checks(), *table.inputs(), tables, *rows.set, gather));
    MG_TRY(sink.result());
  }
  for (std::optional<NpyWriter> &writer : writers)
    if (writer)
      MG_TRY(writer->commit());
  return {};
}

} // namespace mg
