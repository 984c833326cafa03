// Entry functions as lists of commands over byte ranges. Which values share memory is in in_place.mlir.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: mg-opt %s --mg-schedule-entries | FileCheck %s

shard.grid @devices(shape = ?)
mgrt.state 2048 {
  mgrt.array seed "seed" : tensor<i64> at 0
  mgrt.array rows "rows" : tensor<i64> at 64
  mgrt.array variable "w" : tensor<8x4xf32> at 128 trainable
  mgrt.array slot "m/w" of "fit" : tensor<8x4xf32> at 256
  mgrt.array gradient "w" of "fit" : tensor<8x4xf32> at 384
  mgrt.array gradient "w" of "tune" : tensor<8x4xf32> at 512
  mgrt.array input "x" : tensor<16x8xui8> at 640
  mgrt.array output "y" : tensor<16x4xf32> at 768
  mgrt.array metric_window "loss" of "fit" : tensor<2xf64> at 1024
}
func.func private @cast(tensor<2x8xi8>) -> tensor<2x8xf32> attributes {mg.kernel}
func.func private @product(tensor<2x8xf32>, tensor<8x4xf32>) -> tensor<2x4xf32> attributes {mg.kernel}
func.func private @relu(tensor<2x4xf32>) -> tensor<2x4xf32> attributes {mg.kernel}
func.func private @flat(tensor<32xf32>) -> tensor<32xf32> attributes {mg.kernel}
func.func private @parts(tensor<8x4xf32>) -> (tensor<2x4xf32>, tensor<2xf32>) attributes {mg.kernel}
func.func private @draw(tensor<i64>) -> tensor<8x4xf32> attributes {mg.kernel}
func.func private @weigh(tensor<i64>, tensor<8x4xf32>) -> tensor<8x4xf32> attributes {mg.kernel}

// Launches in the order of the program, temporaries numbered, a command with its value's name in the model. A unit of fewer rows
// uses the first rows of the arrays. The function is gone.
// CHECK-NOT: func.func @predict
// CHECK: mgrt.entry @predict predict of "f" unit 2 {
// CHECK-NEXT: mgrt.launch @cast(<state, 640, 16, "input x">) -> (<temporary, 0, 64, "pixels">) name "pixels"
// CHECK-NEXT: mgrt.launch @product(<temporary, 0, 64, "pixels">, <state, 128, 128, "w">) -> (<temporary, 1, 32>){{$}}
// CHECK-NEXT: mgrt.launch @relu(<temporary, 1, 32>) -> (<state, 768, 32, "output y">) name "y"
// CHECK-NEXT: }
func.func @predict(%x: tensor<2x8xi8> {mg.role = "input", mg.name = "x"}, %w: tensor<8x4xf32> {mg.role = "variable", mg.name = "w"})
    -> (tensor<2x4xf32> {mg.role = "output", mg.name = "y"}) attributes {mg.entry = "predict", mg.owner = "f", mg.unit = 2 : i64} {
  %pixels = mg.launch @cast(%x) : (tensor<2x8xi8>) -> tensor<2x8xf32> loc("pixels")
  %p = mg.launch @product(%pixels, %w) : (tensor<2x8xf32>, tensor<8x4xf32>) -> tensor<2x4xf32> loc(unknown)
  %y = mg.launch @relu(%p) : (tensor<2x4xf32>) -> tensor<2x4xf32> loc(callsite(fused[unknown, "y"] at "caller"))
  return %y : tensor<2x4xf32>
}

