// A kernel as the emitters see it: one iteration domain, at most one reduction
// (the root), pointwise code before and after it, and where its values are read
// in memory. Everything that codegen refuses is refused here.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef MG_COMPILER_CODEGEN_CPU_KERNEL_H
#define MG_COMPILER_CODEGEN_CPU_KERNEL_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/AffineExpr.h"
#include <optional>
#include <set>
#include <vector>

namespace mlir::mg {

/// Indices of a tensor's element, over the kernel's dimensions d0, d1, ….
using Point = std::vector<AffineExpr>;

/// One dimension of the kernel's iteration domain.
struct LoopDim {
  int64_t size = 1;
  bool isReduction = false;
};

/// A verified kernel. The domain is the root's, or the results' if there is
/// no reduction. Loops run over `parallelLoops`, in the order of the results'
/// dimensions, then over `reductionLoops`; dimensions that are in neither
/// have size 1 or were merged into the next one.
struct Kernel {
  mutable func::FuncOp func;      // op handles are not const-correct
  mutable linalg::GenericOp root; // null if nothing is reduced
  SmallVector<Value> results;     // what the function returns
  SmallVector<LoopDim> dims;
  SmallVector<unsigned> parallelLoops;
  SmallVector<unsigned> reductionLoops;
  Point identity;    // the domain's dimensions; 0 for those without a loop
  Point resultPoint; // indices of the results

  MLIRContext *context() const { return func.getContext(); }
  int64_t size(unsigned dim) const { return dims[dim].size; }
  /// The product of the sizes of `loops`.
  int64_t points(ArrayRef<unsigned> loops) const;
  /// The point at which the root reads its operand (input or init).
  Point operandPoint(OpOperand &operand) const;
};

/// Reads `func`. Errors: a dynamic shape, an op that no emitter knows, two
/// reductions, a result whose shape is not the domain's.
FailureOr<Kernel> analyzeKernel(func::FuncOp func);

/// `expr` = Σ coefficients[i]·d_i + constant.
struct LinearForm {
  SmallVector<int64_t> coefficients;
  int64_t constant = 0;
};
std::optional<LinearForm> getLinearForm(AffineExpr expr, unsigned dims);

/// One place where memory is read: the row-major element number.
struct Access {
  BlockArgument array;
  AffineExpr element;
};

/// What computing a value touches.
struct Trace {
  SmallVector<Access> accesses;
  llvm::SmallDenseSet<unsigned> indexedDims; // read as numbers (linalg.index)
  int64_t bodyOps = 0;                       // scalar ops per point
  bool crossesRoot = false; // reads the root at another than its own point
  std::set<std::pair<void *, std::vector<void *>>> visited;
};

/// Adds to `trace` what computing `value` at `point` reads.
void traceValue(const Kernel &kernel, Value value, const Point &point,
                Trace &trace);

/// The row-major element number of `point` in a tensor of `shape`.
AffineExpr linearize(ArrayRef<int64_t> shape, ArrayRef<AffineExpr> point,
                     MLIRContext *context);

/// `point` through `map`, with index 0 for the dimensions of `shape` that
/// have one element.
Point composePoint(AffineMap map, ArrayRef<AffineExpr> point,
                   ArrayRef<int64_t> shape);

} // namespace mlir::mg

#endif // MG_COMPILER_CODEGEN_CPU_KERNEL_H
