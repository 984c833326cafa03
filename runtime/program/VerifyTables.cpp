// Checks arrays, trains, predicts, targets and blobs, and that nothing stored
// overlaps.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/program/Checks.h"
#include "runtime/program/Verify.h"
#include "runtime/schema/DType.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

namespace mg {
namespace {

/// Something that lies at a fixed place, to find overlaps with.
struct Piece {
  uint64_t offset, bytes;
  std::string what;
};

Status checkDisjoint(std::vector<Piece> pieces) {
  std::erase_if(pieces, [](const Piece &piece) { return piece.bytes == 0; });
  std::sort(pieces.begin(), pieces.end(),
            [](const Piece &a, const Piece &b) { return a.offset < b.offset; });
  for (size_t i = 1; i < pieces.size(); ++i) {
    const Piece &a = pieces[i - 1], &b = pieces[i];
    if (b.offset < a.offset + a.bytes)
      return failure(
          Code::BadInput,
          "{} (offset {}, {} bytes) overlaps {} (offset {}, {} bytes)", a.what,
          a.offset, a.bytes, b.what, b.offset, b.bytes);
  }
  return {};
}

constexpr uint64_t regionLimit =
    uint64_t(1)
    << 47; // more than any address space; keeps every sum below 2^64
// Keeps the arithmetic that deals blocks to workers below 2^64.
constexpr uint64_t blockLimit = uint64_t(1) << 40;
constexpr uint64_t pairBytes = 16; // a metric's two f64, a check's two i64

class TableVerifier {
public:
  TableVerifier(const schema::Bundle &tables, uint64_t tableEnd,
                uint64_t fileBytes)
      : tables(tables), tableEnd(tableEnd), fileBytes(fileBytes) {}

  Status verify() {
    MG_TRY(checkName(tables.name(), "the model's name"));
    MG_TRY(checkName(tables.compiler(), "the compiler's version"));
    MG_TRY(checkSizes());
    MG_TRY(checkUnits());
    MG_TRY(checkTargets());
    MG_TRY(each(tables.kernels(), "kernel",
                [&](auto *kernel) { return checkKernel(*kernel); }));
    MG_TRY(checkControl());
    MG_TRY(each(tables.variables(), "variable",
                [&](auto *variable) { return checkVariable(*variable); }));
    MG_TRY(each(tables.inputs(), "input",
                [&](auto *input) { return checkInput(*input); }));
    MG_TRY(each(tables.outputs(), "output",
                [&](auto *output) { return checkOutput(*output); }));
    MG_TRY(each(tables.trains(), "train",
                [&](auto *train) { return checkTrain(*train); }));
    MG_TRY(each(tables.predicts(), "predict",
                [&](auto *predict) { return checkPredict(*predict); }));
    MG_TRY(each(tables.slots(), "slot",
                [&](auto *slot) { return checkSlot(*slot); }));
    MG_TRY(each(tables.scalars(), "scalar",
                [&](auto *scalar) { return checkScalar(*scalar); }));
    return checkDisjoint(std::move(pieces));
  }

private:
  Status checkSizes() {
    if (tables.state_bytes() > regionLimit ||
        tables.arena_bytes() > regionLimit)
      return failure(Code::BadInput, "a region of {} bytes, at most {} can be",
                     std::max(tables.state_bytes(), tables.arena_bytes()),
                     regionLimit);
    return {};
  }

  Status checkUnits() {
    uint32_t before = 0;
    if (tables.units()->size() == 0)
      return failure(Code::BadInput,
                     "no unit size is listed, at least one is needed");
    for (uint32_t unit : *tables.units()) {
      if (unit <= before)
        return failure(
            Code::BadInput,
            "unit sizes must be ascending and at least 1, found {} after {}",
            unit, before);
      before = unit;
    }
    return {};
  }

  Status checkBlob(const schema::Blob &blob, std::string what) {
    MG_TRY(in(checkSpan(blob.offset(), blob.bytes(), schema::blobAlignment,
                        fileBytes, "a file"),
              "{}", what));
    if (blob.bytes() > 0 && blob.offset() < tableEnd)
      return failure(Code::BadInput,
                     "{}: offset {} lies in the tables, which end at {}", what,
                     blob.offset(), tableEnd);
    blobs.push_back({blob.offset(), blob.bytes(), std::move(what)});
    return {};
  }

