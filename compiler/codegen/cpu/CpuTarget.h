// The x86-64 machine that code is made for, reduced to what the emitters ask:
// vector width, registers, caches.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef MG_COMPILER_CODEGEN_CPU_CPUTARGET_H
#define MG_COMPILER_CODEGEN_CPU_CPUTARGET_H

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace mlir::mg {

/// An LLVM CPU name and a comma-separated list of "+feature" or "-feature".
struct CpuTarget {
  std::string cpu;
  std::string features;
};

/// Reads "host", an LLVM CPU name such as "x86-64-v3", or either followed by
/// "+feature" or, in a pass's option, ",-feature". "host" becomes the name and
/// features of this machine. Fails, through `emitError`, for a CPU or feature
/// that LLVM does not know and for a CPU without 64-bit mode.
FailureOr<CpuTarget>
parseCpuTarget(StringRef spec, function_ref<InFlightDiagnostic()> emitError);

/// What the emitters know about a machine.
struct CpuModel {
  int64_t vectorBytes = 16;
  int64_t vectorRegisters = 16;
  bool hasFma = false;
  int64_t l1Bytes = 32 * 1024;

  static CpuModel of(const CpuTarget &target);
};

/// The features of `target` that decide whether a machine can run its code, in
/// alphabetical order: {"+avx", "+avx2", …}; tuning flags are left out.
SmallVector<std::string> requiredFeatures(const CpuTarget &target);

} // namespace mlir::mg

#endif // MG_COMPILER_CODEGEN_CPU_CPUTARGET_H
