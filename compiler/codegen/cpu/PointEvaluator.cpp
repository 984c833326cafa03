// Demand evaluation: loads, and clones of bodies on scalars or vectors.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/cpu/PointEvaluator.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::mg;

/// A boolean is a byte in memory.
static Type memoryType(Type type) {
  return type.isInteger(1) ? IntegerType::get(type.getContext(), 8) : type;
}

static int64_t byteSize(Type type) {
  return memoryType(type).getIntOrFloatBitWidth() / 8;
}

static bool isVector(Value value) { return isa<VectorType>(value.getType()); }

PointEvaluator::PointEvaluator(ImplicitLocOpBuilder &builder,
                               const Kernel &kernel, ArrayRef<Value> pointers,
                               int64_t lanes)
    : b(builder), kernel(kernel), pointers(pointers), lanes(lanes) {
  scopes.emplace_back();
  scopes.back().active = lanes;
}

//===----------------------------------------------------------------------===//
// Scopes
//===----------------------------------------------------------------------===//

void PointEvaluator::enter(Operation *op) {
  Scope inner;
  inner.laneDim = scopes.back().laneDim;
  inner.active = scopes.back().active;
  scopes.back().loop = op;
  scopes.push_back(std::move(inner));
}

void PointEvaluator::leave() {
  scopes.pop_back();
  scopes.back().loop = nullptr;
}

void PointEvaluator::bind(unsigned dim, Value value) {
  scopes.back().bindings[dim] = value;
}

void PointEvaluator::setLane(unsigned dim) { scopes.back().laneDim = dim; }

Value PointEvaluator::lookup(unsigned dim) const {
  for (const Scope &scope : llvm::reverse(scopes))
    if (auto it = scope.bindings.find(dim); it != scope.bindings.end())
      return it->second;
  llvm_unreachable("dimension has no loop around it");
}

size_t PointEvaluator::scopeOf(ArrayRef<AffineExpr> point) const {
  size_t innermost = 0;
  auto visit = [&](AffineExpr part) {
    auto dim = dyn_cast<AffineDimExpr>(part);
    if (!dim)
      return;
    for (size_t i = scopes.size(); i-- > innermost;)
      if (scopes[i].bindings.count(dim.getPosition())) {
        innermost = i;
        return;
      }
  };
  for (AffineExpr expr : point)
    expr.walk(visit);
  return innermost;
}

bool PointEvaluator::dependsOnLane(AffineExpr expr) const {
  int lane = scopes.back().laneDim;
  return lane >= 0 && expr.isFunctionOfDim(lane);
}

