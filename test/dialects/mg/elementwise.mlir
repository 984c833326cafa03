// The derivative of each element-wise op: what stands between the gradient of its result (masked rows) and that of its operands.
// Values are checked by numerics.walk; here it is which values are used again and that nothing else is computed.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: mg-opt %s --mg-instantiate-model=batch-size=4 --mg-build-entries --canonicalize --cse | FileCheck %s

mg.model @derivatives {
  mg.variables @v {w: 3xf32 = ones}
  mg.optimizer @sgd(%p, %g) {
    %q = mg.subtract %p, %g
    mg.return %q
  }

  // CHECK-LABEL: @negate.accumulate_first.4
  // CHECK: mg.negate
  // CHECK: %[[DY:.*]] = mg.mask_rows
  // CHECK: mg.negate %[[DY]]
  mg.train @negate(%x: tensor<?x3xf32>) {
    %w = mg.get @v::@w
    %s = mg.multiply %x, %w
    %y = mg.negate %s
    mg.minimize %y with @sgd
  }

  // CHECK-LABEL: @abs.accumulate_first.4
  // CHECK: %[[Y:.*]] = mg.abs %[[X:.*]] :
  // CHECK: %[[DY:.*]] = mg.mask_rows
  // CHECK: %[[SIGN:.*]] = mg.sign %[[X]]
  // CHECK: mg.multiply %[[DY]], %[[SIGN]]
  mg.train @abs(%x: tensor<?x3xf32>) {
    %w = mg.get @v::@w
    %s = mg.multiply %x, %w
    %y = mg.abs %s
    mg.minimize %y with @sgd
  }

  // CHECK-LABEL: @exponential.accumulate_first.4
  // CHECK: %[[Y:.*]] = mg.exponential %[[X:.*]] :
  // CHECK: %[[DY:.*]] = mg.mask_rows
  // CHECK: mg.multiply %[[DY]], %[[Y]]
  mg.train @exponential(%x: tensor<?x3xf32>) {
    %w = mg.get @v::@w
    %s = mg.multiply %x, %w
    %y = mg.exponential %s
    mg.minimize %y with @sgd
  }

  // CHECK-LABEL: @exponential_minus_one.accumulate_first.4
  // CHECK: %[[Y:.*]] = mg.exponential_minus_one %[[X:.*]] :
  // CHECK: %[[DY:.*]] = mg.mask_rows
  // CHECK: %[[SLOPE:.*]] = mg.add %[[Y]], %{{.*}}
  // CHECK: mg.multiply %[[DY]], %[[SLOPE]]
  mg.train @exponential_minus_one(%x: tensor<?x3xf32>) {
    %w = mg.get @v::@w
    %s = mg.multiply %x, %w
    %y = mg.exponential_minus_one %s
    mg.minimize %y with @sgd
  }

  // CHECK-LABEL: @log.accumulate_first.4
  // CHECK: %[[Y:.*]] = mg.log %[[X:.*]] :
  // CHECK: %[[DY:.*]] = mg.mask_rows
  // CHECK: mg.divide %[[DY]], %[[X]]
  mg.train @log(%x: tensor<?x3xf32>) {
    %w = mg.get @v::@w
    %s = mg.multiply %x, %w
    %y = mg.log %s
    mg.minimize %y with @sgd
  }

  // CHECK-LABEL: @log_plus_one.accumulate_first.4
  // CHECK: %[[Y:.*]] = mg.log_plus_one %[[X:.*]] :
  // CHECK: %[[DY:.*]] = mg.mask_rows
  // CHECK: %[[BELOW:.*]] = mg.add %[[X]], %{{.*}}
  // CHECK: mg.divide %[[DY]], %[[BELOW]]
  mg.train @log_plus_one(%x: tensor<?x3xf32>) {
    %w = mg.get @v::@w
    %s = mg.multiply %x, %w
    %y = mg.log_plus_one %s
    mg.minimize %y with @sgd
  }

  // CHECK-LABEL: @tanh.accumulate_first.4
  // CHECK: %[[Y:.*]] = mg.tanh %[[X:.*]] :
  // CHECK: %[[DY:.*]] = mg.mask_rows
  // CHECK: %[[SQUARE:.*]] = mg.multiply %[[Y]], %[[Y]]
  // CHECK: %[[SLOPE:.*]] = mg.subtract %{{.*}}, %[[SQUARE]]
  // CHECK: mg.multiply %[[DY]], %[[SLOPE]]
  mg.train @tanh(%x: tensor<?x3xf32>) {
    %w = mg.get @v::@w
    %s = mg.multiply %x, %w
    %y = mg.tanh %s
    mg.minimize %y with @sgd
  }

  // CHECK-LABEL: @sigmoid.accumulate_first.4
  // CHECK: %[[Y:.*]] = mg.sigmoid %[[X:.*]] :
  // CHECK: %[[DY:.*]] = mg.mask_rows
  // CHECK: %[[DYY:.*]] = mg.multiply %[[DY]], %[[Y]]
  // CHECK: %[[REST:.*]] = mg.subtract %{{.*}}, %[[Y]]
  // CHECK: mg.multiply %[[DYY]], %[[REST]]
  mg.train @sigmoid(%x: tensor<?x3xf32>) {
    %w = mg.get @v::@w
    %s = mg.multiply %x, %w
    %y = mg.sigmoid %s
    mg.minimize %y with @sgd
  }

  // CHECK-LABEL: @sqrt.accumulate_first.4
  // CHECK: %[[Y:.*]] = mg.sqrt %[[X:.*]] :
  // CHECK: %[[DY:.*]] = mg.mask_rows
  // CHECK: %[[HALF:.*]] = mg.multiply %[[DY]], %{{.*}}
  // CHECK: mg.divide %[[HALF]], %[[Y]]
  mg.train @sqrt(%x: tensor<?x3xf32>) {
    %w = mg.get @v::@w
    %s = mg.multiply %x, %w
    %y = mg.sqrt %s
    mg.minimize %y with @sgd
  }

  // CHECK-LABEL: @rsqrt.accumulate_first.4
  // CHECK: %[[Y:.*]] = mg.rsqrt %[[X:.*]] :
  // CHECK: %[[DY:.*]] = mg.mask_rows
  // CHECK: %[[HALF:.*]] = mg.multiply %[[DY]], %{{.*}}
  // CHECK: %[[ABOVE:.*]] = mg.multiply %[[HALF]], %[[Y]]
  // CHECK: mg.divide %[[ABOVE]], %[[X]]
  mg.train @rsqrt(%x: tensor<?x3xf32>) {
    %w = mg.get @v::@w
    %s = mg.multiply %x, %w
    %y = mg.rsqrt %s
    mg.minimize %y with @sgd
  }

  // CHECK-LABEL: @sine.accumulate_first.4
  // CHECK: %[[Y:.*]] = mg.sine %[[X:.*]] :
  // CHECK: %[[DY:.*]] = mg.mask_rows
  // CHECK: %[[SLOPE:.*]] = mg.cosine %[[X]]
  // CHECK: mg.multiply %[[DY]], %[[SLOPE]]
  mg.train @sine(%x: tensor<?x3xf32>) {
    %w = mg.get @v::@w
    %s = mg.multiply %x, %w
    %y = mg.sine %s
    mg.minimize %y with @sgd
  }

  // CHECK-LABEL: @cosine.accumulate_first.4
  // CHECK: %[[Y:.*]] = mg.cosine %[[X:.*]] :
  // CHECK: %[[DY:.*]] = mg.mask_rows
  // CHECK: %[[SINE:.*]] = mg.sine %[[X]]
  // CHECK: %[[D:.*]] = mg.multiply %[[DY]], %[[SINE]]
  // CHECK: mg.negate %[[D]]
  mg.train @cosine(%x: tensor<?x3xf32>) {
    %w = mg.get @v::@w
    %s = mg.multiply %x, %w
    %y = mg.cosine %s
    mg.minimize %y with @sgd
  }

  // CHECK-LABEL: @erf.accumulate_first.4
  // CHECK: %[[Y:.*]] = mg.erf %[[X:.*]] :
  // CHECK: %[[DY:.*]] = mg.mask_rows
  // CHECK: mg.exponential
  mg.train @erf(%x: tensor<?x3xf32>) {
    %w = mg.get @v::@w
    %s = mg.multiply %x, %w
    %y = mg.erf %s
    mg.minimize %y with @sgd
  }

  // CHECK-LABEL: @relu.accumulate_first.4
  // CHECK: %[[Y:.*]] = mg.relu %[[X:.*]] :
  // CHECK: %[[DY:.*]] = mg.mask_rows
  // CHECK: %[[OPEN:.*]] = mg.compare gt, %[[Y]], %{{.*}}
  // CHECK: mg.select %[[OPEN]], %[[DY]]
  mg.train @relu(%x: tensor<?x3xf32>) {
    %w = mg.get @v::@w
    %s = mg.multiply %x, %w
    %y = mg.relu %s
    mg.minimize %y with @sgd
  }

  // CHECK-LABEL: @add.accumulate_first.4
  // CHECK: %[[Y:.*]] = mg.add %[[A:.*]], %[[B:.*]] :
  // CHECK: %[[DY:.*]] = mg.mask_rows
  // CHECK: mg.reduce_sum %[[DY]], axes = [0]
  // CHECK: mg.multiply %[[DY]], %{{.*}}
  mg.train @add(%x: tensor<?x3xf32>) {
    %w = mg.get @v::@w
    %s = mg.multiply %x, %w
    %y = mg.add %s, %w
    mg.minimize %y with @sgd
  }

  // CHECK-LABEL: @subtract.accumulate_first.4
  // CHECK: %[[Y:.*]] = mg.subtract %[[A:.*]], %[[B:.*]] :
  // CHECK: %[[DY:.*]] = mg.mask_rows
  // CHECK: mg.negate %[[DY]]
  mg.train @subtract(%x: tensor<?x3xf32>) {
    %w = mg.get @v::@w
    %s = mg.multiply %x, %w
    %y = mg.subtract %s, %w
    mg.minimize %y with @sgd
  }

  // CHECK-LABEL: @multiply.accumulate_first.4
  // CHECK: %[[A:.*]] = mg.multiply %{{.*}}, %[[B:.*]] :
  // CHECK: mg.multiply %[[A]], %[[B]]
  // CHECK: %[[DY:.*]] = mg.mask_rows
  // CHECK: mg.multiply %[[DY]], %[[B]]
  // CHECK: mg.multiply %[[DY]], %[[A]]
  mg.train @multiply(%x: tensor<?x3xf32>) {
    %w = mg.get @v::@w
    %s = mg.multiply %x, %w
    %y = mg.multiply %s, %w
    mg.minimize %y with @sgd
  }

  // CHECK-LABEL: @divide.accumulate_first.4
  // CHECK: %[[Y:.*]] = mg.divide %[[A:.*]], %[[B:.*]] :
  // CHECK: %[[DY:.*]] = mg.mask_rows
  // CHECK: mg.divide %[[DY]], %[[B]]
  // CHECK: %[[ABOVE:.*]] = mg.multiply %[[DY]], %[[Y]]
  // CHECK: %[[RATIO:.*]] = mg.divide %[[ABOVE]], %[[B]]
  // CHECK: mg.negate %[[RATIO]]
  mg.train @divide(%x: tensor<?x3xf32>) {
    %w = mg.get @v::@w
    %s = mg.multiply %x, %w
    %y = mg.divide %s, %w
    mg.minimize %y with @sgd
  }

  // CHECK-LABEL: @maximum.accumulate_first.4
  // CHECK: %[[Y:.*]] = mg.maximum %[[A:.*]], %[[B:.*]] :
  // CHECK: %[[DY:.*]] = mg.mask_rows
  // CHECK: mg.compare gt, %[[A]], %[[B]]
  // CHECK: mg.compare eq, %[[A]], %[[B]]
  // CHECK: mg.compare gt, %[[B]], %[[A]]
  mg.train @maximum(%x: tensor<?x3xf32>) {
    %w = mg.get @v::@w
    %s = mg.multiply %x, %w
    %y = mg.maximum %s, %w
    mg.minimize %y with @sgd
  }

  // CHECK-LABEL: @minimum.accumulate_first.4
  // CHECK: %[[Y:.*]] = mg.minimum %[[A:.*]], %[[B:.*]] :
  // CHECK: %[[DY:.*]] = mg.mask_rows
  // CHECK: mg.compare gt, %[[B]], %[[A]]
  // CHECK: mg.compare gt, %[[A]], %[[B]]
  mg.train @minimum(%x: tensor<?x3xf32>) {
    %w = mg.get @v::@w
    %s = mg.multiply %x, %w
    %y = mg.minimum %s, %w
    mg.minimize %y with @sgd
  }

  // CHECK-LABEL: @remainder.accumulate_first.4
  // CHECK: %[[Y:.*]] = mg.remainder %[[A:.*]], %[[B:.*]] :
  // CHECK: %[[DY:.*]] = mg.mask_rows
  // CHECK: %[[RATIO:.*]] = mg.divide %[[A]], %[[B]]
  // CHECK: %[[WHOLE:.*]] = mg.truncate %[[RATIO]]
  // CHECK: mg.multiply %[[DY]], %[[WHOLE]]
  mg.train @remainder(%x: tensor<?x3xf32>) {
    %w = mg.get @v::@w
    %s = mg.multiply %x, %w
    %y = mg.remainder %s, %w
    mg.minimize %y with @sgd
  }

  // CHECK-LABEL: @power.accumulate_first.4
  // CHECK: %[[Y:.*]] = mg.power %[[A:.*]], %[[B:.*]] :
  // CHECK: %[[DY:.*]] = mg.mask_rows
  // CHECK: %[[ZERO:.*]] = mg.compare eq, %[[B]], %{{.*}}
  // CHECK: mg.power %[[A]]
  // CHECK: mg.select %[[ZERO]]
  // CHECK: mg.compare gt, %[[A]], %{{.*}}
  // CHECK: mg.log
  mg.train @power(%x: tensor<?x3xf32>) {
    %w = mg.get @v::@w
    %s = mg.multiply %x, %w
    %y = mg.power %s, %w
    mg.minimize %y with @sgd
  }

  // CHECK-LABEL: @select.accumulate_first.4
  // The root is differentiated only where it was chosen: no NaN of the other branch.
  // CHECK: %[[C:.*]] = mg.compare lt
  // CHECK: %[[R:.*]] = mg.sqrt
  // CHECK: %[[DY:.*]] = mg.mask_rows
  // CHECK: %[[A:.*]] = mg.select %[[C]], %[[DY]], %{{.*}}
  // CHECK: %[[B:.*]] = mg.select %[[C]], %{{.*}}, %[[DY]]
  // CHECK: %[[D:.*]] = mg.divide %{{.*}}, %[[R]]
  // CHECK: mg.select %[[C]], %{{.*}}, %[[D]]
  mg.train @select(%x: tensor<?x3xf32>) {
    %w = mg.get @v::@w
    %s = mg.multiply %x, %w
    %c = mg.compare lt, %x by 0.0
    %r = mg.sqrt %s
    %y = mg.select %c, %s, %r
    mg.minimize %y with @sgd
  }

  // CHECK-LABEL: @cast.accumulate_first.4
  // CHECK: mg.cast %{{.*}} to f64
  // CHECK: mg.cast %{{.*}} to f32
  mg.train @cast(%x: tensor<?x3xf32>) {
    %w = mg.get @v::@w
    %wide = mg.cast %w to f64
    %xs = mg.cast %x to f64
    %y = mg.multiply %xs, %wide
    mg.minimize %y with @sgd
  }
}
