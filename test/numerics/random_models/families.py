# Which operands and attributes an op may get: one method for each family of the table in ops.py.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A method adds one node and what it starts from, or raises Unfit. The batch is never reduced, joined, cut or
reshaped."""

from __future__ import annotations

import numpy as np
from builder import SIZES, Builder, Scope, Unfit, live
from ops import OPS

ACTIVATIONS = [op for op in OPS if OPS[op].family in ("unary", "last") and op not in ("dropout", "arg_max")]
NUMBERS = {"power_by": (2.0, 3.0, 0.5, -1.0, 1.7), "divide_by": (-1.5, 0.7, 2.0, 3.3),
           "remainder_by": (-1.5, 0.7, 2.0)}
COMPARISONS = {"f": ("lt", "le", "gt", "ge"), "i": ("eq", "ne", "lt", "le", "gt", "ge")}


def joined(a: list, b: list) -> list | None:
    """The shape that two broadcast to by NumPy's rule, if they do."""
    rank = max(len(a), len(b))
    pairs = list(zip([1] * (rank - len(a)) + a, [1] * (rank - len(b)) + b))
    return [y if x == 1 else x for x, y in pairs] if all(x == y or 1 in (x, y) for x, y in pairs) else None


def still(shape: list) -> list[int]:
    """The dimensions that are not the batch."""
    return [i for i, extent in enumerate(shape) if extent != "?"]