PointEvaluator::Key PointEvaluator::makeKey(Value tensor,
                                            ArrayRef<AffineExpr> point) const {
  Key key{tensor.getAsOpaquePointer()};
  bool lane = false;
  for (AffineExpr index : point) {
    key.push_back(index.getAsOpaquePointer());
    lane |= dependsOnLane(index);
  }
  key.push_back(
      reinterpret_cast<const void *>(lane ? scopes.back().active : 0));
  return key;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

void PointEvaluator::provide(Value tensor, const Point &point, Value value) {
  scopes.back().memo[makeKey(tensor, point)] = value;
}

Value PointEvaluator::evaluate(Value tensor, const Point &point) {
  Key key = makeKey(tensor, point);
  size_t scope = scopeOf(point);
  for (size_t i = scopes.size(); i-- > scope;)
    if (auto it = scopes[i].memo.find(key); it != scopes[i].memo.end())
      return it->second;
  OpBuilder::InsertionGuard guard(b);
  if (scope + 1 < scopes.size() && scopes[scope].loop)
    b.setInsertionPoint(scopes[scope].loop);
  Value value = compute(tensor, point);
  scopes[scope].memo[key] = value;
  return value;
}

Value PointEvaluator::evaluateVector(Value tensor, const Point &point) {
  return broadcast(evaluate(tensor, point));
}

Value PointEvaluator::compute(Value tensor, const Point &point) {
  if (auto array = dyn_cast<BlockArgument>(tensor)) {
    auto shape = cast<RankedTensorType>(array.getType()).getShape();
    return loadArray(array, linearize(shape, point, b.getContext()), Value());
  }
  if (auto constant = tensor.getDefiningOp<arith::ConstantOp>()) {
    auto splat = cast<SplatElementsAttr>(constant.getValue());
    return arith::ConstantOp::create(
        b, cast<TypedAttr>(splat.getSplatValue<Attribute>()));
  }
  if (auto fill = tensor.getDefiningOp<linalg::FillOp>())
    return b.clone(*fill.getInputs()[0].getDefiningOp())->getResult(0);
  if (tensor.getDefiningOp<linalg::GenericOp>())
    return computeGeneric(cast<OpResult>(tensor), point);
  // tensor.empty: any value will do.
  Type element = cast<RankedTensorType>(tensor.getType()).getElementType();
  return arith::ConstantOp::create(b, b.getZeroAttr(element));
}

static Point pointOf(linalg::GenericOp generic, OpOperand &operand,
                     const Point &own) {
  auto type = cast<RankedTensorType>(operand.get().getType());
  return composePoint(generic.getMatchingIndexingMap(&operand), own,
                      type.getShape());
}

Value PointEvaluator::computeGeneric(OpResult result, const Point &point) {
  auto generic = cast<linalg::GenericOp>(result.getOwner());
  AffineMap output = generic.getMatchingIndexingMap(
      generic.getDpsInitOperand(result.getResultNumber()));
  Point own = composePoint(inversePermutation(output), point,
                           SmallVector<int64_t>(output.getNumDims(), 0));
  SmallVector<Value> arguments(generic.getBody()->getNumArguments());
  SmallVector<Value> yields = evaluateBody(generic, own, arguments);
  size_t scope = scopeOf(point);
  for (auto [i, value] : llvm::enumerate(yields)) {
    Point at = pointOf(generic, *generic.getDpsInitOperand(i), own);
    if (scopeOf(at) == scope)
      scopes[scope].memo[makeKey(generic.getResult(i), at)] = value;
  }
  return yields[result.getResultNumber()];
}

SmallVector<Value> PointEvaluator::evaluateBody(linalg::GenericOp generic,
                                                const Point &own,
                                                ArrayRef<Value> arguments) {
  IRMapping map;
  Block *body = generic.getBody();
  for (auto [argument, given] : llvm::zip(body->getArguments(), arguments)) {
    Value value = given;
    OpOperand &operand = generic->getOpOperand(argument.getArgNumber());
    if (!value && !argument.use_empty())
      value = evaluate(operand.get(), pointOf(generic, operand, own));
    map.map(argument, value);
  }
  auto valueOf = [&](Value value) -> Value {
    if (Value mapped = map.lookupOrNull(value))
      return mapped;
    return b.clone(*value.getDefiningOp())->getResult(0);
  };
  for (Operation &op : body->without_terminator()) {
    for (Value operand : op.getOperands())
      if (!map.contains(operand) && !isa<TensorType>(operand.getType()))
        map.map(operand, valueOf(operand));
    if (auto index = dyn_cast<linalg::IndexOp>(op))
      map.map(index.getResult(), cloneIndex(index, own));
    else if (isa<tensor::ExtractOp>(op))
      map.map(op.getResult(0), cloneExtract(op, own, map));
    else
      map.map(op.getResult(0), cloneOp(op, map));
  }
  SmallVector<Value> yields;
  for (Value value : body->getTerminator()->getOperands())
    yields.push_back(valueOf(value));
  return yields;
}

Value PointEvaluator::cloneOp(Operation &op, IRMapping &map) {
  if (isa<arith::IndexCastOp, arith::IndexCastUIOp>(op))
    if (op.getOperand(0).getDefiningOp<linalg::IndexOp>())
      if (auto type = dyn_cast<IntegerType>(op.getResult(0).getType()))
        return indexAs(indexValues[op.getOperand(0)], type);
  SmallVector<Value> operands;
  for (Value operand : op.getOperands())
    operands.push_back(map.lookup(operand));
  return cloneElementwise(op, operands);
}

Value PointEvaluator::cloneElementwise(Operation &op,
                                       ArrayRef<Value> scalarsOrVectors) {
  SmallVector<Value> operands(scalarsOrVectors);
  bool vector = llvm::any_of(operands, isVector);
  if (vector)
    for (Value &operand : operands)
      operand = broadcast(operand);
  guardDivision(op, operands);
  Operation *clone = op.clone();
  clone->setOperands(operands);
  if (vector)
    clone->getResult(0).setType(
        VectorType::get(lanes, op.getResult(0).getType()));
  return b.insert(clone)->getResult(0);
}

/// Inactive lanes hold anything, so also 0, but must not trap.
void PointEvaluator::guardDivision(Operation &op,
                                   SmallVector<Value> &operands) {
  if (!isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp,
           arith::FloorDivSIOp, arith::CeilDivSIOp, arith::CeilDivUIOp>(op))
    return;
  if (getActive() == lanes || !isVector(operands[1]))
    return;
  Value one = arith::ConstantOp::create(
      b, cast<TypedAttr>(b.getOneAttr(operands[1].getType())));
  operands[1] = arith::SelectOp::create(b, mask(getActive()), operands[1], one);
}

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

Value PointEvaluator::constantI64(int64_t value) {
  return arith::ConstantOp::create(b, b.getI64IntegerAttr(value));
}

static Value emitAffine(ImplicitLocOpBuilder &b, AffineExprKind kind, Value lhs,
                        Value rhs) {
  switch (kind) {
  case AffineExprKind::Add:
    return arith::AddIOp::create(b, lhs, rhs);
  case AffineExprKind::Mul:
    return arith::MulIOp::create(b, lhs, rhs);
  case AffineExprKind::FloorDiv:
    return arith::FloorDivSIOp::create(b, lhs, rhs);
  case AffineExprKind::CeilDiv:
    return arith::CeilDivSIOp::create(b, lhs, rhs);
  case AffineExprKind::Mod: {
    Value quotient = arith::FloorDivSIOp::create(b, lhs, rhs);
    return arith::SubIOp::create(b, lhs,
                                 arith::MulIOp::create(b, quotient, rhs));
  }
  default:
    llvm_unreachable("not a binary affine expression");
  }
}

Value PointEvaluator::expand(AffineExpr expr) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constantI64(constant.getValue());
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return lookup(dim.getPosition());
  Key key = makeKey(Value(), expr);
  size_t scope = scopeOf(expr);
  for (size_t i = scopes.size(); i-- > scope;)
    if (auto it = scopes[i].memo.find(key); it != scopes[i].memo.end())
      return it->second;
  OpBuilder::InsertionGuard guard(b);
  if (scope + 1 < scopes.size() && scopes[scope].loop)
    b.setInsertionPoint(scopes[scope].loop);
  auto binary = cast<AffineBinaryOpExpr>(expr);
  Value value = emitAffine(b, expr.getKind(), expand(binary.getLHS()),
                           expand(binary.getRHS()));
  scopes[scope].memo[key] = value;
  return value;
}

