// What --emit=STAGE prints, --from=STAGE takes back, byte for byte the same bundle; also with several unit sizes.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: mgc %mnist -o %t.mgb
// RUN: mgc %mnist --emit=model     | mgc --from=model     - -o %t.model.mgb
// RUN: mgc %mnist --emit=gradient  | mgc --from=gradient  - -o %t.gradient.mgb
// RUN: mgc %mnist --emit=partition | mgc --from=partition - -o %t.partition.mgb
// RUN: mgc %mnist --emit=kernels   | mgc --from=kernels   - -o %t.kernels.mgb
// RUN: mgc %mnist --emit=schedule  | mgc --from=schedule  - -o %t.schedule.mgb
// RUN: mgc %mnist --emit=code      | mgc --from=code      - -o %t.code.mgb
// RUN: cmp %t.mgb %t.model.mgb
// RUN: cmp %t.mgb %t.gradient.mgb
// RUN: cmp %t.mgb %t.partition.mgb
// RUN: cmp %t.mgb %t.kernels.mgb
// RUN: cmp %t.mgb %t.schedule.mgb
// RUN: cmp %t.mgb %t.code.mgb

// RUN: mgc %mnist --batch-size=8,32 -o %t.units.mgb
// RUN: mgc %mnist --batch-size=8,32 --emit=gradient | mgc --from=gradient - -o %t.units.gradient.mgb
// RUN: cmp %t.units.mgb %t.units.gradient.mgb

// A later stage can be printed from an earlier one's text.
// RUN: mgc %mnist --emit=schedule > %t.schedule
// RUN: mgc %mnist --emit=kernels | mgc --from=kernels - --emit=schedule > %t.again
// RUN: cmp %t.schedule %t.again
