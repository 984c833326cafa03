// What test/tools/include.mlir includes: an optimizer, and a function of a model.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
mg.optimizer @halving(%p, %g) {
  %half = mg.multiply %p by 0.5
  mg.return %half
}
mg.func @double(%x: tensor<?xf32>) -> tensor<?xf32> {
  %y = mg.add %x, %x
  mg.return %y
}
