// Computes kernel values on demand: a tensor at a point, as a scalar, or as a
// vector when the point moves along the lane dimension. Values are shared, and
// computed in the outermost loop that knows the dimensions they depend on.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef MG_COMPILER_CODEGEN_CPU_POINTEVALUATOR_H
#define MG_COMPILER_CODEGEN_CPU_POINTEVALUATOR_H

#include "compiler/codegen/cpu/Kernel.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include <map>

namespace mlir::mg {

class PointEvaluator {
public:
  /// `pointers[i]` is the address of the kernel's i-th argument; `lanes` the
  /// length of every vector.
  PointEvaluator(ImplicitLocOpBuilder &builder, const Kernel &kernel,
                 ArrayRef<Value> pointers, int64_t lanes);

  /// Enters the body of a loop: `op` is the loop, before which values that
  /// do not depend on the dimensions bound inside are placed (null: the
  /// place of the current insertion point, in the same block).
  void enter(Operation *op);
  /// Leaves it; values computed inside are forgotten, bindings restored.
  void leave();
  /// In the current loop, dimension `dim` is `value` (i64).
  void bind(unsigned dim, Value value);
  /// In the current loop, vectors run along `dim`, whose binding is lane 0.
  void setLane(unsigned dim);
  /// From here on, the lanes from `count` on hold no point.
  void setActive(int64_t count) { scopes.back().active = count; }
  int64_t getActive() const { return scopes.back().active; }
  int64_t getLanes() const { return lanes; }
  ImplicitLocOpBuilder &builder() { return b; }

  /// `tensor` at `point`: a scalar if it is equal for all lanes, else a
  /// vector whose inactive lanes hold anything.
  Value evaluate(Value tensor, const Point &point);
  /// As evaluate, always a vector.
  Value evaluateVector(Value tensor, const Point &point);
  /// From here on, in the current loop, `tensor` at `point` is `value`.
  void provide(Value tensor, const Point &point, Value value);
  /// Clones a body with `arguments` for its block arguments (null: evaluate
  /// the operand at `own`, the generic's point); returns what it yields.
  SmallVector<Value> evaluateBody(linalg::GenericOp generic, const Point &own,
                                  ArrayRef<Value> arguments);
  /// Stores a scalar or vector at element `element` of the array at
  /// `pointer`, along the lane dimension if there is one.
  void store(Value value, Value pointer, AffineExpr element);

  /// Scratch memory: stores a scalar or a whole vector at element `index`
  /// (null: 0) + `constant`; loads back.
  void storeAt(Value value, Value pointer, Value index, int64_t constant = 0);
  Value loadWholeVector(Type element, Value pointer, Value index = Value(),
                        int64_t constant = 0);
  Value loadScalarAt(Type element, Value pointer, Value index,
                     int64_t constant);

  /// `expr` at lane 0, as i64.
  Value expand(AffineExpr expr);
  Value broadcast(Value scalar);
  /// `count` ones, then zeros: vector<lanes x i1>.
  Value mask(int64_t count);
  Value constantI64(int64_t value);
  /// The address of element `index` (+ `constant`) after `pointer`.
  Value address(Value pointer, Type element, Value index, int64_t constant);

private:
  using Key = std::vector<const void *>;
  struct Scope {
    Operation *loop = nullptr; // the next scope's loop: hoist before it
    std::map<Key, Value> memo;
    llvm::SmallDenseMap<unsigned, Value> bindings;
    int laneDim = -1;
    int64_t active = 0;
  };
  /// Moves the builder to the outermost scope that knows `point`.
  size_t scopeOf(ArrayRef<AffineExpr> point) const;
  Value compute(Value tensor, const Point &point);
  Value computeGeneric(OpResult result, const Point &point);
  Value loadArray(BlockArgument array, AffineExpr element, Value dynamic);
  Value loadScalar(Type type, Value pointer);
  Value loadVector(Type type, Value pointer);
  Value gather(Type type, Value pointer, Value elements);
  Value cloneOp(Operation &op, IRMapping &map);
  Value cloneElementwise(Operation &op, ArrayRef<Value> operands);
  Value cloneIndex(linalg::IndexOp op, const Point &own);
  Value cloneExtract(Operation &op, const Point &own, IRMapping &map);
  void guardDivision(Operation &op, SmallVector<Value> &operands);
  Value indexAs(AffineExpr expr, IntegerType type);
  Value expandLanes(AffineExpr expr);
  Value iota(IntegerType type, int64_t step);
  Value lookup(unsigned dim) const;
  bool dependsOnLane(AffineExpr expr) const;
  Key makeKey(Value tensor, ArrayRef<AffineExpr> point) const;

  ImplicitLocOpBuilder &b;
  const Kernel &kernel;
  SmallVector<Value> pointers;
  int64_t lanes;
  SmallVector<Scope> scopes;
  llvm::SmallDenseMap<Value, AffineExpr> indexValues; // of linalg.index
};

} // namespace mlir::mg

#endif // MG_COMPILER_CODEGEN_CPU_POINTEVALUATOR_H