Value PointEvaluator::iota(IntegerType type, int64_t step) {
  SmallVector<APInt> values;
  for (int64_t i = 0; i < lanes; ++i)
    values.push_back(APInt(type.getWidth(), i * step, false, true));
  return arith::ConstantOp::create(
      b, DenseElementsAttr::get(VectorType::get(lanes, type), values));
}

/// The coefficient of `dim` in `expr`, or nothing if it is not linear.
static std::optional<int64_t> coefficient(AffineExpr expr, unsigned dim,
                                          unsigned dims) {
  if (auto form = getLinearForm(expr, dims))
    return form->coefficients[dim];
  return std::nullopt;
}

Value PointEvaluator::expandLanes(AffineExpr expr) {
  if (!dependsOnLane(expr))
    return broadcast(expand(expr));
  if (auto step = coefficient(expr, scopes.back().laneDim, kernel.dims.size()))
    return arith::AddIOp::create(b, broadcast(expand(expr)),
                                 iota(b.getI64Type(), *step));
  auto binary = cast<AffineBinaryOpExpr>(expr);
  return emitAffine(b, expr.getKind(), expandLanes(binary.getLHS()),
                    expandLanes(binary.getRHS()));
}

Value PointEvaluator::cloneIndex(linalg::IndexOp op, const Point &own) {
  AffineExpr expr = own[op.getDim()];
  indexValues[op.getResult()] = expr;
  if (!dependsOnLane(expr))
    return arith::IndexCastOp::create(b, b.getIndexType(), expand(expr));
  return arith::IndexCastOp::create(b, VectorType::get(lanes, b.getIndexType()),
                                    expandLanes(expr));
}

/// A point's index in a narrow integer type, without a detour through i64
/// vectors.
Value PointEvaluator::indexAs(AffineExpr expr, IntegerType type) {
  auto narrow = [&](Value value) -> Value {
    if (type.getWidth() == 64)
      return value;
    Type to = type;
    if (isVector(value))
      to = VectorType::get(lanes, type);
    return arith::TruncIOp::create(b, to, value);
  };
  if (!dependsOnLane(expr))
    return narrow(expand(expr));
  auto step = coefficient(expr, scopes.back().laneDim, kernel.dims.size());
  if (!step)
    return narrow(expandLanes(expr));
  return arith::AddIOp::create(b, broadcast(narrow(expand(expr))),
                               iota(type, *step));
}

