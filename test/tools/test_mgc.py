# The command line of mgc: every stage out and in again, errors of model texts with line, column and what to do, exit statuses.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Run by unittest with MGC, MG_OPT and MGRUN set."""

import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

import numpy as np
from harness import Bench

MGC = os.environ["MGC"]
MNIST = Path(__file__).resolve().parents[2] / "examples" / "mnist" / "mlp.mlir"
STAGES = ("model", "gradient", "partition", "kernels", "schedule", "code")

MODEL = """mg.model @m {
  mg.variables @w {kernel: 3x2xf32 = INIT, bias: 2xf32 = zeros}
  mg.func @f(%x: tensor<?x3xf32>) -> tensor<?x2xf32> {
    %y = mg.dense %x, @w, relu
    mg.return %y
  }
  mg.predict @f
  mg.train @fit(%x: tensor<?x3xf32>, %label: tensor<?xui8>) {
    %y = mg.call @f(%x)
    %loss = mg.sparse_cross_entropy %y, %label
    mg.minimize %loss with @sgd {learning_rate = 0.1}
  }
}
""".replace("INIT", "ones")

# what is replaced, by what, where the error is, what it says
ERRORS = [
    ("@w, relu", "@w, rellu", 4, "has no activation 'rellu'"),
    ("mg.dense %x, @w", "mg.dense %x, @v", 4, "names the variables '@v', which the model does not have"),
    ("kernel: 3x2", "kernal: 3x2", 4, "names 'kernel', which '@w' does not have"),
    ("kernel: 3x2", "kernel: 4x2", 4, "the last dimension of the first must equal the first of the second"),
    ("= ones", "= glorot", 2, "has no initializer 'glorot'"),
    ("= ones", "= uniform(1.0)", 2, "gives initializer 'uniform' 1 numbers, expected 2"),
    ("3x2xf32 = ones", "3x2xi32 = ones", 2, "variable 'kernel' has element type 'i32', expected f32 or f64"),
    ("bias: 2xf32", "kernel: 2xf32", 2, "has two variables named 'kernel'"),
    ("-> tensor<?x2xf32>", "-> tensor<?x3xf32>", 5, "is declared to return"),
    ("mg.call @f(%x)", "mg.call @g(%x)", 9, "the model has no such function"),
    ("mg.call @f(%x)", "mg.call @f(%label)", 9, "where '@f' takes"),
    ("with @sgd", "with @sdg", 11, "names the optimizer '@sdg', which neither the model nor the library has"),
    ("{learning_rate", "{rate", 11, "sets 'rate', which '@sgd' does not have; it has learning_rate"),
    ("learning_rate = 0.1", 'learning_rate = "fast"', 11, "expected a number"),
    ("    mg.minimize %loss with @sgd {learning_rate = 0.1}\n", "", 8, "has no objective"),
    ("mg.minimize %loss", "mg.minimize %y", 11, None),
    ("mg.predict @f", "mg.predict @h", 7, "the model has no such function"),
    ("mg.predict @f", "mg.predict @f sofmax", 7, "has no activation 'sofmax'"),
    ("%loss = mg.sparse", "mg.metric \"loss\", %y\n    %loss = mg.sparse", 10, "is taken by the objective"),
    ("mg.return %y", "mg.return %z", 5, "use of undeclared SSA value"),
    ("mg.sparse_cross_entropy", "mg.sparse_entropy", 10, "mg.sparse_entropy"),
    ("%label: tensor<?xui8>", "%label: tensor<?xf32>", 10, "operand #1 must be"),
    ("tensor<?xui8>", "tensor<?x?xui8>", 8, "only the first dimension, the batch, may be `?`"),
    ("@w, relu\n", "@w, relu\n    %s = mg.reduce_sum %y, axes = [0]\n", 5, "mixes the rows of a batch"),
    ("mg.dense %x, @w, relu", "mg.reduce_sum %x, axes = [2]", 4, "axis 2 is outside 0 … 1"),
    ("mg.dense %x, @w, relu", "mg.transpose %x, permutation = [0, 0]", 4, "is no permutation"),
    ("mg.dense %x, @w, relu", "mg.slice %x, axis = 1, 2 to 5", 4, "does not lie in 0 to 3"),
    ("mg.dense %x, @w, relu", "mg.reshape %x, shape = [0, 5]", 4, "cannot make"),
    ("  mg.predict @f\n", "", None, None),
]


