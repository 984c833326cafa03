"""Compiles a text of kernels with mg-codegen-opt, loads the object and runs kernels on NumPy arrays.

Not a test itself: see test_*.py beside it.
SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""
import ctypes
import os
import re
import subprocess
import tempfile

import numpy as np

TOOL = os.environ.get("MG_CODEGEN_OPT", "mg-codegen-opt")
TYPES = {"f32": np.float32, "f64": np.float64, "i1": np.bool_, "i8": np.int8,
         "i16": np.int16, "i32": np.int32, "i64": np.int64}


def aligned(shape, dtype, fill=None):
    """An array that starts at a multiple of 64 bytes, with a guard behind it."""
    count = int(np.prod(shape, dtype=np.int64))
    size = count * np.dtype(dtype).itemsize
    raw = np.full(size + 192, 0xA5, np.uint8)
    start = -raw.ctypes.data % 64
    array = raw[start:start + size].view(dtype).reshape(shape)
    if fill is not None:
        array[...] = fill
    return array, raw[start + size:]


class Kernels:
    """Kernels of one MLIR text, compiled for `cpu`."""

    def __init__(self, text, cpu="host", options=""):
        done = subprocess.run(
            [TOOL, f"--mg-compile-cpu-kernels=cpu={cpu} {options}"],
            input=text, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(done.stderr[:4000])
        image = bytes.fromhex(
            re.search(r'image = dense<"0x([0-9A-F]*)">', done.stdout).group(1))
        self.image = image
        self.grids = {}
        for name, attributes in re.findall(
                r"func\.func private @(\w+)\(.*?attributes \{(.*?)\}\n",
                done.stdout):
            grid = re.search(r"mg\.grid = array<i64: (\d+), 1, 1>", attributes)
            self.grids[name] = int(grid.group(1))
        with tempfile.NamedTemporaryFile(suffix=".so") as file:
            file.write(image)
            file.flush()
            self.library = ctypes.CDLL(file.name)

    def prepare(self, name, arrays):
        """A function that runs all blocks of a kernel, in the given order."""
        kernel = getattr(self.library, name)
        bindings = (ctypes.c_void_p * len(arrays))(
            *[array.ctypes.data for array in arrays])
        blocks = self.grids[name]

        def call(order=None):
            for x in order if order is not None else range(blocks):
                kernel(bindings, None, x, 0, 0)
        call.keep = arrays
        return call

    def run(self, name, inputs, results, alias=()):
        """Runs a kernel; `results` is a list of (shape, dtype), `alias` of
        pairs (operand, result) that share memory. Blocks run last to first.
        Fails if a byte behind an array is written."""
        operands = [aligned(np.shape(x), np.asarray(x).dtype, x)
                    for x in inputs]
        outputs = [aligned(shape, dtype) for shape, dtype in results]
        for operand, result in alias:
            outputs[result] = operands[operand]
        call = self.prepare(name, [a for a, _ in operands + outputs])
        call(reversed(range(self.grids[name])))
        for array, guard in operands + outputs:
            assert (guard == 0xA5).all(), f"{name} wrote behind an array"
        return [array.copy() for array, _ in outputs]
