// mgc's options that print, its exit statuses, and that nothing is left behind after an error.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: mgc --print-library | FileCheck %s --check-prefix=LIBRARY
// LIBRARY-DAG: mg.optimizer @sgd(
// LIBRARY-DAG: mg.optimizer @adam(
// LIBRARY-DAG: mg.optimizer @adamw(
// LIBRARY-DAG: mg.optimizer @nadam(
// LIBRARY-DAG: mg.optimizer @rmsprop(

// RUN: mgc %mnist --params | FileCheck %s --check-prefix=PARAMS
// PARAMS: hidden1.kernel {{ *}}784x512xf32 {{ *}}401408
// PARAMS: total {{ *}}535818

// RUN: mgc %mnist --stats | FileCheck %s --check-prefix=STATS
// STATS: fit.accumulate_first.64

// The number of collectives that are explained is that of the schedule (R61).
// RUN: mgc %mnist --explain-comm > %t.explained
// RUN: mgc %mnist --emit=schedule | grep -c 'mgrt.all_reduce ' > %t.count
// RUN: cat %t.count %t.explained | FileCheck %s --check-prefix=COUNT
// COUNT: {{^}}[[COUNT:[0-9]+]]
// COUNT: mlp.mlir:{{[0-9]+}}
// COUNT: collectives: [[COUNT]]

// Wrong use is 2, a wrong model 1; neither leaves a file, and a file that was there stays.
// RUN: not mgc %mnist -o %t.none.mgb --target=tpu 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: not mgc %s -o %t.none.mgb 2>&1 | FileCheck %s --check-prefix=MODEL
// RUN: not ls %t.none.mgb
// RUN: echo before > %t.kept.mgb
// RUN: not mgc %s -o %t.kept.mgb 2>&1 | FileCheck %s --check-prefix=MODEL
// RUN: grep before %t.kept.mgb
// TARGET: error: there is no target 'tpu'; there is cpu
// MODEL: options.mlir:[[@LINE+10]]:10: error: 'mg.matmul' op dimension k is 3 in operand #0 but 2 in operand #1

// RUN: not mgc %mnist -o %t.no-such-folder/m.mgb 2>&1 | FileCheck %s --check-prefix=UNWRITABLE
// UNWRITABLE: error: {{.*}}no-such-folder/m.mgb: {{.*}}
// RUN: not mgc %mnist -o - 2>&1 | FileCheck %s --check-prefix=TERMINAL
// TERMINAL: error: a bundle is no text: name a file with -o
mg.model @m {
  mg.variables @w {kernel: 2x2xf32 = ones}
  mg.func @f(%x: tensor<?x3xf32>) -> tensor<?x2xf32> {
    %k = mg.get @w::@kernel
    %y = mg.matmul %x, %k
    mg.return %y
  }
  mg.predict @f
}
