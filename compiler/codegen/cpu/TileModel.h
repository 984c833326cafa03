// How large the register tile of a contraction is, and how its loops are
// blocked: a model of ports, registers and caches, no table of shapes.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef MG_COMPILER_CODEGEN_CPU_TILEMODEL_H
#define MG_COMPILER_CODEGEN_CPU_TILEMODEL_H

#include "compiler/codegen/cpu/CpuTarget.h"

namespace mlir::mg {

/// `rows` x `vectors` accumulators stay in registers over the reduction.
struct RegisterTile {
  int64_t rows = 1;
  int64_t vectors = 1;
};

/// Chooses the tile that covers m x n results, n in vectors of `lanes`, in the
/// fewest cycles, remainders included.
RegisterTile chooseTile(int64_t m, int64_t n, int64_t k, int64_t lanes,
                        const CpuModel &model);

/// Cycles that a tile needs for one step of the reduction.
double tileStepCycles(int64_t rows, int64_t vectors);

} // namespace mlir::mg

#endif // MG_COMPILER_CODEGEN_CPU_TILEMODEL_H
