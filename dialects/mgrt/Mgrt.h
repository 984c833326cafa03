// The mgrt dialect: the scheduled form that a bundle stores (MgrtOps.td).
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef MG_DIALECTS_MGRT_MGRT_H
#define MG_DIALECTS_MGRT_MGRT_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"

namespace mlir::mgrt {
/// Arrays and temporaries start at multiples of this many bytes.
inline constexpr int64_t kAlignment = 64;

/// Bytes of a densely stored element; i1 takes one byte.
int64_t elementSizeBytes(Type element);
/// Bytes of a densely stored tensor of static shape; -1 if they are 2^63 or
/// more.
int64_t tensorSizeBytes(RankedTensorType type);
} // namespace mlir::mgrt

#include "dialects/mgrt/MgrtDialect.h.inc"
#include "dialects/mgrt/MgrtEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/mgrt/MgrtAttrs.h.inc"

#include "dialects/mgrt/MgrtInterfaces.h.inc"

#define GET_OP_CLASSES
#include "dialects/mgrt/MgrtOps.h.inc"

#endif // MG_DIALECTS_MGRT_MGRT_H