  Status checkTargets() {
    if (tables.constants() && tables.constants()->bytes() > 0)
      MG_TRY(checkBlob(*tables.constants(), "constants"));
    if (tables.targets()->size() == 0)
      return failure(Code::BadInput,
                     "no target is listed, at least one is needed");
    MG_TRY(each(tables.targets(), "target",
                [&](auto *target) { return checkTarget(*target); }));
    return checkDisjoint(std::move(blobs));
  }

  Status checkTarget(const schema::Target &target) {
    MG_TRY(checkName(target.kind(), "kind"));
    MG_TRY(checkName(target.cpu(), "cpu"));
    MG_TRY(each(target.features(), "feature",
                [](auto *feature) { return checkName(feature, "the name"); }));
    if (target.grids()->size() != tables.kernels()->size())
      return failure(Code::BadInput, "{} grids for {} kernels",
                     target.grids()->size(), tables.kernels()->size());
    MG_TRY(each(target.grids(), "grid",
                [](auto *grid) { return checkGrid(*grid); }));
    if (!target.image() || target.image()->bytes() == 0)
      return failure(Code::BadInput, "the code image is missing");
    return checkBlob(*target.image(), fmt::format("image of target '{}'",
                                                  target.cpu()->string_view()));
  }

  static Status checkGrid(const schema::Grid &grid) {
    if (grid.x() == 0 || grid.y() == 0 || grid.z() == 0)
      return failure(Code::BadInput, "a side of 0 in {} x {} x {} blocks",
                     grid.x(), grid.y(), grid.z());
    uint64_t plane = uint64_t(grid.x()) * grid.y();
    if (plane > blockLimit || plane > blockLimit / grid.z())
      return failure(Code::BadInput, "{} x {} x {} blocks, more than 2^40",
                     grid.x(), grid.y(), grid.z());
    return {};
  }

  Status checkKernel(const schema::Kernel &kernel) {
    MG_TRY(checkUnique(kernel.name(), "kernel", ""));
    return checkLocation(tables, kernel.location());
  }

  Status checkControl() {
    const schema::Control *control = tables.control();
    if (!control)
      return failure(Code::BadInput, "the table of control values is missing");
    MG_TRY(checkStored(control->seed(), 8, "control value 'seed'"));
    MG_TRY(checkStored(control->step(), 8, "control value 'step'"));
    MG_TRY(checkStored(control->row0(), 8, "control value 'row0'"));
    return checkStored(control->rows(), 8, "control value 'rows'");
  }

  /// Something of the state region that overlaps nothing else there.
  Status checkStored(uint64_t offset, uint64_t bytes, std::string what) {
    MG_TRY(
        in(checkSpan(offset, bytes, 8, tables.state_bytes(), "a state region"),
           "{}", what));
    pieces.push_back({offset, bytes, std::move(what)});
    return {};
  }

  Status checkUnique(const flatbuffers::String *name, std::string_view kind,
                     std::string_view owner) {
    MG_TRY(checkName(name, "the name"));
    if (!names
             .insert(
                 fmt::format("{}\n{}\n{}", kind, owner, name->string_view()))
             .second)
      return failure(Code::BadInput, "a second {} of the name '{}'", kind,
                     name->string_view());
    return {};
  }

  Status checkArray(const schema::Array &array, std::string_view kind,
                    std::string_view owner = "") {
    MG_TRY(checkUnique(array.name(), kind, owner));
    return in(checkArrayPlace(array, kind), "'{}'",
              array.name()->string_view());
  }

