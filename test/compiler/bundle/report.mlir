// What a scheduled program needs, and why it communicates, as text for people; without a bundle.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: mgc --from=schedule %s --stats | FileCheck %s --check-prefix=STATS
// RUN: mgc --from=schedule %s --explain-comm | FileCheck %s --check-prefix=COMM

// STATS: state: 1024 bytes
// STATS-NEXT: variable 2 arrays 24 bytes
// STATS-NEXT: gradient 1 arrays 16 bytes
// STATS-NEXT: entry @init: 1 launches, 0 collectives of 0 bytes, 0 copies, 0 fills, arena of 0 bytes (1.000 times the live bytes)
// STATS-NEXT: entry @fit.update: 0 launches, 2 collectives of 32 bytes, 2 copies, 1 fills, arena of 192 bytes (1.500 times the live bytes)
// STATS-NEXT: arena: 192 bytes, the largest of all entries

// COMM-NOT: entry @init
// COMM: entry @fit.update
// COMM-NEXT: all_reduce sum f32, 16 bytes: gradient w
// COMM-NEXT: because rows are split
// COMM-NEXT: because columns are split
// COMM-NEXT: at model.mlir:3:7
// COMM-NEXT: at model.mlir:9:1
// COMM-NEXT: all_reduce max i64, 16 bytes
// COMM-NEXT: collectives: 2

func.func private @k() -> tensor<4xf32> attributes {mg.kernel}
mgrt.state 1024 {
  mgrt.array variable "w" : tensor<4xf32> at 0 trainable
  mgrt.array variable "v" : tensor<f64> at 64
  mgrt.array gradient "w" of "fit" : tensor<4xf32> at 128
}
mgrt.entry @init init unit 0 arena 0 live 0 {
  mgrt.launch @k() -> (<state, 0, 16>)
}
mgrt.entry @fit.update update of "fit" unit 0 arena 192 live 128 {
  mgrt.all_reduce sum f32 <state, 128, 16, "gradient w"> because ["rows are split", "columns are split"] loc(fused["a/model.mlir":3:7, "b"("a/model.mlir":9:1)])
  mgrt.copy <state, 128, 16> to <arena, 0, 16>
  mgrt.all_reduce max i64 <arena, 64, 16> loc(unknown)
  mgrt.copy <arena, 0, 16> to <state, 0, 16>
  mgrt.fill <arena, 0, 192> with 255
}
