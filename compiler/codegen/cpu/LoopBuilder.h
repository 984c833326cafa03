// The frame of an emitted kernel: ABI prologue, division of the domain into
// blocks, and loops with masked tails.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef MG_COMPILER_CODEGEN_CPU_LOOPBUILDER_H
#define MG_COMPILER_CODEGEN_CPU_LOOPBUILDER_H

#include "compiler/codegen/cpu/CpuTarget.h"
#include "compiler/codegen/cpu/PointEvaluator.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::mg {

/// Work of one block, in cycles: long against a hand-over between threads
/// (about 1 µs), short against a step.
inline constexpr int64_t kBlockCycles = 100 * 1000;

/// A range of a loop, with i64 bounds. `end` is `extent` or a multiple of the
/// steps that the loop will take.
struct LoopRange {
  Value begin;
  Value end;
  int64_t extent;
  bool whole; // begin = 0 and end = extent
};

/// How rows x columns of points are cut into blocks.
struct Partition {
  int64_t rowsPerBlock;
  int64_t columnsPerBlock;
  int64_t rowBlocks;
  int64_t columnBlocks;
};

/// Blocks of about kBlockCycles, by rows if there are enough of them, else by
/// columns too, in multiples of `granule` columns. Depends on sizes alone.
Partition choosePartition(int64_t rows, int64_t columns, int64_t granule,
                          double cycles);

/// The emitted function, and what emitters need at hand.
class LoopBuilder {
public:
  LoopBuilder(ImplicitLocOpBuilder &builder, const Kernel &kernel,
              const CpuModel &model, func::FuncOp function);

  ImplicitLocOpBuilder &b;
  const Kernel &kernel;
  const CpuModel &model;
  int64_t lanes;
  SmallVector<Value> bindings; // addresses of arguments, then results
  Value block;                 // x, as i64
  PointEvaluator eval;

  /// 64-byte aligned stack memory for `count` elements, alive for the call.
  Value scratch(Type element, int64_t count);
  /// scf.for over [begin, end) by `step`; the body gets the loop variable and
  /// runs in its own evaluator scope.
  void loop(Value begin, Value end, int64_t step,
            function_ref<void(Value)> body);
  /// As loop, carrying values. The body returns the next ones.
  SmallVector<Value>
  loopCarrying(Value begin, Value end, int64_t step, ValueRange initial,
               function_ref<SmallVector<Value>(Value, ValueRange)> body);
  /// Covers `range` by steps of `step`, and the last extent mod step by one
  /// call with that count. Bodies run in their own scopes.
  void steps(const LoopRange &range, int64_t step,
             function_ref<void(Value begin, int64_t count)> body);
  /// Runs `body` where `condition` holds, in its own scope.
  void when(Value condition, function_ref<void()> body);
  /// Part `index` of [0, extent) cut in pieces of `size`.
  LoopRange piece(Value index, int64_t extent, int64_t size);
  /// Binds `loops` to the digits of `number`, the last loop running fastest.
  void bindDigits(Value number, ArrayRef<unsigned> loops);
  /// Writes all results at the evaluator's current point: result indices
  /// `point`, whose lane part has been shifted to where lanes start.
  void storeResults(const Point &point);

  /// The rows and columns of this block.
  std::pair<LoopRange, LoopRange> blockRanges(const Partition &partition,
                                              int64_t rows, int64_t columns);
  /// Loops over `rows`, binding `loops`; runs `body` once if there are none.
  void rowLoop(const LoopRange &rows, ArrayRef<unsigned> loops,
               function_ref<void()> body);

private:
  Operation *entryEnd = nullptr; // scratch is allocated before this op
};

/// Cycles that computing one point costs, loads and stores included, when
/// `lanes` points are computed at a time.
double pointCycles(const Kernel &kernel, const Trace &trace, int64_t lanes,
                   int64_t vectorBytes);

/// The length of a kernel's vectors: one register of its commonest wide type.
int64_t chooseLanes(const Kernel &kernel, const CpuModel &model);

/// `point` with `dim` moved by `offset`.
Point shiftPoint(const Point &point, unsigned dim, int64_t offset);

/// Emit the kernel and return the number of its blocks.
int64_t emitPointwise(LoopBuilder &loops);
int64_t emitReduction(LoopBuilder &loops);
/// Nothing if the root is no contraction of a register tile's shape.
std::optional<int64_t> emitContraction(LoopBuilder &loops);

} // namespace mlir::mg

#endif // MG_COMPILER_CODEGEN_CPU_LOOPBUILDER_H
