// Where stored arrays lie: from `mg.interface` alone, in its order, each at a multiple of 64 bytes.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: mg-opt %s --mg-assign-state -split-input-file | FileCheck %s

// Without a model there are the runtime's four numbers.
// CHECK-LABEL: module @control
// CHECK: mgrt.state 256 {
// CHECK-NEXT: mgrt.array seed "seed" : tensor<i64> at 0
// CHECK-NEXT: mgrt.array step "step" : tensor<i64> at 64
// CHECK-NEXT: mgrt.array row0 "row0" : tensor<i64> at 128
// CHECK-NEXT: mgrt.array rows "rows" : tensor<i64> at 192
// CHECK-NEXT: }
module @control attributes {mg.interface = {units = [4]}} {}

// -----

// The trainable variables of a dtype are one range, those that are not trained lie behind all of them. An array of 60 bytes
// takes 64, one of 80 takes 128, one without elements nothing.
// CHECK-LABEL: module @variables
// CHECK: mgrt.array variable "a.kernel" : tensor<5x3xf32> at [[#F32:]] trainable{{$}}
// CHECK-NEXT: mgrt.array variable "b.kernel" : tensor<20xf32> at [[#F32+64]] trainable{{$}}
// CHECK-NEXT: mgrt.array variable "b.empty" : tensor<0xf32> at [[#F32+192]] trainable{{$}}
// CHECK-NEXT: mgrt.array variable "b.bias" : tensor<3xf32> at [[#F32+192]] trainable{{$}}
// CHECK-NEXT: mgrt.array variable "a.scale" : tensor<3xf64> at [[#F64:F32+256]] trainable{{$}}
// CHECK-NEXT: mgrt.array variable "b.scale" : tensor<f64> at [[#F64+64]] trainable{{$}}
// CHECK-NEXT: mgrt.array variable "a.mean" : tensor<3xf32> at [[#F64+128]]{{$}}
// CHECK-NEXT: }
module @variables attributes {mg.interface = {units = [4], variables = [
  {name = "a.kernel", type = tensor<5x3xf32>, trainable = true},
  {name = "a.scale", type = tensor<3xf64>, trainable = true},
  {name = "a.mean", type = tensor<3xf32>, trainable = false},
  {name = "b.kernel", type = tensor<20xf32>, trainable = true},
  {name = "b.empty", type = tensor<0xf32>, trainable = true},
  {name = "b.scale", type = tensor<f64>, trainable = true},
  {name = "b.bias", type = tensor<3xf32>, trainable = true}]}} {}

// -----

// Gradients and each kind of slot repeat the variables' inner offsets, also where a kind has not all of them; what is not
// trained has no gradient. Slots of another type than their variable's come last.
// CHECK-LABEL: module @repeated
// CHECK: mgrt.array variable "a" : tensor<5x3xf32> at [[#A:]]
// CHECK-NEXT: mgrt.array variable "b" : tensor<20xf32> at [[#B:]]
// CHECK-NEXT: mgrt.array variable "c" : tensor<3xf32> at [[#C:]]
// CHECK-NEXT: mgrt.array variable "d" : tensor<3xf64> at [[#D:]]
// CHECK-NEXT: mgrt.array variable "fixed"
// CHECK-NEXT: mgrt.array slot "v/b" of "fit" : tensor<20xf32> at [[#V:]]
// CHECK-NEXT: mgrt.array slot "m/a" of "fit" : tensor<5x3xf32> at [[#M:V+C-B+64]]
// CHECK-NEXT: mgrt.array slot "m/b" of "fit" : tensor<20xf32> at [[#M+B-A]]
// CHECK-NEXT: mgrt.array slot "m/c" of "fit" : tensor<3xf32> at [[#M+C-A]]
// CHECK-NEXT: mgrt.array slot "m/d" of "fit" : tensor<3xf64> at [[#M+D-A]]
// CHECK-NEXT: mgrt.array slot "norm/a" of "fit" : tensor<f32> at [[#M+D-A+64]]
// CHECK-NEXT: mgrt.array gradient "a" of "fit" : tensor<5x3xf32> at [[#G:]]
// CHECK-NEXT: mgrt.array gradient "b" of "fit" : tensor<20xf32> at [[#G+B-A]]
// CHECK-NEXT: mgrt.array gradient "c" of "fit" : tensor<3xf32> at [[#G+C-A]]
// CHECK-NEXT: mgrt.array gradient "d" of "fit" : tensor<3xf64> at [[#G+D-A]]
// CHECK-NEXT: mgrt.window
module @repeated attributes {mg.interface = {units = [4],
  variables = [
    {name = "a", type = tensor<5x3xf32>, trainable = true},
    {name = "b", type = tensor<20xf32>, trainable = true},
    {name = "fixed", type = tensor<3xf32>, trainable = false},
    {name = "c", type = tensor<3xf32>, trainable = true},
    {name = "d", type = tensor<3xf64>, trainable = true}],
  slots = [
    {name = "norm/a", variable = "a", owner = "fit", type = tensor<f32>},
    {name = "v/b", variable = "b", owner = "fit", type = tensor<20xf32>},
    {name = "m/c", variable = "c", owner = "fit", type = tensor<3xf32>},
    {name = "m/a", variable = "a", owner = "fit", type = tensor<5x3xf32>},
    {name = "m/d", variable = "d", owner = "fit", type = tensor<3xf64>},
    {name = "m/b", variable = "b", owner = "fit", type = tensor<20xf32>}],
  trains = [{name = "fit"}]}} {}

