// Verifies a kernel, finds its root and domain, and merges dimensions that are
// contiguous in every array.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/cpu/Kernel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::mg;

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

static LogicalResult verifyElementType(Operation *op, Type type) {
  if (type.isF32() || type.isF64())
    return success();
  if (auto integer = dyn_cast<IntegerType>(type))
    if (integer.isSignless() &&
        llvm::is_contained({1u, 8u, 16u, 32u, 64u}, integer.getWidth()))
      return success();
  return op->emitError() << "no CPU code for element type " << type
                         << ": expected f32, f64, i1, i8, i16, i32 or i64";
}

static LogicalResult verifyTensor(Operation *op, Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return op->emitError() << "kernel value must be a tensor, found " << type;
  if (!tensor.hasStaticShape())
    return op->emitError() << "kernel has a dynamic shape: " << type;
  return verifyElementType(op, tensor.getElementType());
}

static LogicalResult verifyBodyOp(Operation &op) {
  if (isa<linalg::IndexOp, linalg::YieldOp, arith::ConstantOp>(op))
    return success();
  if (auto extract = dyn_cast<tensor::ExtractOp>(op)) {
    if (isa<BlockArgument>(extract.getTensor()))
      return success();
    return op.emitError("tensor.extract must read an argument of the kernel");
  }
  bool isScalarMath =
      isa_and_nonnull<arith::ArithDialect, math::MathDialect>(op.getDialect());
  if (isScalarMath && op.getNumResults() == 1 && op.getNumRegions() == 0)
    return success();
  return op.emitError() << "no CPU code for '" << op.getName()
                        << "' in a kernel body";
}

static LogicalResult verifyGeneric(linalg::GenericOp generic) {
  if (!generic.hasPureTensorSemantics())
    return generic.emitError("kernel ops must be on tensors");
  for (Operation &op : *generic.getBody())
    if (failed(verifyBodyOp(op)))
      return failure();
  if (generic.getNumReductionLoops() != 0)
    return success();
  for (OpOperand &init : generic.getDpsInitsMutable())
    if (!generic.getMatchingIndexingMap(&init).isPermutation())
      return generic.emitError("a pointwise op's output map must be a "
                               "permutation");
  return success();
}

static LogicalResult verifyConstant(arith::ConstantOp constant) {
  if (constant.getType().isIntOrIndexOrFloat() ||
      isa<SplatElementsAttr>(constant.getValue()))
    return success();
  return constant.emitError("kernel constant must be a scalar or a splat");
}

static LogicalResult verifyOp(Operation &op) {
  if (isa<func::ReturnOp, tensor::EmptyOp>(op))
    return success();
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return verifyConstant(constant);
  for (Type type : op.getResultTypes())
    if (failed(verifyTensor(&op, type)))
      return failure();
  if (auto generic = dyn_cast<linalg::GenericOp>(op))
    return verifyGeneric(generic);
  if (auto fill = dyn_cast<linalg::FillOp>(op)) {
    if (fill.getInputs()[0].getDefiningOp<arith::ConstantOp>())
      return success();
    return op.emitError("linalg.fill in a kernel must write a constant");
  }
  return op.emitError() << "no CPU code for '" << op.getName()
                        << "' in a kernel";
}

