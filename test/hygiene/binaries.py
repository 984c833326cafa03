#!/usr/bin/env python3
# Checks what was built: mgrun and libmg load no LLVM, and libmg holds no numeric kernel.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is built keeps two promises: the runtime is free of LLVM, and all mathematics is generated code.

    binaries.py links FILE…     the programs and libraries load no LLVM, directly or through another library
    binaries.py kernels FILE    the library defines no function named as a kernel and calls no transcendental function

Exit status 0, or 1 with one line a finding.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections.abc import Iterator

COMPILER_LIBRARIES = re.compile(r"lib(?:LLVM|MLIR|clang|lld|mgc|z3)[-.\w]*\.so", re.IGNORECASE)

# Of libm: what a kernel would call. Rounding and scaling are no kernels.
TRANSCENDENTAL = re.compile(r"_*(?:exp|exp2|exp10|expm1|log|log2|log10|log1p|pow|sqrt|cbrt|hypot|erf|erfc|[lt]gamma|"
                            r"a?sinh?|a?cosh?|a?tanh?|atan2|sincos|fma)[fl]?(?:_finite)?")

# Words that name a kernel. Copy, fill and the collectives' add, min and max are allowed.
KERNEL_WORDS = frozenset(
    "gemm gemv matmul dot contraction convolution conv softmax logsoftmax relu gelu silu sigmoid tanh exp log sqrt rsqrt "
    "entropy dense dropout adam adamw nadam sgd momentum rmsprop adagrad lion lamb glorot lecun kaiming "
    "backward gradient argmax".split())
WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


def output_of(*command: str) -> str:
    """What a program prints. Raises CalledProcessError when it fails."""
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def link_findings(file: str) -> Iterator[str]:
    """The compiler's libraries among all that the loader would load for `file`."""
    for line in output_of("ldd", file).splitlines():
        if found := COMPILER_LIBRARIES.search(line):
            yield f"{file}: loads {found[0]}: {line.strip()}"


def own_function(symbol: str) -> str | None:
    """The last name of one of our functions: `mg::data::readIdx(int)` → `readIdx`; None for anything else."""
    bare = symbol.split("(")[0]
    if not re.match(r"(?:mg::|mg_)", bare):
        return None
    return bare.rsplit("::", 1)[-1]


def kernel_findings(file: str) -> Iterator[str]:
    """Functions of libm that a kernel would call, and own functions named as a kernel."""
    for line in output_of("nm", "--dynamic", "--undefined-only", file).splitlines():
        name = line.split()[-1].split("@")[0]
        if TRANSCENDENTAL.fullmatch(name):
            yield f"{file}: calls {name}: mathematics belongs into generated code"
    for line in output_of("nm", "--demangle", "--defined-only", file).splitlines():
        kind_and_symbol = line.split(maxsplit=2)
        if len(kind_and_symbol) != 3 or kind_and_symbol[1] not in "tTwWV":
            continue
        name = own_function(kind_and_symbol[2])
        words = {word.lower() for word in WORD.findall(name or "")}
        if kernel := words & KERNEL_WORDS:
            yield f"{file}: defines {kind_and_symbol[2]}: '{' '.join(sorted(kernel))}' names a numeric kernel"


def main(arguments: list[str] | None = None) -> int:
    """The command line; see the top of this file."""
    parser = argparse.ArgumentParser(description="Check what was built.")
    parser.add_argument("check", choices=("links", "kernels"))
    parser.add_argument("files", nargs="+", metavar="FILE")
    options = parser.parse_args(arguments)
    findings = link_findings if options.check == "links" else kernel_findings
    found = [finding for file in options.files for finding in findings(file)]
    print("\n".join([*found, f"{options.check}: {len(found)} findings in {len(options.files)} files"]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
