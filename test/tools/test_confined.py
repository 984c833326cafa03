# mgrun where containers put it: as process 1, with a read-only root and no folder that programs may run from.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Run by unittest with MGC and MGRUN set. Skipped where namespaces may not be made (unshare of util-linux)."""

import os
import shutil
import signal
import subprocess
import tempfile
import unittest
from pathlib import Path

import numpy as np

UNSHARE = ["unshare", "--user", "--map-root-user", "--mount", "--pid", "--fork", "--kill-child=KILL"]
MODEL = """mg.model @m {
  mg.variables @v {w: 3x2xf32 = glorot_uniform}
  mg.train @fit(%x: tensor<?x3xf32>, %y: tensor<?x2xf32>) {
    %w = mg.get @v::@w
    %s = mg.matmul %x, %w
    %loss = mg.mean_squared_error %s, %y
    mg.minimize %loss with @sgd
  }
}"""


def may_unshare() -> bool:
    """Whether this process may make namespaces."""
    return shutil.which("unshare") is not None and subprocess.run([*UNSHARE, "true"], capture_output=True, check=False).returncode == 0


@unittest.skipUnless(may_unshare(), "no namespaces here")
class Confined(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        (self.folder / "m.mlir").write_text(MODEL)
        subprocess.run([os.environ["MGC"], str(self.folder / "m.mlir"), "-o", str(self.folder / "m.mgb")], check=True)
        random = np.random.default_rng(1)
        np.save(self.folder / "x.npy", random.normal(size=(100, 3)).astype(np.float32))
        np.save(self.folder / "y.npy", random.normal(size=(100, 2)).astype(np.float32))

    def command(self, *options: str) -> list[str]:
        """A training of the model."""
        return [os.environ["MGRUN"], "train", str(self.folder / "m.mgb"), "--train", f"x={self.folder}/x.npy", f"y={self.folder}/y.npy",
                "--device=cpu", "--devices=2", "--progress=line", *options]

    def test_kernels_run_where_no_file_may(self):
        # Every writable folder is noexec, and the root is read-only: what is compiled can only run from memory.
        script = ('mount -t tmpfs -o noexec none /dev/shm && mount --bind "$1" "$1" && mount -o remount,bind,noexec "$1" && '
                  'mount -o remount,bind,ro / && shift && exec "$@"')
        ran = subprocess.run([*UNSHARE, "sh", "-c", script, "sh", str(self.folder), *self.command("--epochs=2")], capture_output=True, text=True,
                             check=False, timeout=60)
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
        self.assertIn("Epoch 2/2", ran.stdout)

    def test_process_1_stops_on_a_signal(self):
        # The kernel ignores a signal to process 1 that it does not handle.
        for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)):
            process = subprocess.Popen([*UNSHARE, *self.command("--epochs=1000000000", "--save", f"{self.folder}/s")], stdout=subprocess.PIPE,
                                       stderr=subprocess.PIPE, text=True)
            while not process.stdout.readline().startswith("Epoch 3/"):
                pass
            children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
            self.assertEqual(len(children), 1)
            os.kill(int(children[0]), number)
            errors = process.communicate(timeout=30)[1]
            self.assertEqual(process.returncode, code, errors)
            self.assertIn("the state is saved", errors)


if __name__ == "__main__":
    unittest.main()
