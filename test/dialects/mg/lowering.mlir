// Loop nests: the maps and the scalar code that each record becomes as a kernel.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: mg-opt %s -split-input-file --mg-stage-kernels -mlir-print-local-scope | FileCheck %s

// CHECK-LABEL: func.func @transpose(
// CHECK: linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
func.func @transpose(%x: tensor<4x8xf32>) -> tensor<8x4xf32> attributes {mg.entry = "predict"} {
  %y = mg.transpose %x, permutation = [1, 0] : tensor<4x8xf32> -> tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}

// -----

// CHECK-LABEL: func.func @slice(
// CHECK: linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
// CHECK: %[[ROW:.*]] = linalg.index 0
// CHECK: tensor.extract %[[X:.*]][%[[ROW]], %{{.*}}]
func.func @slice(%x: tensor<4x8xf32>) -> tensor<4x3xf32> attributes {mg.entry = "predict"} {
  %y = mg.slice %x, axis = 1, 1 to 7 step 2 : tensor<4x8xf32> -> tensor<4x3xf32>
  return %y : tensor<4x3xf32>
}

// -----

// An element from outside is never read: the position is clamped first.
// CHECK-LABEL: func.func @pad(
// CHECK: linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
// CHECK: arith.maxsi
// CHECK: arith.minsi
// CHECK: %[[INSIDE:.*]] = arith.cmpi eq
// CHECK: %[[READ:.*]] = tensor.extract
// CHECK: arith.select %[[INSIDE]], %[[READ]], %[[ZERO:.*]] :
func.func @pad(%x: tensor<4x3xf32>) -> tensor<4x6xf32> attributes {mg.entry = "predict"} {
  %y = mg.pad %x, axis = 1, 1 and 2 : tensor<4x3xf32> -> tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

// -----

// CHECK-LABEL: func.func @broadcast(
// CHECK: linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
func.func @broadcast(%x: tensor<8xf32>) -> tensor<4x8xf32> attributes {mg.entry = "predict"} {
  %y = mg.broadcast %x, dims = [1], shape = [4, 8] : tensor<8xf32> -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

// Batch, left, right, then the contracted dimension.
// CHECK-LABEL: func.func @batched_product(
// CHECK: linalg.fill
// CHECK: linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d3, d2)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
// CHECK: arith.mulf
// CHECK-NEXT: arith.addf
func.func @batched_product(%a: tensor<2x4x8xf32>, %b: tensor<2x8x3xf32>) -> tensor<2x4x3xf32> attributes {mg.entry = "predict"} {
  %y = mg.dot_general %a, %b batch [0] x [0] contract [2] x [1] : tensor<2x4x8xf32>, tensor<2x8x3xf32> -> tensor<2x4x3xf32>
  return %y : tensor<2x4x3xf32>
}

// -----

// Starts from 1.
// CHECK-LABEL: func.func @reduce_prod(
// CHECK: %[[ONE:.*]] = arith.constant 1.0
// CHECK: linalg.fill ins(%[[ONE]]
// CHECK: linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d1, d0, d2)>, affine_map<(d0, d1, d2) -> (d0)>], iterator_types = ["parallel", "reduction", "reduction"]}
// CHECK: arith.mulf
func.func @reduce_prod(%x: tensor<4x8x2xf32>) -> tensor<8xf32> attributes {mg.entry = "predict"} {
  %y = mg.reduce_prod %x, axes = [0, 2] : tensor<4x8x2xf32> -> tensor<8xf32>
  return %y : tensor<8xf32>
}

// -----

// A masked sum over the table: unsigned indices, 0 outside.
// CHECK-LABEL: func.func @take(
// CHECK: linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
// CHECK: arith.extui
// CHECK: %[[HIT:.*]] = arith.cmpi eq
// CHECK: arith.select %[[HIT]]
func.func @take(%t: tensor<5x3xf32>, %i: tensor<4xui8>) -> tensor<4x3xf32> attributes {mg.entry = "predict"} {
  %y = mg.take %t, %i : tensor<5x3xf32>, tensor<4xui8> -> tensor<4x3xf32>
  return %y : tensor<4x3xf32>
}

// -----

// CHECK-LABEL: func.func @one_hot(
// CHECK: linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
// CHECK: linalg.index 1
// CHECK: arith.cmpi eq
func.func @one_hot(%i: tensor<4xui8>) -> tensor<4x5xf32> attributes {mg.entry = "predict"} {
  %y = mg.one_hot %i, 5 to f32 : tensor<4xui8> -> tensor<4x5xf32>
  return %y : tensor<4x5xf32>
}

// -----

// Ordered: false with NaN.
// CHECK-LABEL: func.func @compare(
// CHECK: linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
// CHECK: arith.cmpf olt
func.func @compare(%x: tensor<4x8xf32>, %z: tensor<4x8xf32>) -> tensor<4x8xi1> attributes {mg.entry = "predict"} {
  %y = mg.compare lt, %x, %z : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x8xi1>
  return %y : tensor<4x8xi1>
}

// -----

// Saturates; NaN becomes 0.
// CHECK-LABEL: func.func @cast(
// CHECK: linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
// CHECK-DAG: arith.cmpf ole
// CHECK-DAG: arith.cmpf oge
// CHECK-DAG: arith.cmpf uno
// CHECK: arith.fptoui
func.func @cast(%x: tensor<4x8xf32>) -> tensor<4x8xui8> attributes {mg.entry = "predict"} {
  %y = mg.cast %x to ui8 : tensor<4x8xf32> -> tensor<4x8xui8>
  return %y : tensor<4x8xui8>
}

// -----

// Two padded operands and a choice.
// CHECK-LABEL: func.func @concatenate(
// CHECK-COUNT-2: tensor.extract
// CHECK: arith.select
func.func @concatenate(%x: tensor<4x2xf32>, %z: tensor<4x3xf32>) -> tensor<4x5xf32> attributes {mg.entry = "predict"} {
  %y = mg.concatenate %x, %z axis = 1 : tensor<4x2xf32>, tensor<4x3xf32> -> tensor<4x5xf32>
  return %y : tensor<4x5xf32>
}

// -----

// The first of the positions that hold the maximum, or the first NaN.
// CHECK-LABEL: func.func @arg_max(
// CHECK: arith.maximumf
// CHECK: arith.cmpf oeq
// CHECK: arith.cmpf une
// CHECK: arith.minsi
func.func @arg_max(%x: tensor<4x8xf32>) -> tensor<4xi64> attributes {mg.entry = "predict"} {
  %y = mg.arg_max %x : tensor<4x8xf32> -> tensor<4xi64>
  return %y : tensor<4xi64>
}
