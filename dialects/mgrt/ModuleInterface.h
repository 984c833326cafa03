// `mg.interface`, the module attribute that says what a model is to the outside
// (variables, inputs, trains, ...), as C++. It lies beside mgrt because both
// the schedule stage and the bundle read it. Names point into the attribute's
// storage.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef MG_DIALECTS_MGRT_MODULEINTERFACE_H
#define MG_DIALECTS_MGRT_MODULEINTERFACE_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

namespace mlir::mgrt {

struct VariableInfo {
  StringRef name;
  RankedTensorType type;
  bool trainable = true;
  Location location;
};

/// A run-time scalar of an optimizer.
struct ScalarInfo {
  StringRef name;
  StringRef owner;
  RankedTensorType type;
  double value = 0;
};

/// `name` is "m/hidden1.kernel", `variable` the part behind the slash.
struct SlotInfo {
  StringRef name;
  StringRef variable;
  StringRef owner;
  RankedTensorType type;
};

/// An input or output; `row` is the type of one row.
struct RowsInfo {
  StringRef name;
  RankedTensorType row;
  Location location;
};

struct CheckInfo {
  StringRef name;
  StringRef input;
  int64_t minimum = 0;
  int64_t maximum = 0;
  StringRef message;
  Location location;
};

struct TrainInfo {
  StringRef name;
  SmallVector<StringRef> inputs;
  SmallVector<StringRef> metrics;
  SmallVector<CheckInfo> checks;
};

struct PredictInfo {
  StringRef name;
  SmallVector<StringRef> inputs;
  SmallVector<StringRef> outputs;
  SmallVector<CheckInfo> checks;
};

struct ModuleInterface {
  SmallVector<VariableInfo> variables;
  SmallVector<ScalarInfo> scalars;
  SmallVector<SlotInfo> slots;
  SmallVector<RowsInfo> inputs;
  SmallVector<RowsInfo> outputs;
  SmallVector<TrainInfo> trains;
  SmallVector<PredictInfo> predicts;
  SmallVector<int64_t> units; // ascending, not empty
};

/// Reads `mg.interface`; an error names the entry and the field. Absent lists
/// are empty, except `units`.
FailureOr<ModuleInterface> readInterface(ModuleOp module);

} // namespace mlir::mgrt

#endif // MG_DIALECTS_MGRT_MODULEINTERFACE_H
