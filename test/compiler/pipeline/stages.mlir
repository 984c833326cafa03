// What each stage leaves, from one model: the invariants that the next one relies on.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: mgc %s --batch-size=4 --emit=model     | FileCheck %s --check-prefix=MODEL     --implicit-check-not='mg.model @' --implicit-check-not=mg.call
// RUN: mgc %s --batch-size=4 --emit=gradient  | FileCheck %s --check-prefix=GRADIENT  --implicit-check-not=mg.minimize --implicit-check-not=mg.get
// RUN: mgc %s --batch-size=4 --emit=partition | FileCheck %s --check-prefix=PARTITION
// RUN: mgc %s --batch-size=4 --emit=kernels   | FileCheck %s --check-prefix=KERNELS   --implicit-check-not='= mg.dot_general' --implicit-check-not='= mg.add'
// RUN: mgc %s --batch-size=4 --emit=schedule  | FileCheck %s --check-prefix=SCHEDULE
// RUN: mgc %s --batch-size=4 --emit=code --cpu=x86-64-v3 | FileCheck %s --check-prefix=CODE --implicit-check-not=linalg.generic
// RUN: mgc %s --batch-size=4 --emit=llvm      | FileCheck %s --check-prefix=LLVM

// MODEL: func.func @fit.4
// MODEL: mg.minimize
// GRADIENT: func.func @fit.accumulate_first.4
// GRADIENT: func.func @fit.update
// GRADIENT: func.func @init
// PARTITION-LABEL: func.func @fit.accumulate_first.4
// PARTITION-NOT: shard.all_reduce
// PARTITION-LABEL: func.func @fit.update
// PARTITION: shard.all_reduce
// KERNELS-LABEL: func.func @fit.accumulate_first.4
// KERNELS: mg.launch
// KERNELS: linalg.generic
// SCHEDULE: mgrt.entry
// SCHEDULE: mgrt.all_reduce
// CODE: mgrt.entry
// LLVM: define
mg.model @line {
  mg.variables @w {slope: 3xf32 = zeros}
  mg.func @f(%x: tensor<?x3xf32>) -> tensor<?xf32> {
    %slope = mg.get @w::@slope
    %y = mg.dot_general %x, %slope contract [1] x [0]
    mg.return %y
  }
  mg.train @fit(%x: tensor<?x3xf32>, %target: tensor<?xf32>) {
    %y = mg.call @f(%x)
    %loss = mg.mean_squared_error %y, %target
    mg.minimize %loss with @sgd {learning_rate = 0.1}
  }
  mg.predict @f
}
