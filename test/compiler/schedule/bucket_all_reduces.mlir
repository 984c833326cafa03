// Which all-reduces become one: those of one kind and dtype whose ranges are neighbours, if nothing between needs them apart.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: mg-opt %s --mg-bucket-all-reduces | FileCheck %s
// RUN: mg-opt %s --mg-bucket-all-reduces=max-bytes=192 | FileCheck %s --check-prefix=BOUND

mgrt.state 4096 {
}
func.func private @one(tensor<16xf32>) -> tensor<16xf32> attributes {mg.kernel}

// Neighbours, whatever their order in the program; names and causes are kept, each cause once.
// CHECK-LABEL: mgrt.entry @neighbours
// CHECK-NEXT: mgrt.all_reduce sum f32 <state, 0, 256, "a .. d"> name "la .. ld" because ["rows", "columns"]
// CHECK-NEXT: }
// BOUND-LABEL: mgrt.entry @neighbours
// BOUND-DAG: mgrt.all_reduce sum f32 <state, 0, 192, "a .. c"> name "la .. lc" because ["rows", "columns"]
// BOUND-DAG: mgrt.all_reduce sum f32 <state, 192, 64, "d"> name "ld" because ["rows"]
// BOUND-NEXT: }
mgrt.entry @neighbours update of "fit" unit 0 {
  mgrt.all_reduce sum f32 <state, 128, 64, "c"> name "lc" because ["columns"]
  mgrt.all_reduce sum f32 <state, 0, 64, "a"> name "la" because ["rows"]
  mgrt.all_reduce sum f32 <state, 192, 64, "d"> name "ld" because ["rows"]
  mgrt.all_reduce sum f32 <state, 64, 64, "b"> name "lb" because ["rows", "columns"]
}

// Padding to the next multiple of 64 is no gap, and is reduced too.
// CHECK-LABEL: mgrt.entry @padding
// CHECK-NEXT: mgrt.all_reduce sum f64 <state, 0, 80>
// CHECK-NEXT: }
mgrt.entry @padding update of "fit" unit 0 {
  mgrt.all_reduce sum f64 <state, 0, 8>
  mgrt.all_reduce sum f64 <state, 64, 16>
}

// CHECK-LABEL: mgrt.entry @gap
// CHECK-COUNT-2: mgrt.all_reduce sum f32 <state, {{0|128}}, 64>
// CHECK-NEXT: }
mgrt.entry @gap update of "fit" unit 0 {
  mgrt.all_reduce sum f32 <state, 0, 64>
  mgrt.all_reduce sum f32 <state, 128, 64>
}

// CHECK-LABEL: mgrt.entry @dtypes
// CHECK-NEXT: mgrt.all_reduce sum f32 <state, 0, 128>
// CHECK-NEXT: mgrt.all_reduce sum f64 <state, 128, 64>
// CHECK-NEXT: mgrt.all_reduce sum i64 <state, 192, 64>
// CHECK-NEXT: mgrt.all_reduce sum f32 <state, 256, 64>
// CHECK-NEXT: }
mgrt.entry @dtypes update of "fit" unit 0 {
  mgrt.all_reduce sum f32 <state, 0, 64>
  mgrt.all_reduce sum f32 <state, 64, 64>
  mgrt.all_reduce sum f64 <state, 128, 64>
  mgrt.all_reduce sum i64 <state, 192, 64>
  mgrt.all_reduce sum f32 <state, 256, 64>
}

// CHECK-LABEL: mgrt.entry @kinds
// CHECK-NEXT: mgrt.all_reduce sum f32 <state, 0, 64>
// CHECK-NEXT: mgrt.all_reduce max f32 <state, 64, 128>
// CHECK-NEXT: }
mgrt.entry @kinds update of "fit" unit 0 {
  mgrt.all_reduce sum f32 <state, 0, 64>
  mgrt.all_reduce max f32 <state, 64, 64>
  mgrt.all_reduce max f32 <state, 128, 64>
}

