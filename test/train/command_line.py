"""The command line as a contract: usage, output, files, signals. Standard library only.

Usage: command_line.py MGRUN WRITE_TOY_BUNDLE [unittest arguments]
The toy model is y = w x with loss (y - target)^2 and gradient descent at 0.1; w starts as the seed.
SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""
import fcntl
import json
import os
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unittest

from toy import read_npy, without_advice, write_npy

MGRUN, WRITE_TOY_BUNDLE = sys.argv[1:3]


class CommandLine(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        subprocess.run([WRITE_TOY_BUNDLE, self.at("toy.mgb"), "2"], check=True)
        self.data("a", [1.0] * 5, [1, 1, 1, 1, 4])

    def at(self, name):
        return os.path.join(self.folder.name, name)

    def data(self, name, x, target):
        write_npy(self.at(name + "-x.npy"), x)
        write_npy(self.at(name + "-t.npy"), target)

    def files(self, option, name):
        return [option, "x=" + self.at(name + "-x.npy"), "target=" + self.at(name + "-t.npy")]

    def mgrun(self, command, *arguments, code=0):
        line = [MGRUN, command, self.at("toy.mgb"), *arguments]
        done = subprocess.run(line, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def train(self, *arguments, code=0):
        return self.mgrun("train", *self.files("--train", "a"), "--device=cpu", *arguments, code=code)

    def test_usage_errors_exit_2_with_one_line(self):
        good = self.files("--train", "a")
        for arguments in (
            [], ["--train", "x"], ["--train", "=f"], good + ["--epochs=0"], good + ["--epochs=x"],
            good + ["--devices=0"], good + ["--devices=two"], good + ["--devices=3", "--device-ids=0,1"],
            good + ["--device=tpu"], good + ["--shuffle=some"], good + ["--shuffle=0"], good + ["--progress=loud"],
            good + ["--validation-split=1.5"], good + ["--validation-split=0"], good + ["--set", "rate"],
            good + ["--set", "rate=fast"], good + ["--unknown"], good + ["--check-replicas=0"],
            good + ["--validation-split=1"] + self.files("--validation", "a"), good + ["--save=", "--epochs=1"], good + ["--epochs=1.5"],
            good + ["--steps=-1"], good + ["--threads=-1"], good + ["--unit=0"], good + ["--json-steps=0"], good + ["--global-batch="],
        ):
            with self.subTest(arguments=arguments):
                done = self.mgrun("train", *arguments, code=2)
                self.assertRegex(done.stderr, r"\Aerror: [^\n]+\n\Z")
        for line in ([], ["fly"], ["evaluate", self.at("toy.mgb")], ["predict", self.at("toy.mgb")], ["info"]):
            with self.subTest(line=line):
                self.assertEqual(subprocess.run([MGRUN, *line], capture_output=True).returncode, 2)

    def test_a_number_out_of_range_is_told_the_range(self):
        for option, found, expected in (
            ("--epochs", "0", "1 to 9223372036854775807"), ("--epochs", "99999999999999999999", "1 to 9223372036854775807"),
            ("--seed", "-1", "0 to 18446744073709551615"), ("--seed", "18446744073709551616", "0 to 18446744073709551615"),
            ("--threads", "2147483648", "0 to 2147483647"),
        ):
            with self.subTest(option=option, found=found):
                done = self.train(f"{option}={found}", code=2)
                self.assertIn(f"{option}: expected a whole number from {expected}, found '{found}'", done.stderr)

    def test_version(self):
        done = subprocess.run([MGRUN, "--version"], capture_output=True, text=True, check=True)
        self.assertRegex(done.stdout, r"\A\d+\.\d+\.\d+, bundle format \d+\.\d+\n\Z")

    def test_no_output_takes_the_place_of_an_input(self):
        os.symlink(self.at("a-x.npy"), self.at("link"))
        os.link(self.at("a-t.npy"), self.at("second"))
        for output, why in (("a-x.npy", "read"), ("link", "read"), ("second", "read"), ("toy.mgb", "read")):
            for option in ("--save", "--json"):
                with self.subTest(output=output, option=option):
                    with open(self.at(output), "rb") as file:
                        before = file.read()
                    done = self.train(option, self.at(output), code=1)
                    self.assertIn(f"{self.at(output)}: cannot write it: it is {why} in this run; choose another name", done.stderr)
                    with open(self.at(output), "rb") as file:
                        self.assertEqual(file.read(), before)
        self.assertIn("two outputs have this name", self.train("--save", self.at("n"), "--json", self.at("./n"), code=1).stderr)
        self.train("--save", self.at("s"))
        self.assertIn("it is read", self.mgrun("predict", "--load", self.at("s"), *self.files("--input", "a"), "--output",
                                               self.at("a-x.npy"), code=1).stderr)

    def test_output_that_cannot_be_written_is_an_error(self):
        with open("/dev/full", "w") as full:
            for line in (["train", self.at("toy.mgb"), *self.files("--train", "a"), "--device=cpu"], ["info", self.at("toy.mgb")],
                         ["bench", self.at("toy.mgb"), "--steps=2"]):
                done = subprocess.run([MGRUN, *line], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
                self.assertEqual((done.returncode, done.stderr), (1, "error: cannot write standard output: No space left on device\n"))
        self.assertEqual(self.train("--json=/dev/full", code=1).stderr, "error: /dev/full: cannot write it: No space left on device\n")

    def test_help_and_version_that_cannot_be_written_are_an_error(self):
        for line in (["--help"], ["--version"], ["train", "--help"]):
            with self.subTest(line=line), open("/dev/full", "w") as full:
                done = subprocess.run([MGRUN, *line], stdout=full, stderr=subprocess.PIPE, text=True)
                self.assertEqual((done.returncode, done.stderr), (1, "error: cannot write standard output: No space left on device\n"))

    def test_a_closed_standard_output_is_an_error_and_in_no_file(self):
        # Were its number free, the code image would get it, or the log, or the state.
        for closed in ("1>&-", "0<&- 1>&-", "0<&- 1>&- 2>&-"):
            with self.subTest(closed=closed):
                line = [MGRUN, "train", self.at("toy.mgb"), *self.files("--train", "a"), "--device=cpu", "--save", self.at("s"), "--json", self.at("log")]
                done = subprocess.run(["sh", "-c", f'exec "$0" "$@" {closed}', *line], stderr=subprocess.PIPE, text=True, timeout=60)
                self.assertEqual(done.returncode, 1)
                if "2>" not in closed:
                    self.assertEqual(done.stderr, "error: cannot write standard output: Bad file descriptor\n")
                self.mgrun("evaluate", "--load", self.at("s"), *self.files("--test", "a"))
                with open(self.at("log")) as file:
                    self.assertEqual(json.loads(file.readline())["event"], "start")

    def test_a_pipe_that_is_not_ready_is_waited_for(self):
        reader, writer = os.pipe()
        os.set_blocking(writer, False)
        process = subprocess.Popen([MGRUN, "train", self.at("toy.mgb"), *self.files("--train", "a"), "--device=cpu", "--epochs=5000"],
                                   stdout=writer, stderr=subprocess.PIPE, text=True)
        self.addCleanup(self.end, process)
        os.close(writer)
        self.wait_until_blocked(reader)
        with open(reader) as output:
            self.assertEqual(output.read().count("\n"), 2 + 2 * 5000 + 1)
        self.assertEqual((process.wait(timeout=30), without_advice(process.stderr.read())), (0, ""))

    def test_only_save_may_take_the_place_of_the_loaded_state(self):
        self.train("--save", self.at("s"))
        with open(self.at("s"), "rb") as file:
            before = file.read()
        train, test, rows = self.files("--train", "a"), self.files("--test", "a"), self.files("--input", "a")
        for line in (["train", *train, "--json"], ["evaluate", *test, "--json"], ["predict", *rows, "--output"]):
            with self.subTest(line=line):
                done = self.mgrun(line[0], "--load", self.at("s"), *line[1:], self.at("s"), code=1)
                self.assertIn("it is read in this run", done.stderr)
                with open(self.at("s"), "rb") as file:
                    self.assertEqual(file.read(), before)
        self.train("--load", self.at("s"), "--save", self.at("s"))

    def test_work_goes_on_when_nobody_reads(self):
        reader, writer = os.pipe()
        os.close(reader)
        done = subprocess.run([MGRUN, "train", self.at("toy.mgb"), *self.files("--train", "a"), "--device=cpu", "--save", self.at("s")],
                              stdout=writer, stderr=subprocess.PIPE, text=True, timeout=60)
        os.close(writer)
        self.assertEqual((done.returncode, without_advice(done.stderr)), (128 + signal.SIGPIPE, ""))
        self.assertGreater(os.path.getsize(self.at("s")), 0)

    def test_help_exits_0(self):
        for line in (["--help"], ["train", "--help"]):
            self.assertEqual(subprocess.run([MGRUN, *line], capture_output=True).returncode, 0)

    def test_run_time_errors_exit_1_with_one_line(self):
        self.data("bad", [1.0] * 4, [1, 1, 400, 1])
        good = self.files("--train", "a")
        for arguments, expected in (
            (self.files("--train", "none"), "cannot open"),
            (good[:2], "no data for input 'target'"),
            (good + ["image=" + self.at("a-x.npy")], "the model has no input 'image', it has x"),
            (good + ["--validation-split=5"], "takes 5 of 5 rows, expected 1 to 4"),
            (good + ["--set", "momentum=1"], "no scalar 'momentum', it has learning_rate"),
            (good + ["--load", self.at("a-x.npy")], "a-x.npy"),
            (good + ["--json", self.at("no/folder")], "cannot write"),
            (good + ["--save", self.at("no/folder")], "cannot write"),
            (good + ["--objective", "other"], "no mg.train 'other', it has fit"),
            (self.files("--train", "bad"), "bad-t.npy row 2: target is 400, expected -100 … 100"),
        ):
            with self.subTest(arguments=arguments):
                done = self.mgrun("train", *arguments, "--device=cpu", "--progress=none", code=1)
                self.assertRegex(done.stderr, r"\Aerror: [^\n]+\n\Z")
                self.assertIn(expected, done.stderr)

    def test_output_of_a_run(self):
        done = self.train("--devices=2", "--epochs=2", "--validation-split=1", *self.files("--test", "a"))
        self.assertRegex(
            done.stdout,
            r"\ADetected \d+ GPUs\nUsing 2 devices \(cpu\)\n"
            r"Epoch 1/2\n1/1 - \d+s - loss: 1\.0000 - val_loss: 14\.4400\n"
            r"Epoch 2/2\n1/1 - \d+s - loss: 0\.6400 - val_loss: 13\.2496\n"
            r"Test loss: \d+\.\d{4}\n"
            r"devices: busy \d+ % \d+ %, memory \d+ MB each, waiting for data \d+ %, for each other \d+ %\n\Z",
        )
        self.assertEqual(without_advice(done.stderr), "")

    def test_cpu_without_asking_is_a_loud_warning(self):
        done = self.mgrun("train", *self.files("--train", "a"))
        self.assertRegex(done.stderr, r"\Awarning: .*CPU")

    def test_a_terminal_gets_a_progress_line_that_goes(self):
        controller, terminal = os.openpty()
        line = [MGRUN, "train", self.at("toy.mgb"), *self.files("--train", "a"), "--device=cpu", "--epochs=1"]
        subprocess.run(line, stdout=terminal, check=True, timeout=60)
        os.close(terminal)
        text = os.read(controller, 65536).decode()
        os.close(controller)
        self.assertRegex(text, r"\r\x1b\[K1/3 \[======>\.+\] [\d.]+ steps/s, \d+ s left, busy \d+ % - loss: \d\.\d{4}")
        self.assertRegex(text, r"\r\x1b\[K3/3 - 0s - loss: ")

    def test_json_tells_the_same(self):
        self.train("--epochs=2", "--json", self.at("log"), "--json-steps=1", *self.files("--test", "a"))
        with open(self.at("log")) as file:
            lines = [json.loads(line) for line in file]
        events = [line["event"] for line in lines]
        self.assertEqual(events, ["start"] + (["step"] * 3 + ["epoch"]) * 2 + ["test", "devices"])
        self.assertEqual(lines[0]["steps_per_epoch"], 3)
        self.assertEqual(lines[-2]["rows"], 5)

    def test_any_device_count_trains_the_same(self):
        states = set()
        for devices in (1, 2, 3, 8):
            self.train(f"--devices={devices}", "--global-batch=4", "--seed=3", "--save", self.at("s"))
            self.mgrun("predict", "--load", self.at("s"), *self.files("--input", "a"), "--output", self.at("p.npy"))
            states.add(round(read_npy(self.at("p.npy"))[0], 5))
        self.assertEqual(len(states), 1, states)

    def test_r09_predictions_keep_order_and_count(self):
        self.data("count", range(10), [0] * 10)
        self.train("--seed=1", "--steps=1", "--set", "learning_rate=0", "--save", self.at("s"))  # w stays 1
        for devices in (1, 4):
            self.mgrun("predict", "--load", self.at("s"), *self.files("--input", "count"), "--output",
                       self.at("p.npy"), f"--devices={devices}")
            self.assertEqual(read_npy(self.at("p.npy")), [float(i) for i in range(10)])

    def test_r68_evaluation_counts_every_row(self):
        self.train("--steps=1", "--set", "learning_rate=0", "--save", self.at("s"))  # w stays 0
        done = self.mgrun("evaluate", "--load", self.at("s"), *self.files("--test", "a"), "--devices=2",
                          "--device=cpu")
        self.assertIn("Test loss: 4.0000\n", done.stdout)  # (1 + 1 + 1 + 1 + 16) / 5

    def test_resuming_equals_one_run(self):
        self.train("--epochs=4", "--seed=5", "--save", self.at("whole"))
        self.train("--steps=4", "--seed=5", "--save", self.at("part"))
        self.train("--epochs=3", "--load", self.at("part"), "--save", self.at("rest"), "--devices=2",
                   "--global-batch=2")
        weights = []
        for name in ("whole", "rest"):
            self.mgrun("predict", "--load", self.at(name), *self.files("--input", "a"), "--output",
                       self.at("p.npy"))
            weights.append(read_npy(self.at("p.npy"))[0])
        self.assertAlmostEqual(weights[0], weights[1], places=5)

    def test_info(self):
        self.assertIn("parameters: 1\n", self.mgrun("info").stdout)
        info = json.loads(self.mgrun("info", "--json").stdout)
        self.assertEqual(info["units"], [2])
        self.assertEqual(info["trains"][0]["metrics"], ["loss"])

    def test_bench_is_one_json_line(self):
        done = self.mgrun("bench", "--devices=2", "--steps=20", "--threads=1")
        self.assertEqual(done.stdout.count("\n"), 1)
        result = json.loads(done.stdout)
        self.assertEqual(set(result), {"step_us_median", "step_us_min", "devices", "threads",
                                       "start_to_first_step_ms", "peak_rss_mb", "arena_bytes", "bundle_bytes"})
        self.assertEqual((result["devices"], result["threads"]), (2, 1))
        self.assertLessEqual(result["step_us_min"], result["step_us_median"])

    def end(self, process):
        process.kill()
        process.wait()
        for pipe in (process.stdout, process.stderr):
            if pipe:
                pipe.close()

    def wait_until_blocked(self, pipe):
        """Returns once the pipe is full: its unread bytes no longer grow."""
        unread = -1
        while True:
            before, unread = unread, struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, b"\0" * 4))[0]
            if unread == before and unread > 32768:
                return
            time.sleep(0.2)

    def start_long_run(self, *arguments):
        """A run that ends by a signal only; returns once it trains."""
        line = [MGRUN, "train", self.at("toy.mgb"), *self.files("--train", "a"), "--device=cpu",
                "--epochs=1000000000", *arguments]
        process = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(self.end, process)
        self.assertTrue(process.stdout.readline().startswith("Detected"))
        while not process.stdout.readline().startswith("Epoch 3/"):
            pass
        return process

    def test_signals_finish_the_step_and_save(self):
        for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)):
            with self.subTest(signal=number):
                process = self.start_long_run("--save", self.at(f"s{code}"))
                process.send_signal(number)
                errors = process.communicate(timeout=30)[1]
                self.assertEqual(process.returncode, code, errors)
                self.assertRegex(errors, r"\Ainterrupted: stopped after step \d+, the state is saved to .*\n\Z")
                self.mgrun("predict", "--load", self.at(f"s{code}"), *self.files("--input", "a"), "--output",
                           self.at("p.npy"))

    def test_a_run_that_cannot_be_saved_is_not_begun(self):
        for path in (self.at("no/such/folder"), self.folder.name, "/dev/null"):
            done = self.mgrun("train", *self.files("--train", "a"), "--device=cpu", "--save", path, code=1)
            self.assertEqual(done.stderr.count("error:"), 1)
            self.assertIn("cannot write it", done.stderr)
            self.assertNotIn("Epoch 1", done.stdout)

    def test_a_link_stays_a_link_and_a_mode_a_mode(self):
        with open(self.at("state"), "w"):
            os.chmod(self.at("state"), 0o600)
        os.symlink(self.at("state"), self.at("link"))
        self.mgrun("train", *self.files("--train", "a"), "--device=cpu", "--save", self.at("link"))
        self.assertTrue(os.path.islink(self.at("link")))
        self.assertGreater(os.path.getsize(self.at("state")), 0)
        self.assertEqual(os.stat(self.at("state")).st_mode & 0o777, 0o600)

    def test_the_last_word_counts(self):
        done = self.mgrun("train", *self.files("--train", "a"), "--device=cpu", "--epochs=5", "--epochs=2")
        self.assertIn("Epoch 2/2", done.stdout)

    def test_nohup_survives_sighup(self):
        process = subprocess.Popen(
            ["nohup", MGRUN, "train", self.at("toy.mgb"), *self.files("--train", "a"), "--device=cpu",
             "--epochs=1000000000", "--progress=line"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(self.end, process)
        while not process.stdout.readline().startswith("Epoch 3/"):
            pass
        process.send_signal(signal.SIGHUP)
        for _ in range(100):
            self.assertTrue(process.stdout.readline())
        self.assertIsNone(process.poll())
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=30)
        self.assertEqual(process.returncode, 143)

    def test_a_second_signal_ends_at_once(self):
        # The first stop waits for standard output, which nobody reads: only the second can end it.
        process = self.start_long_run()
        self.wait_until_blocked(process.stdout)
        process.send_signal(signal.SIGTERM)
        time.sleep(0.2)
        self.assertIsNone(process.poll())
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(timeout=10), 143)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
