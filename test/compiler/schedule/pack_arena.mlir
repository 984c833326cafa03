// Where temporaries lie: those that live at one time apart, others on each other, at multiples of 64. The arena is never smaller
// than what lives at one command.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: mg-opt %s --mg-pack-arena | FileCheck %s
// RUN: mg-opt %s --mg-pack-arena > %t
// RUN: mg-opt %t --mg-pack-arena | cmp %t -

mgrt.state 1024 {
}
func.func private @one(tensor<16xf32>) -> tensor<16xf32> attributes {mg.kernel}
func.func private @two(tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32> attributes {mg.kernel}
func.func private @both(tensor<16xf32>) -> (tensor<16xf32>, tensor<16xf32>) attributes {mg.kernel}

// What a command reads and what it writes live at one time.
// CHECK-LABEL: mgrt.entry @chain
// CHECK-SAME: arena 128 live 128
// CHECK-NEXT: mgrt.launch @one(<state, 0, 64>) -> (<arena, [[A:[0-9]+]], 64, "a">)
// CHECK-NEXT: mgrt.launch @one(<arena, [[A]], 64, "a">) -> (<arena, [[B:[0-9]+]], 64, "b">)
// CHECK-NEXT: mgrt.launch @one(<arena, [[B]], 64, "b">) -> (<arena, [[A]], 64, "c">)
// CHECK-NEXT: mgrt.launch @one(<arena, [[A]], 64, "c">) -> (<arena, [[B]], 64, "d">)
// CHECK-NEXT: mgrt.launch @one(<arena, [[B]], 64, "d">) -> (<state, 64, 64>)
mgrt.entry @chain update of "fit" unit 0 {
  mgrt.launch @one(<state, 0, 64>) -> (<temporary, 0, 64, "a">)
  mgrt.launch @one(<temporary, 0, 64, "a">) -> (<temporary, 1, 64, "b">)
  mgrt.launch @one(<temporary, 1, 64, "b">) -> (<temporary, 2, 64, "c">)
  mgrt.launch @one(<temporary, 2, 64, "c">) -> (<temporary, 3, 64, "d">)
  mgrt.launch @one(<temporary, 3, 64, "d">) -> (<state, 64, 64>)
}

// Three values that all live until the end lie apart.
// CHECK-LABEL: mgrt.entry @together
// CHECK-SAME: arena 192 live 192
// CHECK-DAG: -> (<arena, 0, 64, {{.*}}>)
// CHECK-DAG: -> (<arena, 64, 64, {{.*}}>)
// CHECK-DAG: -> (<arena, 128, 64, {{.*}}>)
// CHECK: mgrt.launch @two
mgrt.entry @together update of "fit" unit 0 {
  mgrt.launch @one(<state, 0, 64>) -> (<temporary, 0, 64, "a">)
  mgrt.launch @one(<state, 0, 64>) -> (<temporary, 1, 64, "b">)
  mgrt.launch @one(<state, 0, 64>) -> (<temporary, 2, 64, "c">)
  mgrt.launch @two(<temporary, 0, 64, "a">, <temporary, 1, 64, "b">) -> (<state, 64, 64>)
  mgrt.launch @one(<temporary, 2, 64, "c">) -> (<state, 128, 64>)
}

// Between its uses a value lives, though no command touches it.
// CHECK-LABEL: mgrt.entry @kept
// CHECK-SAME: arena 128 live 128
// CHECK-NEXT: mgrt.launch @one(<state, 0, 64>) -> (<arena, [[KEPT:[0-9]+]], 64, "kept">)
// CHECK-NEXT: mgrt.launch @one(<state, 0, 64>) -> (<arena, [[SHORT:[0-9]+]], 64, "short">)
// CHECK-NEXT: mgrt.launch @one(<arena, [[SHORT]], 64, "short">) -> (<state, 64, 64>)
// CHECK-NEXT: mgrt.launch @one(<state, 0, 64>) -> (<arena, [[SHORT]], 64, "next">)
// CHECK-NEXT: mgrt.launch @two(<arena, [[KEPT]], 64, "kept">, <arena, [[SHORT]], 64, "next">)
mgrt.entry @kept update of "fit" unit 0 {
  mgrt.launch @one(<state, 0, 64>) -> (<temporary, 0, 64, "kept">)
  mgrt.launch @one(<state, 0, 64>) -> (<temporary, 1, 64, "short">)
  mgrt.launch @one(<temporary, 1, 64, "short">) -> (<state, 64, 64>)
  mgrt.launch @one(<state, 0, 64>) -> (<temporary, 2, 64, "next">)
  mgrt.launch @two(<temporary, 0, 64, "kept">, <temporary, 2, 64, "next">) -> (<state, 128, 64>)
}

// What is written in place is one buffer; what nobody reads has one too; results of one command lie apart.
// CHECK-LABEL: mgrt.entry @results
// CHECK-SAME: arena 128 live 128
// CHECK-NEXT: mgrt.launch @one(<state, 0, 64>) -> (<arena, [[A:[0-9]+]], 64, "a">)
// CHECK-NEXT: mgrt.launch @both(<arena, [[A]], 64, "a">) -> (<arena, [[A]], 64, "b">, <arena, {{[0-9]+}}, 64, "unused">)
mgrt.entry @results update of "fit" unit 0 {
  mgrt.launch @one(<state, 0, 64>) -> (<temporary, 0, 64, "a">)
  mgrt.launch @both(<temporary, 0, 64, "a">) -> (<temporary, 0, 64, "b">, <temporary, 1, 64, "unused">)
}

// Sizes are rounded up to 64, the largest is placed first; the numbers of temporaries mean nothing.
// CHECK-LABEL: mgrt.entry @alignment
// CHECK-SAME: arena 256 live 256
// CHECK-NEXT: mgrt.fill <arena, 192, 4, "a"> with 0
// CHECK-NEXT: mgrt.fill <arena, 0, 65, "b"> with 0
// CHECK-NEXT: mgrt.fill <arena, 128, 64, "c"> with 0
// CHECK-NEXT: mgrt.copy <arena, 192, 4, "a">
// CHECK-NEXT: mgrt.copy <arena, 0, 65, "b">
// CHECK-NEXT: mgrt.copy <arena, 128, 64, "c">
mgrt.entry @alignment update of "fit" unit 0 {
  mgrt.fill <temporary, 7, 4, "a"> with 0
  mgrt.fill <temporary, 1000, 65, "b"> with 0
  mgrt.fill <temporary, 3, 64, "c"> with 0
  mgrt.copy <temporary, 7, 4, "a"> to <state, 0, 4>
  mgrt.copy <temporary, 1000, 65, "b"> to <state, 0, 65>
  mgrt.copy <temporary, 3, 64, "c"> to <state, 0, 64>
}

// A large one goes where two small ones were.
// CHECK-LABEL: mgrt.entry @joined
// CHECK-SAME: arena 256 live 256
mgrt.entry @joined update of "fit" unit 0 {
  mgrt.fill <temporary, 0, 128> with 0
  mgrt.fill <temporary, 1, 128> with 0
  mgrt.copy <temporary, 0, 128> to <state, 0, 128>
  mgrt.copy <temporary, 1, 128> to <state, 0, 128>
  mgrt.fill <temporary, 2, 256> with 0
  mgrt.copy <temporary, 2, 256> to <state, 0, 256>
}

// CHECK-LABEL: mgrt.entry @nothing
// CHECK-SAME: arena 0 live 0
mgrt.entry @nothing update of "fit" unit 0 {
  mgrt.fill <state, 0, 64> with 0
}

// CHECK-LABEL: mgrt.entry @empty
// CHECK-SAME: arena 0 live 0
// CHECK-NEXT: mgrt.fill <arena, 0, 0> with 0
mgrt.entry @empty update of "fit" unit 0 {
  mgrt.fill <temporary, 0, 0> with 0
}
