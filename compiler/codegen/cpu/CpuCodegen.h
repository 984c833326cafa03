// From kernels (func.func of linalg.generic on tensors) to x86-64 machine code
// in an ELF shared object. Start reading at Kernel.h (what a kernel may be) and
// PointEvaluator.h (how its values are computed).
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef MG_COMPILER_CODEGEN_CPU_CPUCODEGEN_H
#define MG_COMPILER_CODEGEN_CPU_CPUCODEGEN_H

#include "compiler/codegen/cpu/CpuTarget.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include <memory>
#include <vector>

namespace mlir::mg {

/// Attributes on a kernel: the mark; once emitted for a CPU, its grid of
/// blocks; and on a kernel whose code is another's, that kernel's name.
inline constexpr StringLiteral kKernelAttr = "mg.kernel";
inline constexpr StringLiteral kGridAttr = "mg.grid";
inline constexpr StringLiteral kSameAsAttr = "mg.same_as";
/// On a module: the compiled objects, each a dictionary of kind, cpu, features,
/// grids (of each kernel, by name) and image.
inline constexpr StringLiteral kObjectsAttr = "mg.objects";

/// Where compileCpuObject writes texts for people; null members are not
/// written.
struct CpuDump {
  raw_ostream *llvmIr = nullptr;
  raw_ostream *assembly = nullptr;
};

/// Translates a module in the LLVM dialect, optimizes it for `target` and
/// returns the bytes of an ELF shared object that exports its kernels and
/// needs libm.so.6 at most. Equal modules give equal bytes.
FailureOr<std::vector<char>> compileCpuObject(ModuleOp module,
                                              const CpuTarget &target,
                                              const CpuDump &dump = {});

/// Replaces each `mg.kernel` function by loops with the kernel ABI.
std::unique_ptr<Pass> createEmitCpuKernelsPass(StringRef cpu = "host");

/// Lowers scf, vector, arith and math to the LLVM dialect.
void buildLowerCpuKernelsPipeline(OpPassManager &passes);

/// Compiles the module's kernels for each CPU, sets `mg.objects` and erases the
/// bodies.
std::unique_ptr<Pass> createCompileCpuKernelsPass(ArrayRef<std::string> cpus);

/// Registers --mg-emit-cpu-kernels, --mg-lower-cpu-kernels,
/// --mg-compile-cpu-kernels.
void registerCpuCodegenPasses();

} // namespace mlir::mg

#endif // MG_COMPILER_CODEGEN_CPU_CPUCODEGEN_H
