// The checking mode: the arena is NaN before the first command and after each last use, and 64 bytes that nobody owns lie on both
// sides of every buffer.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: mg-opt %s --mg-pack-arena=check | FileCheck %s
// RUN: mg-opt %s --mg-pack-arena=report -o /dev/null 2>&1 | FileCheck %s --check-prefix=REPORT
// RUN: mg-opt %s --mg-pack-arena='check report' -o /dev/null 2>&1 | FileCheck %s --check-prefix=CHECKED

mgrt.state 1024 {
}
func.func private @one(tensor<16xf32>) -> tensor<16xf32> attributes {mg.kernel}
func.func private @two(tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32> attributes {mg.kernel}
func.func private @both(tensor<16xf32>) -> (tensor<16xf32>, tensor<16xf32>) attributes {mg.kernel}

// Two buffers and three red zones.
// CHECK-LABEL: mgrt.entry @chain
// CHECK-SAME: arena 320 live 128
// CHECK-NEXT: mgrt.fill <arena, 0, 320> with 255 name "unwritten"
// CHECK-NEXT: mgrt.launch @one(<state, 0, 64>) -> (<arena, [[A:64|192]], 64, "a">)
// CHECK-NEXT: mgrt.launch @one(<arena, [[A]], 64, "a">) -> (<arena, [[B:64|192]], 64, "b">)
// CHECK-NEXT: mgrt.fill <arena, [[A]], 64, "a"> with 255 name "dead"
// CHECK-NEXT: mgrt.launch @one(<arena, [[B]], 64, "b">) -> (<arena, [[A]], 64, "c">)
// CHECK-NEXT: mgrt.fill <arena, [[B]], 64, "b"> with 255 name "dead"
// CHECK-NEXT: mgrt.launch @one(<arena, [[A]], 64, "c">) -> (<state, 64, 64>)
// CHECK-NEXT: mgrt.fill <arena, [[A]], 64, "c"> with 255 name "dead"
// CHECK-NEXT: }
// REPORT: :[[#@LINE+2]]:1: remark: arena of 128 bytes, 1.000 times the live bytes
// CHECKED: :[[#@LINE+1]]:1: remark: arena of 320 bytes, 2.500 times the live bytes
mgrt.entry @chain update of "fit" unit 0 {
  mgrt.launch @one(<state, 0, 64>) -> (<temporary, 0, 64, "a">)
  mgrt.launch @one(<temporary, 0, 64, "a">) -> (<temporary, 1, 64, "b">)
  mgrt.launch @one(<temporary, 1, 64, "b">) -> (<temporary, 2, 64, "c">)
  mgrt.launch @one(<temporary, 2, 64, "c">) -> (<state, 64, 64>)
}

// What nobody reads dies where it is written; what is read twice after the second time; what dies together is filled together.
// CHECK-LABEL: mgrt.entry @deaths
// CHECK: mgrt.launch @both({{.*}}) -> (<arena, [[USED:[0-9]+]], 64, "used">, <arena, [[UNUSED:[0-9]+]], 64, "unused">)
// CHECK-NEXT: mgrt.fill <arena, [[UNUSED]], 64, "unused"> with 255
// CHECK-NEXT: mgrt.launch @one(<arena, [[USED]], 64, "used">) -> (<arena, [[OTHER:[0-9]+]], 64, "other">)
// CHECK-NEXT: mgrt.launch @two(<arena, [[USED]], 64, "used">, <arena, [[OTHER]], 64, "other">)
// CHECK-DAG: mgrt.fill <arena, [[USED]], 64, "used"> with 255
// CHECK-DAG: mgrt.fill <arena, [[OTHER]], 64, "other"> with 255
// CHECK-NEXT: }
mgrt.entry @deaths update of "fit" unit 0 {
  mgrt.launch @both(<state, 0, 64>) -> (<temporary, 0, 64, "used">, <temporary, 1, 64, "unused">)
  mgrt.launch @one(<temporary, 0, 64, "used">) -> (<temporary, 2, 64, "other">)
  mgrt.launch @two(<temporary, 0, 64, "used">, <temporary, 2, 64, "other">) -> (<state, 64, 64>)
}

// Without temporaries there is nothing to check.
// CHECK-LABEL: mgrt.entry @nothing
// CHECK-SAME: arena 0 live 0 {
// CHECK-NEXT: mgrt.fill <state, 0, 64> with 0
// CHECK-NEXT: }
// REPORT: :[[#@LINE+1]]:1: remark: arena of 0 bytes, 1.000 times the live bytes
mgrt.entry @nothing update of "fit" unit 0 {
  mgrt.fill <state, 0, 64> with 0
}
