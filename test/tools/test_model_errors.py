"""Slips of the pen in a model file: each is told with its line and column, in words, and nothing is written.

SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""
import subprocess
import tempfile
import unittest
from pathlib import Path

from test_mgc import MGC, MODEL

DENSE = "mg.dense %x, @w, relu"

# what is replaced, by what, line and column of the error, what it says
SLIPS = [
    ("}\n", "", 2, 63, "expected '}'"),
    ("mg.model @m", "mg.modle @m", 1, 1, "'mg.modle' is unknown"),
    ("mg.dense %x", "mg.dens %x", 4, 10, "'mg.dens' is unknown"),
    ("= ones", "= constant(inf)", 2, 47, "expected floating point literal"),
    ("= ones", "= normal(0.0, -1.0)", 2, 3, "draws from normal(0, -1): the second number, the standard deviation, is"),
    ("= ones", "= uniform(1.0, -1.0)", 2, 3, "draws from uniform(1, -1): the lower bound comes first"),
    ("3x2xf32 =", "0x2xf32 =", 2, 3, "variable 'kernel' is a 'tensor<0x2xf32>', expected 1 to 2^40 elements"),
    ("3x2xf32 =", "-3x2xf32 =", 2, 27, "expected non-function type"),
    ("3x2xf32 =", "?x2xf32 =", 2, 28, "expected static shape"),
    ("3x2xf32 =", "3x2xf16 =", 2, 3, "variable 'kernel' has element type 'f16', expected f32 or f64"),
    ("3x2xf32 =", "99999999999x2xf32 =", 4, 10, "multiplies 'tensor<64x3xf32>' by the kernel of '@w',"),
    ("3x2xf32 =", "4294967296x4294967296xf32 =", 2, 3, "variable 'kernel' is a 'tensor<4294967296x4294967296xf32>', expected 1 to"),
    ("mg.predict @f\n", "mg.predict @f\n  mg.predict @f\n", 8, 3, "predicts '@f' a second time"),
    ("mg.func @f", "mg.func @fit", 8, 3, "redefinition of symbol named 'fit'"),
    ("@fit(", "@f(", 8, 3, "redefinition of symbol named 'f'"),
    ("  mg.train", "  mg.func @f(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {\n    mg.return %x\n  }\n  mg.train",
     8, 3, "redefinition of symbol named 'f'"),
    ("  mg.train", "  mg.variables @w {a: 2xf32 = zeros}\n  mg.train", 8, 3, "redefinition of symbol named 'w'"),
    ("    mg.return %y\n", "", 3, 3, "must end in mg.return"),
    ("mg.return %y", "mg.return %y, %y", 5, 5, "returns 2 values, the function's type has 1"),
    ("mg.return %y", "mg.return", 5, 5, "returns 0 values, the function's type has 1"),
    ("-> tensor<?x2xf32> {", "{", 5, 5, "returns 1 values, the function's type has 0"),
    ("%x: tensor<?x3xf32>) ->", "%x: tensor<3x3xf32>) ->", 5, 5, "returns 'tensor<3x2xf32>', but '@f' is declared to return"),
    ("%x: tensor<?x3xf32>) ->", "%x: tensor<?x-3xf32>) ->", 3, 27, "expected non-function type"),
    ("%x: tensor<?x3xf32>) ->", "%x: tensor<?x3xfoo>) ->", 3, 29, "expected non-function type"),
    ("%x: tensor<?x3xf32>) ->", "%x: tensor<?x3xf32>, %x: tensor<?xf32>) ->", 3, 35, "region entry argument '%x' is already in use"),
    ("%x: tensor<?x3xf32>) ->", "x: tensor<?x3xf32>) ->", 3, 14, "expected SSA operand"),
    ("%y = mg.dense", "%x = mg.dense", 4, 5, "redefinition of SSA value '%x'"),
    (DENSE, "mg.relu", 4, 17, "expected SSA operand"),
    (DENSE, "mg.relu %x, %x", 4, 20, "expected operation name in quotes"),
    (DENSE, "mg.add %x", 4, 10, "lacks its second operand: write `, %b` or `by 2.0`"),
    (DENSE, "mg.add %x by", 4, 22, "expected attribute value"),
    (DENSE, "mg.add %x by nan", 4, 22, "expected attribute value"),
    (DENSE, "mg.add %x by 1", 4, 23, "unexpected decimal integer literal for a floating point value"),
    (DENSE, 'mg.add %x by "a"', 4, 23, "'mg.add' invalid kind of attribute specified"),
    (DENSE, "mg.dropout %x, 1.5", 4, 10, "has rate 1.5, expected a probability: 0 … 1"),
    (DENSE, "mg.dropout %x, -0.1", 4, 10, "has rate -0.1, expected a probability: 0 … 1"),
    (DENSE, "mg.dropout %x, 1.0", 5, 5, "returns 'tensor<64x3xf32>', but '@f' is declared to return"),
    (DENSE, "mg.slice %x, axis = 1, 0 to 2 step 0", 4, 10, "0 to 2 step 0 does not lie in 0 to 3"),
    (DENSE, "mg.slice %x, axis = 1, 0 to 2 step 9223372036854775807", 5, 5, "returns 'tensor<64x1xf32>', but '@f' is declared to return"),
    (DENSE, "mg.slice %x, axis = 5, 0 to 2", 4, 10, "axis 5 is outside 0 … 1 (the operand has rank 2)"),
    (DENSE, "mg.pad %x, low = [0, -1], high = [0, 0], value = 0.0", 4, 21, "'mg.pad' expected 'axis'"),
    (DENSE, "mg.concatenate %x, axis = 1", 4, 28, "expected SSA operand"),
    (DENSE, "mg.concatenate %x, %x, axis = 0", 4, 32, "expected SSA operand"),
    (DENSE, "mg.concatenate %x, %x, axis = 2", 4, 32, "expected SSA operand"),
    (DENSE, "mg.dot_general %x, %x contract [1] x [1]", 5, 5, "returns 'tensor<64x64xf32>', but '@f' is declared to return"),
    (DENSE, "mg.dot_general %x, %x contract [1] x [0]", 4, 10, "contracted dimension 1 of the left operand is 3 but dimension 0 of the"),
    (DENSE, "mg.dot_general %x, %x contract [1, 1] x [1, 1]", 4, 10, "names dimension 1 of the left operand twice"),
    (DENSE, "mg.reshape %x, shape = [0, 4]", 4, 10, "cannot make [0, 4] from 'tensor<64x3xf32>': it has 192 elements"),
    (DENSE, "mg.transpose %x, permutation = [1, 0]", 5, 5, "returns 'tensor<3x64xf32>', but '@f' is declared to return"),
    (DENSE, "mg.broadcast %x, dims = [0, 1], shape = [0, 4]", 4, 10, "dimension 0 is 64 but becomes dimension 0 of extent 0"),
    (DENSE, "mg.cast %x to i3", 5, 5, "returns 'tensor<64x3xi3>', but '@f' is declared to return"),
    (DENSE, "mg.cast %x to tensor<f32>", 4, 10, "result #0 must be tensor of floats or integers, but got"),
    (DENSE, "mg.one_hot %x, 3", 5, 5, "'mg.one_hot' expected 'to'"),
    (DENSE, "mg.softmax %x, axis = 7", 4, 23, "expected operation name in quotes"),
    (DENSE, "mg.argmax %x, axis = 2", 4, 10, "'mg.argmax' is unknown"),
    (DENSE, "mg.gather %x, %x", 4, 10, "'mg.gather' is unknown"),
    (DENSE, "mg.call @f(%x)", 4, 10, "makes '@f' call itself"),
    (DENSE, "mg.call @nope(%x)", 4, 10, "calls '@nope', but the model has no such function"),
    (DENSE, "mg.call @f()", 4, 10, "passes 0 values, '@f' takes 1"),
    (DENSE, "mg.get @w::@krnl", 4, 10, "names 'krnl', which '@w' does not have"),
    (DENSE, "mg.get @v::@k", 4, 10, "names the variables '@v', which the model does not have"),
    (DENSE, "mg.dense %x, @w, relu {unknown = 1}", 4, 10, "has no attribute 'unknown'; it has activation, variables"),
    (DENSE, "mg.dense %x, %x", 4, 22, "expected attribute value"),
    (DENSE, "mg.sigmoid %x : tensor<?x3xf32>", 4, 41, "expected '->'"),
    (DENSE, "mg.select %x, %x, %x", 4, 10, "operand #0 must be tensor of i1, but got 'tensor<64x3xf32>'"),
    (DENSE, "mg.compare lt2, %x, %x", 4, 21, "'mg.compare' expected string or keyword containing one of the following"),
    (DENSE, "mg.iota axis = 0, shape = [4, 2]", 5, 5, "returns 'tensor<4x2xi64>', but '@f' is declared to return"),
    (DENSE, "arith.constant 1.0 : f32", 5, 15, "use of value '%y' expects different type than prior uses: '!mg.infer' vs"),
    ("@sgd {learning_rate = 0.1}", "@sgd {learning_rate = 1.0e400}", 11, 5, "sets 'learning_rate' to INF, expected a finite number"),
    ("@sgd {learning_rate = 0.1}", "@sgd {momentum = 0.9, momentum = 0.8}", 11, 50, "duplicate key 'momentum' in dictionary attribute"),
    ("mg.minimize %loss with", "mg.minimize %label with",
     11, 5, "needs one float value or more a row, tensor<?x…>, found 'tensor<64xui8>'"),
    ("mg.minimize %loss", "mg.minimize %loss2", 11, 17, "use of undeclared SSA value name"),
    ("mg.minimize %loss with @sgd {learning_rate = 0.1}", "mg.minimize %loss with @sgd\n    mg.minimize %loss with @sgd",
     12, 5, "is the second objective; one mg.train has one"),
    ("    mg.minimize", '    mg.metric "", %loss\n    mg.minimize', 11, 5, "name: expected one or more printable ASCII characters"),
    ("    mg.minimize", '    mg.metric "a\\nb", %loss\n    mg.minimize', 11, 5, "name: expected one or more printable ASCII characters"),
    ("    mg.minimize", '    mg.metric "val_loss", %loss\n    mg.minimize',
     11, 5, 'name "val_loss": names that begin with val_ or test_ are kept for what is'),
    ("    mg.minimize", '    mg.metric "acc", %label\n    mg.minimize',
     11, 5, "needs one float value or more a row, tensor<?x…>, found 'tensor<64xui8>'"),
    ("    mg.minimize", '    mg.metric "a", %loss\n    mg.metric "a", %loss\n    mg.minimize', 12, 5, 'name "a" is taken'),
    ("%label: tensor<?xui8>", "%label: tensor<?x3xui8>", 10, 13, "leading dimensions are [64] in operand #0 but [64, 3] in operand #1"),
    ("%label: tensor<?xui8>", "%label: tensor<?xbf16>", 10, 13, "operand #1 has element type 'bf16' but an earlier one 'f32'; use mg.cast"),
    ("mg.model", 'include "nope.mlir"\nmg.model', 1, 1, "'include' is unknown (tried 'builtin.include' as well)"),
    ("mg.model", 'mg.include "nope.mlir"\nmg.model', 1, 1, "stands outside the mg.model that it is for"),
]

# whole files, where the error is, what it says
FILES = [
    ("", 1, 1, "the file has no model, expected `mg.model @name {"),
    ("// nothing\n", 1, 1, "the file has no model"),
    ("mg.model @m {}\n", 1, 1, "has nothing to run: add mg.train or mg.predict"),
    ("\x7fELF\x02", 1, 1, "unexpected character"),
    ("mg.model @m {\n \udcff\udcfe\n}\n", 2, 2, "unexpected character"),
    ('mg.model @m {\n  mg.train @a() { mg.metric "x\n', 2, 31, "expected '\"' in string literal"),
    (MODEL + MODEL, 14, 1, "redefinition of symbol named 'm'"),
]


class ModelErrors(unittest.TestCase):
    def assert_told(self, text: str, line: int, column: int, words: str) -> None:
        with tempfile.TemporaryDirectory() as folder:
            output = Path(folder) / "m.mgb"
            done = subprocess.run([MGC, "-", "-o", output], input=text.encode("utf-8", "surrogateescape"), capture_output=True, timeout=60,
                                  check=False)
            errors = done.stderr.decode("utf-8", "replace")
            self.assertEqual(done.returncode, 1, errors)
            self.assertTrue(errors.startswith(f"<stdin>:{line}:{column}: error: "), errors)
            self.assertIn(words, errors.splitlines()[0])
            self.assertNotIn("<unknown>", errors)
            self.assertEqual(list(Path(folder).iterdir()), [])

    def test_slips(self):
        self.assertGreaterEqual(len({(words, new) for _, new, _, _, words in SLIPS}), 60)
        for old, new, line, column, words in SLIPS:
            with self.subTest(old=old, new=new):
                self.assertIn(old, MODEL)
                self.assert_told(MODEL.replace(old, new, 1), line, column, words)

    def test_files(self):
        for text, line, column, words in FILES:
            with self.subTest(text=text[:40]):
                self.assert_told(text, line, column, words)

    def test_the_model_itself_is_right(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([MGC, "-", "-o", Path(folder) / "m.mgb"], input=MODEL.encode(), timeout=60, check=True)


if __name__ == "__main__":
    unittest.main()
