# A random graph as it grows: values with their shapes, and where an op may not be used.
# Which operands an op gets is said in families.py.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every op is computed as it is added, on ROWS rows; a graph may take fewer of them. No other extent is as large, so
"?" is known by it."""

from __future__ import annotations

import random

import numpy as np
from graph import draw
from jax import numpy as jnp
from ops import OPS
from reference import Reference

ROWS, SIZES = 37, (1, 1, 2, 2, 3, 3, 4, 5, 6, 7, 7, 8, 9, 17, 33)
MARGIN, LARGEST, MOST_INTEGER = 2e-3, 20.0, 1000  # of operands: distance from a kink, size
MOST_ELEMENTS, MOST_RANK, MOST_VARIABLES, MOST_DATA = 300, 4, 220, 6  # of a row; elements of all variables; inputs


# Families that change shapes are tried rather early, so that other ops see all kinds of them.
SHAPING = ("dot_general", "batched_dot_general", "matmul", "dense", "broadcast", "reshape", "transpose", "slice",
           "pad", "concatenate", "take", "scatter_add", "reduction", "call")


class Unfit(Exception):
    """The op may not stand here, or nothing fits it."""


def whole(a: np.ndarray) -> np.ndarray:
    """Distance to the nearest whole number."""
    return np.abs(a - np.round(a))


def gap(a: np.ndarray, axes: list[int]) -> np.ndarray:
    """From the largest to the second largest along axes."""
    reduced = [axis % a.ndim for axis in axes]
    kept = [i for i in range(a.ndim) if i not in reduced]
    ordered = np.sort(np.transpose(a, kept + reduced).reshape(*(a.shape[i] for i in kept), -1), axis=-1)
    return ordered[..., -1] - ordered[..., -2] if ordered.shape[-1] > 1 else np.ones(ordered.shape[:-1])


# What must hold of an op's operands: no kink, pole or tie is near, so that rounding cannot change the side.
SAFE = {
    "divide": "abs(b) > 0.3", "remainder": "(abs(b) > 0.3) & (whole(a / b) > M)", "remainder_by": "whole(a / by) > M",
    "power": "(a > 0.2) & (abs(b) < 4)", "power_by": "(a > 0.2) | ((by in (2, 3)) & (abs(a) > M))",
    "maximum": "abs(a - b) > M", "maximum_by": "abs(a - by) > M", "minimum": "abs(a - b) > M",
    "minimum_by": "abs(a - by) > M", "abs": "abs(a) > M", "sign": "abs(a) > M", "relu": "abs(a) > M",
    "exponential": "a < 3", "exponential_minus_one": "a < 3",
    "log": "a > 0.2", "log_plus_one": "a > -0.7", "sqrt": "a > 0.1", "rsqrt": "a > 0.1",
    "floor": "whole(a) > M", "ceil": "whole(a) > M", "truncate": "whole(a) > M",
    "round_nearest_even": "whole(a + 0.5) > M",
    "compare": "(a.dtype.kind != 'f') | (abs(a - 1.0 * b) > M)", "compare_by": "abs(a - by) > M",
    "cast": "(a.dtype.kind != 'f') | (to[0] == 'f') | (whole(a) > M)", "integer_divide": "b != 0",
    "integer_remainder": "b != 0", "reduce_max": "gap(a, axes) > M", "reduce_min": "gap(-a, axes) > M",
    "arg_max": "gap(a, [-1]) > M", "correct": "gap(a, [-1]) > M",
    "take": "(b >= 0) & (b < len(a))", "scatter_add": "(b >= 0) & (b < extent)",
}
FUNCTIONS = {"abs": np.abs, "whole": whole, "gap": gap, "M": MARGIN, "len": len}


def check(op: str, operands: list, attributes: dict) -> None:
    """Unfit if SAFE does not hold, or an operand is large."""
    arrays = [np.asarray(operand) for operand in operands]
    if any(np.abs(array * 1.0).max() > (LARGEST if array.dtype.kind == "f" else MOST_INTEGER) for array in arrays):
        raise Unfit
    names = {**FUNCTIONS, **attributes, **dict(zip("abc", arrays))}
    with np.errstate(all="ignore"):
        if not np.all(eval(SAFE.get(op, "True"), names)):  # noqa: S307  a line of the table above
            raise Unfit


class Scope:
    """The training, or one function: its nodes, and each value's (shape, element type) and numbers."""

    def __init__(self) -> None:
        self.nodes: list[list] = []
        self.kinds: dict[str, tuple[list, str]] = {}
        self.arrays: dict[str, object] = {}