// -----

// A window covers what is cleared at once and no more: gradients, metrics and checks of a step; sums of an epoch; of an
// evaluation. Scalars lie outside.
// CHECK-LABEL: module @windows
// CHECK: mgrt.array scalar "rate" of "fit" : tensor<f32> at [[#RATE:]]
// CHECK-NEXT: mgrt.array scalar "decay" of "fit" : tensor<f64> at [[#RATE+64]]
// CHECK-NEXT: mgrt.array gradient "w" of "fit" : tensor<20xf32> at [[#STEP:RATE+128]]
// CHECK-NEXT: mgrt.array metric_window "loss" of "fit" : tensor<2xf64> at [[#STEP+128]]
// CHECK-NEXT: mgrt.array metric_window "accuracy" of "fit" : tensor<2xf64> at [[#STEP+192]]
// CHECK-NEXT: mgrt.array check_window "0" of "fit" : tensor<2xi64> at [[#STEP+256]]
// CHECK-NEXT: mgrt.array metric_epoch "loss" of "fit" : tensor<2xf64> at [[#EPOCH:STEP+320]]
// CHECK-NEXT: mgrt.array metric_epoch "accuracy" of "fit" : tensor<2xf64> at [[#EPOCH+64]]
// CHECK-NEXT: mgrt.array metric_evaluation "loss" of "fit" : tensor<2xf64> at [[#TEST:EPOCH+128]]
// CHECK-NEXT: mgrt.array metric_evaluation "accuracy" of "fit" : tensor<2xf64> at [[#TEST+64]]
// CHECK-NEXT: mgrt.array check_evaluation "0" of "fit" : tensor<2xi64> at [[#TEST+128]]
// CHECK-NEXT: mgrt.window "fit" sums <state, [[#STEP]], 320> epoch <state, [[#EPOCH]], 128> evaluation <state, [[#TEST]], 192>
module @windows attributes {mg.interface = {units = [4],
  variables = [{name = "w", type = tensor<20xf32>, trainable = true}],
  scalars = [
    {name = "rate", owner = "fit", type = tensor<f32>, value = 0.1},
    {name = "decay", owner = "fit", type = tensor<f64>, value = 0.0}],
  trains = [{name = "fit", inputs = [], metrics = ["loss", "accuracy"],
             checks = [{name = "0", input = "t", minimum = 0, maximum = 9, message = "out of range"}]}]}} {}

// -----

// Two trains share the variables; nothing else of one is another's.
// CHECK-LABEL: module @two_trains
// CHECK-COUNT-1: mgrt.array variable
// CHECK-NOT: mgrt.array variable
// CHECK: mgrt.array slot "m/w" of "fit"
// CHECK: mgrt.array scalar "rate" of "fit"
// CHECK: mgrt.array gradient "w" of "fit"
// CHECK: mgrt.array metric_window "loss" of "fit"
// CHECK: mgrt.window "fit"
// CHECK-NOT: "fit"
// CHECK: mgrt.array slot "m/w" of "tune"
// CHECK: mgrt.array scalar "rate" of "tune"
// CHECK: mgrt.array gradient "w" of "tune"
// CHECK: mgrt.array metric_window "loss" of "tune"
// CHECK: mgrt.window "tune"
module @two_trains attributes {mg.interface = {units = [4],
  variables = [{name = "w", type = tensor<20xf32>, trainable = true}],
  scalars = [
    {name = "rate", owner = "tune", type = tensor<f32>, value = 0.1},
    {name = "rate", owner = "fit", type = tensor<f32>, value = 0.1}],
  slots = [
    {name = "m/w", variable = "w", owner = "tune", type = tensor<20xf32>},
    {name = "m/w", variable = "w", owner = "fit", type = tensor<20xf32>}],
  trains = [{name = "fit", metrics = ["loss"]}, {name = "tune", metrics = ["loss"]}]}} {}

// -----

// Inputs and outputs have the rows of the largest unit; a truth value takes a byte.
// CHECK-LABEL: module @rows
// CHECK: mgrt.state [[#SIZE:]] {
// CHECK: mgrt.array input "x" : tensor<16x3xui8> at [[#X:]]
// CHECK-NEXT: mgrt.array input "t" : tensor<16xi1> at [[#X+64]]
// CHECK-NEXT: mgrt.array output "y" : tensor<16x2xf32> at [[#X+128]]
// CHECK-NEXT: mgrt.array check_evaluation "0" of "f" : tensor<2xi64> at [[#X+256]]
// CHECK-NEXT: }
module @rows attributes {mg.interface = {units = [4, 16],
  inputs = [{name = "x", type = tensor<3xui8>}, {name = "t", type = tensor<i1>}],
  outputs = [{name = "y", type = tensor<2xf32>}],
  predicts = [{name = "f", inputs = ["x"], outputs = ["y"],
               checks = [{name = "0", input = "x", minimum = 0, maximum = 9, message = "out of range"}]}]}} {}
