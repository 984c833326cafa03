// Which functions the runtime calls, and that each argument and result says by role and name where it lives (RATIONALE C1).
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: mg-opt %s --mg-instantiate-model=batch-size=4 --mg-build-entries --canonicalize --cse | FileCheck %s

// CHECK: module @m attributes {mg.interface = {
// CHECK-SAME: inputs = [{loc = {{.*}}, name = "x", type = tensor<3xf32>}, {loc = {{.*}}, name = "label", type = tensor<ui8>}]
// CHECK-SAME: outputs = [{name = "scores", type = tensor<2xf32>}]
// CHECK-SAME: scalars = [{name = "rate", owner = "fit", type = tensor<f32>, value = 2.000000e-01 : f64}]
// CHECK-SAME: slots = [{name = "m/w.kernel", owner = "fit", type = tensor<3x2xf32>, variable = "w.kernel"}]
// CHECK-SAME: trains = [{checks = [{input = "label"
// CHECK-SAME: maximum = 1 : i64, message = "mg.sparse_cross_entropy needs positions from 0 to 1", minimum = 0 : i64, name = "0"}]
// CHECK-SAME: metrics = ["loss", "accuracy"]
// CHECK-SAME: units = [4]
mg.model @m {
  mg.variables @w {kernel: 3x2xf32 = ones}
  mg.optimizer @momentum(%p, %g, slot %m = 0.5, %step, scalar %rate = 0.1) {
    %d = mg.multiply %g, %rate
    %n = mg.add %m, %d
    %q = mg.subtract %p, %n
    mg.return %q, %n
  }
  mg.func @scores(%x: tensor<?x3xf32>) -> tensor<?x2xf32> {
    %y = mg.dense %x, @w
    mg.return %y
  }

  // One step's share of a unit: gradients, sums and check records start here …
  // CHECK-LABEL: func.func @fit.accumulate_first.4(
  // CHECK-SAME: {mg.name = "x", mg.role = "input"}
  // CHECK-SAME: {mg.name = "label", mg.role = "input"}
  // CHECK-SAME: {mg.name = "w.kernel", mg.role = "variable"}
  // CHECK-SAME: {mg.role = "row0"}
  // CHECK-SAME: {mg.role = "rows"}
  // CHECK-SAME: -> (tensor<3x2xf32> {mg.name = "w.kernel", mg.role = "gradient"}, tensor<2xf64> {mg.name = "loss", mg.role = "metric_window"}, tensor<2xf64> {mg.name = "accuracy", mg.role = "metric_window"}, tensor<2xi64> {mg.name = "0", mg.role = "check_window"})
  // CHECK-SAME: attributes {mg.entry = "accumulate_first", mg.owner = "fit", mg.unit = 4 : i64}
  // CHECK-DAG: mg.first_bad_row %[[LABEL:.*]], %{{.*}}, %[[ROWS:.*]], extent = 2
  // CHECK-DAG: %[[ONE:.*]] = mg.constant dense<1.000000e+00> : tensor<4xf32>
  // CHECK: mg.mask_rows %[[ONE]], %[[ROWS]]
  // CHECK: mg.row_sums %{{.*}}, %[[ONE]], %[[ROWS]]

  // … and are added to here.
  // CHECK-LABEL: func.func @fit.accumulate.4(
  // CHECK-SAME: {mg.name = "w.kernel", mg.role = "gradient"}
  // CHECK-SAME: {mg.name = "loss", mg.role = "metric_window"}
  // CHECK-SAME: {mg.name = "0", mg.role = "check_window"}

  // No gradient, no random bits, sums of their own.
  // CHECK-LABEL: func.func @fit.evaluate.4(
  // CHECK-SAME: mg.role = "metric_evaluation"
  // CHECK-SAME: mg.entry = "evaluate"
  // CHECK-NOT: gradient

  // Nothing changes if a check failed on any device; the gradient sum is divided by the sum of weights.
  // CHECK-LABEL: func.func @fit.update(
  // CHECK-SAME: {mg.name = "m/w.kernel", mg.role = "slot"}
  // CHECK-SAME: {mg.name = "rate", mg.role = "scalar"}
  // CHECK-SAME: mg.entry = "update"
  // CHECK: %[[FINE:.*]] = mg.compare eq
  // CHECK: mg.divide
  // CHECK: %[[NEXT:.*]] = mg.subtract
  // CHECK: mg.broadcast %[[FINE]]
  // CHECK: mg.select %{{.*}}, %[[NEXT]]
  mg.train @fit(%x: tensor<?x3xf32>, %label: tensor<?xui8>) {
    %y = mg.call @scores(%x)
    %loss = mg.sparse_cross_entropy %y, %label
    %right = mg.correct %y, %label
    mg.metric "accuracy", %right
    mg.minimize %loss with @momentum {rate = 0.2}
  }

  // CHECK-LABEL: func.func @init(
  // CHECK-SAME: {mg.role = "seed"}) -> (tensor<3x2xf32> {mg.name = "w.kernel", mg.role = "variable"}, tensor<3x2xf32> {mg.name = "m/w.kernel", mg.role = "slot"}, tensor<i64> {mg.role = "step"})
  // CHECK-DAG: mg.constant dense<5.000000e-01> : tensor<3x2xf32>
  // CHECK-LABEL: func.func @scores.predict.4(
  // CHECK-SAME: -> (tensor<4x2xf32> {mg.name = "scores", mg.role = "output"})
  mg.predict @scores
}
