// The training step of the example, as a person reads it: no gradient of the first layer's input, nothing twice, at most 80 lines.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: mgc %mnist --emit=gradient > %t
// RUN: FileCheck %s --input-file=%t
// RUN: sed -n '/func.func @fit.accumulate_first.64/,/^  }/p' %t > %t.step
// RUN: head -n 80 %t.step | cmp %t.step -
// A naive backward has three products more than the three of the way forward and the three of the weights.
// RUN: grep -c mg.dot_general %t.step | FileCheck %s --check-prefix=PRODUCTS
// PRODUCTS: {{^8$}}

// CHECK-LABEL: func.func @fit.accumulate_first.64
// CHECK: %pixels{{.*}} = mg.divide
// CHECK: %h1{{.*}} = mg.dot_general %[[PIXELS:pixels.*]], %hidden1.kernel
// CHECK-COUNT-2: mg.keep_mask
// CHECK: %d_digits.kernel{{.*}} = mg.dot_general
// CHECK: %d_hidden2.kernel{{.*}} = mg.dot_general
// CHECK-NOT: %d_pixels
// CHECK-NOT: %d_flat
// CHECK: %d_hidden1.kernel{{.*}} = mg.dot_general %[[PIXELS]], %{{.*}} contract [0] x [0]
// CHECK-NOT: mg.dot_general
// CHECK: return
