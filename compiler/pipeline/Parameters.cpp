// The table of `mgc --params`.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/pipeline/Compiler.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/Support/Format.h"

namespace mlir::mg {

/// A product uses each parameter of a matrix once a row: two operations
/// forward, four backward.
static int64_t flopsOf(RankedTensorType type) {
  return type.getRank() >= 2 ? 6 * type.getNumElements()
                             : type.getNumElements();
}

void printParameters(ModuleOp module, llvm::raw_ostream &stream) {
  auto interface = module->getAttrOfType<DictionaryAttr>("mg.interface");
  if (!interface)
    return;
  stream << "variable                          shape                 "
            "parameters      FLOPs a row and step\n";
  int64_t parameters = 0, flops = 0;
  for (Attribute attribute : cast<ArrayAttr>(interface.get("variables"))) {
    auto record = cast<DictionaryAttr>(attribute);
    auto type =
        cast<RankedTensorType>(cast<TypeAttr>(record.get("type")).getValue());
    std::string shape;
    for (int64_t extent : type.getShape())
      shape += std::to_string(extent) + "x";
    llvm::raw_string_ostream(shape) << type.getElementType();
    StringRef name = cast<StringAttr>(record.get("name")).getValue();
    stream << llvm::left_justify(name, 34) << llvm::left_justify(shape, 22)
           << llvm::format("%10lld%26lld\n", (long long)type.getNumElements(),
                           (long long)flopsOf(type));
    parameters += type.getNumElements();
    flops += flopsOf(type);
  }
  stream << llvm::left_justify("total", 56)
         << llvm::format("%10lld%26lld\n", (long long)parameters,
                         (long long)flops);
}

} // namespace mlir::mg