def mgc(*arguments: str, text: str | None = None) -> subprocess.CompletedProcess:
    """mgc with a model on standard input."""
    return subprocess.run([MGC, *arguments], input=text, capture_output=True, text=True, timeout=60, check=False)


class Stages(unittest.TestCase):
    """What --emit prints, --from takes."""

    def test_every_stage_read_back_gives_the_same_bundle(self):
        with tempfile.TemporaryDirectory() as folder:
            whole, again = Path(folder) / "whole.mgb", Path(folder) / "again.mgb"
            self.assertEqual(mgc(str(MNIST), "-o", str(whole)).returncode, 0)
            for stage in STAGES:
                with self.subTest(stage):
                    text = mgc(str(MNIST), f"--emit={stage}").stdout
                    ran = mgc(f"--from={stage}", "-", "-o", str(again), text=text)
                    self.assertEqual(ran.returncode, 0, ran.stderr)
                    self.assertEqual(whole.read_bytes(), again.read_bytes())

    def test_llvm_and_asm_show_the_kernels(self):
        self.assertIn("define", mgc(str(MNIST), "--emit=llvm").stdout)
        self.assertIn("vfmadd", mgc(str(MNIST), "--emit=asm", "--cpu=x86-64-v3").stdout)

    def test_the_training_step_has_no_gradient_of_its_input(self):
        text = mgc(str(MNIST), "--emit=gradient").stdout
        step = text[text.index("@fit.accumulate_first.64"):]
        step = step[:step.index("return")]
        self.assertEqual(step.count("mg.dot_general"), 8)  # 3 forward, 3 weights, 2 hidden inputs
        self.assertEqual(step.count("mg.keep_mask"), 2)
        self.assertLessEqual(step.count("\n"), 80)
        self.assertNotIn("mg.keep_mask", text[text.index("@fit.evaluate.64"):text.index("@fit.update")])

    def test_each_collective_is_explained(self):
        explained = mgc(str(MNIST), "--explain-comm").stdout
        scheduled = mgc(str(MNIST), "--emit=schedule").stdout
        count = len(re.findall(r"mgrt\.all_reduce ", scheduled))
        self.assertGreater(count, 0)
        self.assertIn(f"collectives: {count}", explained)
        self.assertIn("mlp.mlir:", explained)

    def test_a_cpu_is_a_name_and_features(self):
        text = mgc(str(MNIST), "--emit=asm", "--cpu=x86-64-v3+avx512f+avx512vl").stdout
        self.assertIn("%zmm", text)
        self.assertNotIn("%zmm", mgc(str(MNIST), "--emit=asm", "--cpu=x86-64-v3").stdout)
        both = mgc(str(MNIST), "--emit=asm", "--cpu=x86-64-v3,x86-64-v4").stdout
        self.assertLess(both.index("# x86-64-v3\n"), both.index("# x86-64-v4\n"))
        for name, words in (("nope", "unknown CPU 'nope'"), ("i386", "CPU 'i386' has no 64-bit mode"),
                            ("x86-64-v3+nope", "unknown CPU feature 'nope'"), ("x86-64-v3,nope", "unknown CPU 'nope'")):
            with self.subTest(name):
                done = mgc(str(MNIST), "--emit=asm", f"--cpu={name}")
                self.assertEqual(done.returncode, 1)
                self.assertRegex(done.stderr, r"\Aerror: --cpu: [^\n]+\n\Z")
                self.assertIn(words, done.stderr)

    def test_parameters_are_counted(self):
        self.assertRegex(mgc(str(MNIST), "--params").stdout, r"total\s+535818")


