// A root that is a sum of products, Σ_k rows[m,k]·lanes[k,n]: its dimensions by
// part, and how it is blocked.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef MG_COMPILER_CODEGEN_CPU_CONTRACTION_H
#define MG_COMPILER_CODEGEN_CPU_CONTRACTION_H

#include "compiler/codegen/cpu/LoopBuilder.h"
#include "compiler/codegen/cpu/TileModel.h"

namespace mlir::mg {

/// Whether an operand is copied before it is used, and along which dimension
/// the copy's vectors run: the results' (m or n), or the reduced one (k).
enum class Packing { None, AlongResult, AlongReduced };

struct Contraction {
  OpOperand *rowOperand = nullptr;  // broadcast, one element a row
  OpOperand *laneOperand = nullptr; // a vector along n
  unsigned lane = 0;                // n, the last loop of the results
  unsigned row = 0;                 // m, the loop that tiles run over
  SmallVector<unsigned> outerRows;  // further loops of the row operand alone
  SmallVector<unsigned> outer;      // all other loops of the results
  SmallVector<unsigned> reduced;    // k
  Type element;

  RegisterTile tile;
  Packing packRows = Packing::None;
  Packing packLanes = Packing::None;

  int64_t reducedBlock = 0;  // of reduced[0], in steps of it
  int64_t reducedBlocks = 1; // 1: accumulators never leave the registers
  int64_t blockDepth = 1;    // points of the reduced loops in a block

  int64_t unitsPerBlock = 1; // of the outer loops' points
  int64_t outerRowsPerBlock = 1;
  int64_t rowsPerBlock = 1;  // of m
  int64_t lanesPerBlock = 1; // of n

  int64_t elementBytes() const { return element.getIntOrFloatBitWidth() / 8; }
  /// Rows of results in a block.
  int64_t blockRows() const { return outerRowsPerBlock * rowsPerBlock; }
};

/// Nothing if the root is no sum of products of floats, or its last result
/// dimension is not in exactly one operand, or it has a single row.
std::optional<Contraction>
matchContraction(const Kernel &kernel, const CpuModel &model, int64_t lanes);

/// Rows between the rows of a packed operand: whole vectors may be written
/// behind the last one, and rows do not start in the same cache set.
int64_t packedStride(int64_t size, int64_t lanes, int64_t elementBytes);

/// The loops over the reduced dimensions of one block of them.
struct ReducedBlock {
  Value begin; // of reduced[0]; null: from 0 to its size
  Value end;
};

/// Copies operands of a contraction into scratch memory, computing what
/// precedes them.
class PanelPacker {
public:
  PanelPacker(LoopBuilder &loops, const Contraction &contraction)
      : loops(loops), c(contraction) {}

  /// Lane operand, `vectors` vectors from the bound n on, `count` lanes of
  /// them in use: panel[k][vectors · lanes].
  void packLanes(Value panel, const ReducedBlock &block, int64_t vectors,
                 int64_t count);
  /// Row operand for the rows of `outerRows` x `rows`: [k][row], or [row][k]
  /// when packed along k.
  void packRows(Value panel, const ReducedBlock &block,
                const LoopRange &outerRows, const LoopRange &rows);
  /// Number of the current point among the block's reduced points.
  Value depth(const ReducedBlock &block);
  /// Number of the current row among the block's.
  Value rowNumber(const LoopRange &outerRows, const LoopRange &rows);
  /// Loops over reduced dimensions, all or all but the last, carrying values.
  SmallVector<Value> nest(const ReducedBlock &block, ArrayRef<unsigned> dims,
                          ValueRange initial,
                          function_ref<SmallVector<Value>(ValueRange)> body);
  /// The range that the last reduced loop covers.
  LoopRange lastRange(const ReducedBlock &block);
  /// Loops over the outer rows of a block; their number is bound.
  void outerRowLoop(const LoopRange &outerRows, function_ref<void()> body);

private:
  void packLanesAlongReduced(Value panel, const ReducedBlock &block,
                             int64_t vectors, int64_t count);

  LoopBuilder &loops;
  const Contraction &c;
  Value outerRow; // number of the current outer row in the domain
};

} // namespace mlir::mg

#endif // MG_COMPILER_CODEGEN_CPU_CONTRACTION_H
