// mg.include: beside the model, in --include folders, not found, unreadable text, and a name that is taken.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: split-file %s %t
// RUN: mgc %t/model.mlir --include=%S/Inputs --emit=model | FileCheck %s --check-prefix=FOUND
// RUN: mgc %t/beside.mlir --emit=model | FileCheck %s --check-prefix=FOUND
// RUN: not mgc %t/model.mlir --emit=model 2>&1 | FileCheck %s --check-prefix=MISSING
// RUN: not mgc %t/model.mlir --include=%t --emit=model 2>&1 | FileCheck %s --check-prefix=ELSEWHERE
// RUN: not mgc %t/taken.mlir --include=%S/Inputs --emit=model 2>&1 | FileCheck %s --check-prefix=TAKEN
// RUN: not mgc %t/broken.mlir --emit=model 2>&1 | FileCheck %s --check-prefix=BROKEN
// RUN: mgc %t/several.mlir --emit=model | FileCheck %s --check-prefix=SEVERAL
// RUN: not mgc %t/outside.mlir --emit=model 2>&1 | FileCheck %s --check-prefix=OUTSIDE
// RUN: not mgc %t/folder.mlir --emit=model 2>&1 | FileCheck %s --check-prefix=FOLDER

// Two files, one of which includes the other and the model itself again.
// SEVERAL: func.func @double.64
// SEVERAL: func.func @half.64
// OUTSIDE: outside.mlir:1:1: error: 'mg.include' op stands outside the mg.model that it is for
// FOLDER: folder.mlir:2:3: error: 'mg.include' op {{.*}} is no file

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

//--- several.mlir
mg.model @m {
  mg.include "half.mlir"
  mg.include "own.mlir"
  mg.predict @double
  mg.predict @half
}

//--- half.mlir
mg.include "own.mlir"
mg.include "several.mlir"
mg.func @half(%x: tensor<?xf32>) -> tensor<?xf32> {
  %y = mg.multiply %x by 0.5
  mg.return %y
}

//--- outside.mlir
mg.include "own.mlir"
mg.model @m {
  mg.predict @double
}

//--- folder.mlir
mg.model @m {
  mg.include "."
}
