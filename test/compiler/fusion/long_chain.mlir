// However long a chain of point-wise ops is, no kernel has more than 48 of them: code generation takes more than linear time.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: mg-opt %s --mg-form-kernels | FileCheck %s

// CHECK-LABEL: func.func @chain(
// CHECK: mg.launch @
// CHECK: mg.launch @
// CHECK-NOT: mg.launch @
// CHECK: return
// CHECK: func.func private @
// CHECK-COUNT-48: tanh
// CHECK-NOT: tanh
// CHECK: func.func private @
// CHECK-COUNT-12: tanh
// CHECK-NOT: tanh
func.func @chain(%v0: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {mg.entry = "predict"} {
  %v1 = mg.tanh %v0 : tensor<4x8xf32> -> tensor<4x8xf32>
  %v2 = mg.tanh %v1 : tensor<4x8xf32> -> tensor<4x8xf32>
  %v3 = mg.tanh %v2 : tensor<4x8xf32> -> tensor<4x8xf32>
  %v4 = mg.tanh %v3 : tensor<4x8xf32> -> tensor<4x8xf32>
  %v5 = mg.tanh %v4 : tensor<4x8xf32> -> tensor<4x8xf32>
  %v6 = mg.tanh %v5 : tensor<4x8xf32> -> tensor<4x8xf32>
  %v7 = mg.tanh %v6 : tensor<4x8xf32> -> tensor<4x8xf32>
  %v8 = mg.tanh %v7 : tensor<4x8xf32> -> tensor<4x8xf32>
  %v9 = mg.tanh %v8 : tensor<4x8xf32> -> tensor<4x8xf32>
  %v10 = mg.tanh %v9 : tensor<4x8xf32> -> tensor<4x8xf32>
  %v11 = mg.tanh %v10 : tensor<4x8xf32> -> tensor<4x8xf32>
  %v12 = mg.tanh %v11 : tensor<4x8xf32> -> tensor<4x8xf32>
  %v13 = mg.tanh %v12 : tensor<4x8xf32> -> tensor<4x8xf32>
  %v14 = mg.tanh %v13 : tensor<4x8xf32> -> tensor<4x8xf32>
  %v15 = mg.tanh %v14 : tensor<4x8xf32> -> tensor<4x8xf32>
  %v16 = mg.tanh %v15 : tensor<4x8xf32> -> tensor<4x8xf32>
  %v17 = mg.tanh %v16 : tensor<4x8xf32> -> tensor<4x8xf32>
  %v18 = mg.tanh %v17 : tensor<4x8xf32> -> tensor<4x8xf32>
  %v19 = mg.tanh %v18 : tensor<4x8xf32> -> tensor<4x8xf32>
  %v20 = mg.tanh %v19 : tensor<4x8xf32> -> tensor<4x8xf32>
  %v21 = mg.tanh %v20 : tensor<4x8xf32> -> tensor<4x8xf32>
  %v22 = mg.tanh %v21 : tensor<4x8xf32> -> tensor<4x8xf32>
  %v23 = mg.tanh %v22 : tensor<4x8xf32> -> tensor<4x8xf32>
  %v24 = mg.tanh %v23 : tensor<4x8xf32> -> tensor<4x8xf32>
  %v25 = mg.tanh %v24 : tensor<4x8xf32> -> tensor<4x8xf32>
  %v26 = mg.tanh %v25 : tensor<4x8xf32> -> tensor<4x8xf32>
  %v27 = mg.tanh %v26 : tensor<4x8xf32> -> tensor<4x8xf32>
  %v28 = mg.tanh %v27 : tensor<4x8xf32> -> tensor<4x8xf32>
  %v29 = mg.tanh %v28 : tensor<4x8xf32> -> tensor<4x8xf32>
  %v30 = mg.tanh %v29 : tensor<4x8xf32> -> tensor<4x8xf32>
  %v31 = mg.tanh %v30 : tensor<4x8xf32> -> tensor<4x8xf32>
  %v32 = mg.tanh %v31 : tensor<4x8xf32> -> tensor<4x8xf32>
  %v33 = mg.tanh %v32 : tensor<4x8xf32> -> tensor<4x8xf32>
  %v34 = mg.tanh %v33 : tensor<4x8xf32> -> tensor<4x8xf32>
  %v35 = mg.tanh %v34 : tensor<4x8xf32> -> tensor<4x8xf32>
  %v36 = mg.tanh %v35 : tensor<4x8xf32> -> tensor<4x8xf32>
  %v37 = mg.tanh %v36 : tensor<4x8xf32> -> tensor<4x8xf32>
  %v38 = mg.tanh %v37 : tensor<4x8xf32> -> tensor<4x8xf32>
  %v39 = mg.tanh %v38 : tensor<4x8xf32> -> tensor<4x8xf32>
  %v40 = mg.tanh %v39 : tensor<4x8xf32> -> tensor<4x8xf32>
  %v41 = mg.tanh %v40 : tensor<4x8xf32> -> tensor<4x8xf32>
  %v42 = mg.tanh %v41 : tensor<4x8xf32> -> tensor<4x8xf32>
  %v43 = mg.tanh %v42 : tensor<4x8xf32> -> tensor<4x8xf32>
  %v44 = mg.tanh %v43 : tensor<4x8xf32> -> tensor<4x8xf32>
  %v45 = mg.tanh %v44 : tensor<4x8xf32> -> tensor<4x8xf32>
  %v46 = mg.tanh %v45 : tensor<4x8xf32> -> tensor<4x8xf32>
  %v47 = mg.tanh %v46 : tensor<4x8xf32> -> tensor<4x8xf32>
  %v48 = mg.tanh %v47 : tensor<4x8xf32> -> tensor<4x8xf32>
  %v49 = mg.tanh %v48 : tensor<4x8xf32> -> tensor<4x8xf32>
  %v50 = mg.tanh %v49 : tensor<4x8xf32> -> tensor<4x8xf32>
  %v51 = mg.tanh %v50 : tensor<4x8xf32> -> tensor<4x8xf32>
  %v52 = mg.tanh %v51 : tensor<4x8xf32> -> tensor<4x8xf32>
  %v53 = mg.tanh %v52 : tensor<4x8xf32> -> tensor<4x8xf32>
  %v54 = mg.tanh %v53 : tensor<4x8xf32> -> tensor<4x8xf32>
  %v55 = mg.tanh %v54 : tensor<4x8xf32> -> tensor<4x8xf32>
  %v56 = mg.tanh %v55 : tensor<4x8xf32> -> tensor<4x8xf32>
  %v57 = mg.tanh %v56 : tensor<4x8xf32> -> tensor<4x8xf32>
  %v58 = mg.tanh %v57 : tensor<4x8xf32> -> tensor<4x8xf32>
  %v59 = mg.tanh %v58 : tensor<4x8xf32> -> tensor<4x8xf32>
  %v60 = mg.tanh %v59 : tensor<4x8xf32> -> tensor<4x8xf32>
  return %v60 : tensor<4x8xf32>
}
