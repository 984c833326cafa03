// Declarations that mg-tblgen emits for records with a `Custom` field: exactly
// one definition each, in <Family>.cpp.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "dialects/mg/Mg.h"

namespace mlir::mg {
#include "dialects/mg/MgRuleDecls.inc"
} // namespace mlir::mg
