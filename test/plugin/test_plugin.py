# One plug-in, both tools: the same remark, and a bundle that the pass did not change.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Run by unittest with MGC, MG_OPT and MG_PLUGIN set."""

import os
import subprocess
import tempfile
import unittest
from pathlib import Path

MNIST = Path(__file__).resolve().parents[2] / "examples" / "mnist" / "mlp.mlir"
MGC, MG_OPT, PLUGIN = (os.environ[name] for name in ("MGC", "MG_OPT", "MG_PLUGIN"))


def run(*command: str, text: str | None = None) -> subprocess.CompletedProcess:
    """A finished tool, which must have succeeded."""
    return subprocess.run(command, input=text, capture_output=True, text=True, timeout=60, check=True)


class Plugin(unittest.TestCase):
    def test_mg_opt_runs_it_on_a_stage(self):
        partitioned = run(MGC, str(MNIST), "--emit=partition").stdout
        ran = run(MG_OPT, f"--load-pass-plugin={PLUGIN}", "--pass-pipeline=builtin.module(count-all-reduces)", text=partitioned)
        self.assertIn("remark: 9 all-reduces", ran.stderr)

    def test_mgc_runs_it_behind_a_stage(self):
        with tempfile.TemporaryDirectory() as folder:
            plain, counted = Path(folder) / "plain.mgb", Path(folder) / "counted.mgb"
            run(MGC, str(MNIST), "-o", str(plain))
            ran = run(MGC, str(MNIST), "-o", str(counted), f"--load-pass-plugin={PLUGIN}", "--insert-passes=partition:count-all-reduces")
            self.assertIn("remark: 9 all-reduces", ran.stderr)
            self.assertEqual(plain.read_bytes(), counted.read_bytes())

    def test_a_missing_plugin_is_named(self):
        ran = subprocess.run([MGC, str(MNIST), "-o", "/tmp/never.mgb", "--load-pass-plugin=/no/such.so"], capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(ran.returncode, 2)
        self.assertIn("/no/such.so", ran.stderr)


if __name__ == "__main__":
    unittest.main()