def factors(count: int) -> list[list[int]]:
    """Shapes of so many elements, of rank 1 to 3."""
    def pairs(n: int) -> list[list[int]]:
        return [[i, n // i] for i in range(1, n + 1) if n % i == 0]
    return [[count], *pairs(count), *([i, *rest] for i, other in pairs(count) for rest in pairs(other))]


class Families(Builder):
    """See the file's opening."""

    # --- Element by element

    def partner(self, shape: list, element: str) -> str:
        """A value that broadcasts together with `shape`: one there is, or a new one of a part of the shape."""
        if self.chance(0.5):
            return self.pick(lambda other, kind: kind == element and joined(shape, other) is not None)
        part = [1 if extent != "?" and self.chance(0.2) else extent for extent in shape]
        return self.fresh(part[self.below(len(part) + 1):] if self.chance(0.5) else part, element)

    def pair(self, a: str) -> list[str]:
        """The value and a partner, in either order."""
        both = [a, self.partner(*self.scope.kinds[a])]
        return both if self.chance(0.5) else both[::-1]

    def small_shape(self) -> list:
        """Of one or two dimensions."""
        return self.one_of((["?"], ["?", self.one_of(SIZES)], [self.one_of(SIZES)]))

    def pick_integer(self) -> str:
        """An integer to compute with."""
        if self.chance(0.3):
            return self.fresh(self.small_shape(), self.one_of(("i32", "i64")))
        if self.chance(0.2):
            return self.add("cast", [self.pick_float()], to=self.one_of(("i32", "i64")))
        return self.pick(lambda shape, element: element in ("i32", "i64"))

    def pick_truth(self) -> str:
        """A truth value."""
        if self.chance(0.3):
            return self.fresh(self.small_shape(), "i1")
        return self.pick(lambda shape, element: element == "i1")

    def unary(self, op: str) -> str:
        return self.add(op, [self.pick_float()])

    def binary(self, op: str) -> str:
        return self.add(op, self.pair(self.pick_float()))

    def number(self, op: str) -> str:
        by = self.one_of(NUMBERS[op]) if op in NUMBERS else round(4 * self.random.random() - 2, 3)
        return self.add(op, [self.pick_float()], by=by)

    def integers(self, op: str) -> str:
        return self.add(op, self.pair(self.pick_integer()))

    def integer(self, op: str) -> str:
        return self.add(op, [self.pick_integer()])

    def logic(self, op: str) -> str:
        return self.add(op, self.pair(self.pick_truth()))

    def truth(self, op: str) -> str:
        return self.add(op, [self.pick_truth()])

    def compare(self, op: str) -> str:
        a = self.pick_float() if self.chance(0.7) else self.pick_integer()
        return self.add(op, self.pair(a), how=self.one_of(COMPARISONS[self.type_of(a)[0]]))

    def compare_by(self, op: str) -> str:
        a, how = self.pick_float(), self.one_of(COMPARISONS["f"])
        return self.add(op, [a], how=how, by=round(2 * self.random.random() - 1, 3))

    def select(self, op: str) -> str:
        a, b = self.pair(self.pick_float() if op == "select" else self.pick_integer())
        shape = joined(self.shape(a), self.shape(b))
        truths = [name for name, (_, element) in self.scope.kinds.items() if element == "i1"]
        fits = [name for name in truths if joined(self.shape(name), shape) is not None]
        return self.add(op, [self.one_of(fits) if fits and self.chance(0.8) else self.partner(shape, "i1"), a, b])

    integer_select = select

    def cast(self, op: str) -> str:
        a = self.pick(lambda shape, element: True)
        if self.type_of(a) == "f64" != self.element:
            return self.add(op, [a], to=self.element)
        to = {"f": ("f64", "i32", "i64", "i1"), "i": (self.element, "f64", "i32", "i64"),
              "u": (self.element, "i32", "i64")}
        return self.add(op, [a], to=self.one_of(to[self.type_of(a)[0]]))

    # --- Shapes and positions

    def constant(self, op: str) -> str:
        return self.number_table([self.one_of(SIZES) for _ in range(self.below(3))], self.element, -2, 2)

    def iota(self, op: str) -> str:
        shape = [self.one_of(SIZES) for _ in range(1 + self.below(2))]
        axis = self.below(len(shape))
        if self.chance(0.5):
            return self.add(op, [], axis=axis + 1, shape=["?", *shape])
        return self.add(op, [], axis=axis, shape=shape)

    def broadcast(self, op: str) -> str:
        a = self.pick_float()
        new = ["?"] if "?" not in self.shape(a) and self.chance(0.4) else [self.one_of(SIZES)]
        rank = len(self.shape(a)) + len(new)
        dims = list(range(rank))
        dims.sort(key=lambda _: self.random.random())
        dims = dims[:rank - 1] if self.chance(0.3) else sorted(dims[:rank - 1])
        shape = new * rank
        for dim, extent in zip(dims, self.shape(a)):
            shape[dim] = extent
        return self.add(op, [a], dims=dims, shape=shape)

    def reshape(self, op: str) -> str:
        a = self.pick_float()
        shape = self.shape(a)
        start = shape.index("?") + 1 if "?" in shape else 0
        rest = list(self.one_of(factors(int(np.prod(shape[start:])))))
        if self.chance(0.3):
            rest[self.below(len(rest))] = -1
        return self.add(op, [a], shape=([0] if start == 1 and self.chance(0.7) else shape[:start]) + rest)

    def flatten(self, op: str) -> str:
        a = self.pick_float(1)
        if "?" in self.shape(a)[1:]:
            raise Unfit
        return self.add(op, [a])

    def transpose(self, op: str) -> str:
        a = self.pick_float(2)
        return self.add(op, [a], permutation=sorted(range(len(self.shape(a))), key=lambda _: self.random.random()))

    def slice(self, op: str) -> str:
        a = self.pick_float(1)
        axis = self.one_of([i for i in still(self.shape(a)) if self.shape(a)[i] > 1])
        start = self.below(self.shape(a)[axis])
        limit = start + 1 + self.below(self.shape(a)[axis] - start)
        if self.chance(0.15):
            return self.add(op, [a], axis=axis, start=0, limit=self.shape(a)[axis], stride=1)
        return self.add(op, [a], axis=axis, start=start, limit=limit, stride=1 + self.below(3))

    def pad(self, op: str) -> str:
        a = self.pick_float(1)
        axis = self.one_of(still(self.shape(a)))
        return self.add(op, [a], axis=axis, low=self.below(3), high=self.below(3), between=self.below(3))

    def concatenate(self, op: str) -> str:
        a = self.pick_float(1)
        axis, (shape, element) = self.one_of(still(self.shape(a))), self.scope.kinds[a]
        before, after, parts = shape[:axis], shape[axis + 1:], [a]

        def fits(other: list, kind: str) -> bool:
            same = len(other) == len(shape) and (other[:axis], other[axis + 1:]) == (before, after)
            return kind == element and same and other[axis] != "?"
        for _ in range(1 + self.below(3)):
            if self.chance(0.4):
                parts.append(self.fresh([*before, self.one_of(SIZES), *after], element))
            else:
                parts.append(self.pick(fits))
        return self.add(op, self.some_of(parts) if self.chance(0.3) else parts, axis=axis)

    def one_hot(self, op: str) -> str:
        return self.add(op, [self.pick_integer()], depth=self.one_of(SIZES), to=self.element)

    def take(self, op: str) -> str:
        count = self.one_of(SIZES)
        table = self.get([count, self.one_of(SIZES)]) if self.chance(0.5) else self.pick(
            lambda shape, element: element[0] == "f" and len(shape) == 2 and shape[0] != "?")
        shape = self.shape(table)

        def fits(other: list, element: str) -> bool:
            return element in ("i32", "i64") and len(other) == 1 and (other + shape[1:]).count("?") < 2
        if self.chance(0.4):
            return self.add(op, [table, self.pick(fits)])
        if self.chance(0.7) and "?" not in shape:
            return self.add(op, [table, self.input(["?"], self.one_of(("i32", "i64", "ui8")), 0, shape[0])])
        indices = self.number_table([self.one_of(SIZES)], self.one_of(("i32", "i64")), 0, shape[0])
        return self.add(op, [table, indices])

    def scatter_add(self, op: str) -> str:
        a = self.pick(lambda shape, element: element[0] == "f" and len(shape) == 2 and shape[0] != "?")
        extent = self.one_of(SIZES)
        indices = self.number_table([self.shape(a)[0]], self.one_of(("i32", "i64")), 0, extent)
        return self.add(op, [a, indices], extent=extent)

    # --- Reductions and products

    def last(self, op: str) -> str:
        return self.add(op, [self.pick(lambda shape, element: element[0] == "f" and shape[-1:] not in ([], ["?"]))])

    def reduction(self, op: str) -> str:
        a = self.pick_float(1) if op != "integer_sum" else self.pick_integer()
        return self.add(op, [a], axes=self.some_of(still(self.shape(a))) if self.chance(0.95) else [])

    integer_reduction = reduction

    def dot_general(self, op: str) -> str:
        """A contraction of one or more dimensions, with a variable made to fit or with a value that happens to."""
        a = self.pick_float(1)
        contract = self.some_of(still(self.shape(a)))[:2]
        rest = [i for i in still(self.shape(a)) if i not in contract]
        batch = rest[:1 + self.below(2)] if op == "batched_dot_general" else []
        if self.chance(0.4):
            return self.dot_of_two(op, a, contract, batch)
        if (op == "batched_dot_general" and not batch) or self.type_of(a) != self.element:
            raise Unfit
        origin = [("c", i) for i in contract] + [("b", i) for i in batch]
        origin += [("f", self.one_of(SIZES)) for _ in range(self.below(3))]
        origin.sort(key=lambda _: self.random.random())
        b = self.get([extent if kind == "f" else self.shape(a)[extent] for kind, extent in origin])
        contract_b = [origin.index(("c", i)) for i in contract]
        return self.dot(op, a, b, contract, contract_b, batch, [origin.index(("b", i)) for i in batch])

    batched_dot_general = dot_general

    def dot_of_two(self, op: str, a: str, contract: list[int], batch: list[int]) -> str:
        """With another value: the batch of both, if both have it, and equal extents are paired."""
        b = self.pick(lambda shape, element: element == self.type_of(a) and len(shape) > 0)
        shape_a, shape_b = self.shape(a), self.shape(b)
        if "?" in shape_a and "?" in shape_b:
            batch = [*batch, shape_a.index("?")]
        partners: list[int] = []
        for i in contract + batch:
            fits = [j for j, extent in enumerate(shape_b) if extent == shape_a[i] and j not in partners]
            partners.append(self.one_of(fits))
        if bool(batch) != (op == "batched_dot_general"):
            raise Unfit
        return self.dot(op, a, b, contract, partners[:len(contract)], batch, partners[len(contract):])

    def dot(self, op: str, a: str, b: str, contract_a: list, contract_b: list, batch_a: list, batch_b: list) -> str:
        """In either order."""
        if self.chance(0.5):
            a, b, contract_a, contract_b, batch_a, batch_b = b, a, contract_b, contract_a, batch_b, batch_a
        lists = {"batch_a": batch_a, "batch_b": batch_b} if op == "batched_dot_general" else {}
        return self.add(op, [a, b], contract_a=contract_a, contract_b=contract_b, **lists)

    def matmul(self, op: str) -> str:
        a = self.pick_float(2)
        *lead, _, k = self.shape(a)
        if k == "?":
            raise Unfit
        if "?" in lead or self.chance(0.3):
            rank = len(self.shape(a))
            b = self.add("transpose", [a], permutation=[*range(rank - 2), rank - 1, rank - 2])
            return self.add(op, [a, b])
        return self.add(op, [a, self.get([*lead, k, self.one_of(SIZES)])])

    def dense(self, op: str) -> str:
        a = self.pick(lambda shape, element: element == self.element and shape[-1:] not in ([], ["?"]))
        kernels = {name: shape for name, shape in self.graph["variables"].items() if name.endswith(".kernel")}
        fits = [name for name, shape in kernels.items() if shape[0] == self.shape(a)[-1]]
        if fits and self.chance(0.6):
            group = self.one_of(fits).split(".")[0]
        else:
            group, width = f"g{len(kernels)}", self.one_of(SIZES)
            self.variable([self.shape(a)[-1], width], f"{group}.kernel")
            if self.chance(0.7):
                self.variable([width], f"{group}.bias")
        activation = {"activation": self.one_of(ACTIVATIONS)} if op == "dense_activated" else {}
        return self.add(op, [a], group=group, **activation)

    # --- Losses: one value a row

    def pick_rows(self, last: bool) -> str:
        """A float value that begins with the batch and, if so wanted, ends with something else."""
        least = 2 if last else 1
        return self.pick(lambda shape, element: element[0] == "f" and shape[:1] == ["?"] and len(shape) >= least)

    def like(self, a: str, probability: float) -> str:
        """A value of the same shape and type: so often one there is, or a new one."""
        kind = self.scope.kinds[a]
        return self.pick(lambda *other: other == kind) if self.chance(probability) else self.fresh(*kind)

    def labels(self, op: str, a: str = "") -> str:
        a = a or self.pick_rows(True)
        *lead, classes = self.shape(a)
        return self.add(op, [a, self.input(lead, self.one_of(("ui8", "i32", "i64")), 0, classes)])

    def cross_entropy(self, op: str, a: str = "") -> str:
        a = a or self.pick_rows(True)
        b = self.like(a, 0.7)
        return self.add(op, [a, self.add("softmax", [b]) if self.chance(0.7) else b])

    def mean_squared_error(self, op: str) -> str:
        a = self.pick_rows(False)
        return self.add(op, [a, self.like(a, 0.5)])

    # --- Functions

    def call(self, op: str) -> str:
        """A function of one or two values, called with them and, where others fit it too, once more."""
        fits, kinds = self.passable(), self.scope.kinds
        operands = [self.one_of(fits) for _ in range(1 + self.below(2))]
        name = self.function(operands)
        result = self.add(op, operands, function=name)
        others = [self.one_of([name for name in fits if kinds[name] == kinds[operand]]) for operand in operands]
        try:
            return self.add(op, others, function=name) if others != operands else result
        except Unfit:
            return result

    def passable(self) -> list[str]:
        """Values that a function may take or return: of the model's type, the batch first if there is one."""
        kinds = self.scope.kinds.items()
        return [name for name, (shape, element) in kinds if element == self.element and "?" not in shape[1:]]

    def function(self, operands: list[str]) -> str:
        """Draws a function; its name."""
        if self.inside:
            raise Unfit
        outer, self.scope, self.inside = self.scope, Scope(), True
        try:
            for i, operand in enumerate(operands):
                self.register(f"a{i}", *outer.kinds[operand], outer.arrays[operand])
            arguments = {name: list(kind) for name, kind in self.scope.kinds.items()}
            self.draw_ops(2 + self.below(4), ("call", "labels", "iota", "constant"))
            results = [name for name in self.passable() if name not in arguments][-1:]
            nodes, names = live(self.scope.nodes, results)
            made = [{"nodes": nodes, "result": names[name], "type": list(self.scope.kinds[name])} for name in results]
        finally:
            self.scope, self.inside = outer, False
        if not {operand for node in nodes for operand in node[1]} & set(arguments):
            raise Unfit
        name = f"f{len(self.graph['functions'])}"
        self.graph["functions"][name] = {"arguments": arguments, **made[0]}
        return name
