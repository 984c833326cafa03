// The update entry: divide once by Σ w, apply the optimizer, keep everything if
// a check failed.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "compiler/autodiff/EntryBuilder.h"

namespace mlir::mg {

/// What one training needs to know of its optimizer.
struct OptimizerBinding {
  OptimizerOp optimizer;
  MinimizeOp minimize;
  Type scalarType; // f64 if every variable is f64, else f32

  struct Slot {
    StringRef name;
    double initial;
  };
  struct Scalar {
    StringRef name;
    double value;
  };
  SmallVector<Slot> slots;
  SmallVector<Scalar> scalars;
};

/// Looks the optimizer up and checks the scalars that the model sets. Errors
/// name what there is.
FailureOr<OptimizerBinding> bindOptimizer(ModuleOp module, MinimizeOp minimize,
                                          bool allDouble);

struct UpdateInputs {
  SmallVector<std::pair<std::string, RankedTensorType>>
      variables; // full name, type
  SmallVector<Location> locations;
  SmallVector<std::string> metrics; // [0] is "loss"
  SmallVector<std::string> checks;
};
LogicalResult buildUpdate(Operation *at, StringRef owner,
                          const OptimizerBinding &binding,
                          const UpdateInputs &inputs);

} // namespace mlir::mg
