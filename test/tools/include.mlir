// mg.include: beside the model, in --include folders, not found, unreadable text, and a name that is taken.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: split-file %s %t
// RUN: mgc %t/model.mlir --include=%S/Inputs --emit=model | FileCheck %s --check-prefix=FOUND
// RUN: mgc %t/beside.mlir --emit=model | FileCheck %s --check-prefix=FOUND
// RUN: not mgc %t/model.mlir --emit=model 2>&1 | FileCheck %s --check-prefix=MISSING
// RUN: not mgc %t/model.mlir --include=%t --emit=model 2>&1 | FileCheck %s --check-prefix=ELSEWHERE
// RUN: not mgc %t/taken.mlir --include=%S/Inputs --emit=model 2>&1 | FileCheck %s --check-prefix=TAKEN
// RUN: not mgc %t/broken.mlir --emit=model 2>&1 | FileCheck %s --check-prefix=BROKEN

// FOUND: func.func @double.64
// FOUND: mg.add
// FOUND: mg.optimizer @halving
// MISSING: model.mlir:2:3: error: 'mg.include' op finds no file "shared.mlir" beside the model; name its folder with --include
// ELSEWHERE: error: 'mg.include' op finds no file "shared.mlir" beside the model or in {{.*}}; name its folder with --include
// TAKEN: taken.mlir:2:3: error: 'mg.include' op brings '@double', which the model has already
// BROKEN: parts.mlir:2:3: error: custom op 'mg.frobnicate' is unknown

//--- model.mlir
mg.model @m {
  mg.include "shared.mlir"
  mg.predict @double
}

//--- beside.mlir
mg.model @m {
  mg.include "own.mlir"
  mg.predict @double
}

//--- own.mlir
mg.optimizer @halving(%p, %g) {
  mg.return %p
}
mg.func @double(%x: tensor<?xf32>) -> tensor<?xf32> {
  %y = mg.add %x, %x
  mg.return %y
}

//--- taken.mlir
mg.model @m {
  mg.include "shared.mlir"
  mg.func @double(%x: tensor<?xf32>) -> tensor<?xf32> {
    mg.return %x
  }
  mg.predict @double
}

//--- broken.mlir
mg.model @m {
  mg.include "parts.mlir"
}

//--- parts.mlir
mg.func @double(%x: tensor<?xf32>) -> tensor<?xf32> {
  mg.frobnicate %x
  mg.return %x
}
