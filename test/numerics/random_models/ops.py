# The ops that random models are made of: how mg writes each, and how JAX computes it. The two are written apart, each
# from its own documentation, so that agreement means something.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`a`, `b`, `c` are the first three operands, `operands` all of them; other names are attributes of the use. In JAX's
lines `state` holds the variables, `types` the element types by name, `call` runs a function of the model; the names
that are neither JAX's nor these stand in reference.py."""

from __future__ import annotations

from typing import NamedTuple


class Op(NamedTuple):
    """One row: the family says which operands and attributes fit (generate.py has one function a family)."""
    family: str
    mg: str
    jax: str


OPS = {
    # Two floats, by NumPy's broadcasting.
    "add": Op("binary", "mg.add {a}, {b}", "a + b"),
    "subtract": Op("binary", "mg.subtract {a}, {b}", "a - b"),
    "multiply": Op("binary", "mg.multiply {a}, {b}", "a * b"),
    "divide": Op("binary", "mg.divide {a}, {b}", "a / b"),
    "maximum": Op("binary", "mg.maximum {a}, {b}", "jnp.maximum(a, b)"),
    "minimum": Op("binary", "mg.minimum {a}, {b}", "jnp.minimum(a, b)"),
    "remainder": Op("binary", "mg.remainder {a}, {b}", "jnp.fmod(a, b)"),
    "power": Op("binary", "mg.power {a}, {b}", "jnp.power(a, b)"),
    "binary_cross_entropy": Op("binary", "mg.binary_cross_entropy {a}, {b}", "jnp.logaddexp(0, a) - a * b"),
    # A float and a number.
    "add_by": Op("number", "mg.add {a} by {by}", "a + by"),
    "subtract_by": Op("number", "mg.subtract {a} by {by}", "a - by"),
    "multiply_by": Op("number", "mg.multiply {a} by {by}", "a * by"),
    "divide_by": Op("number", "mg.divide {a} by {by}", "a / by"),
    "maximum_by": Op("number", "mg.maximum {a} by {by}", "jnp.maximum(a, by)"),
    "minimum_by": Op("number", "mg.minimum {a} by {by}", "jnp.minimum(a, by)"),
    "remainder_by": Op("number", "mg.remainder {a} by {by}", "jnp.fmod(a, by)"),
    "power_by": Op("number", "mg.power {a} by {by}", "a ** by"),
    # One float.
    "negate": Op("unary", "mg.negate {a}", "-a"),
    "abs": Op("unary", "mg.abs {a}", "jnp.abs(a)"),
    "sign": Op("unary", "mg.sign {a}", "jnp.sign(a)"),
    "exponential": Op("unary", "mg.exponential {a}", "jnp.exp(a)"),
    "exponential_minus_one": Op("unary", "mg.exponential_minus_one {a}", "jnp.expm1(a)"),
    "log": Op("unary", "mg.log {a}", "jnp.log(a)"),
    "log_plus_one": Op("unary", "mg.log_plus_one {a}", "jnp.log1p(a)"),
    "tanh": Op("unary", "mg.tanh {a}", "jnp.tanh(a)"),
    "sigmoid": Op("unary", "mg.sigmoid {a}", "jax.nn.sigmoid(a)"),
    "sqrt": Op("unary", "mg.sqrt {a}", "jnp.sqrt(a)"),
    "rsqrt": Op("unary", "mg.rsqrt {a}", "lax.rsqrt(a)"),
    "sine": Op("unary", "mg.sine {a}", "jnp.sin(a)"),
    "cosine": Op("unary", "mg.cosine {a}", "jnp.cos(a)"),
    "erf": Op("unary", "mg.erf {a}", "lax.erf(a)"),
    "floor": Op("unary", "mg.floor {a}", "jnp.floor(a)"),
    "ceil": Op("unary", "mg.ceil {a}", "jnp.ceil(a)"),
    "truncate": Op("unary", "mg.truncate {a}", "jnp.trunc(a)"),
    "round_nearest_even": Op("unary", "mg.round_nearest_even {a}", "jnp.round(a)"),
    "relu": Op("unary", "mg.relu {a}", "jax.nn.relu(a)"),
    "gelu": Op("unary", "mg.gelu {a}", "jax.nn.gelu(a, approximate=False)"),
    "gelu_tanh": Op("unary", "mg.gelu_tanh {a}", "jax.nn.gelu(a, approximate=True)"),
    "silu": Op("unary", "mg.silu {a}", "jax.nn.silu(a)"),
    "dropout": Op("unary", "mg.dropout {a}, 0.0", "a"),
    "softmax": Op("last", "mg.softmax {a}", "jax.nn.softmax(a, axis=-1)"),
    "log_softmax": Op("last", "mg.log_softmax {a}", "jax.nn.log_softmax(a, axis=-1)"),
    "arg_max": Op("last", "mg.arg_max {a}", "jnp.argmax(a, axis=-1)"),
    # Truth values and choice.
    "compare": Op("compare", "mg.compare {how}, {a}, {b}", "COMPARE[how](a, b)"),
    "compare_by": Op("compare_by", "mg.compare {how}, {a} by {by}", "COMPARE[how](a, by)"),
    "select": Op("select", "mg.select {a}, {b}, {c}", "jnp.where(a, b, c)"),
    "and": Op("logic", "mg.and {a}, {b}", "jnp.logical_and(a, b)"),
    "or": Op("logic", "mg.or {a}, {b}", "jnp.logical_or(a, b)"),
    "xor": Op("logic", "mg.xor {a}, {b}", "jnp.logical_xor(a, b)"),
    "not": Op("truth", "mg.not {a}", "jnp.logical_not(a)"),
    "cast": Op("cast", "mg.cast {a} to {to}", "a.astype(types[to])"),
    # Integers.
    "integer_add": Op("integers", "mg.add {a}, {b}", "a + b"),
    "integer_multiply": Op("integers", "mg.multiply {a}, {b}", "a * b"),
    "integer_maximum": Op("integers", "mg.maximum {a}, {b}", "jnp.maximum(a, b)"),
    "integer_divide": Op("integers", "mg.divide {a}, {b}", "jnp.trunc(a / b).astype(a.dtype)"),
    "integer_remainder": Op("integers", "mg.remainder {a}, {b}", "jnp.fmod(a, b)"),
    "integer_and": Op("integers", "mg.and {a}, {b}", "jnp.bitwise_and(a, b)"),
    "integer_xor": Op("integers", "mg.xor {a}, {b}", "jnp.bitwise_xor(a, b)"),
    "integer_negate": Op("integer", "mg.negate {a}", "-a"),
    "integer_abs": Op("integer", "mg.abs {a}", "jnp.abs(a)"),
    "integer_select": Op("integer_select", "mg.select {a}, {b}, {c}", "jnp.where(a, b, c)"),
    "integer_sum": Op("integer_reduction", "mg.reduce_sum {a}, axes = {axes}",
                      "jnp.sum(a, axis=tuple(axes), dtype=a.dtype)"),
    # Shapes and positions.
    "constant": Op("constant", "mg.constant {dense}", "jnp.array(value, types[type])"),
    "iota": Op("iota", "mg.iota axis = {axis}, shape = {shape}", "lax.broadcasted_iota(jnp.int64, shape, axis)"),
    "broadcast": Op("broadcast", "mg.broadcast {a}, dims = {dims}, shape = {shape}", "spread(a, dims, shape)"),
    "reshape": Op("reshape", "mg.reshape {a}, shape = {shape}",
                  "a.reshape([a.shape[0], *shape[1:]] if shape[:1] == [0] else shape)"),
    "flatten": Op("flatten", "mg.flatten {a}", "a.reshape(a.shape[0], -1)"),
    "transpose": Op("transpose", "mg.transpose {a}, permutation = {permutation}", "jnp.transpose(a, permutation)"),
    "slice": Op("slice", "mg.slice {a}, axis = {axis}, {start} to {limit} step {stride}",
                "lax.slice_in_dim(a, start, limit, stride, axis)"),
    "pad": Op("pad", "mg.pad {a}, axis = {axis}, {low} and {high} between {between}",
              "padded(a, axis, (low, high, between))"),
    "concatenate": Op("concatenate", "mg.concatenate {operands} axis = {axis}", "jnp.concatenate(operands, axis)"),
    "one_hot": Op("one_hot", "mg.one_hot {a}, {depth} to {to}", "jax.nn.one_hot(a, depth, dtype=types[to])"),
    "take": Op("take", "mg.take {a}, {b}", "a[b.astype(int)]"),
    "scatter_add": Op("scatter_add", "mg.scatter_add {a}, {b}, {extent}",
                      "jnp.zeros((extent, a.shape[1]), a.dtype).at[b.astype(int)].add(a)"),
    # Reductions.
    "reduce_sum": Op("reduction", "mg.reduce_sum {a}, axes = {axes}", "jnp.sum(a, axis=tuple(axes))"),
    "reduce_prod": Op("reduction", "mg.reduce_prod {a}, axes = {axes}", "jnp.prod(a, axis=tuple(axes))"),
    "reduce_max": Op("reduction", "mg.reduce_max {a}, axes = {axes}", "jnp.max(a, axis=tuple(axes))"),
    "reduce_min": Op("reduction", "mg.reduce_min {a}, axes = {axes}", "jnp.min(a, axis=tuple(axes))"),
    "reduce_mean": Op("reduction", "mg.reduce_mean {a}, axes = {axes}", "jnp.mean(a, axis=tuple(axes))"),
    # Sums of products.
    "dot_general": Op("dot_general", "mg.dot_general {a}, {b} contract {contract_a} x {contract_b}",
                      "lax.dot_general(a, b, ((contract_a, contract_b), ((), ())))"),
    "batched_dot_general": Op("batched_dot_general",
                              "mg.dot_general {a}, {b} batch {batch_a} x {batch_b} "
                              "contract {contract_a} x {contract_b}",
                              "lax.dot_general(a, b, ((contract_a, contract_b), (batch_a, batch_b)))"),
    "matmul": Op("matmul", "mg.matmul {a}, {b}", "jnp.matmul(a, b)"),
    "dense": Op("dense", "mg.dense {a}, @{group}",
                "jnp.dot(a, state[group + '.kernel']) + state.get(group + '.bias', 0)"),
    "dense_activated": Op("dense", "mg.dense {a}, @{group}, {activation}",
                          "activate(activation, a @ state[group + '.kernel'] + state.get(group + '.bias', 0))"),
    # Losses and metrics, one value a row.
    "sparse_cross_entropy": Op("labels", "mg.sparse_cross_entropy {a}, {b}",
                               "-jnp.take_along_axis(jax.nn.log_softmax(a), b[..., None].astype(int), -1)[..., 0]"),
    "cross_entropy": Op("cross_entropy", "mg.cross_entropy {a}, {b}", "-jnp.sum(b * jax.nn.log_softmax(a), axis=-1)"),
    "mean_squared_error": Op("mean_squared_error", "mg.mean_squared_error {a}, {b}",
                             "jnp.mean(jnp.square(a - b).reshape(a.shape[0], -1), axis=1)"),
    "correct": Op("labels", "mg.correct {a}, {b}", "(jnp.argmax(a, axis=-1) == b).astype(a.dtype)"),
    # Structure.
    "get": Op("get", "mg.get @{group}::@{name}", "state[group + '.' + name]"),
    "call": Op("call", "mg.call @{function}({operands})", "call(function, operands)"),
}
