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

from toy import without_advice, write_npy

MGRUN, WRITE_TOY_BUNDLE, FAULTY_CALLS = sys.argv[1:4]
with open(MGRUN, "rb") as program:
    SANITIZED = b"__asan_init" in program.read()
STRIDE = 7 if SANITIZED else 1  # a sanitized run takes ten times as long
NAMINGS = ({}, {"FAULT_NAMED": "1"})  # files without a name until they are whole, or beside their target


class Faults(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
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
        done = subprocess.run([MGRUN, command, self.at("toy.mgb"), *data, "--device=cpu", "--threads=2", *arguments], capture_output=True,
                              text=True, timeout=60, **how)
        done.stderr = without_advice(done.stderr)
        return done

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

    def faulty(self, command, at, action, naming={}):
        self.prepare()
        return command(env={**os.environ, "LD_PRELOAD": os.pathsep.join(filter(None, (os.environ.get("LD_PRELOAD"), FAULTY_CALLS))),
                            "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0",
                            "FAULT_AT": str(at), "FAULT_ACTION": action, "FAULT_CALLS": self.at("calls"), **naming})

    def calls(self, command, naming={}):
        """The names of the functions that it calls, in order."""
        done = self.faulty(command, 0, "fail", naming)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return self.read("calls").decode().splitlines()

    def at_each_call(self, action, commands, check, wanted=lambda name: True):
        """Runs every command once for every wanted call, with the action at that call: check(what it did, whether it saves)."""
        for number, (command, saves) in enumerate(commands):
            for naming in NAMINGS:
                places = [(at, name) for at, name in enumerate(self.calls(command, naming), 1) if wanted(name)]
                for at, name in places[number % STRIDE::STRIDE]:
                    with self.subTest(command=number, call=at, name=name, action=action, **naming):
                        check(self.faulty(command, at, action, naming), saves)

    def assert_whole_files(self, done):
        names = set(os.listdir(self.at("out")))
        self.assertLessEqual(names, {"state", "log", "p.npy"}, done.stderr)
        self.assertIn(self.read("out/state"), (self.old, self.new))
        if "p.npy" in names:
            self.assertEqual(struct.unpack("<5f", self.read("out/p.npy")[-20:]), self.predictions)

    def assert_failed_in_one_line_or_done(self, done, saves):
        self.assertIn(done.returncode, (0, 1), done.stderr)
        self.assert_whole_files(done)
        if done.returncode == 1:
            self.assertRegex(done.stderr, r"\A(warning: [^\n]*\n)*error: [^\n]+\n\Z")
        elif saves:
            self.assertEqual(self.read("out/state"), self.new)

    def test_every_call_in_turn(self):
        self.at_each_call("fail", self.commands(), self.assert_failed_in_one_line_or_done)

    @unittest.skipIf(SANITIZED, "the sanitizers replace malloc themselves")
    def test_missing_memory_in_turn(self):
        rows = 20000  # their order takes 160 KB
        write_npy(self.at("x.npy"), [1.0] * rows)
        write_npy(self.at("t.npy"), [1.0] * rows)
        command = lambda **how: self.train("--seed=2", "--global-batch=20000", "--save", self.at("out/state"), **how)
        self.prepare()
        command()
        self.new = self.read("out/state")
        errors = []

        def check(done, saves):
            self.assert_failed_in_one_line_or_done(done, saves)
            errors.append(done.stderr)

        self.at_each_call("fail", [(command, True)], check, lambda name: name in ("malloc", "realloc"))
        self.assertIn("error: out of memory\n", errors)

    def test_writes_that_are_cut_or_interrupted_go_on(self):
        def check(done, _):
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertEqual(done.stdout.count("\n"), 2 + 2 * 2 + 1)
            self.assertEqual(self.read("out/state"), self.new)
            events = [json.loads(line)["event"] for line in self.read("out/log").splitlines()]
            self.assertEqual(events, ["start", "epoch", "epoch", "devices"])

        for action in ("short", "interrupt"):
            self.at_each_call(action, self.commands()[:1], check, lambda name: name in ("write", "pwrite", "pwrite64", "fsync", "close"))

    def test_a_second_signal_at_every_call_leaves_no_temporary_file(self):
        def check(done, _):
            self.assertEqual(done.returncode, 128 + signal.SIGINT, done.stderr)
            self.assert_whole_files(done)

        self.at_each_call("stop", self.commands()[::2], check)

    def test_kill_at_every_call(self):
        def check(done, _):
            self.assertEqual(done.returncode, -signal.SIGKILL)
            self.assertIn(self.read("out/state"), (self.old, self.new))

        self.at_each_call("kill", self.commands()[::2], check)

    def test_a_file_is_on_disk_before_it_has_its_name(self):
        steps = {"pwrite", "pwrite64", "fsync", "linkat", "rename", "fsync folder"}
        for naming, link in zip(NAMINGS, (["linkat"], [])):
            for command, _ in self.commands()[::2]:
                names = [name.replace("64", "") for name in self.calls(command, naming) if name in steps]
                last_write = len(names) - 1 - names[::-1].index("pwrite")
                self.assertEqual(set(names[:last_write]), {"pwrite"})
                self.assertEqual(names[last_write + 1:], ["fsync", *link, "rename", "fsync folder"])

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
