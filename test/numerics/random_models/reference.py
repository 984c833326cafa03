# A stored random model computed by JAX: loss, metric and gradients. Needed to generate only; the test has them stored.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Everything is computed in one float type, whatever the model's: in f64 for the values to expect, in f32 to see how
much rounding matters."""

from __future__ import annotations

import operator
from collections.abc import Callable

import jax
import numpy as np
from graph import data, filled, variables
from jax import lax
from jax import numpy as jnp
from ops import OPS

jax.config.update("jax_enable_x64", True)
LINES = {name: compile(op.jax, name, "eval") for name, op in OPS.items()}
COMPARE = {name: getattr(operator, name) for name in ("eq", "ne", "lt", "le", "gt", "ge")}
Check = Callable[[str, list, dict], None]


def spread(a: jax.Array, dims: list[int], shape: list[int]) -> jax.Array:
    """Dimension i of a becomes dimension dims[i]; JAX wants those in ascending order."""
    order = np.argsort(dims)
    return lax.broadcast_in_dim(jnp.transpose(a, order), shape, [dims[i] for i in order])


def padded(a: jax.Array, axis: int, config: tuple[int, int, int]) -> jax.Array:
    """Zeros before, after and between the elements of one dimension."""
    return lax.pad(a, jnp.zeros((), a.dtype), [config if i == axis else (0, 0, 0) for i in range(a.ndim)])


class Reference:
    """Computes nodes of a graph over so many rows; `check` sees each op and its operands."""

    def __init__(self, graph: dict, rows: int, floats: type, check: Check | None = None) -> None:
        self.graph, self.rows, self.check = graph, rows, check
        self.types = {"f64": floats, "f32": floats, "i64": np.int64, "i32": np.int32, "ui8": np.uint8, "i1": np.bool_}

    def value(self, state: dict, op: str, operands: list, attributes: dict) -> jax.Array:
        """The result of one op."""
        lists = {key: filled(value, self.rows) for key, value in attributes.items() if isinstance(value, list)}
        here = {**attributes, **lists}
        names = {**globals(), "types": self.types, "state": state, "operands": operands, **dict(zip("abc", operands)),
                 **here, "call": lambda name, given: self.call(state, name, given),
                 "activate": lambda name, x: self.value(state, name, [x], {})}
        if self.check:
            self.check(op, operands, here)
        return eval(LINES[op], names)  # noqa: S307  a line of the table

    def run(self, state: dict, nodes: list[list], values: dict) -> dict:
        """Adds the nodes' results to `values`."""
        for i, (op, operands, attributes) in enumerate(nodes):
            values[f"n{i}"] = self.value(state, op, [values[name] for name in operands], attributes)
        return values

    def call(self, state: dict, name: str, operands: list) -> jax.Array:
        """The result of a function of the model."""
        function = self.graph["functions"][name]
        return self.run(state, function["nodes"], dict(zip(function["arguments"], operands)))[function["result"]]

    def cast(self, arrays: dict[str, np.ndarray]) -> dict[str, jax.Array]:
        """Floats in the type to compute in."""
        def kind(array: np.ndarray) -> type | None:
            return self.types["f64"] if array.dtype.kind == "f" else None
        return {name: jnp.asarray(array, kind(array)) for name, array in arrays.items()}

    def objective(self, state: dict, arrays: dict) -> tuple[jax.Array, jax.Array]:
        """Σ w·l / Σ w, and the mean of the metric."""
        values = self.run(state, self.graph["nodes"], dict(arrays))
        loss, weight, metric = values[self.graph["loss"]], self.graph["weight"], self.graph["metric"]
        weights = values[weight] if weight else jnp.ones_like(loss)
        return jnp.sum(weights * loss) / jnp.sum(weights), jnp.mean(values[metric]) if metric else jnp.zeros(())

    def expected(self) -> list[np.ndarray]:
        """Loss, metric (0 without one) and the gradient of each variable, in the graph's order."""
        state, arrays = self.cast(variables(self.graph)), self.cast(data(self.graph, self.rows))
        compute = jax.jit(jax.value_and_grad(self.objective, has_aux=True))
        (loss, metric), gradients = compute(state, arrays)
        results = [loss, metric, *(gradients[name] for name in self.graph["variables"])]
        return [np.asarray(array, np.float64) for array in results]
