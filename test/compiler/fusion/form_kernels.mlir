// What shares a kernel and what does not; equal kernels are written once; nothing is left outside but views.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: mg-opt %s --mg-form-kernels | FileCheck %s

// What works at the points of a product joins it.
// CHECK-LABEL: func.func @epilogue
// CHECK-NEXT: mg.launch @[[EPILOGUE:[a-z0-9_]+]](%{{.*}}, %{{.*}}, %{{.*}})
// CHECK-NEXT: return
func.func @epilogue(%x: tensor<4x8xf32>, %w: tensor<8x6xf32>, %b: tensor<6xf32>) -> tensor<4x6xf32> attributes {mg.entry = "predict"} {
  %p = mg.dot_general %x, %w contract [1] x [0] : tensor<4x8xf32>, tensor<8x6xf32> -> tensor<4x6xf32>
  %c = mg.broadcast %b, dims = [1], shape = [4, 6] : tensor<6xf32> -> tensor<4x6xf32>
  %s = mg.add %p, %c : tensor<4x6xf32>, tensor<4x6xf32> -> tensor<4x6xf32>
  %y = mg.relu %s : tensor<4x6xf32> -> tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

// A second product needs the first one whole.
// CHECK-LABEL: func.func @two_products
// CHECK-NEXT: %[[P:.*]] = mg.launch @[[PRODUCT:[a-z0-9_]+]](
// CHECK-NEXT: mg.launch @{{.*}}(%[[P]]
// CHECK-NEXT: return
func.func @two_products(%x: tensor<4x8xf32>, %w: tensor<8x6xf32>, %v: tensor<6x2xf32>) -> tensor<4x2xf32> attributes {mg.entry = "predict"} {
  %p = mg.dot_general %x, %w contract [1] x [0] : tensor<4x8xf32>, tensor<8x6xf32> -> tensor<4x6xf32>
  %q = mg.dot_general %p, %v contract [1] x [0] : tensor<4x6xf32>, tensor<6x2xf32> -> tensor<4x2xf32>
  return %q : tensor<4x2xf32>
}

// A product uses each element of an operand many times: that is computed once, before. The product is the one of above.
// CHECK-LABEL: func.func @before_product
// CHECK-NEXT: %[[E:.*]] = mg.launch @[[EXP:[a-z0-9_]+]](%{{.*}}) {inplace = [array<i64: 0, 0>]}
// CHECK-NEXT: mg.launch @[[PRODUCT]](%[[E]]
// CHECK-NEXT: return
func.func @before_product(%x: tensor<4x8xf32>, %w: tensor<8x6xf32>) -> tensor<4x6xf32> attributes {mg.entry = "predict"} {
  %e = mg.exponential %x : tensor<4x8xf32> -> tensor<4x8xf32>
  %p = mg.dot_general %e, %w contract [1] x [0] : tensor<4x8xf32>, tensor<8x6xf32> -> tensor<4x6xf32>
  return %p : tensor<4x6xf32>
}

// A sum uses each element once: it is computed there, and never stored.
// CHECK-LABEL: func.func @into_sum
// CHECK-NEXT: mg.launch @[[SUM:[a-z0-9_]+]](%{{.*}}) : (tensor<4x8xf32>) -> tensor<4xf32>
// CHECK-NEXT: return
func.func @into_sum(%x: tensor<4x8xf32>) -> tensor<4xf32> attributes {mg.entry = "predict"} {
  %e = mg.exponential %x : tensor<4x8xf32> -> tensor<4x8xf32>
  %s = mg.reduce_sum %e, axes = [1] : tensor<4x8xf32> -> tensor<4xf32>
  return %s : tensor<4xf32>
}

// What is returned too is stored, by the kernel of above.
// CHECK-LABEL: func.func @used_twice
// CHECK-NEXT: %[[E:.*]] = mg.launch @[[EXP]](
// CHECK-NEXT: mg.launch @{{.*}}(%[[E]]) : (tensor<4x8xf32>) -> tensor<4xf32>
// CHECK-NEXT: return
func.func @used_twice(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4xf32>) attributes {mg.entry = "predict"} {
  %e = mg.exponential %x : tensor<4x8xf32> -> tensor<4x8xf32>
  %m = mg.reduce_max %e, axes = [1] : tensor<4x8xf32> -> tensor<4xf32>
  return %e, %m : tensor<4x8xf32>, tensor<4xf32>
}

// A view has no kernel; what it gives is in memory. Unsigned data are signless from here on, the conversion is in the kernel.
// CHECK-LABEL: func.func @view(%{{.*}}: tensor<4x8xi8>)
// CHECK-NEXT: %[[V:.*]] = mg.reshape
// CHECK-NEXT: mg.launch @[[CAST:[a-z0-9_]+]](%[[V]])
// CHECK-NEXT: return
func.func @view(%x: tensor<4x8xui8>) -> tensor<4x2x4xf32> attributes {mg.entry = "predict"} {
  %e = mg.reshape %x, shape = [4, 2, 4] : tensor<4x8xui8> -> tensor<4x2x4xui8>
  %f = mg.cast %e to f32 : tensor<4x2x4xui8> -> tensor<4x2x4xf32>
  return %f : tensor<4x2x4xf32>
}

// What is no entry is left alone.
// CHECK-LABEL: func.func @no_entry
// CHECK-NEXT: mg.exponential
func.func @no_entry(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %e = mg.exponential %x : tensor<4x8xf32> -> tensor<4x8xf32>
  return %e : tensor<4x8xf32>
}

// CHECK: func.func private @[[EPILOGUE]]
// CHECK-SAME: mg.kernel
// CHECK: iterator_types = ["parallel", "parallel", "reduction"]
// CHECK: arith.mulf
// CHECK: arith.maximumf
// CHECK: func.func private @[[PRODUCT]](
// CHECK: func.func private @[[EXP]](
// CHECK-NOT: func.func private @[[EXP]](
// CHECK: func.func private @[[SUM]](
// CHECK: math.exp
// CHECK: iterator_types = ["parallel", "reduction"]
// CHECK: func.func private @[[CAST]](
// CHECK: arith.uitofp