class Errors(unittest.TestCase):
    """A stranger's mistakes: one error at line and column, exit status 1, no file."""

    def test_model_texts(self):
        for old, new, line, words in ERRORS:
            with self.subTest(new), tempfile.TemporaryDirectory() as folder:
                self.assertIn(old, MODEL)
                output = Path(folder) / "m.mgb"
                ran = mgc("-", "-o", str(output), text=MODEL.replace(old, new))
                if words is None:
                    self.assertEqual(ran.returncode, 0, ran.stderr)
                    continue
                self.assertEqual(ran.returncode, 1, ran.stderr)
                self.assertIn(words, ran.stderr)
                self.assertRegex(ran.stderr, rf"<stdin>:{line}:\d+: error: ")
                self.assertFalse(output.exists())

    def test_arguments(self):
        for arguments, words in [
            (["--emit=nothing", "m.mlir"], "there is no stage 'nothing' to emit"),
            (["--from=nothing", "m.mlir"], "there is no stage 'nothing' to start from"),
            (["--target=tpu", "m.mlir", "-o", "x"], "there is no target 'tpu'; there is cpu"),
            (["m.mlir"], "nothing to do"),
            (["-o", "x"], "no model file was named"),
            (["--no-such-option", "m.mlir"], "no-such-option"),
            (["--insert-passes=x", "m.mlir", "-o", "x"], "is not STAGE:PIPELINE"),
            (["--from=kernels", "--emit=model", "m.mlir"], "stage 'model' comes before 'kernels'"),
        ]:
            with self.subTest(words):
                ran = mgc(*arguments)
                self.assertEqual(ran.returncode, 2, ran.stderr)
                self.assertIn(words, ran.stderr)

    def test_files(self):
        ran = mgc("/no/such/model.mlir", "-o", "/tmp/never.mgb")
        self.assertEqual(ran.returncode, 1)
        self.assertIn("/no/such/model.mlir", ran.stderr)
        ran = mgc("-", "-o", "/no/such/folder/m.mgb", text=MODEL)
        self.assertEqual(ran.returncode, 1)
        self.assertIn("/no/such/folder/m.mgb", ran.stderr)
        ran = mgc("-", "-o", "/tmp/never.mgb", "--cpu=pentium9", text=MODEL)
        self.assertEqual(ran.returncode, 1)
        self.assertIn("pentium9", ran.stderr)

    def test_a_batch_of_no_rows(self):
        ran = mgc("-", "-o", "/tmp/never.mgb", "--batch-size=0", text=MODEL)
        self.assertEqual(ran.returncode, 1)
        self.assertIn("batch size 0 is outside", ran.stderr)


class Library(unittest.TestCase):
    """The built-in optimizers are text, and a copy is as good."""

    def test_adam_under_another_name_gives_the_same_bits(self):
        library = mgc("--print-library").stdout
        adam = library[library.index("mg.optimizer @adam("):]
        adam = adam[:adam.index("\n}") + 3].replace("@adam(", "@mine(")
        plain = MODEL.replace("with @sgd {learning_rate = 0.1}", "with @adam")
        mine = MODEL.replace("with @sgd {learning_rate = 0.1}", "with @mine").replace("mg.model @m {\n", "mg.model @m {\n" + adam)
        rng = np.random.default_rng(0)
        data = {"x": rng.normal(size=(20, 3)).astype(np.float32), "label": rng.integers(0, 2, 20).astype(np.uint8)}
        with tempfile.TemporaryDirectory() as folder:
            bench, states = Bench(folder), []
            for name, text in (("plain", plain), ("mine", mine)):
                state, _, _ = bench.train(bench.compile(name, text), data, "--steps=10", "--devices=2")
                states.append(state)
        for name, array in states[0].items():
            np.testing.assert_array_equal(array, states[1][name])


if __name__ == "__main__":
    unittest.main()