class Builder:
    """Adds nodes and what they start from."""

    def __init__(self, key: int, element: str) -> None:
        self.random, self.element, self.scope = random.Random(key), element, Scope()
        self.state, self.inside = {}, False  # variables' values; whether a function is being drawn
        self.graph = {"draw": key, "type": element, "variables": {}, "data": {}, "functions": {}}
        self.reference = Reference(self.graph, ROWS, np.float64, check)

    # --- Choices

    def below(self, count: int) -> int:
        """A number from 0 on."""
        return int(self.random.random() * count)

    def one_of(self, items: list | tuple | range) -> object:
        """One of them; Unfit if there is none."""
        if not len(items):
            raise Unfit
        return items[self.below(len(items))]

    def some_of(self, items: list) -> list:
        """Some, in any order; at least one."""
        order = sorted(items, key=lambda _: self.random.random())
        if not order:
            raise Unfit
        return order[:1 + self.below(len(order))]

    def chance(self, probability: float) -> bool:
        """True so often."""
        return self.random.random() < probability

    # --- Values

    def shape(self, name: str) -> list:
        """With "?" for the batch."""
        return self.scope.kinds[name][0]

    def type_of(self, name: str) -> str:
        """The element type."""
        return self.scope.kinds[name][1]

    def register(self, name: str, shape: list, element: str, array: np.ndarray) -> str:
        """Makes a value known."""
        self.scope.kinds[name], self.scope.arrays[name] = (shape, element), jnp.asarray(array)
        return name

    def add(self, op: str, operands: list[str], **attributes: object) -> str:
        """A node; its name. Unfit if it may not stand here."""
        result = self.reference.value(self.state, op, [self.scope.arrays[name] for name in operands], attributes)
        shape = ["?" if extent == ROWS else extent for extent in result.shape]
        extents = [extent for extent in shape if extent != "?"]
        batched = any("?" in self.shape(name) for name in operands) or "?" in attributes.get("shape", [])
        if shape.count("?") > batched or max(extents, default=0) > ROWS:
            raise Unfit
        if np.prod(extents) > MOST_ELEMENTS or len(shape) > MOST_RANK:
            raise Unfit
        self.scope.nodes.append([op, operands, attributes])
        element = self.result_type(op, operands, attributes, result)
        return self.register(f"n{len(self.scope.nodes) - 1}", shape, element, result)

    def result_type(self, op: str, operands: list[str], attributes: dict, result: object) -> str:
        """The element type for mg; all floats are computed in f64 here."""
        if op in ("cast", "one_hot", "constant"):
            return attributes.get("to") or attributes["type"]
        if op == "call":
            return self.graph["functions"][attributes["function"]]["type"][1]
        if result.dtype.kind != "f":
            return "i1" if result.dtype.kind == "b" else f"i{8 * result.dtype.itemsize}"
        return next((self.type_of(name) for name in operands if self.type_of(name)[0] == "f"), self.element)

    def variable(self, shape: list, name: str = "") -> str:
        """Declares a variable of the model's type, or finds one of this shape: variables are shared."""
        variables = self.graph["variables"]
        same = [other for other, extents in variables.items() if extents == shape and other.startswith("v.")]
        if not name and same and self.chance(0.5):
            return self.one_of(same)
        name = name or f"v.v{len(variables)}"
        if sum(int(np.prod(extents)) for extents in [*variables.values(), shape]) > MOST_VARIABLES:
            raise Unfit
        variables[name] = shape
        array = draw(f"{self.graph['draw']}/{name}", shape, self.element, -1, 1)
        self.state[name] = jnp.asarray(array, np.float64)
        return name

    def get(self, shape: list) -> str:
        """The value of a variable of this shape."""
        group, member = self.variable(shape).split(".")
        return self.add("get", [], group=group, name=member)

    def input(self, shape: list, element: str, low: float, high: float) -> str:
        """Data; Unfit in a function."""
        data = self.graph["data"]
        if self.inside or len(data) == MOST_DATA or shape[:1] != ["?"] or "?" in shape[1:]:
            raise Unfit
        name = f"x{len(data)}"
        data[name] = [shape, element, low, high]
        array = draw(f"{self.graph['draw']}/{name}", [ROWS, *shape[1:]], element, low, high)
        return self.register(name, shape, element, array.astype(np.float64) if element[0] == "f" else array)

    def number_table(self, shape: list, element: str, low: float, high: float) -> str:
        """A constant of few elements."""
        if np.prod(shape) > 40:
            raise Unfit
        numbers = np.array([low + (high - low) * self.random.random() for _ in range(int(np.prod(shape)))])
        if element == "i1":
            numbers = numbers > 0
        else:
            numbers = np.round(numbers, 3) if element[0] == "f" else np.floor(numbers).astype(int)
        return self.add("constant", [], value=numbers.reshape(shape).tolist(), type=element)

    def fresh(self, shape: list, element: str) -> str:
        """A value of its own: a variable, data or a constant."""
        low, high = (-2, 2) if element[0] == "f" else (-1, 1) if element == "i1" else (0, 9)
        if "?" in shape:
            return self.input(shape, element, low, high)
        if element == self.element and self.chance(0.9):
            return self.get(shape)
        return self.number_table(shape, element, low, high)

    def pick(self, fits: object) -> str:
        """A value for which fits(shape, element type) holds: rather of the batch, not yet used, and late."""
        names = [name for name, kind in self.scope.kinds.items() if fits(*kind)]
        used = {operand for node in self.scope.nodes for operand in node[1]}
        for preferred in ({name for name in names if "?" in self.shape(name)}, set(names) - used):
            names = [name for name in names if name in preferred] or names if self.chance(0.6) else names
        if not names:
            raise Unfit
        return names[-1 - int(len(names) * self.random.random() ** 2)]

    def pick_float(self, rank: int = 0) -> str:
        """A float value of at least this rank."""
        return self.pick(lambda shape, element: element[0] == "f" and len(shape) >= rank)

    # --- Growth

    def draw_ops(self, count: int, without: tuple = ()) -> None:
        """Adds up to `count` ops, in a random order of the table."""
        order = [op for op in OPS if OPS[op].family not in ("get", *without)]
        order.sort(key=lambda op: self.random.random() * (0.6 if OPS[op].family in SHAPING else 1))
        for op in order:
            for _ in range(5):
                try:
                    getattr(self, OPS[op].family)(op)
                except Unfit:
                    continue
                count -= 1
                break
            if count == 0:
                return


def live(nodes: list[list], results: list[str]) -> tuple[list[list], dict[str, str]]:
    """The nodes that the results need, numbered anew, and new names by old."""
    needed = set(results)
    for i in reversed(range(len(nodes))):
        if f"n{i}" in needed:
            needed.update(nodes[i][1])
    kept = [i for i in range(len(nodes)) if f"n{i}" in needed]
    names = {f"n{old}": f"n{new}" for new, old in enumerate(kept)}
    return [[nodes[i][0], [names.get(name, name) for name in nodes[i][1]], nodes[i][2]] for i in kept], names