Value PointEvaluator::broadcast(Value value) {
  if (isVector(value))
    return value;
  return vector::BroadcastOp::create(b, VectorType::get(lanes, value.getType()),
                                     value);
}

Value PointEvaluator::mask(int64_t count) {
  SmallVector<bool> bits;
  for (int64_t i = 0; i < lanes; ++i)
    bits.push_back(i < count);
  return arith::ConstantOp::create(
      b, DenseElementsAttr::get(VectorType::get(lanes, b.getI1Type()), bits));
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Value PointEvaluator::address(Value pointer, Type element, Value index,
                              int64_t constant) {
  auto type = LLVM::LLVMPointerType::get(b.getContext());
  element = memoryType(element);
  auto flags = LLVM::GEPNoWrapFlags::inbounds;
  if (index)
    pointer = LLVM::GEPOp::create(b, type, element, pointer, index, flags);
  if (constant != 0)
    pointer = LLVM::GEPOp::create(
        b, type, element, pointer,
        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(constant)}, flags);
  return pointer;
}

static Value toBoolean(ImplicitLocOpBuilder &b, Type type, Value value) {
  if (!type.isInteger(1))
    return value;
  Value zero = arith::ConstantOp::create(
      b, cast<TypedAttr>(b.getZeroAttr(value.getType())));
  return arith::CmpIOp::create(b, arith::CmpIPredicate::ne, value, zero);
}

Value PointEvaluator::loadScalar(Type type, Value pointer) {
  Value value = LLVM::LoadOp::create(b, memoryType(type), pointer,
                                     static_cast<unsigned>(byteSize(type)));
  return toBoolean(b, type, value);
}

Value PointEvaluator::loadVector(Type type, Value pointer) {
  auto vector = VectorType::get(lanes, memoryType(type));
  Value value;
  if (getActive() == lanes) {
    value = LLVM::LoadOp::create(b, vector, pointer,
                                 static_cast<unsigned>(byteSize(type)));
  } else {
    Value zero = arith::ConstantOp::create(b, b.getZeroAttr(vector));
    value = LLVM::MaskedLoadOp::create(
        b, vector, pointer, mask(getActive()), zero,
        b.getI32IntegerAttr(byteSize(type)), UnitAttr());
  }
  return toBoolean(b, type, value);
}

Value PointEvaluator::gather(Type type, Value pointer, Value elements) {
  auto vector = VectorType::get(lanes, memoryType(type));
  auto pointers =
      VectorType::get(lanes, LLVM::LLVMPointerType::get(b.getContext()));
  Value addresses = LLVM::GEPOp::create(b, pointers, memoryType(type), pointer,
                                        ValueRange{elements});
  Value zero = arith::ConstantOp::create(b, b.getZeroAttr(vector));
  Value value = LLVM::masked_gather::create(
      b, vector, addresses, mask(getActive()), ValueRange{zero},
      b.getI32IntegerAttr(byteSize(type)));
  return toBoolean(b, type, value);
}

/// Splits `expr` into a part that moves and a constant.
static std::pair<AffineExpr, int64_t> splitConstant(AffineExpr expr) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return {AffineExpr(), constant.getValue()};
  auto sum = dyn_cast<AffineBinaryOpExpr>(expr);
  if (sum && sum.getKind() == AffineExprKind::Add)
    if (auto constant = dyn_cast<AffineConstantExpr>(sum.getRHS()))
      return {sum.getLHS(), constant.getValue()};
  return {expr, 0};
}

