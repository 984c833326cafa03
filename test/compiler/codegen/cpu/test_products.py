# Sums of products of all the sizes around vectors and register tiles, in every layout, against NumPy.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Run by unittest with MGC and MGRUN set."""

import math
import unittest

import numpy as np
from shapes import Case, Shapes


class Products(Shapes):
    def test_products_in_all_four_layouts(self):
        cases = []
        for number, (m, n, k) in enumerate(self.sizes(104)):
            dtype = np.float64 if number % 3 == 2 else np.float32
            turn_a, turn_b = number // 3 % 2, number // 6 % 2
            a, b = self.normal((1, k, m) if turn_a else (1, m, k), dtype), self.normal((1, n, k) if turn_b else (1, k, n), dtype)
            value, bound = self.contraction(f"{'bkm' if turn_a else 'bmk'},{'bnk' if turn_b else 'bkn'}->bmn", a, b, k)
            line = f"%y# = mg.dot_general %a#, %b# batch [0] x [0] contract [{1 if turn_a else 2}] x [{2 if turn_b else 1}]"
            cases.append(Case({"a": a, "b": b}, line, value, bound))
        self.check(cases)

    def test_dimensions_in_any_order_and_number(self):
        """Up to two more batch dimensions and two of each other kind, anywhere in the operands."""
        cases = []
        for number in range(60):
            dtype = np.float64 if number % 4 == 3 else np.float32
            letters = {"batch": "B" + "cd"[:self.rng.randint(0, 2)], "m": "mo"[:self.rng.randint(0, 2)], "n": "np"[:self.rng.randint(0, 2)],
                       "k": "kl"[:self.rng.randint(1, 2)]}
            extents = {letter: self.rng.choice((1, 2, 3, 5, 8, 9, 17)) for part in letters.values() for letter in part} | {"B": 3}
            order_a, order_b = (self.rng.sample(letters["batch"][1:] + letters[part] + letters["k"], len(letters["batch"]) - 1 + len(letters[part] + letters["k"]))
                                for part in "mn")
            order_a, order_b = ["B", *order_a], ["B", *order_b]
            a, b = (self.normal(tuple(extents[letter] for letter in order), dtype) for order in (order_a, order_b))
            free = [x for x in order_a if x in letters["m"]] + [x for x in order_b if x in letters["n"]]
            value, bound = self.contraction(f"{''.join(order_a)},{''.join(order_b)}->{letters['batch']}{''.join(free)}", a, b,
                                            math.prod(extents[x] for x in letters["k"]))

            def dims(order: list[str], part: str) -> list[int]:
                return [order.index(letter) for letter in letters[part]]
            line = (f"%y# = mg.dot_general %a#, %b# batch {dims(order_a, 'batch')} x {dims(order_b, 'batch')} "
                    f"contract {dims(order_a, 'k')} x {dims(order_b, 'k')}")
            if value.ndim < 3:  # so that the result is a view
                line = line.replace("%y#", "%z#") + f"\n%y# = mg.reshape %z#, shape = [0, 1, {value[0].size}]"
                value, bound = value.reshape(3, 1, -1), bound.reshape(3, 1, -1)
            cases.append(Case({"a": a, "b": b}, line, value, bound))
        self.check(cases)

    def test_what_is_computed_before_and_after_a_product(self):
        cases = []
        for m, n, k in self.sizes(26):
            a, b, c = self.normal((1, m, k)), self.normal((1, k, n)), self.normal((1, 1, n))
            product, bound = self.contraction("bmk,bkn->bmn", a, b, k)
            cases.append(Case({"a": a, "b": b, "c": c}, "%p# = mg.dot_general %a#, %b# batch [0] x [0] contract [2] x [1]\n"
                              "%s# = mg.add %p#, %c#\n%y# = mg.relu %s#", np.maximum(product + c, 0), bound + 1e-6 * (np.abs(product) + np.abs(c))))
            signs = self.numbers.integers(0, 2, (1, m, k)).astype(np.uint8)
            value, bound = self.contraction("bmk,bkn->bmn", signs.astype(np.float32), b, k)
            cases.append(Case({"a": signs, "b": b}, "%f# = mg.cast %a# to f32\n%y# = mg.dot_general %f#, %b# batch [0] x [0] contract [2] x [1]",
                              value, bound))
        self.check(cases)

    def test_products_that_are_cut_in_blocks(self):
        """So large that operands are packed, the contracted dimension is cut, and several blocks run."""
        cases = []
        for number, (m, n, k) in enumerate(((1, 513, 1030), (70, 301, 1025), (257, 129, 65), (5, 1001, 800), (130, 71, 1537), (301, 10, 900), (2, 2, 5001),
                                            (129, 1, 2049), (1, 1, 4097), (64, 64, 64), (33, 515, 771), (512, 3, 33))):
            for turn in range(4):
                turn_a, turn_b, dtype = turn % 2, turn // 2, np.float64 if (number + turn) % 4 == 0 else np.float32
                a, b = self.whole((1, k, m) if turn_a else (1, m, k), dtype), self.whole((1, n, k) if turn_b else (1, k, n), dtype)
                value, _ = self.contraction(f"{'bkm' if turn_a else 'bmk'},{'bnk' if turn_b else 'bkn'}->bmn", a, b, k)
                line = f"%p# = mg.dot_general %a#, %b# batch [0] x [0] contract [{1 if turn_a else 2}] x [{2 if turn_b else 1}]\n%y# = mg.negate %p#"
                cases.append(Case({"a": a, "b": b}, line, -value))
        self.check(cases)


if __name__ == "__main__":
    unittest.main()
