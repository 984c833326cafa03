// What an index string such as "mk,kn->mn; k:sum" means: extents of letters,
// shapes, maps and kinds (RATIONALE D1).
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "mlir/IR/AffineMap.h"
#include "mlir/IR/BuiltinAttributeInterfaces.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <optional>

namespace mlir::mg {

/// How results depend on a letter. Opaque: the op needs the whole extent at
/// once (a softmax or sort axis).
enum class LetterKind { Parallel, Sum, Prod, Max, Min, Opaque };

/// The loop nest of one op. Letters are ordered: those of the results first, in
/// result order, then the others.
struct IndexSpec {
  SmallVector<char> letters; // name of each, for messages; '.' in an ellipsis
  SmallVector<LetterKind> kinds;   // of each letter
  SmallVector<int64_t> extents;    // of each letter
  SmallVector<AffineMap> operands; // letters -> dimensions
  SmallVector<AffineMap> results;
  unsigned letter(char name) const; // position of a named letter
  bool isReduction(unsigned letter) const {
    return kinds[letter] != LetterKind::Parallel &&
           kinds[letter] != LetterKind::Opaque;
  }
};

/// Positions operand and the number of valid positions.
struct Bounds {
  unsigned operand;
  int64_t extent;
  unsigned table, dim; // they point into dimension `dim` of operand `table`
};

/// The element type that an attribute gives.
inline Type elementType(Type type) { return type; }
inline Type elementType(ElementsAttr value) { return value.getElementType(); }

/// Extents that come from attributes, by letter.
using LetterExtents = ArrayRef<std::pair<char, int64_t>>;

/// A number as people write it: 0.5, 1e-07.
std::string shortNumber(double number);

/// More elements than that no machine holds; their number times an element's
/// size fits an int64_t.
inline constexpr int64_t kMostElements = int64_t(1) << 40;
/// No negative extent, and at most kMostElements.
bool fitsInMemory(ArrayRef<int64_t> shape);

/// Result types of an op by its index string. `element` is "#k" (operand k's),
/// "i1", "i32", "i64", or "$to" with `to` given.
/// `!mg.infer` in, `!mg.infer` out. Errors name letters and extents.
LogicalResult inferTypes(MLIRContext *context, std::optional<Location> loc,
                         StringRef opName, StringRef element, Type to,
                         ValueRange operands, SmallVectorImpl<Type> &types,
                         StringRef index, LetterExtents extents);
/// The same with the shape computed by `shapeOf`.
LogicalResult inferTypes(
    MLIRContext *context, std::optional<Location> loc, StringRef opName,
    StringRef element, Type to, ValueRange operands,
    SmallVectorImpl<Type> &types,
    llvm::function_ref<LogicalResult(SmallVectorImpl<int64_t> &)> shapeOf);

/// The loop nest of a typed op by its index string.
IndexSpec indexSpecOf(StringRef index, Operation *op);

std::optional<Bounds> boundsOf(Operation *op, unsigned positions,
                               unsigned table, int dim);

/// Equal, or one is still `!mg.infer`.
bool compatible(TypeRange a, TypeRange b);

/// The ranked tensor type of a typed value.
RankedTensorType tensorOf(Value value);

} // namespace mlir::mg
