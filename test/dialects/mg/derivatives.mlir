// The derivative of ops that are not element-wise: reductions, moves, products, access by index, losses, dropout.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: mg-opt %s --mg-instantiate-model=batch-size=4 --mg-build-entries --canonicalize --cse | FileCheck %s

mg.model @derivatives {
  mg.variables @v {w: 3xf32 = ones, k: 3x3xf32 = ones}
  mg.optimizer @sgd(%p, %g) {
    %q = mg.subtract %p, %g
    mg.return %q
  }

  // CHECK-LABEL: @reduce_sum.accumulate_first.4
  // CHECK: %[[DY:.*]] = mg.mask_rows
  // CHECK: %[[D:.*]] = mg.broadcast %[[DY]], dims = [0], shape = [4, 3]
  // CHECK: mg.multiply %[[D]], %{{.*}}
  mg.train @reduce_sum(%x: tensor<?x3xf32>) {
    %w = mg.get @v::@w
    %s = mg.multiply %x, %w
    %y = mg.reduce_sum %s, axes = [1]
    mg.minimize %y with @sgd
  }

  // CHECK-LABEL: @reduce_max.accumulate_first.4
  // Ties share evenly.
  // CHECK: %[[Y:.*]] = mg.reduce_max %[[X:.*]], axes = [1]
  // CHECK: %[[DY:.*]] = mg.mask_rows
  // CHECK: %[[MAX:.*]] = mg.broadcast %[[Y]], dims = [0]
  // CHECK: %[[WON:.*]] = mg.compare eq, %[[X]], %[[MAX]]
  // CHECK: %[[COUNT:.*]] = mg.select %[[WON]]
  // CHECK: %[[TIES:.*]] = mg.reduce_sum %[[COUNT]], axes = [1]
  // CHECK: mg.divide %[[DY]], %[[TIES]]
  mg.train @reduce_max(%x: tensor<?x3xf32>) {
    %w = mg.get @v::@w
    %s = mg.multiply %x, %w
    %y = mg.reduce_max %s, axes = [1]
    mg.minimize %y with @sgd
  }

  // CHECK-LABEL: @reduce_prod.accumulate_first.4
  // Right also where factors are 0: zeros are counted.
  // CHECK: mg.reduce_prod
  // CHECK: mg.compare eq
  // CHECK: mg.reduce_prod
  // CHECK: mg.reduce_sum
  mg.train @reduce_prod(%x: tensor<?x3xf32>) {
    %w = mg.get @v::@w
    %s = mg.multiply %x, %w
    %y = mg.reduce_prod %s, axes = [1]
    mg.minimize %y with @sgd
  }

  // CHECK-LABEL: @reduce_mean.accumulate_first.4
  // CHECK: mg.reduce_sum %{{.*}}, axes = [1]
  // CHECK: %[[DY:.*]] = mg.mask_rows
  // CHECK: %[[D:.*]] = mg.divide %[[DY]], %{{.*}}
  // CHECK: mg.broadcast %[[D]], dims = [0], shape = [4, 3]
  mg.train @reduce_mean(%x: tensor<?x3xf32>) {
    %w = mg.get @v::@w
    %s = mg.multiply %x, %w
    %y = mg.reduce_mean %s, axes = [1]
    mg.minimize %y with @sgd
  }

  // CHECK-LABEL: @transpose.accumulate_first.4
  // CHECK: %[[D:.*]] = mg.dot_general
  // CHECK: %[[D:.*]] = mg.dot_general
  // CHECK: mg.transpose %[[D]], permutation = [1, 0]
  mg.train @transpose(%x: tensor<?x3xf32>) {
    %k = mg.get @v::@k
    %t = mg.transpose %k, permutation = [1, 0]
    %y = mg.dot_general %x, %t contract [1] x [0]
    mg.minimize %y with @sgd
  }

  // CHECK-LABEL: @slice.accumulate_first.4
  // The elements between are padded back.
  // CHECK: %[[D:.*]] = mg.reduce_sum
  // CHECK: mg.pad %[[D]], axis = 0, 0 and 0 between 1
  mg.train @slice(%x: tensor<?x3xf32>) {
    %w = mg.get @v::@w
    %s = mg.slice %w, axis = 0, 0 to 3 step 2
    %t = mg.slice %x, axis = 1, 0 to 2
    %y = mg.multiply %t, %s
    mg.minimize %y with @sgd
  }

  // CHECK-LABEL: @pad.accumulate_first.4
  // CHECK: mg.slice %{{.*}}, axis = 0, 1 to 4
  mg.train @pad(%x: tensor<?x3xf32>) {
    %w = mg.get @v::@w
    %s = mg.pad %w, axis = 0, 1 and 2
    %y = mg.reduce_sum %s, axes = [0]
    %z = mg.multiply %x, %y
    mg.minimize %z with @sgd
  }

  // CHECK-LABEL: @concatenate.accumulate_first.4
  // CHECK-DAG: %[[FIRST:.*]] = mg.slice %{{.*}}, axis = 0, 0 to 3
  // CHECK-DAG: %[[SECOND:.*]] = mg.slice %{{.*}}, axis = 0, 3 to 6
  // CHECK: mg.add
  mg.train @concatenate(%x: tensor<?x3xf32>) {
    %w = mg.get @v::@w
    %s = mg.concatenate %w, %w axis = 0
    %y = mg.reduce_sum %s, axes = [0]
    %z = mg.multiply %x, %y
    mg.minimize %z with @sgd
  }

  // CHECK-LABEL: @take.accumulate_first.4
  // Rows taken twice add up; a bad index is reported.
  // CHECK: %[[D:.*]] = mg.mask_rows
  // CHECK: mg.scatter_add %[[D]], %[[I:.*]], 3
  // CHECK: mg.first_bad_row %[[I]], %{{.*}}, %{{.*}}, extent = 3
  mg.train @take(%i: tensor<?xui8>) {
    %k = mg.get @v::@k
    %y = mg.take %k, %i
    mg.minimize %y with @sgd
  }

  // CHECK-LABEL: @dot_general.accumulate_first.4
  // x is data: only the weights have a gradient.
  // CHECK: mg.dot_general %[[X:.*]], %[[K:.*]] contract [1] x [0]
  // CHECK: %[[DY:.*]] = mg.mask_rows
  // CHECK: mg.dot_general %[[X]], %[[DY]] contract [0] x [0]
  // CHECK-NOT: mg.dot_general
  // CHECK: return
  mg.train @dot_general(%x: tensor<?x3xf32>) {
    %k = mg.get @v::@k
    %y = mg.dot_general %x, %k contract [1] x [0]
    mg.minimize %y with @sgd
  }

  // CHECK-LABEL: @softmax.accumulate_first.4
  // CHECK: %[[Y:.*]] = mg.softmax
  // CHECK: %[[DY:.*]] = mg.mask_rows
  // CHECK: %[[DYY:.*]] = mg.multiply %[[DY]], %[[Y]]
  // CHECK: %[[SUM:.*]] = mg.reduce_sum %[[DYY]], axes = [1]
  // CHECK: %[[SUMS:.*]] = mg.broadcast %[[SUM]]
  // CHECK: %[[D:.*]] = mg.subtract %[[DY]], %[[SUMS]]
  // CHECK: mg.multiply %[[D]], %[[Y]]
  mg.train @softmax(%x: tensor<?x3xf32>) {
    %w = mg.get @v::@w
    %s = mg.multiply %x, %w
    %y = mg.softmax %s
    mg.minimize %y with @sgd
  }

  // CHECK-LABEL: @log_softmax.accumulate_first.4
  // CHECK: %[[Y:.*]] = mg.log_softmax
  // CHECK: %[[DY:.*]] = mg.mask_rows
  // CHECK: mg.exponential %[[Y]]
  // CHECK: mg.reduce_sum %[[DY]], axes = [1]
  mg.train @log_softmax(%x: tensor<?x3xf32>) {
    %w = mg.get @v::@w
    %s = mg.multiply %x, %w
    %y = mg.log_softmax %s
    mg.minimize %y with @sgd
  }

  // CHECK-LABEL: @sparse_cross_entropy.accumulate_first.4
  // softmax, less 1 at the label.
  // CHECK: mg.sparse_cross_entropy %[[X:.*]], %[[LABEL:.*]] :
  // CHECK: %[[P:.*]] = mg.softmax %[[X]]
  // CHECK: %[[LESS:.*]] = mg.subtract %[[P]], %{{.*}}
  // CHECK: mg.select %{{.*}}, %[[LESS]], %[[P]]
  mg.train @sparse_cross_entropy(%x: tensor<?x3xf32>, %label: tensor<?xui8>) {
    %w = mg.get @v::@w
    %s = mg.multiply %x, %w
    %y = mg.sparse_cross_entropy %s, %label
    mg.minimize %y with @sgd
  }

  // CHECK-LABEL: @binary_cross_entropy.accumulate_first.4
  // CHECK: mg.binary_cross_entropy %[[X:.*]], %[[T:.*]] :
  // CHECK: %[[DY:.*]] = mg.mask_rows
  // CHECK: %[[P:.*]] = mg.sigmoid %[[X]]
  // CHECK: %[[D:.*]] = mg.subtract %[[P]], %[[T]]
  // CHECK: mg.multiply %[[DY]], %[[D]]
  mg.train @binary_cross_entropy(%x: tensor<?x3xf32>, %t: tensor<?x3xf32>) {
    %w = mg.get @v::@w
    %s = mg.multiply %x, %w
    %y = mg.binary_cross_entropy %s, %t
    mg.minimize %y with @sgd
  }

  // CHECK-LABEL: @dropout.accumulate_first.4
  // The mask of the way forward, once; no mask outside training.
  // CHECK: %[[KEEP:.*]] = mg.keep_mask %{{.*}}, %{{.*}}, %{{.*}}, rate = 2.500000e-01
  // CHECK: mg.select %[[KEEP]]
  // CHECK: %[[DY:.*]] = mg.mask_rows
  // CHECK-NOT: mg.keep_mask
  // CHECK: %[[D:.*]] = mg.select %[[KEEP]], %[[DY]]
  // CHECK: mg.multiply %[[D]]
  // CHECK: return
  // CHECK-LABEL: @dropout.evaluate.4
  // CHECK-NOT: mg.keep_mask
  // CHECK: return
  mg.train @dropout(%x: tensor<?x3xf32>) {
    %w = mg.get @v::@w
    %s = mg.multiply %x, %w
    %y = mg.dropout %s, 0.25
    mg.minimize %y with @sgd
  }
}
