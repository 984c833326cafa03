// The scheduled form goes in and comes out the same, with and without what is optional.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: mg-opt %s > %t.once
// RUN: mg-opt %t.once | cmp %t.once -
// RUN: mg-opt %s --mlir-print-op-generic | mg-opt | cmp %t.once -
// RUN: mg-opt %s --emit-bytecode | mg-opt | cmp %t.once -
// RUN: FileCheck %s --input-file=%t.once

// CHECK: mgrt.state 1024 {
// CHECK-NEXT: mgrt.array seed "seed" : tensor<i64> at 0{{$}}
// CHECK-NEXT: mgrt.array step "step" : tensor<i64> at 64{{$}}
// CHECK-NEXT: mgrt.array row0 "row0" : tensor<i64> at 128{{$}}
// CHECK-NEXT: mgrt.array rows "rows" : tensor<i64> at 192{{$}}
// CHECK-NEXT: mgrt.array variable "w" : tensor<8x2xf32> at 256 trainable{{$}}
// CHECK-NEXT: mgrt.array variable "mean" : tensor<f64> at 320{{$}}
// CHECK-NEXT: mgrt.array slot "m/w" of "fit" : tensor<8x2xf32> at 384{{$}}
// CHECK-NEXT: mgrt.array scalar "rate" of "fit" : tensor<f32> at 448{{$}}
// CHECK-NEXT: mgrt.array gradient "w" of "fit" : tensor<8x2xf32> at 512{{$}}
// CHECK-NEXT: mgrt.array metric_window "loss" of "fit" : tensor<2xf64> at 576{{$}}
// CHECK-NEXT: mgrt.array check_window "0" of "fit" : tensor<2xi64> at 640{{$}}
// CHECK-NEXT: mgrt.array metric_epoch "loss" of "fit" : tensor<2xf64> at 704{{$}}
// CHECK-NEXT: mgrt.array metric_evaluation "loss" of "fit" : tensor<2xf64> at 768{{$}}
// CHECK-NEXT: mgrt.array check_evaluation "0" of "fit" : tensor<2xi64> at 832{{$}}
// CHECK-NEXT: mgrt.window "fit" sums <state, 512, 192> epoch <state, 704, 64> evaluation <state, 768, 128, "fit">{{$}}
// CHECK-NEXT: mgrt.array input "x" : tensor<4x8xui8> at 896{{$}}
// CHECK-NEXT: mgrt.array output "y" : tensor<4xi1> at 960{{$}}
// CHECK-NEXT: }
mgrt.state 1024 {
  mgrt.array seed "seed" : tensor<i64> at 0
  mgrt.array step "step" : tensor<i64> at 64
  mgrt.array row0 "row0" : tensor<i64> at 128
  mgrt.array rows "rows" : tensor<i64> at 192
  mgrt.array variable "w" : tensor<8x2xf32> at 256 trainable
  mgrt.array variable "mean" : tensor<f64> at 320
  mgrt.array slot "m/w" of "fit" : tensor<8x2xf32> at 384
  mgrt.array scalar "rate" of "fit" : tensor<f32> at 448
  mgrt.array gradient "w" of "fit" : tensor<8x2xf32> at 512
  mgrt.array metric_window "loss" of "fit" : tensor<2xf64> at 576
  mgrt.array check_window "0" of "fit" : tensor<2xi64> at 640
  mgrt.array metric_epoch "loss" of "fit" : tensor<2xf64> at 704
  mgrt.array metric_evaluation "loss" of "fit" : tensor<2xf64> at 768
  mgrt.array check_evaluation "0" of "fit" : tensor<2xi64> at 832
  mgrt.window "fit" sums <state, 512, 192> epoch <state, 704, 64> evaluation <state, 768, 128, "fit">
  mgrt.array input "x" : tensor<4x8xui8> at 896
  mgrt.array output "y" : tensor<4xi1> at 960
}

func.func private @product(tensor<8x2xf32>, tensor<4x8xi8>) -> (tensor<4x2xf32>, tensor<4xi1>)
func.func private @start() -> tensor<8x2xf32>

// CHECK: mgrt.entry @init init unit 0 arena 0 live 0 {
// CHECK-NEXT: mgrt.launch @start() -> (<state, 256, 64>){{$}}
// CHECK-NEXT: }
mgrt.entry @init init unit 0 arena 0 live 0 {
  mgrt.launch @start() -> (<state, 256, 64>)
}

// CHECK: mgrt.entry @fit.accumulate_first.4 accumulate_first of "fit" unit 4 arena 128 live 64 {
// CHECK-NEXT: mgrt.launch @product(<state, 256, 64, "w">, <state, 896, 32, "input x">) -> (<arena, 64, 32, "y#0">, <state, 960, 4>) name "y"{{$}}
// CHECK-NEXT: mgrt.fill <arena, 64, 32, "y#0"> with 255 name "dead"{{$}}
// CHECK-NEXT: }
mgrt.entry @fit.accumulate_first.4 accumulate_first of "fit" unit 4 arena 128 live 64 {
  mgrt.launch @product(<state, 256, 64, "w">, <state, 896, 32, "input x">) -> (<arena, 64, 32, "y#0">, <state, 960, 4>) name "y"
  mgrt.fill <arena, 64, 32, "y#0"> with 255 name "dead"
}

// CHECK: mgrt.entry @fit.accumulate.4 accumulate of "fit" unit 4 {
// CHECK-NEXT: mgrt.fill <temporary, 7, 32> with 0{{$}}
// CHECK-NEXT: mgrt.copy <temporary, 7, 32> to <state, 896, 32, "input x"> name "x"{{$}}
// CHECK-NEXT: }
mgrt.entry @fit.accumulate.4 accumulate of "fit" unit 4 {
  mgrt.fill <temporary, 7, 32> with 0
  mgrt.copy <temporary, 7, 32> to <state, 896, 32, "input x"> name "x"
}

// CHECK: mgrt.entry @fit.update update of "fit" unit 0 {
// CHECK-NEXT: mgrt.all_reduce sum f32 <state, 512, 64, "gradient w"> name "d_w" because ["rows are split", "once more"]{{$}}
// CHECK-NEXT: mgrt.all_reduce max i64 <state, 640, 16>{{$}}
// CHECK-NEXT: mgrt.all_reduce min f64 <state, 576, 16>{{$}}
// CHECK-NEXT: mgrt.all_reduce prod f64 <state, 576, 16> because ["rows are split"]{{$}}
// CHECK-NEXT: mgrt.copy <state, 256, 64> to <state, 384, 64>{{$}}
// CHECK-NEXT: }
mgrt.entry @fit.update update of "fit" unit 0 {
  mgrt.all_reduce sum f32 <state, 512, 64, "gradient w"> name "d_w" because ["rows are split", "once more"]
  mgrt.all_reduce max i64 <state, 640, 16>
  mgrt.all_reduce min f64 <state, 576, 16>
  mgrt.all_reduce prod f64 <state, 576, 16> because ["rows are split"]
  mgrt.copy <state, 256, 64> to <state, 384, 64>
}

// CHECK: mgrt.entry @fit.evaluate.4 evaluate of "fit" unit 4 {
// CHECK-NEXT: }
mgrt.entry @fit.evaluate.4 evaluate of "fit" unit 4 {
}

// CHECK: mgrt.entry @f.predict.4 predict of "f" unit 4 attributes {note = "kept"} {
// CHECK-NEXT: }
mgrt.entry @f.predict.4 predict of "f" unit 4 attributes {note = "kept"} {
}
