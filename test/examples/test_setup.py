# examples/setup.sh: what it says to a machine it does not support, and that it touches packages only when it must.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sources the file in a shell in which apt, dpkg and sudo are stand-ins that print what they were asked."""

from __future__ import annotations

import os
import pty
import subprocess
import tempfile
import unittest
from pathlib import Path

SETUP = Path(__file__).resolve().parents[2] / "examples" / "setup.sh"

STAND_INS = """
dpkg-query() { local name; for name in "${@:3}"; do [[ $name == absent* ]] || echo "installed $name"; done; }
apt-cache() { echo "  Candidate: ${mg_test_candidate-1.0}"; }
env() { [[ $1 == DEBIAN_FRONTEND=noninteractive ]] && shift; "$@"; }
apt-get() { echo "apt-get $*"; }
sudo() { [[ $1 == -* ]] && return "${mg_test_sudo-0}"; echo "sudo $1"; "$@"; }
mg_is_root() { false; }
"""


def shell(script: str, answer: str | None = None, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a script after the stand-ins; `answer` is typed at a terminal, without it there is none."""
    command = ["bash", "-c", f"set -euo pipefail\nsource '{SETUP}'\n{STAND_INS}\n{script}"]
    environment = {name: value for name, value in os.environ.items() if name not in ("CI", "SUDO_USER")} | variables
    if answer is None:
        return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, env=environment, check=False)
    ours, theirs = pty.openpty()
    try:
        os.write(ours, answer.encode())
        return subprocess.run(command, stdin=theirs, capture_output=True, text=True, env=environment, check=False)
    finally:
        os.close(ours)
        os.close(theirs)


class Machine(unittest.TestCase):
    def check(self, system: str, flags: str = "fpu avx avx2") -> subprocess.CompletedProcess[str]:
        """`mg_check_machine` on a machine with this os-release and these processor flags."""
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "system").write_text(system, encoding="utf-8")
            (Path(folder) / "cpu").write_text(f"flags\t: {flags}\n", encoding="utf-8")
            return shell(f"mg_system_facts={folder}/system mg_cpu_facts={folder}/cpu\nmg_check_machine")

    def test_the_supported_distributions_pass(self) -> None:
        for system in ('ID=debian\nVERSION_ID="12"\n', 'ID=debian\nVERSION_ID="13"\n', 'ID=ubuntu\nVERSION_ID="26.04"\n'):
            with self.subTest(system=system):
                self.assertEqual(self.check(system).returncode, 0)

    def test_another_distribution_is_told_which_are_supported(self) -> None:
        for system in ('ID=ubuntu\nVERSION_ID="24.04"\n', "ID=fedora\nVERSION_ID=43\n", "ID=debian\n", ""):
            with self.subTest(system=system):
                ran = self.check(system)
                self.assertEqual(ran.returncode, 1)
                self.assertTrue(ran.stderr.startswith("error: this system is "), ran.stderr)
                self.assertIn("Debian 12 with its security suite, Debian 13, Ubuntu 26.04", ran.stderr)

    def test_a_processor_without_avx2_is_told_so(self) -> None:
        ran = self.check('ID=debian\nVERSION_ID="12"\n', flags="fpu avx")
        self.assertEqual(ran.returncode, 1)
        self.assertIn("no AVX2", ran.stderr)


class Packages(unittest.TestCase):
    LINE = "apt-get update && apt-get install -y --no-install-recommends absent1 absent2"

    def test_with_nothing_missing_apt_is_not_touched(self) -> None:
        ran = shell("mg_check_packages one two")
        self.assertEqual((ran.returncode, ran.stdout, ran.stderr), (0, "", ""))

    def test_root_installs_what_is_missing_and_nothing_else(self) -> None:
        ran = shell("mg_is_root() { true; }\nmg_check_packages one absent1 absent2")
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertIn("install -q -y --no-install-recommends absent1 absent2\n", ran.stdout)
        self.assertLess(ran.stdout.index(" update"), ran.stdout.index(" install "))
        self.assertNotIn("sudo", ran.stdout)

    def test_with_sudo_it_lists_asks_once_and_uses_sudo_for_apt_only(self) -> None:
        ran = shell("mg_check_packages one absent1 absent2", answer="y\n")
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertIn("These packages are missing: absent1 absent2", ran.stdout)
        self.assertEqual(ran.stdout.count("sudo env"), ran.stdout.count("apt-get "))

    def test_a_no_installs_nothing_and_gives_the_line(self) -> None:
        ran = shell("mg_check_packages absent1 absent2", answer="n\n")
        self.assertEqual(ran.returncode, 1)
        self.assertNotIn("apt-get", ran.stdout)
        self.assertIn(self.LINE, ran.stderr)

    def test_without_a_terminal_it_does_not_wait_and_gives_the_line(self) -> None:
        ran = shell("mg_check_packages absent1 absent2")
        self.assertEqual(ran.returncode, 1)
        self.assertIn(self.LINE, ran.stderr)

    def test_ci_with_sudo_installs_without_asking(self) -> None:
        ran = shell("mg_check_packages absent1", CI="true")
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertIn("install -q -y", ran.stdout)

    def test_ci_whose_sudo_wants_a_password_gives_the_line(self) -> None:
        ran = shell("mg_check_packages absent1 absent2", CI="true", mg_test_sudo="1")
        self.assertEqual(ran.returncode, 1)
        self.assertIn(self.LINE, ran.stderr)

    def test_a_package_that_no_source_offers_is_named(self) -> None:
        ran = shell("mg_is_root() { true; }\nmg_check_packages absent1", mg_test_candidate="(none)")
        self.assertEqual(ran.returncode, 1)
        self.assertIn("do not offer: absent1", ran.stderr)
        self.assertNotIn("install -q", ran.stdout)

    def test_the_list_names_each_package_once(self) -> None:
        names = shell('printf "%s\\n" "${mg_packages[@]}"').stdout.split()
        self.assertEqual(len(names), len(set(names)))


class Jobs(unittest.TestCase):
    def jobs(self, cores: int, free_gb: float) -> int:
        """How many compilations run at once with so many cores and so much free memory."""
        return int(shell(f"mg_cores() {{ echo {cores}; }}\nmg_free_kb() {{ echo {int(free_gb * 1048576)}; }}\nmg_jobs").stdout)

    def test_cores_or_memory_decide_whichever_is_scarcer(self) -> None:
        self.assertEqual(self.jobs(cores=2, free_gb=64), 2)
        self.assertEqual(self.jobs(cores=64, free_gb=6), 4)

    def test_there_is_always_one(self) -> None:
        self.assertEqual(self.jobs(cores=8, free_gb=0.5), 1)

    def test_this_machine_gives_a_number(self) -> None:
        self.assertGreaterEqual(int(shell("mg_jobs").stdout), 1)


class MnistFolder(unittest.TestCase):
    def test_a_relative_folder_is_made_absolute(self) -> None:
        self.assertEqual(shell('echo "$MG_MNIST_DIR"', MG_MNIST_DIR="a b").stdout.strip(), f"{os.getcwd()}/a b")

    def test_an_absolute_folder_is_kept(self) -> None:
        self.assertEqual(shell('echo "$MG_MNIST_DIR"', MG_MNIST_DIR="/a b").stdout.strip(), "/a b")


if __name__ == "__main__":
    unittest.main()
