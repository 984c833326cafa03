# Cases of CPU kernels: many small computations in one bundle, each compared with NumPy; what test_*.py here share.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Set MGC and MGRUN to the tools."""

from __future__ import annotations

import math
import random
import tempfile
import unittest
from typing import NamedTuple

import numpy as np
from harness import MLIR, Bench

SIZES = (1, 2, 3, 5, 7, 8, 15, 16, 17, 31, 33, 64, 65)
LENGTHS = (*range(1, 18), 31, 32, 33)
TYPES = {**MLIR, **{np.dtype(kind): name for kind, name in ((np.int8, "i8"), (np.int16, "i16"), (np.uint16, "ui16"), (np.uint32, "ui32"), (np.uint64, "ui64"))}}
A_FUNCTION = 12  # cases: their results are views, so each is in memory before the concatenation reads it


class Case(NamedTuple):
    """Inputs by letter, one row of them a row of the batch; lines that make %y# of them, # being the case's number."""
    inputs: dict[str, np.ndarray]
    lines: str
    expected: np.ndarray
    error: np.ndarray | float = 0.0  # how far each element may lie from it


def tensor(shape: tuple[int, ...], dtype: np.dtype) -> str:
    """The type in a model, of rows."""
    return f"tensor<{'x'.join(['?', *map(str, shape[1:])])}x{TYPES[np.dtype(dtype)]}>"


def function_text(name: str, cases: list[tuple[int, Case]]) -> str:
    """Computes the cases, one behind the other in a row."""
    arguments = ", ".join(f"%{key}{i}: {tensor(value.shape, value.dtype)}" for i, case in cases for key, value in case.inputs.items())
    lines = [line for i, case in cases for line in (case.lines.replace("#", str(i)), f"%flat{i} = mg.reshape %y{i}, shape = [0, {case.expected[0].size}]")]
    total = sum(case.expected[0].size for _, case in cases)
    lines.append(f"%row = mg.concatenate {', '.join(f'%flat{i}' for i, _ in cases)} axis = 1")
    return (f"mg.func @{name}({arguments}) -> {tensor((0, total), cases[0][1].expected.dtype)} {{\n" + "\n".join(lines)
            + f"\nmg.return %row\n}}\nmg.predict @{name}\n")


def gamma(terms: int, dtype: np.dtype) -> float:
    """Bounds the relative rounding of a sum of products in any order (Higham 2002, section 3.1)."""
    return (terms + 2) * float(np.finfo(dtype).eps)


class Shapes(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.bench = Bench(folder.name)
        self.rng, self.numbers = random.Random(11), np.random.default_rng(11)

    def normal(self, shape: tuple[int, ...], dtype: type = np.float32) -> np.ndarray:
        """Random numbers."""
        return self.numbers.normal(size=shape).astype(dtype)

    def whole(self, shape: tuple[int, ...], dtype: type = np.float32) -> np.ndarray:
        """Small whole numbers, whose sums are exact in any order: an element that is missing or counted twice is seen."""
        return self.numbers.integers(-3, 4, shape).astype(dtype)

    def check(self, cases: list[Case]) -> None:
        """Computes all cases by one bundle."""
        rows = cases[0].expected.shape[0]
        by_type: dict[np.dtype, list[tuple[int, Case]]] = {}
        for i, case in enumerate(cases):
            by_type.setdefault(case.expected.dtype, []).append((i, case))
        chunks = [group[start:start + A_FUNCTION] for group in by_type.values() for start in range(0, len(group), A_FUNCTION)]
        text = "mg.model @shapes {\n" + "".join(function_text(f"f{number}", chunk) for number, chunk in enumerate(chunks)) + "}\n"
        bundle = self.bench.compile("shapes", text, batch=rows)
        for number, chunk in enumerate(chunks):
            inputs = {f"{key}{i}": value for i, case in chunk for key, value in case.inputs.items()}
            row = self.bench.predict(bundle, inputs, 1, f"f{number}")
            start = 0
            for _, case in chunk:
                size = case.expected[0].size
                self.compare(case, row[:, start:start + size].reshape(case.expected.shape))
                start += size

    def compare(self, case: Case, found: np.ndarray) -> None:
        """NaN where NaN is expected, all else within the bound."""
        with self.subTest(", ".join(f"{key}: {tensor(value.shape, value.dtype)}" for key, value in case.inputs.items()), lines=case.lines):
            self.assertEqual(found.dtype, case.expected.dtype)
            with np.errstate(all="ignore"):
                wide = (lambda x: x) if found.dtype.kind in "iub" else (lambda x: x.astype(np.float64))
                good = (found == case.expected) | (np.isnan(wide(found)) & np.isnan(wide(case.expected)))
                if found.dtype.kind == "f":
                    good |= np.abs(wide(found) - wide(case.expected)) <= case.error
            bad = np.argwhere(~good)
            self.assertEqual(len(bad), 0, f"{len(bad)} of {good.size} differ, the first at {bad[:1].tolist()}: "
                             f"{found[tuple(bad[0])] if len(bad) else None}, expected {case.expected[tuple(bad[0])] if len(bad) else None}")

    def contraction(self, equation: str, a: np.ndarray, b: np.ndarray, terms: int) -> tuple[np.ndarray, np.ndarray]:
        """Value and bound of a sum of products."""
        exact = np.einsum(equation, a.astype(np.float64), b.astype(np.float64))
        bound = gamma(terms, a.dtype) * np.einsum(equation, np.abs(a).astype(np.float64), np.abs(b).astype(np.float64))
        return exact.astype(a.dtype), bound + np.abs(exact) * float(np.finfo(a.dtype).eps)

    def sizes(self, count: int) -> list[tuple[int, int, int]]:
        """(m, n, k): each size equally often as each letter."""
        columns = []
        for _ in range(3):
            column = list(SIZES) * math.ceil(count / len(SIZES))
            self.rng.shuffle(column)
            columns.append(column[:count])
        return list(zip(*columns))

    def reduction(self, kind: str, x: np.ndarray, axis: int) -> Case:
        """One reduction over an axis."""
        numpy_kind = {"sum": np.sum, "prod": np.prod, "max": np.max, "min": np.min, "mean": np.mean}[kind]
        wide, error = x, 0.0
        if x.dtype.kind == "f" and kind not in ("max", "min"):
            wide = x.astype(np.float64)
            error = gamma(x.shape[axis], x.dtype) * (np.sum(np.abs(wide), axis, keepdims=True) if kind != "prod" else np.abs(np.prod(wide, axis, keepdims=True)))
        with np.errstate(over="ignore"):
            value = (numpy_kind(wide, axis, keepdims=True) if kind in ("max", "min", "mean")
                     else numpy_kind(wide, axis, keepdims=True, dtype=wide.dtype)).astype(x.dtype)
        shape = ", ".join(map(str, value.shape[1:]))
        return Case({"x": x}, f"%r# = mg.reduce_{kind} %x#, axes = [{axis}]\n%y# = mg.reshape %r#, shape = [0, {shape}]", value, error)
