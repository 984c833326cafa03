"""What fails while mgrun runs costs one line and no file: every call in turn; kill -9; a full disk. Standard library only.

Usage: faults.py MGRUN WRITE_TOY_BUNDLE FAULTY_CALLS [unittest arguments]
SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""
import json
import os
import random
import resource
import signal
import struct
import subprocess
import sys
import tempfile
import unittest

MGRUN, WRITE_TOY_BUNDLE, FAULTY_CALLS = sys.argv[1:4]


def write_npy(path, values):
    head = ("{'descr': '<f4', 'fortran_order': False, 'shape': (%d,), }" % len(values)).ljust(117) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + struct.pack("<%df" % len(values), *values))


class Faults(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.count = tempfile.NamedTemporaryFile()
        self.addCleanup(self.count.close)
        subprocess.run([WRITE_TOY_BUNDLE, self.at("toy.mgb"), "2"], check=True)
        write_npy(self.at("x.npy"), [1.0] * 5)
        write_npy(self.at("t.npy"), [1, 1, 1, 1, 4])
        os.mkdir(self.at("out"))
        self.assertEqual(self.train("--seed=1", "--save", self.at("out/state")).stderr, "")
        self.old = self.read("out/state")
        self.train("--seed=2", "--save", self.at("out/state"))
        self.new = self.read("out/state")
        self.assertNotEqual(self.old, self.new)
        self.prepare()
        self.commands()[2][0]()
        self.predictions = struct.unpack("<5f", self.read("out/p.npy")[-20:])

    def at(self, name):
        return os.path.join(self.folder, name)

    def read(self, name):
        with open(self.at(name), "rb") as file:
            return file.read()

    def mgrun(self, command, option, *arguments, **how):
        data = [option, "x=" + self.at("x.npy"), "target=" + self.at("t.npy")]
        return subprocess.run([MGRUN, command, self.at("toy.mgb"), *data, "--device=cpu", "--threads=2", *arguments], capture_output=True,
                              text=True, timeout=60, **how)

    def train(self, *arguments, **how):
        return self.mgrun("train", "--train", "--epochs=2", "--devices=2", *arguments, **how)

    def commands(self):
        """Each, and whether it saves a state."""
        return (
            (lambda **how: self.train("--seed=2", "--save", self.at("out/state"), "--json", self.at("out/log"), **how), True),
            (lambda **how: self.mgrun("evaluate", "--test", "--load", self.at("state"), "--json", self.at("out/log"), **how), False),
            (lambda **how: self.mgrun("predict", "--input", "--load", self.at("state"), "--output", self.at("out/p.npy"), **how), False),
        )

    def prepare(self):
        for name in os.listdir(self.at("out")):
            os.unlink(self.at("out/" + name))
        for name in ("out/state", "state"):
            with open(self.at(name), "wb") as file:
                file.write(self.old)

    def faulty(self, command, at, action):
        self.prepare()
        return command(env={**os.environ, "LD_PRELOAD": os.pathsep.join(filter(None, (os.environ.get("LD_PRELOAD"), FAULTY_CALLS))),
                            "FAULT_AT": str(at), "FAULT_ACTION": action, "FAULT_COUNT": self.count.name})

    def calls(self, command):
        done = self.faulty(command, 0, "fail")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.count.seek(0)
        return int(self.count.read())

    def assert_whole_files(self, done):
        names = set(os.listdir(self.at("out")))
        self.assertLessEqual(names, {"state", "log", "p.npy"}, done.stderr)
        self.assertIn(self.read("out/state"), (self.old, self.new))
        if "p.npy" in names:
            self.assertEqual(struct.unpack("<5f", self.read("out/p.npy")[-20:]), self.predictions)

    def test_every_call_in_turn(self):
        for number, (command, saves) in enumerate(self.commands()):
            for at in range(1, self.calls(command) + 1):
                with self.subTest(command=number, call=at):
                    done = self.faulty(command, at, "fail")
                    self.assertIn(done.returncode, (0, 1), done.stderr)
                    self.assert_whole_files(done)
                    if done.returncode == 1:
                        self.assertRegex(done.stderr, r"\A(warning: [^\n]*\n)*error: [^\n]+\n\Z")
                    elif saves:
                        self.assertEqual(self.read("out/state"), self.new)

    def test_writes_that_are_cut_or_interrupted_go_on(self):
        command = self.commands()[0][0]
        for action in ("short", "interrupt"):
            for at in range(1, self.calls(command) + 1):
                with self.subTest(action=action, call=at):
                    done = self.faulty(command, at, action)
                    self.assertEqual((done.returncode, done.stderr), (0, ""))
                    self.assertEqual(self.read("out/state"), self.new)
                    for line in self.read("out/log").splitlines():
                        json.loads(line)

    def test_kill_at_every_call(self):
        for command, _ in self.commands():
            for at in range(1, self.calls(command) + 1):
                with self.subTest(call=at):
                    done = self.faulty(command, at, "kill")
                    self.assertEqual(done.returncode, -signal.SIGKILL)
                    self.assertIn(self.read("out/state"), (self.old, self.new))

    def test_kill_at_200_moments(self):
        numbers = random.Random(1)
        ends = []
        for _ in range(200):
            self.prepare()
            process = subprocess.Popen(
                [MGRUN, "train", self.at("toy.mgb"), "--train", "x=" + self.at("x.npy"), "target=" + self.at("t.npy"), "--device=cpu",
                 "--epochs=2", "--devices=2", "--seed=2", "--save", self.at("out/state")], stdout=subprocess.DEVNULL)
            try:
                process.wait(numbers.uniform(0, 0.02))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            ends.append(self.read("out/state"))
            self.assertIn(ends[-1], (self.old, self.new))
        self.assertEqual(set(ends), {self.old, self.new})

    def test_a_full_disk(self):
        for command, _ in self.commands():
            self.prepare()
            done = command(preexec_fn=lambda: (signal.signal(signal.SIGXFSZ, signal.SIG_IGN), resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))))
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr, r"\Aerror: [^\n]*cannot write[^\n]+\n\Z")
            self.assertEqual(self.read("out/state"), self.old)
            self.assertLessEqual(set(os.listdir(self.at("out"))), {"state", "log"})


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
