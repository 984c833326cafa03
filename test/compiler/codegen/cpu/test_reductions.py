# Reductions over any axis, of all the lengths around vectors, of nothing, and of many elements, against NumPy.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Run by unittest with MGC and MGRUN set."""

import unittest

import numpy as np
from shapes import LENGTHS, Case, Shapes, gamma


class Reductions(Shapes):
    def test_reductions_of_floats(self):
        cases = []
        for number, length in enumerate(LENGTHS):
            others = (1, 3, 8, 9, 17)[number % 5]
            for axis, shape in ((2, (1, others, length)), (1, (1, length, others))):
                for kind in ("sum", "prod", "max", "min"):
                    x = self.normal(shape) + (1.5 if kind == "prod" else 0)
                    cases.append(self.reduction(kind, x.astype(np.float32), axis))
                cases.append(self.reduction("sum", self.normal(shape, np.float64), axis))
                cases.append(self.reduction(("max", "mean")[number % 2], self.normal(shape, np.float64), axis))
        self.check(cases)

    def test_reductions_that_are_cut_in_blocks(self):
        cases = []
        for length, others in ((4099, 1), (4099, 37), (37, 4099), (1030, 1030), (100003, 1), (3, 100003)):
            for axis, shape in ((2, (1, others, length)), (1, (1, length, others))):
                for kind in ("sum", "max"):
                    cases.append(self.reduction(kind, self.whole(shape), axis)._replace(error=0.0))
        self.check(cases)

    def test_reductions_of_integers(self):
        cases = []
        for number, length in enumerate(LENGTHS):
            for turn, dtype in enumerate((np.int8, np.int32, np.int64)):
                kind = ("sum", "prod", "max", "min")[(number + turn) % 4]
                limits = np.iinfo(dtype)
                for axis, shape in ((2, (1, 3, length)), (1, (1, length, 9))):
                    cases.append(self.reduction(kind, self.numbers.integers(limits.min, limits.max, shape, dtype, endpoint=True), axis))
        self.check(cases)

    def test_reductions_of_all_dimensions_of_a_row(self):
        cases = []
        for length in LENGTHS:
            x = self.normal((1, 3, length))
            wide = x.astype(np.float64)
            cases.append(Case({"x": x}, "%r# = mg.reduce_sum %x#, axes = [1, 2]\n%y# = mg.reshape %r#, shape = [0, 1, 1]",
                              wide.sum(axis=(1, 2), keepdims=True).astype(np.float32), gamma(3 * length, x.dtype) * np.abs(wide).sum()))
        self.check(cases)

    def test_nothing_to_reduce(self):
        cases = []
        for dtype, kinds in ((np.float32, (("sum", 0), ("prod", 1), ("max", -np.inf), ("min", np.inf))),
                             (np.int32, (("sum", 0), ("prod", 1), ("max", -2**31), ("min", 2**31 - 1)))):
            for kind, value in kinds:
                cases.append(Case({"x": np.zeros((2, 0, 3), dtype)}, f"%r# = mg.reduce_{kind} %x#, axes = [1]\n%y# = mg.reshape %r#, shape = [0, 1, 3]",
                                  np.full((2, 1, 3), value, dtype)))
        cases.append(Case({"a": np.zeros((2, 3, 0), np.float32), "b": np.zeros((2, 0, 5), np.float32)},
                          "%y# = mg.dot_general %a#, %b# batch [0] x [0] contract [2] x [1]", np.zeros((2, 3, 5), np.float32)))
        self.check(cases)


if __name__ == "__main__":
    unittest.main()
