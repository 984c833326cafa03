// Initializers of variables as mg ops: Keras' definitions on Philox bits
// (RATIONALE C7).
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "dialects/mg/Mg.h"

namespace mlir::mg {

/// The first value of variable `index` of `group`, whose full name is `path`;
/// `seed` is an i64. Errors: unknown initializer or wrong number of parameters,
/// at the group.
FailureOr<Value> buildInitializer(OpBuilder &builder, VariablesOp group,
                                  size_t index, StringRef path, Value seed);

} // namespace mlir::mg