  Status checkArrayPlace(const schema::Array &array, std::string_view kind) {
    MG_TRY(checkElementsAligned(array.shape(), "the dimensions"));
    uint64_t bytes = schema::bytesOf(array.dtype());
    if (bytes == 0)
      return failure(Code::BadInput, "dtype {} does not exist",
                     static_cast<int>(array.dtype()));
    for (int64_t dimension : *array.shape())
      if (dimension < 0 || __builtin_mul_overflow(
                               bytes, static_cast<uint64_t>(dimension), &bytes))
        return failure(Code::BadInput,
                       "the shape has dimension {}, or more than 2^64 bytes",
                       dimension);
    if (bytes != array.bytes())
      return failure(Code::BadInput, "{} bytes, but dtype and shape need {}",
                     array.bytes(), bytes);
    if (array.offset() % schema::arrayAlignment != 0)
      return failure(Code::BadInput, "offset {} is not a multiple of {}",
                     array.offset(), schema::arrayAlignment);
    return checkStored(
        array.offset(), bytes,
        fmt::format("{} '{}'", kind, array.name()->string_view()));
  }

  Status checkVariable(const schema::Variable &variable) {
    MG_TRY(checkArray(*variable.array(), "variable"));
    return checkLocation(tables, variable.location());
  }

  Status checkSlot(const schema::Slot &slot) {
    MG_TRY(checkIndex(slot.variable(), tables.variables()->size(), "variable"));
    MG_TRY(checkIndex(slot.train(), tables.trains()->size(), "train"));
    return checkArray(*slot.array(), "slot",
                      fmt::format("{} {}", slot.train(), slot.variable()));
  }

  Status checkScalar(const schema::Scalar &scalar) {
    MG_TRY(checkIndex(scalar.train(), tables.trains()->size(), "train"));
    const schema::Array &array = *scalar.array();
    if (array.dtype() != schema::DType::F32 &&
        array.dtype() != schema::DType::F64)
      return failure(Code::BadInput, "dtype {} of '{}', expected F32 or F64",
                     static_cast<int>(array.dtype()),
                     array.name()->string_view());
    if (array.shape()->size() != 0)
      return failure(Code::BadInput, "'{}' has rank {}, expected 0",
                     array.name()->string_view(), array.shape()->size());
    return checkArray(array, "scalar", fmt::format("{}", scalar.train()));
  }

  /// The rows of an input or output: as many as the largest unit, `rowBytes`
  /// each.
  Status checkRows(const schema::Array &array, uint64_t rowBytes) {
    uint32_t largest = tables.units()->Get(tables.units()->size() - 1);
    if (array.shape()->size() == 0 || array.shape()->Get(0) != largest)
      return failure(
          Code::BadInput, "'{}' has {} rows, expected {}, the largest unit",
          array.name()->string_view(),
          array.shape()->size() == 0 ? 0 : array.shape()->Get(0), largest);
    if (rowBytes > array.bytes() || rowBytes * largest != array.bytes())
      return failure(
          Code::BadInput, "'{}' has rows of {} bytes, but {} rows take {}",
          array.name()->string_view(), rowBytes, largest, array.bytes());
    return {};
  }

  Status checkInput(const schema::Input &input) {
    MG_TRY(checkArray(*input.array(), "input"));
    MG_TRY(checkLocation(tables, input.location()));
    return checkRows(*input.array(), input.row_bytes());
  }

  Status checkOutput(const schema::Output &output) {
    MG_TRY(checkArray(*output.array(), "output"));
    return checkRows(*output.array(), output.row_bytes());
  }

  Status checkStoredRange(const schema::Range *range, std::string_view what,
                          std::string_view train) {
    MG_TRY(in(checkStateRange(tables, range), "{}", what));
    return checkStored(range->offset(), range->bytes(),
                       fmt::format("{} of train '{}'", what, train));
  }

  Status checkTrain(const schema::Train &train) {
    MG_TRY(checkUnique(train.name(), "train", ""));
    std::string_view name = train.name()->string_view();
    auto input = [&](uint32_t index) {
      return checkIndex(index, tables.inputs()->size(), "input");
    };
    MG_TRY(each(train.inputs(), "input", input));
    MG_TRY(checkStoredRange(train.window(), "the window", name));
    MG_TRY(checkStoredRange(train.epoch(), "the epoch sums", name));
    MG_TRY(checkStoredRange(train.evaluation(), "the evaluation sums", name));
    if (train.metrics()->size() == 0 ||
        train.metrics()->Get(0)->name()->string_view() != "loss")
      return failure(Code::BadInput, "the first metric of '{}' must be 'loss'",
                     name);
    inside.clear();
    MG_TRY(checkElementsAligned(train.sums(), "the sums"));
    MG_TRY(each(train.sums(), "sum", [&](const schema::Sum *sum) {
      return checkSum(*train.window(), *sum);
    }));
    MG_TRY(checkDisjoint(std::move(inside)));
    inside.clear();
    MG_TRY(each(train.metrics(), "metric",
                [&](auto *metric) { return checkMetric(train, *metric); }));
    MG_TRY(each(train.checks(), "check",
                [&](auto *check) { return checkTrainCheck(train, *check); }));
    return checkDisjoint(std::move(inside));
  }