static LogicalResult verifyFunction(func::FuncOp func) {
  if (!func.getBody().hasOneBlock())
    return func.emitError("kernel must have one block");
  for (Type type : func.getArgumentTypes())
    if (failed(verifyTensor(func, type)))
      return failure();
  for (Type type : func.getResultTypes())
    if (failed(verifyTensor(func, type)))
      return failure();
  for (Operation &op : func.front())
    if (failed(verifyOp(op)))
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// Domain
//===----------------------------------------------------------------------===//

static LogicalResult findRoot(Kernel &kernel) {
  for (auto generic : kernel.func.front().getOps<linalg::GenericOp>()) {
    if (generic.getNumReductionLoops() == 0)
      continue;
    if (kernel.root) {
      InFlightDiagnostic error =
          generic.emitError("kernel has two reductions, expected at most one");
      error.attachNote(kernel.root.getLoc()) << "the first is here";
      return error;
    }
    kernel.root = generic;
  }
  return success();
}

static ArrayRef<int64_t> shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

/// The domain of a kernel without reductions is that of its results.
static void setPointwiseDomain(Kernel &kernel) {
  for (auto [i, size] : llvm::enumerate(shapeOf(kernel.results[0]))) {
    kernel.dims.push_back({size, false});
    if (size != 1)
      kernel.parallelLoops.push_back(i);
  }
}

/// The results of a reduction are laid out by its output map: each parallel
/// dimension once, and 0 for dimensions that it keeps with one element.
static LogicalResult setRootDomain(Kernel &kernel) {
  linalg::GenericOp root = kernel.root;
  auto sizes = root.getStaticLoopRanges();
  for (auto [size, kind] : llvm::zip(sizes, root.getIteratorTypesArray()))
    kernel.dims.push_back({size, kind == utils::IteratorType::reduction});
  AffineMap map = root.getIndexingMapsArray().back();
  SmallVector<bool> seen(kernel.dims.size());
  for (AffineExpr expr : map.getResults()) {
    if (isa<AffineConstantExpr>(expr))
      continue;
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (!dim || seen[dim.getPosition()])
      return root.emitError("a reduction's output map must hold each parallel "
                            "dimension once");
    seen[dim.getPosition()] = true;
    if (kernel.dims[dim.getPosition()].size != 1)
      kernel.parallelLoops.push_back(dim.getPosition());
  }
  for (auto [i, dim] : llvm::enumerate(kernel.dims)) {
    if (seen[i] == dim.isReduction && dim.size != 1)
      return root.emitError("a reduction's output map must hold each parallel "
                            "dimension once");
    if (dim.isReduction && dim.size != 1)
      kernel.reductionLoops.push_back(i);
  }
  for (OpOperand &init : root.getDpsInitsMutable())
    if (root.getMatchingIndexingMap(&init) != map)
      return root.emitError("the results of a reduction must have one map");
  return success();
}

static void setPoints(Kernel &kernel) {
  MLIRContext *context = kernel.context();
  kernel.identity.assign(kernel.dims.size(), getAffineConstantExpr(0, context));
  for (unsigned dim : kernel.parallelLoops)
    kernel.identity[dim] = getAffineDimExpr(dim, context);
  for (unsigned dim : kernel.reductionLoops)
    kernel.identity[dim] = getAffineDimExpr(dim, context);
  kernel.resultPoint = kernel.identity;
  if (kernel.root)
    kernel.resultPoint =
        composePoint(kernel.root.getIndexingMapsArray().back(), kernel.identity,
                     shapeOf(kernel.root.getResult(0)));
}

static LogicalResult verifyResults(Kernel &kernel) {
  Value model = kernel.root ? kernel.root.getResult(0) : kernel.results[0];
  Operation *ret = kernel.func.front().getTerminator();
  for (Value result : kernel.results)
    if (shapeOf(result) != shapeOf(model))
      return ret->emitError()
             << "the results of a kernel must have one shape, found "
             << result.getType() << " and " << model.getType();
  return success();
}

//===----------------------------------------------------------------------===//
// Merging dimensions
//===----------------------------------------------------------------------===//

/// All that the kernel reads and writes, over its domain.
static Trace traceKernel(const Kernel &kernel) {
  Trace trace;
  for (Value result : kernel.results) {
    traceValue(kernel, result, kernel.resultPoint, trace);
    trace.accesses.push_back(
        {BlockArgument(),
         linearize(shapeOf(result), kernel.resultPoint, kernel.context())});
  }
  if (kernel.root)
    for (OpOperand &operand : kernel.root->getOpOperands())
      traceValue(kernel, operand.get(), kernel.operandPoint(operand), trace);
  return trace;
}

/// Whether in every access a step of `outer` is `size(inner)` steps of
/// `inner`.
static bool isContiguous(const Kernel &kernel, ArrayRef<LinearForm> forms,
                         unsigned outer, unsigned inner) {
  return llvm::all_of(forms, [&](const LinearForm &form) {
    return form.coefficients[outer] ==
           form.coefficients[inner] * kernel.size(inner);
  });
}

/// Merges neighbours in `loops`: the inner one counts through both.
static void mergeLoops(Kernel &kernel, ArrayRef<LinearForm> forms,
                       const Trace &trace, SmallVector<unsigned> &loops) {
  SmallVector<unsigned> merged;
  for (unsigned loop : loops) {
    if (!merged.empty() && !trace.indexedDims.contains(merged.back()) &&
        !trace.indexedDims.contains(loop) &&
        isContiguous(kernel, forms, merged.back(), loop)) {
      kernel.dims[loop].size *= kernel.size(merged.back());
      kernel.dims[merged.back()].size = 1;
      merged.back() = loop;
      continue;
    }
    merged.push_back(loop);
  }
  loops = merged;
}

static void mergeDims(Kernel &kernel, const Trace &trace) {
  SmallVector<LinearForm> forms;
  for (const Access &access : trace.accesses) {
    auto form = getLinearForm(access.element, kernel.dims.size());
    if (!form)
      return;
    forms.push_back(*form);
  }
  mergeLoops(kernel, forms, trace, kernel.parallelLoops);
  mergeLoops(kernel, forms, trace, kernel.reductionLoops);
}

FailureOr<Kernel> mlir::mg::analyzeKernel(func::FuncOp func) {
  Kernel kernel;
  kernel.func = func;
  if (failed(verifyFunction(func)) || failed(findRoot(kernel)))
    return failure();
  llvm::append_range(kernel.results,
                     func.front().getTerminator()->getOperands());
  if (kernel.results.empty())
    return func.emitError("kernel has no result");
  if (kernel.root) {
    if (failed(setRootDomain(kernel)))
      return failure();
  } else {
    setPointwiseDomain(kernel);
  }
  if (failed(verifyResults(kernel)))
    return failure();
  setPoints(kernel);
  Trace trace = traceKernel(kernel);
  if (trace.crossesRoot)
    return kernel.root.emitError("a reduction's result is read at another "
                                 "point than the one it is computed at");
  mergeDims(kernel, trace);
  setPoints(kernel);
  return kernel;
}

int64_t Kernel::points(ArrayRef<unsigned> loops) const {
  int64_t product = 1;
  for (unsigned loop : loops)
    product *= size(loop);
  return product;
}

Point Kernel::operandPoint(OpOperand &operand) const {
  auto generic = cast<linalg::GenericOp>(operand.getOwner());
  return composePoint(generic.getMatchingIndexingMap(&operand), identity,
                      shapeOf(operand.get()));
}

//===----------------------------------------------------------------------===//
// Points and traces
//===----------------------------------------------------------------------===//

Point mlir::mg::composePoint(AffineMap map, ArrayRef<AffineExpr> point,
                             ArrayRef<int64_t> shape) {
  Point result;
  for (auto [expr, size] : llvm::zip(map.getResults(), shape))
    result.push_back(size == 1 ? getAffineConstantExpr(0, map.getContext())
                               : expr.replaceDims(point));
  return result;
}

AffineExpr mlir::mg::linearize(ArrayRef<int64_t> shape,
                               ArrayRef<AffineExpr> point,
                               MLIRContext *context) {
  AffineExpr element = getAffineConstantExpr(0, context);
  for (auto [size, index] : llvm::zip(shape, point))
    element = element * size + index;
  return element;
}

static bool addLinear(AffineExpr expr, int64_t factor, LinearForm &form) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr)) {
    form.constant += factor * constant.getValue();
    return true;
  }
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    form.coefficients[dim.getPosition()] += factor;
    return true;
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return false;
  if (binary.getKind() == AffineExprKind::Add)
    return addLinear(binary.getLHS(), factor, form) &&
           addLinear(binary.getRHS(), factor, form);
  auto scale = dyn_cast<AffineConstantExpr>(binary.getRHS());
  if (binary.getKind() != AffineExprKind::Mul || !scale)
    return false;
  return addLinear(binary.getLHS(), factor * scale.getValue(), form);
}

