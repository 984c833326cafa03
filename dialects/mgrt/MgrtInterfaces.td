// What every command of an entry answers: the memory that it reads and writes.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef MG_DIALECTS_MGRT_INTERFACES
#define MG_DIALECTS_MGRT_INTERFACES

include "mlir/IR/OpBase.td"

def Mgrt_CommandOpInterface : OpInterface<"CommandOpInterface"> {
  let cppNamespace = "::mlir::mgrt";
  let description = [{
    A command of an entry. Passes over commands (packing, bucketing, checking)
    know them by the ranges below and not by name.
  }];
  let methods = [
    InterfaceMethod<"The ranges that the command reads.",
      "::llvm::SmallVector<::mlir::mgrt::RangeAttr>", "getReadRanges">,
    InterfaceMethod<"The ranges that the command overwrites.",
      "::llvm::SmallVector<::mlir::mgrt::RangeAttr>", "getWrittenRanges">
  ];
}

#endif // MG_DIALECTS_MGRT_INTERFACES