  Status checkSum(const schema::Range &window, const schema::Sum &sum) {
    if (sum.dtype() != schema::DType::F32 && sum.dtype() != schema::DType::F64)
      return failure(Code::BadInput, "dtype {}, expected F32 or F64",
                     static_cast<int>(sum.dtype()));
    if (sum.offset() % schema::arrayAlignment != 0 ||
        sum.bytes() % schema::bytesOf(sum.dtype()) != 0 ||
        sum.offset() < window.offset() || sum.bytes() > window.bytes() ||
        sum.offset() - window.offset() > window.bytes() - sum.bytes())
      return failure(Code::BadInput,
                     "{} bytes at offset {} do not lie, aligned to {}, in the "
                     "window's {} bytes at {}",
                     sum.bytes(), sum.offset(), schema::arrayAlignment,
                     window.bytes(), window.offset());
    inside.push_back({sum.offset(), sum.bytes(), "a sum"});
    return {};
  }

  /// Two words inside one of the train's ranges.
  Status checkPair(uint64_t offset, const schema::Range &range,
                   std::string_view what) {
    if (offset % 8 == 0 && offset >= range.offset() &&
        range.bytes() >= pairBytes &&
        offset - range.offset() <= range.bytes() - pairBytes) {
      inside.push_back({offset, pairBytes, std::string(what)});
      return {};
    }
    return failure(Code::BadInput,
                   "{}: 16 bytes at offset {} do not lie, aligned to 8, in the "
                   "train's {} bytes at {}",
                   what, offset, range.bytes(), range.offset());
  }

  Status checkMetric(const schema::Train &train, const schema::Metric &metric) {
    MG_TRY(checkUnique(metric.name(), "metric", train.name()->string_view()));
    MG_TRY(checkPair(metric.window(), *train.window(), "window of the metric"));
    MG_TRY(
        checkPair(metric.epoch(), *train.epoch(), "epoch sums of the metric"));
    return checkPair(metric.evaluation(), *train.evaluation(),
                     "evaluation sums of the metric");
  }

  Status checkTrainCheck(const schema::Train &train,
                         const schema::Check &check) {
    MG_TRY(checkLocation(tables, check.location()));
    MG_TRY(checkPair(check.window(), *train.window(), "window of the check"));
    return checkPair(check.evaluation(), *train.evaluation(),
                     "evaluation record of the check");
  }

  Status checkPredict(const schema::Predict &predict) {
    MG_TRY(checkUnique(predict.name(), "predict", ""));
    auto input = [&](uint32_t index) {
      return checkIndex(index, tables.inputs()->size(), "input");
    };
    auto output = [&](uint32_t index) {
      return checkIndex(index, tables.outputs()->size(), "output");
    };
    MG_TRY(each(predict.inputs(), "input", input));
    MG_TRY(each(predict.outputs(), "output", output));
    return each(predict.checks(), "check", [&](auto *check) -> Status {
      MG_TRY(checkLocation(tables, check->location()));
      return checkStored(check->evaluation(), pairBytes,
                         fmt::format("a check of predict '{}'",
                                     predict.name()->string_view()));
    });
  }

  const schema::Bundle &tables;
  const uint64_t tableEnd, fileBytes;
  std::vector<Piece> blobs, pieces, inside;
  std::set<std::string> names;
};

} // namespace

Status verifyTables(const schema::Bundle &tables, uint64_t tableEnd,
                    uint64_t fileBytes) {
  return TableVerifier(tables, tableEnd, fileBytes).verify();
}

} // namespace mg
