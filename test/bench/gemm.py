# How near mgc's product of two matrices comes to what one core can multiply and add at most, measured in turns in one process.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""gemm.py --mgc=BUILD/bin/mgc [--rows=64 --inner=784 --columns=512] [--rounds=20] [--cc=clang-22]: one JSON line.

`peak` is a loop of fused multiply-adds on registers, compiled for this CPU; `gemm` the kernel of a model with one product.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import re
import subprocess
import tempfile
import time
from pathlib import Path

PEAK = """
typedef float V __attribute__((vector_size(BYTES)));
float peak(long n) {
  V s[CHAINS], a = {0}, b = {0};
  for (int i = 0; i < CHAINS; ++i) s[i] = a;
  for (long k = 0; k < n; ++k)
    for (int i = 0; i < CHAINS; ++i) {
      s[i] = a * b + s[i];
      __asm__("" : "+x"(s[i]));
    }
  for (int i = 1; i < CHAINS; ++i) s[0] += s[i];
  return s[0][0];
}
"""
CHAINS = 12
MODEL = """mg.model @gemm {{
  mg.variables @w {{kernel: {inner}x{columns}xf32 = zeros}}
  mg.func @product(%x: tensor<?x{inner}xf32>) -> tensor<?x{columns}xf32> {{
    %kernel = mg.get @w::@kernel
    %y = mg.dot_general %x, %kernel contract [1] x [0]
    mg.return %y
  }}
  mg.predict @product
}}
"""


def build_peak(folder: Path, compiler: str, width: int) -> ctypes.CDLL:
    source, library = folder / "peak.c", folder / "peak.so"
    source.write_text(PEAK)
    subprocess.run([compiler, "-O2", "-march=native", "-ffp-contract=fast", f"-DBYTES={width}", f"-DCHAINS={CHAINS}", "-shared",
                    "-fPIC", f"-mprefer-vector-width={width * 8}", "-o", library, source], check=True)
    return ctypes.CDLL(str(library))


class Kernel:
    """A bundle's only launch of the predict entry, on memory of its own."""

    def __init__(self, folder: Path, mgc: str, text: str, rows: int):
        model, bundle, image = folder / "gemm.mlir", folder / "gemm.mgb", folder / "gemm.so"
        model.write_text(text)
        how = [mgc, str(model), f"--batch-size={rows}"]
        subprocess.run([*how, "-o", bundle], check=True)
        data = bundle.read_bytes()
        image.write_bytes(data[data.index(b"\x7fELF"):])
        code = subprocess.run([*how, "--emit=code"], check=True, capture_output=True, text=True).stdout
        entry = code[code.index("predict of"):]
        launches = re.findall(r"mgrt\.launch @(\w+)\((.*)\) -> \((.*)\) name", entry[:entry.index("\n  }")])
        assert len(launches) == 1, f"expected one launch, found {launches}"
        name, *ranges = launches[0]
        bindings = [(region, int(offset)) for region, offset in re.findall(r"<(\w+), (\d+), \d+", " ".join(ranges))]
        self.blocks = int(re.search(rf"{name} = array<i64: (\d+), 1, 1>", code)[1])
        self.state = ctypes.create_string_buffer(int(re.search(r"mgrt\.state (\d+)", code)[1]) + 4096)
        base = -(-ctypes.addressof(self.state) // 4096) * 4096
        assert all(region == "state" for region, _ in bindings)
        self.bindings = (ctypes.c_void_p * len(bindings))(*(base + offset for _, offset in bindings))
        self.function = getattr(ctypes.CDLL(str(image)), name)

    def __call__(self) -> None:
        for block in range(self.blocks):
            self.function(self.bindings, None, block, 0, 0)


def seconds(work, times: int) -> float:
    begin = time.perf_counter()
    for _ in range(times):
        work()
    return (time.perf_counter() - begin) / times


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mgc", required=True)
    for name, default in (("rows", 64), ("inner", 784), ("columns", 512), ("rounds", 20)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--cc", default="clang-22")
    options = parser.parse_args()
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    width = 64 if " avx512f " in Path("/proc/cpuinfo").read_text() else 32
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        peak = build_peak(folder, options.cc, width).peak
        kernel = Kernel(folder, options.mgc, MODEL.format(**vars(options)), options.rows)
        repetitions, best = 100_000, {"gemm": float("inf"), "peak": float("inf")}
        for _ in range(options.rounds):
            best["gemm"] = min(best["gemm"], seconds(kernel, 10))
            best["peak"] = min(best["peak"], seconds(lambda: peak(ctypes.c_long(repetitions)), 10))
    gemm = 2 * options.rows * options.inner * options.columns / best["gemm"]
    limit = 2 * width // 4 * CHAINS * repetitions / best["peak"]
    print(json.dumps({"gemm_gflops": round(gemm / 1e9, 1), "peak_gflops": round(limit / 1e9, 1), "share": round(gemm / limit, 3),
                      "blocks": kernel.blocks, "vector_bytes": width}))


if __name__ == "__main__":
    main()
