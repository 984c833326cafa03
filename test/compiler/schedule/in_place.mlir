// Which values share memory: what an entry returns is computed where its array lies, and a result takes the temporary of an operand
// that dies, but never while somebody still reads what lies there.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: mg-opt %s --mg-schedule-entries | FileCheck %s

shard.grid @devices(shape = ?)
mgrt.state 2048 {
  mgrt.array variable "w" : tensor<4xf32> at 0 trainable
  mgrt.array variable "v" : tensor<4xf32> at 64 trainable
  mgrt.array variable "u" : tensor<4xf32> at 128 trainable
  mgrt.array gradient "w" of "fit" : tensor<4xf32> at 256
}
func.func private @any() -> tensor<4xf32> attributes {mg.kernel}
func.func private @one(tensor<4xf32>) -> tensor<4xf32> attributes {mg.kernel}
func.func private @two(tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> attributes {mg.kernel}
func.func private @half(tensor<4xf32>) -> tensor<2xf32> attributes {mg.kernel}
func.func private @both(tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) attributes {mg.kernel}

//===-- Arrays

// CHECK-LABEL: mgrt.entry @updated_in_place
// CHECK-NEXT: mgrt.launch @one(<state, 0, 16, "w">) -> (<state, 0, 16, "w">)
// CHECK-NEXT: }
func.func @updated_in_place(%w: tensor<4xf32> {mg.role = "variable", mg.name = "w"}) -> (tensor<4xf32> {mg.role = "variable", mg.name = "w"})
    attributes {mg.entry = "update", mg.owner = "fit"} {
  %next = mg.launch @one(%w) {inplace = [array<i64: 0, 0>]} : (tensor<4xf32>) -> tensor<4xf32>
  return %next : tensor<4xf32>
}

// The kernel reads elsewhere than where it writes.
// CHECK-LABEL: mgrt.entry @not_allowed
// CHECK-NEXT: mgrt.launch @one(<state, 0, 16, "w">) -> (<temporary, 0, 16>)
// CHECK-NEXT: mgrt.copy <temporary, 0, 16> to <state, 0, 16, "w">
// CHECK-NEXT: }
func.func @not_allowed(%w: tensor<4xf32> {mg.role = "variable", mg.name = "w"}) -> (tensor<4xf32> {mg.role = "variable", mg.name = "w"})
    attributes {mg.entry = "update", mg.owner = "fit"} {
  %next = mg.launch @one(%w) : (tensor<4xf32>) -> tensor<4xf32>
  return %next : tensor<4xf32>
}

// Allowed for one operand, but the other one is the same array.
// CHECK-LABEL: mgrt.entry @same_twice
// CHECK-NEXT: mgrt.launch @two(<state, 0, 16, "w">, <state, 0, 16, "w">) -> (<temporary, 0, 16>)
// CHECK-NEXT: mgrt.copy <temporary, 0, 16> to <state, 0, 16, "w">
// CHECK-NEXT: }
func.func @same_twice(%w: tensor<4xf32> {mg.role = "variable", mg.name = "w"}) -> (tensor<4xf32> {mg.role = "variable", mg.name = "w"})
    attributes {mg.entry = "update", mg.owner = "fit"} {
  %next = mg.launch @two(%w, %w) {inplace = [array<i64: 0, 0>]} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %next : tensor<4xf32>
}

// CHECK-LABEL: mgrt.entry @both_allowed
// CHECK-NEXT: mgrt.launch @two(<state, 0, 16, "w">, <state, 0, 16, "w">) -> (<state, 0, 16, "w">)
// CHECK-NEXT: }
func.func @both_allowed(%w: tensor<4xf32> {mg.role = "variable", mg.name = "w"}) -> (tensor<4xf32> {mg.role = "variable", mg.name = "w"})
    attributes {mg.entry = "update", mg.owner = "fit"} {
  %next = mg.launch @two(%w, %w) {inplace = [array<i64: 0, 0>, array<i64: 1, 0>]} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %next : tensor<4xf32>
}

// CHECK-LABEL: mgrt.entry @read_before
// CHECK-NEXT: mgrt.launch @one(<state, 0, 16, "w">) -> (<temporary, [[T:[0-9]+]], 16>)
// CHECK-NEXT: mgrt.launch @one(<temporary, [[T]], 16>) -> (<state, 0, 16, "w">)
// CHECK-NEXT: }
func.func @read_before(%w: tensor<4xf32> {mg.role = "variable", mg.name = "w"}) -> (tensor<4xf32> {mg.role = "variable", mg.name = "w"})
    attributes {mg.entry = "update", mg.owner = "fit"} {
  %t = mg.launch @one(%w) : (tensor<4xf32>) -> tensor<4xf32>
  %next = mg.launch @one(%t) : (tensor<4xf32>) -> tensor<4xf32>
  return %next : tensor<4xf32>
}

// The old value is read later, through a view: the new one waits in a temporary.
// CHECK-LABEL: mgrt.entry @read_later
// CHECK-NEXT: mgrt.launch @one(<state, 0, 16, "w">) -> (<temporary, [[NEXT:[0-9]+]], 16>)
// CHECK-NEXT: mgrt.launch @two(<state, 0, 16, "w">, <state, 64, 16, "v">) -> (<state, 64, 16, "v">)
// CHECK-NEXT: mgrt.copy <temporary, [[NEXT]], 16> to <state, 0, 16, "w">
// CHECK-NEXT: }
func.func @read_later(%w: tensor<4xf32> {mg.role = "variable", mg.name = "w"}, %v: tensor<4xf32> {mg.role = "variable", mg.name = "v"})
    -> (tensor<4xf32> {mg.role = "variable", mg.name = "w"}, tensor<4xf32> {mg.role = "variable", mg.name = "v"})
    attributes {mg.entry = "update", mg.owner = "fit"} {
  %next = mg.launch @one(%w) {inplace = [array<i64: 0, 0>]} : (tensor<4xf32>) -> tensor<4xf32>
  %square = mg.reshape %w, shape = [2, 2] : tensor<4xf32> -> tensor<2x2xf32>
  %row = mg.reshape %square, shape = [4] : tensor<2x2xf32> -> tensor<4xf32>
  %other = mg.launch @two(%row, %v) {inplace = [array<i64: 1, 0>]} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %next, %other : tensor<4xf32>, tensor<4xf32>
}

// The pair is of another result.
// CHECK-LABEL: mgrt.entry @other_result
// CHECK-NEXT: mgrt.launch @both(<state, 0, 16, "w">) -> (<temporary, 0, 16, {{.*}}>, <state, 64, 16, "v">)
// CHECK-NEXT: mgrt.copy <temporary, 0, 16, {{.*}}> to <state, 0, 16, "w">
// CHECK-NEXT: }
func.func @other_result(%w: tensor<4xf32> {mg.role = "variable", mg.name = "w"})
    -> (tensor<4xf32> {mg.role = "variable", mg.name = "w"}, tensor<4xf32> {mg.role = "variable", mg.name = "v"})
    attributes {mg.entry = "update", mg.owner = "fit"} {
  %parts:2 = mg.launch @both(%w) {inplace = [array<i64: 0, 1>]} : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) loc("parts")
  return %parts#0, %parts#1 : tensor<4xf32>, tensor<4xf32>
}

