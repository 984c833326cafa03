# Element by element, moved and in place: vectors, their masked rests and single elements, in every element type, against NumPy.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Run by unittest with MGC and MGRUN set."""

from __future__ import annotations

import math
import os
import re
import unittest
from unittest import mock

import numpy as np
from harness import run
from shapes import LENGTHS, TYPES, Case, Shapes

RANGE = re.compile(r"<(\w+, \d+, \d+)")


class Elements(Shapes):
    def test_r48_nan_stays_nan_at_every_length_and_place(self):
        cases = []
        for length in range(1, 18):
            for dtype in (np.float32, np.float64) if length < 10 else (np.float32,):
                clean = self.normal((1, length, length), dtype)
                dirty = clean.copy()
                dirty[0][np.diag_indices(length)] = np.nan
                for op, left, right in (("maximum", dirty, clean), ("maximum", clean, dirty), ("minimum", dirty, clean), ("minimum", clean, dirty)):
                    cases.append(Case({"a": left, "b": right}, f"%y# = mg.{op} %a#, %b#", getattr(np, op)(left, right)))
                cases.append(Case({"x": dirty}, "%y# = mg.relu %x#", np.maximum(dirty, 0).astype(dtype)))
                for kind, axis in (("max", 1), ("max", 2), ("min", 1), ("min", 2)):
                    cases.append(self.reduction(kind, dirty, axis))
        self.check(cases)

    def test_many_elements(self):
        cases = []
        for length in (4095, 65537, 300007):
            x = self.normal((1, 1, length))
            cases.append(Case({"x": x}, "%d# = mg.add %x#, %x#\n%y# = mg.multiply %d#, %x#", (x + x) * x))
        self.check(cases)

    def test_integers(self):
        cases = []
        for length in LENGTHS:
            for dtype in (np.int8, np.int16, np.int32, np.int64, np.uint8):
                limits = np.iinfo(dtype)
                a, b, c = (self.numbers.integers(limits.min, limits.max, (1, 1, length), dtype, endpoint=True) for _ in "abc")
                d = self.numbers.integers(1, limits.max, (1, 1, length), dtype)
                with np.errstate(over="ignore"):
                    value = np.maximum(np.minimum((a + b) * c - a, c), b)
                    quotient = (np.abs(value.astype(object)) // d * np.sign(value.astype(object))).astype(dtype)
                    value = quotient - (value - quotient * d)
                cases.append(Case({"a": a, "b": b, "c": c, "d": d}, "%s# = mg.add %a#, %b#\n%p# = mg.multiply %s#, %c#\n%t# = mg.subtract %p#, %a#\n"
                                  "%u# = mg.minimum %t#, %c#\n%v# = mg.maximum %u#, %b#\n%q# = mg.divide %v#, %d#\n%r# = mg.remainder %v#, %d#\n"
                                  "%y# = mg.subtract %q#, %r#", value))
        self.check(cases)

    def test_division_by_zero_and_of_the_smallest_integer(self):
        """As the RISC-V manual's table of division semantics has it (volume 1, M extension)."""
        for dtype in (np.int8, np.int32, np.int64):
            smallest = np.iinfo(dtype).min
            a = np.array([[[7, smallest, -7, smallest, 9]]], dtype)
            b = np.array([[[2, -1, 2, 1, -9]]], dtype)
            self.check([Case({"a": a, "b": b}, "%y# = mg.divide %a#, %b#", np.array([[[3, smallest, -3, smallest, -1]]], dtype)),
                        Case({"a": a, "b": b}, "%y# = mg.remainder %a#, %b#", np.array([[[1, 0, -1, 0, 0]]], dtype))])
        for dtype in (np.uint8, np.int8, np.int32, np.int64):
            a, zero = np.array([[[1, 0, 7, 100, 9]]], dtype), np.array([[[1, 0, 2, 0, 0]]], dtype)
            ones = np.bitwise_not(dtype(0))
            self.check([Case({"a": a, "b": zero}, "%y# = mg.divide %a#, %b#", np.array([[[1, ones, 3, ones, ones]]], dtype)),
                        Case({"a": a, "b": zero}, "%y# = mg.remainder %a#, %b#", np.array([[[0, 0, 1, 100, 9]]], dtype))])

    def test_conversions(self):
        cases = []
        special = np.array([0.0, -0.0, 0.5, -0.5, 1.5, 2.5, -2.5, 127.9, -128.9, 200, -200, 300, 1e6, -1e6, 3e9, -3e9, 1e19, -1e19, np.inf, -np.inf, np.nan])
        for length in (1, 7, 8, 16, 17, 33):
            for source in (np.float32, np.float64):
                x = np.resize(self.numbers.permutation(special), (1, 1, length)).astype(source)
                for target in (np.int8, np.uint8, np.int16, np.int32, np.int64):
                    limits = np.iinfo(target)
                    value = [0 if math.isnan(v) else limits.max if v >= limits.max else limits.min if v <= limits.min else int(v) for v in x.ravel().tolist()]
                    cases.append(Case({"x": x}, f"%y# = mg.cast %x# to {TYPES[np.dtype(target)]}", np.array(value, target).reshape(x.shape)))
                cases.append(Case({"x": x}, "%y# = mg.cast %x# to i1", x != 0))
            for source in (np.int8, np.uint8, np.int32, np.int64):
                limits = np.iinfo(source)
                x = self.numbers.integers(limits.min, limits.max, (1, 1, length), source, endpoint=True)
                for target in (np.float32, np.float64, np.int8, np.int64):
                    cases.append(Case({"x": x}, f"%y# = mg.cast %x# to {TYPES[np.dtype(target)]}", x.astype(target)))
        self.check(cases)

    def test_a_function_gives_the_same_in_every_lane(self):
        """Whole vectors, their masked rest, and single elements, at a handful of values."""
        values = np.array([-3.7, -0.3, 0.02, 0.9, 5.3], np.float32)
        functions = {"exponential": np.exp, "tanh": np.tanh, "sigmoid": lambda x: 1 / (1 + np.exp(-x)), "log": lambda x: np.log(np.abs(x)),
                     "sine": np.sin, "erf": np.vectorize(math.erf), "rsqrt": lambda x: 1 / np.sqrt(np.abs(x))}
        cases = []
        for name, function in functions.items():
            for length in (1, 2, 3, 7, 8, 9, 17):
                x = np.repeat(values, length).reshape(1, 5, length)
                expected = function(x.astype(np.float64)).astype(np.float32)
                lines = f"%m# = mg.abs %x#\n%y# = mg.{name} %m#" if name in ("log", "rsqrt") else f"%y# = mg.{name} %x#"
                cases.append(Case({"x": x}, lines, expected, 4 * np.spacing(np.abs(expected)).astype(np.float64)))
        seen: dict[tuple[str, int], set[bytes]] = {}

        def compare(case: Case, found: np.ndarray) -> None:
            Shapes.compare(self, case, found)
            for i, row in enumerate(found[0]):
                seen.setdefault((case.lines, i), set()).update(value.tobytes() for value in row)
        self.compare = compare
        self.check(cases)
        self.assertEqual([key for key, bits in seen.items() if len(bits) > 1], [])

    def test_transposed_operands(self):
        cases = []
        for m, n, k in self.sizes(26):
            a, b, c = self.normal((1, m, n)), self.normal((1, n, m)), self.normal((1, min(k, 9), m, n))
            cases.append(Case({"a": a, "b": b}, "%t# = mg.transpose %b#, permutation = [0, 2, 1]\n%y# = mg.subtract %a#, %t#", a - b.transpose(0, 2, 1)))
            cases.append(Case({"c": c}, "%y# = mg.transpose %c#, permutation = [0, 3, 1, 2]", c.transpose(0, 3, 1, 2)))
        self.check(cases)

    def test_moved_and_chosen_elements(self):
        cases = []
        for length in (1, 3, 8, 9, 17, 33):
            x, z, column, line = self.normal((2, 3, length)), self.normal((2, 3, 5)), self.normal((2, 3, 1)), self.normal((2, 1, length))
            spread = np.zeros((2, 3, 2 * length + 2), np.float32)
            spread[:, :, 1:2 * length:2] = x
            m, n = (self.numbers.integers(0, 2, (2, 3, length)).astype(np.bool_) for _ in range(2))
            bytes_, positions = self.numbers.integers(0, 256, (2, 3, length)).astype(np.uint8), self.numbers.integers(0, length, (2, 3)).astype(np.int32)
            cases += [
                Case({"x": x}, "%a# = mg.arg_max %x#\n%y# = mg.reshape %a#, shape = [0, 1, 3]", x.argmax(2).reshape(2, 1, 3)),
                Case({"x": x}, f"%y# = mg.slice %x#, axis = 2, 0 to {length} step 2", x[:, :, ::2]),
                Case({"x": x}, "%y# = mg.pad %x#, axis = 2, 1 and 2 between 1", spread),
                Case({"x": x}, "%y# = mg.pad %x#, axis = 1, 1 and 2", np.pad(x, ((0, 0), (1, 2), (0, 0)))),
                Case({"x": x, "z": z}, "%y# = mg.concatenate %x#, %z#, %x# axis = 2", np.concatenate([x, z, x], 2)),
                Case({"c": column, "l": line}, "%s# = mg.add %c#, %l#\n%y# = mg.multiply %s#, %s#", (column + line) * (column + line)),
                Case({"p": positions}, f"%y# = mg.one_hot %p#, {length} to f32", np.eye(length, dtype=np.float32)[positions]),
                Case({"m": m, "n": n}, "%a# = mg.and %m#, %n#\n%b# = mg.xor %a#, %m#\n%c# = mg.not %b#\n%y# = mg.or %c#, %n#", ~(m & n ^ m) | n),
                Case({"m": m, "x": x}, "%n# = mg.negate %x#\n%y# = mg.select %m#, %x#, %n#", np.where(m, x, -x)),
                Case({"a": bytes_, "b": bytes_[:, ::-1].copy()}, "%y# = mg.compare lt, %a#, %b#", bytes_ < bytes_[:, ::-1]),
                Case({"a": x, "b": x[:, ::-1].copy()}, "%y# = mg.compare ge, %a#, %b#", x >= x[:, ::-1])]
        self.check(cases)

    def test_code_for_several_machines(self):
        """Vectors of another length cut the work in other blocks; whichever code runs, all blocks of it do."""
        a, b, x = self.whole((1, 70, 1025)), self.whole((1, 1025, 301)), self.whole((1, 4099, 37))
        value, _ = self.contraction("bmk,bkn->bmn", a, b, 1025)
        cases = [Case({"a": a, "b": b}, "%y# = mg.dot_general %a#, %b# batch [0] x [0] contract [2] x [1]", value),
                 self.reduction("sum", x, 1)._replace(error=0.0), self.reduction("max", x, 2),
                 Case({"x": x}, "%y# = mg.add %x#, %x#", x + x)]
        for cpus in ("x86-64,x86-64-v3", "x86-64-v3,x86-64", "x86-64,x86-64-v3,x86-64-v4"):
            with self.subTest(cpus), mock.patch.dict(os.environ, {"MGC_OPTIONS": f"--cpu={cpus}"}):
                self.check(cases)


class InPlace(Shapes):
    def test_chains_in_place(self):
        """Each step reads its value twice, once reduced, and overwrites it."""
        steps = ("%e# = mg.exponential %x#\n"
                 "%m1# = mg.reduce_sum %e#, axes = [2]\n%n1# = mg.reshape %m1#, shape = [0, 3, 1]\n%d1# = mg.divide %e#, %n1#\n"
                 "%m2# = mg.reduce_max %d1#, axes = [2]\n%n2# = mg.reshape %m2#, shape = [0, 3, 1]\n%d2# = mg.subtract %d1#, %n2#\n"
                 "%m3# = mg.reduce_min %d2#, axes = [2]\n%n3# = mg.reshape %m3#, shape = [0, 3, 1]\n%y# = mg.subtract %d2#, %n3#")
        cases = []
        for length in LENGTHS:
            for dtype in (np.float32, np.float64):
                x = self.normal((2, 3, length), dtype)
                value = np.exp(x.astype(np.float64))
                value /= value.sum(2, keepdims=True)
                value -= value.max(2, keepdims=True)
                value -= value.min(2, keepdims=True)
                cases.append(Case({"x": x}, steps, value.astype(dtype), 40 * float(np.finfo(dtype).eps)))
        self.check(cases)
        schedule = run(os.environ["MGC"], str(self.bench.folder / "shapes.mlir"), "--batch-size=2", "--emit=schedule").stdout
        launches = [line.split(" -> ") for line in schedule.splitlines() if "mgrt.launch" in line]
        in_place = [reads for reads, writes in launches if set(RANGE.findall(reads)) & set(RANGE.findall(writes))]
        self.assertGreaterEqual(len(in_place), 2 * len(cases))

    def test_variables_and_slots_are_updated_in_place(self):
        """Three steps with a momentum, of variables of every length."""
        names = [f"v{length}" for length in LENGTHS]
        declared = ", ".join(f"{name}: {length}xf32 = zeros" for name, length in zip(names, LENGTHS))
        terms = "\n".join(f"%{n} = mg.get @v::@{n}\n%q{n} = mg.multiply %{n}, %{n}\n%s{n} = mg.reduce_sum %q{n}, axes = [0]" for n in names)
        sums = "\n".join(f"%t{i + 1} = mg.add %{f't{i}' if i else f's{names[0]}'}, %s{n}" for i, n in enumerate(names[1:]))
        text = (f"mg.model @m {{\nmg.variables @v {{{declared}}}\n"
                "mg.optimizer @momentum(%p, %g, slot %m = 0) {\n%h = mg.multiply %m by 0.5\n%n = mg.add %h, %g\n%d = mg.multiply %n by 0.125\n"
                "%q = mg.subtract %p, %d\nmg.return %q, %n\n}\n"
                f"mg.train @fit(%one: tensor<?xf32>) {{\n{terms}\n{sums}\n%loss = mg.multiply %one, %t{len(names) - 1}\nmg.minimize %loss with @momentum\n}}\n}}\n")
        start = {f"v.{name}": self.normal((length,)) for name, length in zip(names, LENGTHS)}
        bundle = self.bench.compile("m", text, batch=1)
        after, _, _ = self.bench.train(bundle, {"one": np.ones(1, np.float32)}, "--epochs=3", "--global-batch=1", "--devices=1", state=start)
        for name, value in start.items():
            momentum, expected = np.zeros_like(value), value.copy()
            for _ in range(3):
                momentum = momentum * np.float32(0.5) + 2 * expected
                expected = expected - momentum * np.float32(0.125)
            np.testing.assert_allclose(after[name], expected, rtol=1e-6, err_msg=name)
            np.testing.assert_allclose(after[next(key for key in after if key.endswith(f"m/{name}"))], momentum, rtol=1e-6, err_msg=name)


if __name__ == "__main__":
    unittest.main()