/// Element `element` + `dynamic` (null, a scalar or one number a lane).
Value PointEvaluator::loadArray(BlockArgument array, AffineExpr element,
                                Value dynamic) {
  Type type = cast<RankedTensorType>(array.getType()).getElementType();
  Value pointer = pointers[array.getArgNumber()];
  if (dynamic && isVector(dynamic))
    return gather(type, pointer,
                  arith::AddIOp::create(b, dynamic, expandLanes(element)));
  if (dynamic)
    pointer = address(pointer, type, dynamic, 0);
  std::optional<int64_t> step;
  if (!dependsOnLane(element))
    step = 0;
  else
    step = coefficient(element, scopes.back().laneDim, kernel.dims.size());
  if (!step)
    return gather(type, pointer, expandLanes(element));
  auto [moving, constant] = splitConstant(element);
  if (moving)
    pointer = address(pointer, type, expand(moving), 0);
  if (*step == 0)
    return loadScalar(type, address(pointer, type, Value(), constant));
  if (*step == 1)
    return loadVector(type, address(pointer, type, Value(), constant));
  auto vector = VectorType::get(lanes, type);
  Value value = arith::ConstantOp::create(b, b.getZeroAttr(vector));
  for (int64_t i = 0; i < getActive(); ++i)
    value = vector::InsertOp::create(
        b,
        loadScalar(type, address(pointer, type, Value(), constant + i * *step)),
        value, ArrayRef<int64_t>{i});
  return value;
}

/// Indices that are points stay affine; those that are data are added up.
Value PointEvaluator::cloneExtract(Operation &op, const Point &own,
                                   IRMapping &map) {
  auto extract = cast<tensor::ExtractOp>(op);
  auto array = cast<BlockArgument>(extract.getTensor());
  auto shape = cast<RankedTensorType>(array.getType()).getShape();
  Point affine;
  Value dynamic;
  int64_t stride = 1;
  for (int64_t size : shape)
    stride *= size;
  for (auto [index, size] : llvm::zip(extract.getIndices(), shape)) {
    stride /= std::max<int64_t>(size, 1);
    if (index.getDefiningOp<linalg::IndexOp>() || size == 1) {
      affine.push_back(size == 1 ? getAffineConstantExpr(0, b.getContext())
                                 : indexValues[index]);
      continue;
    }
    affine.push_back(getAffineConstantExpr(0, b.getContext()));
    Value value = map.lookup(index);
    Type type = b.getI64Type();
    if (isVector(value))
      type = VectorType::get(lanes, type);
    value = arith::IndexCastOp::create(b, type, value);
    Value scale = constantI64(stride);
    if (isVector(value))
      scale = broadcast(scale);
    value = arith::MulIOp::create(b, value, scale);
    if (dynamic && isVector(dynamic) != isVector(value)) {
      dynamic = broadcast(dynamic);
      value = broadcast(value);
    }
    dynamic = dynamic ? arith::AddIOp::create(b, dynamic, value) : value;
  }
  return loadArray(array, linearize(shape, affine, b.getContext()), dynamic);
}

static Value toMemory(ImplicitLocOpBuilder &b, Value value) {
  if (!getElementTypeOrSelf(value.getType()).isInteger(1))
    return value;
  Type bytes = b.getI8Type();
  if (auto vector = dyn_cast<VectorType>(value.getType()))
    bytes = VectorType::get(vector.getShape(), bytes);
  return arith::ExtUIOp::create(b, bytes, value);
}

void PointEvaluator::storeAt(Value value, Value pointer, Value index,
                             int64_t constant) {
  value = toMemory(b, value);
  Type type = getElementTypeOrSelf(value.getType());
  LLVM::StoreOp::create(b, value, address(pointer, type, index, constant),
                        static_cast<unsigned>(byteSize(type)));
}

Value PointEvaluator::loadWholeVector(Type element, Value pointer, Value index,
                                      int64_t constant) {
  Value value =
      LLVM::LoadOp::create(b, VectorType::get(lanes, memoryType(element)),
                           address(pointer, element, index, constant),
                           static_cast<unsigned>(byteSize(element)));
  return toBoolean(b, element, value);
}

Value PointEvaluator::loadScalarAt(Type element, Value pointer, Value index,
                                   int64_t constant) {
  return loadScalar(element, address(pointer, element, index, constant));
}

void PointEvaluator::store(Value value, Value pointer, AffineExpr element) {
  value = toMemory(b, value);
  Type type = getElementTypeOrSelf(value.getType());
  auto [moving, constant] = splitConstant(element);
  pointer = address(pointer, type, moving ? expand(moving) : Value(), constant);
  unsigned alignment = byteSize(type);
  if (!dependsOnLane(element)) {
    LLVM::StoreOp::create(b, value, pointer, alignment);
    return;
  }
  value = broadcast(value);
  if (getActive() == lanes)
    LLVM::StoreOp::create(b, value, pointer, alignment);
  else
    LLVM::MaskedStoreOp::create(b, value, pointer, mask(getActive()),
                                b.getI32IntegerAttr(alignment));
}