// A view is the memory of its value. What nothing uses has memory too; each of several results has its number.
// CHECK: mgrt.entry @views evaluate of "fit" unit 2 {
// CHECK-NEXT: mgrt.launch @flat(<state, 128, 128, "w">) -> (<temporary, [[FLAT:[0-9]+]], 128>)
// CHECK-NEXT: mgrt.launch @parts(<temporary, [[FLAT]], 128>) -> (<temporary, [[FIRST:[0-9]+]], 32, "part#0">, <temporary, {{[0-9]+}}, 8, "part#1">) name "part"
// CHECK-NEXT: mgrt.launch @relu(<temporary, [[FIRST]], 32, "part#0">)
// CHECK-NEXT: }
func.func @views(%w: tensor<8x4xf32> {mg.role = "variable", mg.name = "w"}) attributes {mg.entry = "evaluate", mg.owner = "fit", mg.unit = 2 : i64} {
  %row = mg.reshape %w, shape = [32] : tensor<8x4xf32> -> tensor<32xf32>
  %flat = mg.launch @flat(%row) : (tensor<32xf32>) -> tensor<32xf32> loc(unknown)
  %matrix = mg.reshape %flat, shape = [4, 8] : tensor<32xf32> -> tensor<4x8xf32>
  %turned = mg.reshape %matrix, shape = [8, 4] : tensor<4x8xf32> -> tensor<8x4xf32>
  %part:2 = mg.launch @parts(%turned) : (tensor<8x4xf32>) -> (tensor<2x4xf32>, tensor<2xf32>) loc("part")
  %y = mg.launch @relu(%part#0) : (tensor<2x4xf32>) -> tensor<2x4xf32> loc(unknown)
  return
}

// `init` belongs to no train: it finds the only array of a role and name. The runtime's numbers need no name.
// CHECK: mgrt.entry @init init unit 0 {
// CHECK-NEXT: mgrt.launch @draw(<state, 0, 8, "seed">) -> (<state, 256, 128, "slot m/w">)
// CHECK-NEXT: }
func.func @init(%seed: tensor<i64> {mg.role = "seed"}) -> (tensor<8x4xf32> {mg.role = "slot", mg.name = "m/w"}) attributes {mg.entry = "init"} {
  %m = mg.launch @draw(%seed) : (tensor<i64>) -> tensor<8x4xf32>
  return %m : tensor<8x4xf32>
}

// Names are those of the entry's train, unless an argument says otherwise.
// CHECK: mgrt.entry @owners accumulate of "tune" unit 2 {
// CHECK-NEXT: mgrt.launch @weigh(<state, 64, 8, "rows">, <state, 384, 128, "gradient w">) -> (<state, 512, 128, "gradient w">)
// CHECK-NEXT: }
func.func @owners(%rows: tensor<i64> {mg.role = "rows"}, %g: tensor<8x4xf32> {mg.role = "gradient", mg.name = "w", mg.owner = "fit"})
    -> (tensor<8x4xf32> {mg.role = "gradient", mg.name = "w"}) attributes {mg.entry = "accumulate", mg.owner = "tune", mg.unit = 2 : i64} {
  %h = mg.launch @weigh(%rows, %g) : (tensor<i64>, tensor<8x4xf32>) -> tensor<8x4xf32>
  return %h : tensor<8x4xf32>
}

// An all-reduce keeps its kind, its dtype and what made it necessary.
// CHECK: mgrt.entry @update update of "fit" unit 0 {
// CHECK: mgrt.all_reduce sum f64 <state, 1024, 16, "metric_window loss"> name "total" because ["rows are split"]
// CHECK: mgrt.all_reduce max f32 <{{.*}}> because ["one", "two"]
// CHECK: mgrt.all_reduce min f32 <{{.*}}>{{$}}
// CHECK: mgrt.all_reduce prod f32 <{{.*}}>{{$}}
func.func @update(%loss: tensor<2xf64> {mg.role = "metric_window", mg.name = "loss"}, %w: tensor<8x4xf32> {mg.role = "variable", mg.name = "w"})
    -> (tensor<2xf64> {mg.role = "metric_window", mg.name = "loss"}, tensor<8x4xf32> {mg.role = "variable", mg.name = "w"})
    attributes {mg.entry = "update", mg.owner = "fit"} {
  %total = shard.all_reduce %loss on @devices grid_axes = [0] {mg.cause = "rows are split"} : tensor<2xf64> -> tensor<2xf64> loc("total")
  %max = shard.all_reduce %w on @devices grid_axes = [0] reduction = max {mg.cause = ["one", "two"]} : tensor<8x4xf32> -> tensor<8x4xf32> loc(unknown)
  %min = shard.all_reduce %max on @devices grid_axes = [0] reduction = min : tensor<8x4xf32> -> tensor<8x4xf32> loc(unknown)
  %prod = shard.all_reduce %min on @devices grid_axes = [0] reduction = product : tensor<8x4xf32> -> tensor<8x4xf32> loc(unknown)
  return %total, %prod : tensor<2xf64>, tensor<8x4xf32>
}

// What is no entry stays.
// CHECK: func.func @no_entry
func.func @no_entry(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %y = mg.launch @relu(%x) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}
