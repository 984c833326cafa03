// The dialect itself and the range attribute.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialects/mgrt/Mgrt.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::mgrt;

#include "dialects/mgrt/MgrtDialect.cpp.inc"
#include "dialects/mgrt/MgrtEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/mgrt/MgrtAttrs.cpp.inc"
#include "dialects/mgrt/MgrtInterfaces.cpp.inc"

void MgrtDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/mgrt/MgrtAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/mgrt/MgrtOps.cpp.inc"
      >();
}

int64_t mgrt::elementSizeBytes(Type element) {
  return (element.getIntOrFloatBitWidth() + 7) / 8;
}

int64_t mgrt::tensorSizeBytes(RankedTensorType type) {
  int64_t bytes = elementSizeBytes(type.getElementType());
  for (int64_t extent : type.getShape())
    if (__builtin_mul_overflow(bytes, extent, &bytes))
      return -1;
  return bytes;
}

LogicalResult RangeAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                Region region, int64_t offset, int64_t bytes,
                                StringAttr name) {
  if (offset < 0 || bytes < 0 || bytes > INT64_MAX - offset)
    return emitError() << "expected offset and bytes of a range to be in 0 to "
                          "2^63 - 1, found "
                       << offset << " and " << bytes;
  if (region != Region::Temporary && offset % kAlignment != 0)
    return emitError() << "expected the offset of a range to be a multiple of "
                       << kAlignment << ", found " << offset;
  return success();
}

bool RangeAttr::sameMemory(RangeAttr other) const {
  return getRegion() == other.getRegion() && getOffset() == other.getOffset() &&
         getBytes() == other.getBytes();
}

bool RangeAttr::overlaps(RangeAttr other) const {
  if (getRegion() != other.getRegion())
    return false;
  if (getRegion() == Region::Temporary)
    return getOffset() == other.getOffset();
  return getOffset() < other.getEnd() && other.getOffset() < getEnd();
}