// What is returned twice is computed in one array and copied to the other.
// CHECK-LABEL: mgrt.entry @returned_twice
// CHECK-NEXT: mgrt.launch @any() -> (<state, 0, 16, "w">)
// CHECK-NEXT: mgrt.copy <state, 0, 16, "w"> to <state, 64, 16, "v">
// CHECK-NEXT: }
func.func @returned_twice() -> (tensor<4xf32> {mg.role = "variable", mg.name = "w"}, tensor<4xf32> {mg.role = "variable", mg.name = "v"})
    attributes {mg.entry = "init"} {
  %x = mg.launch @any() : () -> tensor<4xf32>
  return %x, %x : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: mgrt.entry @unchanged update of "fit" unit 0 {
// CHECK-NEXT: }
func.func @unchanged(%w: tensor<4xf32> {mg.role = "variable", mg.name = "w"}) -> (tensor<4xf32> {mg.role = "variable", mg.name = "w"})
    attributes {mg.entry = "update", mg.owner = "fit"} {
  return %w : tensor<4xf32>
}

// CHECK-LABEL: mgrt.entry @exchanged
// CHECK-DAG: mgrt.copy <state, 0, 16, "w"> to <temporary, [[W:[0-9]+]], 16, "w">
// CHECK-DAG: mgrt.copy <state, 64, 16, "v"> to <temporary, [[V:[0-9]+]], 16, "v">
// CHECK: mgrt.copy <temporary, [[V]], 16, "v"> to <state, 0, 16, "w">
// CHECK-NEXT: mgrt.copy <temporary, [[W]], 16, "w"> to <state, 64, 16, "v">
// CHECK-NEXT: }
func.func @exchanged(%w: tensor<4xf32> {mg.role = "variable", mg.name = "w"}, %v: tensor<4xf32> {mg.role = "variable", mg.name = "v"})
    -> (tensor<4xf32> {mg.role = "variable", mg.name = "w"}, tensor<4xf32> {mg.role = "variable", mg.name = "v"})
    attributes {mg.entry = "update", mg.owner = "fit"} {
  return %v, %w : tensor<4xf32>, tensor<4xf32>
}

// The old w moves to v: the new w waits, and the old one is taken out before it comes.
// CHECK-LABEL: mgrt.entry @moved_on
// CHECK-NEXT: mgrt.launch @one(<state, 0, 16, "w">) -> (<temporary, [[NEXT:[0-9]+]], 16>)
// CHECK-NEXT: mgrt.copy <state, 0, 16, "w"> to <temporary, [[OLD:[0-9]+]], 16, "w">
// CHECK-DAG: mgrt.copy <temporary, [[NEXT]], 16> to <state, 0, 16, "w">
// CHECK-DAG: mgrt.copy <temporary, [[OLD]], 16, "w"> to <state, 64, 16, "v">
// CHECK-NEXT: }
func.func @moved_on(%w: tensor<4xf32> {mg.role = "variable", mg.name = "w"})
    -> (tensor<4xf32> {mg.role = "variable", mg.name = "w"}, tensor<4xf32> {mg.role = "variable", mg.name = "v"})
    attributes {mg.entry = "update", mg.owner = "fit"} {
  %next = mg.launch @one(%w) {inplace = [array<i64: 0, 0>]} : (tensor<4xf32>) -> tensor<4xf32>
  return %next, %w : tensor<4xf32>, tensor<4xf32>
}

//===-- Temporaries

// CHECK-LABEL: mgrt.entry @dying
// CHECK-NEXT: mgrt.launch @any() -> (<temporary, [[A:[0-9]+]], 16, "a">)
// CHECK-NEXT: mgrt.launch @one(<temporary, [[A]], 16, "a">) -> (<temporary, [[A]], 16, "b">)
// CHECK-NEXT: mgrt.launch @one(<temporary, [[A]], 16, "b">) -> (<temporary, [[A]], 16, "c">)
func.func @dying() attributes {mg.entry = "update", mg.owner = "fit"} {
  %a = mg.launch @any() : () -> tensor<4xf32> loc("a")
  %b = mg.launch @one(%a) {inplace = [array<i64: 0, 0>]} : (tensor<4xf32>) -> tensor<4xf32> loc("b")
  %c = mg.launch @one(%b) {inplace = [array<i64: 0, 0>]} : (tensor<4xf32>) -> tensor<4xf32> loc("c")
  return
}

// CHECK-LABEL: mgrt.entry @still_used
// CHECK-NEXT: mgrt.launch @any() -> (<temporary, 0, 16>)
// CHECK-NEXT: mgrt.launch @one(<temporary, 0, 16>) -> (<temporary, 1, 16>)
// CHECK-NEXT: mgrt.launch @one(<temporary, 0, 16>) -> (<temporary, {{[02]}}, 16>)
func.func @still_used() attributes {mg.entry = "update", mg.owner = "fit"} {
  %a = mg.launch @any() : () -> tensor<4xf32> loc(unknown)
  %b = mg.launch @one(%a) {inplace = [array<i64: 0, 0>]} : (tensor<4xf32>) -> tensor<4xf32> loc(unknown)
  %c = mg.launch @one(%a) : (tensor<4xf32>) -> tensor<4xf32> loc(unknown)
  return
}

// CHECK-LABEL: mgrt.entry @dies_as_a_view
// CHECK-NEXT: mgrt.launch @any() -> (<temporary, 0, 16>)
// CHECK-NEXT: mgrt.launch @one(<temporary, 0, 16>) -> (<temporary, 1, 16>)
// CHECK-NEXT: mgrt.launch @one(<temporary, 0, 16>)
func.func @dies_as_a_view() attributes {mg.entry = "update", mg.owner = "fit"} {
  %a = mg.launch @any() : () -> tensor<4xf32> loc(unknown)
  %square = mg.reshape %a, shape = [2, 2] : tensor<4xf32> -> tensor<2x2xf32>
  %row = mg.reshape %square, shape = [4] : tensor<2x2xf32> -> tensor<4xf32>
  %b = mg.launch @one(%a) {inplace = [array<i64: 0, 0>]} : (tensor<4xf32>) -> tensor<4xf32> loc(unknown)
  %c = mg.launch @one(%row) : (tensor<4xf32>) -> tensor<4xf32> loc(unknown)
  return
}

// CHECK-LABEL: mgrt.entry @other_size
// CHECK-NEXT: mgrt.launch @any() -> (<temporary, 0, 16>)
// CHECK-NEXT: mgrt.launch @half(<temporary, 0, 16>) -> (<temporary, 1, 8>)
func.func @other_size() attributes {mg.entry = "update", mg.owner = "fit"} {
  %a = mg.launch @any() : () -> tensor<4xf32> loc(unknown)
  %b = mg.launch @half(%a) {inplace = [array<i64: 0, 0>]} : (tensor<4xf32>) -> tensor<2xf32> loc(unknown)
  return
}

// One of two results takes the operand's place.
// CHECK-LABEL: mgrt.entry @two_heirs
// CHECK-NEXT: mgrt.launch @any() -> (<temporary, 0, 16>)
// CHECK-NEXT: mgrt.launch @both(<temporary, 0, 16>) -> (<temporary, 0, 16>, <temporary, 1, 16>)
func.func @two_heirs() attributes {mg.entry = "update", mg.owner = "fit"} {
  %a = mg.launch @any() : () -> tensor<4xf32> loc(unknown)
  %b:2 = mg.launch @both(%a) {inplace = [array<i64: 0, 0>, array<i64: 0, 1>]} : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) loc(unknown)
  return
}

//===-- All-reduces

// The sums of a window are reduced where they lie, and the update happens in place on the variable.
// CHECK-LABEL: mgrt.entry @window
// CHECK-NEXT: mgrt.all_reduce sum f32 <state, 256, 16, "gradient w">
// CHECK-NEXT: mgrt.launch @two(<state, 0, 16, "w">, <state, 256, 16, "gradient w">) -> (<state, 0, 16, "w">)
// CHECK-NEXT: }
func.func @window(%w: tensor<4xf32> {mg.role = "variable", mg.name = "w"}, %g: tensor<4xf32> {mg.role = "gradient", mg.name = "w"})
    -> (tensor<4xf32> {mg.role = "variable", mg.name = "w"}) attributes {mg.entry = "update", mg.owner = "fit"} {
  %sum = shard.all_reduce %g on @devices grid_axes = [0] : tensor<4xf32> -> tensor<4xf32>
  %next = mg.launch @two(%w, %sum) {inplace = [array<i64: 0, 0>]} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %next : tensor<4xf32>
}

// The device's own part is needed after the reduction.
// CHECK-LABEL: mgrt.entry @window_used_later
// CHECK-NEXT: mgrt.copy <state, 256, 16, "gradient w"> to <temporary, 0, 16>
// CHECK-NEXT: mgrt.all_reduce sum f32 <temporary, 0, 16>
// CHECK-NEXT: mgrt.launch @two(<state, 256, 16, "gradient w">, <temporary, 0, 16>)
func.func @window_used_later(%g: tensor<4xf32> {mg.role = "gradient", mg.name = "w"}) attributes {mg.entry = "update", mg.owner = "fit"} {
  %sum = shard.all_reduce %g on @devices grid_axes = [0] : tensor<4xf32> -> tensor<4xf32> loc(unknown)
  %y = mg.launch @two(%g, %sum) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> loc(unknown)
  return
}

// A variable outlives the entry: it is reduced on a copy, unless the result is the variable.
// CHECK-LABEL: mgrt.entry @variable
// CHECK-NEXT: mgrt.copy <state, 0, 16, "w"> to <temporary, 0, 16>
// CHECK-NEXT: mgrt.all_reduce sum f32 <temporary, 0, 16>
// CHECK-NEXT: mgrt.all_reduce sum f32 <state, 64, 16, "v">
// CHECK-NEXT: }
func.func @variable(%w: tensor<4xf32> {mg.role = "variable", mg.name = "w"}, %v: tensor<4xf32> {mg.role = "variable", mg.name = "v"})
    -> (tensor<4xf32> {mg.role = "variable", mg.name = "v"}) attributes {mg.entry = "update", mg.owner = "fit"} {
  %copied = shard.all_reduce %w on @devices grid_axes = [0] : tensor<4xf32> -> tensor<4xf32> loc(unknown)
  %stays = shard.all_reduce %v on @devices grid_axes = [0] : tensor<4xf32> -> tensor<4xf32> loc(unknown)
  return %stays : tensor<4xf32>
}

// CHECK-LABEL: mgrt.entry @temporary
// CHECK-NEXT: mgrt.launch @any() -> (<temporary, 0, 16>)
// CHECK-NEXT: mgrt.all_reduce max f32 <temporary, 0, 16>
// CHECK-NEXT: mgrt.launch @one(<temporary, 0, 16>)
func.func @temporary() attributes {mg.entry = "update", mg.owner = "fit"} {
  %a = mg.launch @any() : () -> tensor<4xf32> loc(unknown)
  %max = shard.all_reduce %a on @devices grid_axes = [0] reduction = max : tensor<4xf32> -> tensor<4xf32> loc(unknown)
  %b = mg.launch @one(%max) : (tensor<4xf32>) -> tensor<4xf32> loc(unknown)
  return
}

// What is reduced is returned: computed and reduced in the array.
// CHECK-LABEL: mgrt.entry @reduced_result
// CHECK-NEXT: mgrt.launch @any() -> (<state, 0, 16, "w">)
// CHECK-NEXT: mgrt.all_reduce max f32 <state, 0, 16, "w">
// CHECK-NEXT: }
func.func @reduced_result() -> (tensor<4xf32> {mg.role = "variable", mg.name = "w"}) attributes {mg.entry = "update", mg.owner = "fit"} {
  %a = mg.launch @any() : () -> tensor<4xf32> loc(unknown)
  %max = shard.all_reduce %a on @devices grid_axes = [0] reduction = max : tensor<4xf32> -> tensor<4xf32> loc(unknown)
  return %max : tensor<4xf32>
}

// The array's old value is still read between: neither the value nor its reduction may come there.
// CHECK-LABEL: mgrt.entry @reduced_result_too_early
// CHECK-NEXT: mgrt.launch @any() -> (<temporary, [[T:[0-9]+]], 16>)
// CHECK-NEXT: mgrt.launch @one(<state, 0, 16, "w">)
// CHECK-NEXT: mgrt.all_reduce max f32 <temporary, [[T]], 16>
// CHECK-NEXT: mgrt.copy <temporary, [[T]], 16> to <state, 0, 16, "w">
// CHECK-NEXT: }
func.func @reduced_result_too_early(%w: tensor<4xf32> {mg.role = "variable", mg.name = "w"}) -> (tensor<4xf32> {mg.role = "variable", mg.name = "w"})
    attributes {mg.entry = "update", mg.owner = "fit"} {
  %a = mg.launch @any() : () -> tensor<4xf32> loc(unknown)
  %b = mg.launch @one(%w) : (tensor<4xf32>) -> tensor<4xf32> loc(unknown)
  %max = shard.all_reduce %a on @devices grid_axes = [0] reduction = max : tensor<4xf32> -> tensor<4xf32> loc(unknown)
  return %max : tensor<4xf32>
}
