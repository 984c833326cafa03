# A stored random model: its numbers, and its text for mg. Nothing here knows JAX.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A graph is a dictionary, one line of graphs.json: `variables` (name: shape), `data` (name: [shape, element type,
low, high]), `functions`, and `nodes` [op, operands, attributes], of which node i is named ni. In shapes "?" stands for
the batch. A step takes `rows` rows of a global batch of `batch`, in units of `unit`."""

from __future__ import annotations

import random

import numpy as np
from harness import dense
from ops import OPS

NUMPY = {"f64": np.float64, "f32": np.float32, "i64": np.int64, "i32": np.int32, "ui8": np.uint8, "i1": np.bool_}


def draw(key: str, shape: list, element: str, low: float, high: float) -> np.ndarray:
    """Numbers that depend on the key alone: Python promises this of random() for ever."""
    source = random.Random(key)
    numbers = np.array([low + (high - low) * source.random() for _ in range(int(np.prod(shape)))]).reshape(shape)
    if element == "i1":
        return numbers > 0
    return (numbers if element[0] == "f" else np.floor(numbers)).astype(NUMPY[element])


def variables(graph: dict) -> dict[str, np.ndarray]:
    """Initial values."""
    key, element = graph["draw"], graph["type"]
    return {name: draw(f"{key}/{name}", shape, element, -1, 1) for name, shape in graph["variables"].items()}


def data(graph: dict, rows: int) -> dict[str, np.ndarray]:
    """The first rows of the data."""
    key, kinds = graph["draw"], graph["data"].items()
    return {name: draw(f"{key}/{name}", [rows, *shape[1:]], *rest) for name, (shape, *rest) in kinds}


def filled(shape: list, batch: int | str) -> list:
    """The shape with the batch's extent."""
    return [batch if extent == "?" else extent for extent in shape]


def all_nodes(graph: dict) -> list[list]:
    """The nodes, those of functions included."""
    return graph["nodes"] + [node for function in graph["functions"].values() for node in function["nodes"]]


def ops_of(graph: dict) -> set[str]:
    """What the graph uses of the table."""
    return {node[0] for node in all_nodes(graph)}


# --- Text for mg ----------------------------------------------------------------------------------------------------

def tensor(shape: list, element: str) -> str:
    """A type."""
    return f"tensor<{'x'.join([*map(str, shape), element])}>"


def attribute(value: object, unit: int) -> object:
    """An attribute as text."""
    return f"[{', '.join(map(str, filled(value, unit)))}]" if isinstance(value, list) else value


def node_text(index: int, node: list, unit: int) -> str:
    """One op."""
    op, operands, attributes = node
    names = [f"%{operand}" for operand in operands]
    fields = {key: attribute(value, unit) for key, value in attributes.items()}
    fields |= {"operands": ", ".join(names), **dict(zip("abc", names))}
    if op == "constant":
        fields["dense"] = dense(np.array(attributes["value"], NUMPY[attributes["type"]]))
    return f"    %n{index} = {OPS[op].mg.format(**fields)}"


def nodes_text(nodes: list[list], unit: int) -> str:
    """A line an op."""
    return "\n".join(node_text(i, node, unit) for i, node in enumerate(nodes))


def function_text(name: str, function: dict, unit: int) -> str:
    """A function of the model."""
    arguments = ", ".join(f"%{argument}: {tensor(*kind)}" for argument, kind in function["arguments"].items())
    body = f"{nodes_text(function['nodes'], unit)}\n    mg.return %{function['result']}"
    return f"  mg.func @{name}({arguments}) -> {tensor(*function['type'])} {{\n{body}\n  }}\n"


def mg_text(graph: dict) -> str:
    """The model. Its optimizer leaves variables and keeps their gradients in a slot, so that none is rounded."""
    groups: dict[str, list[str]] = {}
    for name, shape in graph["variables"].items():
        group, member = name.split(".")
        groups.setdefault(group, []).append(f"{member}: {'x'.join([*map(str, shape), graph['type']])} = zeros")
    text = "mg.model @random {\n  mg.optimizer @keep(%p, %g, slot %gradient = 0) {\n    mg.return %p, %g\n  }\n"
    text += "".join(f"  mg.variables @{group} {{{', '.join(members)}}}\n" for group, members in groups.items())
    for name, function in graph["functions"].items():
        text += function_text(name, function, graph["unit"])
    arguments = ", ".join(f"%{name}: {tensor(shape, element)}" for name, (shape, element, *_) in graph["data"].items())
    text += f"  mg.train @fit({arguments}) {{\n{nodes_text(graph['nodes'], graph['unit'])}"
    if graph["metric"]:
        text += f"\n    mg.metric \"measured\", %{graph['metric']}"
    weight = f" weight %{graph['weight']}" if graph["weight"] else ""
    return text + f"\n    mg.minimize %{graph['loss']}{weight} with @keep\n  }}\n}}\n"