// What lies in the arena has no neighbours: packing decides later.
// CHECK-LABEL: mgrt.entry @temporaries
// CHECK: mgrt.all_reduce sum f32 <temporary, 0, 64>
// CHECK-NEXT: mgrt.all_reduce sum f32 <temporary, 64, 64>
// CHECK-NEXT: }
mgrt.entry @temporaries update of "fit" unit 0 {
  mgrt.fill <temporary, 0, 64> with 0
  mgrt.fill <temporary, 64, 64> with 0
  mgrt.all_reduce sum f32 <temporary, 0, 64>
  mgrt.all_reduce sum f32 <temporary, 64, 64>
}

// The second one moves up, where nobody between touches its range …
// CHECK-LABEL: mgrt.entry @moves_up
// CHECK-NEXT: mgrt.all_reduce sum f32 <state, 0, 128>
// CHECK-NEXT: mgrt.launch
// CHECK-NEXT: }
mgrt.entry @moves_up update of "fit" unit 0 {
  mgrt.all_reduce sum f32 <state, 0, 64>
  mgrt.launch @one(<state, 0, 64>) -> (<state, 1024, 64>)
  mgrt.all_reduce sum f32 <state, 64, 64>
}

// … or the first one moves down …
// CHECK-LABEL: mgrt.entry @moves_down
// CHECK-NEXT: mgrt.launch
// CHECK-NEXT: mgrt.all_reduce sum f32 <state, 0, 128>
// CHECK-NEXT: }
mgrt.entry @moves_down update of "fit" unit 0 {
  mgrt.all_reduce sum f32 <state, 0, 64>
  mgrt.launch @one(<state, 1024, 64>) -> (<state, 64, 64>)
  mgrt.all_reduce sum f32 <state, 64, 64>
}

// … and where both are touched they stay.
// CHECK-LABEL: mgrt.entry @both_touched
// CHECK-NEXT: mgrt.all_reduce sum f32 <state, 0, 64>
// CHECK-NEXT: mgrt.launch
// CHECK-NEXT: mgrt.all_reduce sum f32 <state, 64, 64>
// CHECK-NEXT: }
mgrt.entry @both_touched update of "fit" unit 0 {
  mgrt.all_reduce sum f32 <state, 0, 64>
  mgrt.launch @one(<state, 0, 64>) -> (<state, 64, 64>)
  mgrt.all_reduce sum f32 <state, 64, 64>
}

// A command that touches a part of the range counts, a copy and a fill like any other.
// CHECK-LABEL: mgrt.entry @partly_touched
// CHECK-NEXT: mgrt.all_reduce sum f32 <state, 0, 64>
// CHECK-NEXT: mgrt.copy
// CHECK-NEXT: mgrt.fill
// CHECK-NEXT: mgrt.all_reduce sum f32 <state, 64, 128>
// CHECK-NEXT: }
mgrt.entry @partly_touched update of "fit" unit 0 {
  mgrt.all_reduce sum f32 <state, 0, 64>
  mgrt.copy <state, 0, 4> to <state, 1024, 4>
  mgrt.fill <state, 128, 4> with 0
  mgrt.all_reduce sum f32 <state, 64, 128>
}

// Twice the same range is no neighbour of itself.
// CHECK-LABEL: mgrt.entry @twice
// CHECK-COUNT-2: mgrt.all_reduce sum f32 <state, 0, 64>
// CHECK-NEXT: }
mgrt.entry @twice update of "fit" unit 0 {
  mgrt.all_reduce sum f32 <state, 0, 64>
  mgrt.all_reduce sum f32 <state, 0, 64>
}

// What is larger than the bound alone stays alone; the next bucket begins behind it.
// BOUND-LABEL: mgrt.entry @bound
// BOUND-NEXT: mgrt.all_reduce sum f32 <state, 0, 256>
// BOUND-NEXT: mgrt.all_reduce sum f32 <state, 256, 192>
// BOUND-NEXT: mgrt.all_reduce sum f32 <state, 448, 128>
// BOUND-NEXT: }
mgrt.entry @bound update of "fit" unit 0 {
  mgrt.all_reduce sum f32 <state, 0, 256>
  mgrt.all_reduce sum f32 <state, 256, 128>
  mgrt.all_reduce sum f32 <state, 384, 64>
  mgrt.all_reduce sum f32 <state, 448, 128>
}