std::optional<LinearForm> mlir::mg::getLinearForm(AffineExpr expr,
                                                  unsigned dims) {
  LinearForm form;
  form.coefficients.resize(dims);
  if (!addLinear(expr, 1, form))
    return std::nullopt;
  return form;
}

static void addIndexedDims(AffineExpr expr, Trace &trace) {
  expr.walk([&](AffineExpr part) {
    if (auto dim = dyn_cast<AffineDimExpr>(part))
      trace.indexedDims.insert(dim.getPosition());
  });
}

static void traceGeneric(const Kernel &kernel, Value value, const Point &point,
                         Trace &trace) {
  auto generic = value.getDefiningOp<linalg::GenericOp>();
  auto result = cast<OpResult>(value);
  AffineMap output = generic.getMatchingIndexingMap(
      generic.getDpsInitOperand(result.getResultNumber()));
  // A pointwise generic's output map is a permutation: its inverse gives the
  // generic's own point.
  Point own = composePoint(inversePermutation(output), point,
                           SmallVector<int64_t>(output.getNumDims(), 0));
  for (OpOperand &operand : generic->getOpOperands())
    if (generic.payloadUsesValueFromOperand(&operand))
      traceValue(kernel, operand.get(),
                 composePoint(generic.getMatchingIndexingMap(&operand), own,
                              shapeOf(operand.get())),
                 trace);
  for (Operation &op : *generic.getBody()) {
    trace.bodyOps += !isa<linalg::YieldOp, arith::ConstantOp>(op);
    if (auto index = dyn_cast<linalg::IndexOp>(op))
      addIndexedDims(own[index.getDim()], trace);
  }
}

static std::pair<void *, std::vector<void *>> pointKey(Value value,
                                                       const Point &point) {
  std::vector<void *> indices;
  for (AffineExpr index : point)
    indices.push_back(const_cast<void *>(index.getAsOpaquePointer()));
  return {value.getAsOpaquePointer(), indices};
}

void mlir::mg::traceValue(const Kernel &kernel, Value value, const Point &point,
                          Trace &trace) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    trace.accesses.push_back(
        {argument, linearize(shapeOf(value), point, value.getContext())});
    return;
  }
  auto generic = value.getDefiningOp<linalg::GenericOp>();
  if (!generic)
    return;
  if (!trace.visited.insert(pointKey(value, point)).second)
    return;
  if (generic == kernel.root) {
    trace.crossesRoot |= point != kernel.resultPoint;
    return;
  }
  traceGeneric(kernel, value, point, trace);
}
