// All ops of the mg dialect, family by family.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
include "dialects/mg/MgBase.td"
include "dialects/mg/Elementwise.td"
include "dialects/mg/Shape.td"
include "dialects/mg/Reduction.td"
include "dialects/mg/Contraction.td"
include "dialects/mg/Random.td"
include "dialects/mg/Loss.td"
include "dialects/mg/Rows.td"
include "dialects/mg/Model.td"
