// The innermost loop of a product, the example's largest: fused multiply-adds on whole registers, and nothing that rounds in between.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: mgc %s --batch-size=64 --emit=asm --cpu=x86-64-v3 | FileCheck %s
// RUN: mgc %s --batch-size=64 --emit=asm --cpu=x86-64-v4 | FileCheck %s --check-prefix=WIDE

// CHECK-LABEL: {{^}}k0_y:
// CHECK-NOT: vmulps
// CHECK: vbroadcastss
// CHECK-COUNT-8: vfmadd{{[0-9]+}}ps {{.*}}%ymm
// CHECK-NOT: vmulps
// CHECK: .Lfunc_end0:
// WIDE-LABEL: {{^}}k0_y:
// WIDE-NOT: vmulps
// WIDE-COUNT-8: vfmadd{{[0-9]+}}ps {{.*}}%zmm
// WIDE-NOT: vmulps
// WIDE: .Lfunc_end0:
mg.model @hot {
  mg.variables @hidden {kernel: 784x512xf32 = zeros}
  mg.func @scores(%x: tensor<?x784xf32>) -> tensor<?x512xf32> {
    %kernel = mg.get @hidden::@kernel
    %y = mg.dot_general %x, %kernel contract [1] x [0]
    mg.return %y
  }
  mg.predict @scores
}
