# The bundle writer: what a file says to the outside is what the model says, byte for byte the same each time; and what cannot be
# written is one error that leaves no file.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Run by unittest with MGC and MGRUN set."""

import json
import os
import re
import resource
import signal
import stat
import struct
import subprocess
import tempfile
import unittest
from pathlib import Path

from crc32c import crc32c

MGC, MGRUN = os.environ["MGC"], os.environ["MGRUN"]
USUAL = ("--batch-size=2,8", "--cpu=x86-64-v3")
WRITTEN: dict[tuple, bytes] = {}
PAGE = 4096

MODEL = """mg.model @two {
  mg.variables @hidden {kernel: 3x5xf32 = glorot_uniform, bias: 5xf32 = zeros}
  mg.variables @scale {factor: f64 = ones}
  mg.func @scores(%x: tensor<?x3xf32>) -> tensor<?x5xf32> {
    %y = mg.dense %x, @hidden, tanh
    mg.return %y
  }
  mg.predict @scores softmax
  mg.train @fit(%x: tensor<?x3xf32>, %label: tensor<?xui8>) {
    %y = mg.call @scores(%x)
    %loss = mg.sparse_cross_entropy %y, %label
    %right = mg.correct %y, %label
    mg.metric "accuracy", %right
    mg.minimize %loss with @adam {learning_rate = 0.25}
  }
  mg.train @tune(%a: tensor<?x2xf64>, %flag: tensor<?xi1>) {
    %factor = mg.get @scale::@factor
    %scaled = mg.multiply %a, %factor
    %sum = mg.reduce_sum %scaled, axes = [1]
    %zero = mg.multiply %sum by 0.0
    %loss = mg.select %flag, %sum, %zero
    mg.minimize %loss with @sgd {learning_rate = 0.5}
  }
}
"""

SMALL = """mg.model @small {
  mg.func @f(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {
    %y = mg.tanh %x
    mg.return %y
  }
  mg.predict @f
}
"""

# A code stage's text that the writer takes; the image is no real code.
TOY = """module @toy attributes {
  mg.interface = {
    units = [2, 4],
    variables = [{name = "w", type = tensor<3xf32>, trainable = true}, {name = "mean", type = tensor<f64>, trainable = false}],
    slots = [{name = "m/w", variable = "w", owner = "fit", type = tensor<3xf32>}],
    scalars = [{name = "rate", owner = "fit", type = tensor<f32>, value = 0.25}],
    inputs = [{name = "x", type = tensor<3xui8>}],
    outputs = [{name = "y", type = tensor<i1>}],
    trains = [{name = "fit", inputs = ["x"], metrics = ["loss"],
               checks = [{name = "0", input = "x", minimum = 0, maximum = 9, message = "out of range"}]}],
    predicts = [{name = "f", inputs = ["x"], outputs = ["y"]}]},
  mg.objects = [{kind = "cpu", cpu = "x86-64-v3", features = ["+avx2"], grids = {k = array<i64: 1, 1, 1>}, image = dense<[1, 2, 3]> : tensor<3xi8>}]} {
  mgrt.state 1024 {
    mgrt.array seed "seed" : tensor<i64> at 0
    mgrt.array step "step" : tensor<i64> at 64
    mgrt.array row0 "row0" : tensor<i64> at 128
    mgrt.array rows "rows" : tensor<i64> at 192
    mgrt.array variable "w" : tensor<3xf32> at 256 trainable
    mgrt.array variable "mean" : tensor<f64> at 320
    mgrt.array slot "m/w" of "fit" : tensor<3xf32> at 384
    mgrt.array scalar "rate" of "fit" : tensor<f32> at 448
    mgrt.array gradient "w" of "fit" : tensor<3xf32> at 512
    mgrt.array metric_window "loss" of "fit" : tensor<2xf64> at 576
    mgrt.array check_window "0" of "fit" : tensor<2xi64> at 640
    mgrt.array metric_epoch "loss" of "fit" : tensor<2xf64> at 704
    mgrt.array metric_evaluation "loss" of "fit" : tensor<2xf64> at 768
    mgrt.array check_evaluation "0" of "fit" : tensor<2xi64> at 832
    mgrt.window "fit" sums <state, 512, 192> epoch <state, 704, 64> evaluation <state, 768, 128>
    mgrt.array input "x" : tensor<4x3xui8> at 896
    mgrt.array output "y" : tensor<4xi1> at 960
  }
  func.func private @k(tensor<3xf32>, tensor<2x3xi8>) -> tensor<2xi1> attributes {mg.kernel}
  mgrt.entry @f.predict predict of "f" unit 2 arena 0 live 0 {
    mgrt.launch @k(<state, 256, 12>, <state, 896, 6>) -> (<state, 960, 2>)
  }
  mgrt.entry @fit.update update of "fit" unit 0 arena 64 live 64 {
    mgrt.all_reduce sum f32 <arena, 0, 12>
    mgrt.copy <arena, 0, 12> to <state, 256, 12>
    mgrt.fill <arena, 0, 64> with 255
  }
}
"""

# what is replaced, by what, what the one error says
ERRORS = [
    (TOY[TOY.index("mg.interface"):TOY.index("mg.objects")], "", "expected a module with 'mg.interface'"),
    (TOY[TOY.index("  mgrt.state"):TOY.rindex("}")], "\n", "expected a state layout: run mg-assign-state"),
    ('variable "mean"', 'variable "deviation"', "the state holds no variable 'mean': run mg-assign-state again"),
    ('slot "m/w"', 'slot "v/w"', "the state holds no slot 'm/w'"),
    ('scalar "rate" of "fit"', 'scalar "rate" of "tune"', "the state holds no scalar 'rate'"),
    ('input "x" : tensor', 'input "z" : tensor', "the state holds no input 'x'"),
    ('output "y" : tensor', 'output "z" : tensor', "the state holds no output 'y'"),
    ('metric_window "loss"', 'metric_window "error"', "the state holds no metric_window 'loss'"),
    ('metric_epoch "loss"', 'metric_epoch "error"', "the state holds no metric_epoch 'loss'"),
    ('metric_evaluation "loss"', 'metric_evaluation "error"', "the state holds no metric_evaluation 'loss'"),
    ('check_window "0"', 'check_window "1"', "the state holds no check_window '0'"),
    ('check_evaluation "0"', 'check_evaluation "1"', "the state holds no check_evaluation '0'"),
    ('mgrt.array step "step"', 'mgrt.array step "steps"', "the state holds no step 'step'"),
    ('mgrt.window "fit"', 'mgrt.window "tune"', "the state holds no window of 'fit': run mg-assign-state again"),
    ('variable = "w"', 'variable = "v"', "mg.interface: 'm/w' names the variable 'v', which is not declared"),
    ('inputs = ["x"], metrics', 'inputs = ["z"], metrics', "mg.interface: 'fit' names the input 'z', which is not declared"),
    ('{name = "f", inputs = ["x"]', '{name = "f", inputs = ["z"]', "mg.interface: 'f' names the input 'z', which is not declared"),
    ('outputs = ["y"]}', 'outputs = ["z"]}', "mg.interface: 'f' names the output 'z', which is not declared"),
    ('variable "mean" : tensor<f64>', 'variable "mean" : tensor<i7>', "cannot store 'mean' of dtype 'i7'"),
    ('gradient "w" of "fit" : tensor<3xf32>', 'gradient "w" of "fit" : tensor<3xi7>', "the sum 'w' has a type that no bundle holds"),
    (" arena 0 live 0", "", "'mgrt.entry' op has temporaries without a place: run mg-pack-arena"),
    ('predict of "f"', 'predict of "g"', "'mgrt.entry' op belongs to 'g', which mg.interface does not declare"),
    ('update of "fit"', 'update of "f"', "'mgrt.entry' op belongs to 'f', which mg.interface does not declare"),
    ("sum f32", "sum i7", "'mgrt.all_reduce' op cannot store dtype 'i7'"),
    (" attributes {mg.kernel}", "", "'mgrt.launch' op launches @k, which is not marked mg.kernel"),
    ("grids = {k = array<i64: 1, 1, 1>}, ", "", "mg.objects: expected three positive sides in 'grids' of 'x86-64-v3' for the kernel @k"),
    ("{k = array", "{j = array", "for the kernel @k"),
    ("array<i64: 1, 1, 1>", "array<i64: 1, 1>", "expected three positive sides"),
    ("array<i64: 1, 1, 1>", "array<i64: 1, 0, 1>", "expected three positive sides"),
    ("array<i64: 1, 1, 1>", "array<i64: 1, 4294967296, 1>", "expected three positive sides"),
    (TOY[TOY.index(",\n  mg.objects"):TOY.index("} {\n  mgrt.state")], "", "expected code in 'mg.objects': run the code stage"),
    (TOY[TOY.index("[{kind"):TOY.index("} {\n  mgrt.state")], "[]", "expected code in 'mg.objects'"),
    ('kind = "cpu", ', "", "mg.objects: expected strings 'kind' and 'cpu' and a tensor of i8 'image' in element 0"),
    ('cpu = "x86-64-v3", ', "", "in element 0"),
    (", image = dense<[1, 2, 3]> : tensor<3xi8>", "", "in element 0"),
    ("dense<[1, 2, 3]> : tensor<3xi8>", "dense<[1, 2, 3]> : tensor<3xi16>", "in element 0"),
    ("dense<[1, 2, 3]> : tensor<3xi8>", "dense<> : tensor<0xi8>", "in element 0"),
]


class Bundle(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.output = self.folder / "out.mgb"

    def mgc(self, *arguments: str, text: str = MODEL, **how: object) -> subprocess.CompletedProcess:
        """mgc with a model on standard input."""
        return subprocess.run([MGC, "-", *arguments], input=text, capture_output=True, text=True, timeout=60, check=False, **how)

    def write(self, *arguments: str, text: str = MODEL) -> bytes:
        """The bundle that mgc writes."""
        ran = self.mgc("-o", str(self.output), *arguments, text=text)
        self.assertEqual((ran.returncode, ran.stdout), (0, ""), ran.stderr)
        self.assertEqual(list(self.folder.iterdir()), [self.output])
        return self.output.read_bytes()

    def info(self, *arguments: str, text: str = MODEL) -> dict:
        """What mgrun says of it."""
        self.output.write_bytes(self.cached(*arguments, text=text))
        return json.loads(subprocess.run([MGRUN, "info", str(self.output), "--json"], capture_output=True, check=True, timeout=60).stdout)

    def cached(self, *arguments: str, text: str = MODEL) -> bytes:
        """As write, once for all tests."""
        if (arguments, text) not in WRITTEN:
            WRITTEN[arguments, text] = self.write(*arguments, text=text)
        return WRITTEN[arguments, text]

    def assert_one_error(self, ran: subprocess.CompletedProcess, words: str) -> None:
        """Exit status 1, one line with `error:`, nothing on standard output."""
        self.assertEqual((ran.returncode, ran.stdout), (1, ""), ran.stderr)
        self.assertEqual(ran.stderr.count("error:"), 1, ran.stderr)
        self.assertRegex(ran.stderr, rf"error: .*{re.escape(words)}")


class Contents(Bundle):
    """What a file holds."""

    def test_names_shapes_and_dtypes_are_the_models(self):
        info = self.info(*USUAL)
        self.assertEqual(info["model"], "two")
        self.assertEqual(info["units"], [2, 8])
        self.assertEqual(info["parameters"], 3 * 5 + 5 + 1)
        self.assertEqual(info["variables"], [
            {"name": "hidden.kernel", "dtype": "f32", "shape": [3, 5], "trainable": True},
            {"name": "hidden.bias", "dtype": "f32", "shape": [5], "trainable": True},
            {"name": "scale.factor", "dtype": "f64", "shape": [], "trainable": True}])
        self.assertEqual(info["predicts"], [{
            "name": "scores", "inputs": [{"name": "x", "dtype": "f32", "shape": [8, 3]}],
            "outputs": [{"name": "scores", "dtype": "f32", "shape": [8, 5]}]}])

    def test_each_train_has_its_inputs_metrics_slots_and_scalars(self):
        info = self.info(*USUAL)
        fit, tune = info["trains"]
        self.assertEqual((fit["name"], tune["name"]), ("fit", "tune"))
        self.assertEqual([(i["name"], i["dtype"], i["shape"]) for i in fit["inputs"]], [("x", "f32", [8, 3]), ("label", "ui8", [8])])
        self.assertEqual([(i["name"], i["dtype"], i["shape"]) for i in tune["inputs"]], [("a", "f64", [8, 2]), ("flag", "i1", [8])])
        self.assertEqual((fit["metrics"], tune["metrics"]), (["loss", "accuracy"], ["loss"]))
        self.assertEqual((fit["scalars"]["learning_rate"], tune["scalars"]["learning_rate"]), (0.25, 0.5))
        self.assertIn("beta1", fit["scalars"])
        self.assertNotIn("beta1", tune["scalars"])
        adams = {f"{kind}/{name}" for kind in "mv" for name in ("hidden.kernel", "hidden.bias", "scale.factor")}
        self.assertEqual({slot["name"] for slot in info["slots"] if slot["train"] == "fit"}, adams)
        kernel = next(slot for slot in info["slots"] if slot["name"] == "m/hidden.kernel")
        self.assertEqual((kernel["dtype"], kernel["shape"]), ("f32", [3, 5]))

    def test_every_dtype_of_an_input(self):
        dtypes = ("f32", "f64", "i1", "i8", "i16", "i32", "i64", "ui8", "ui16", "ui32", "ui64")
        arguments = ", ".join(f"%{dtype}: tensor<?x3x{dtype}>" for dtype in dtypes)
        text = f"mg.model @m {{\n mg.func @f({arguments}) -> tensor<?x3xf32> {{\n mg.return %f32\n }}\n mg.predict @f\n}}\n"
        inputs = self.info("--batch-size=4", text=text)["predicts"][0]["inputs"]
        self.assertEqual([(i["name"], i["dtype"], i["shape"]) for i in inputs], [(dtype, dtype, [4, 3]) for dtype in dtypes])

    def test_memory_is_the_schedules(self):
        info = self.info(*USUAL)
        schedule = self.mgc(*USUAL, "--emit=schedule").stdout
        self.assertEqual(info["state_bytes"], int(re.search(r"mgrt\.state (\d+)", schedule)[1]))
        self.assertEqual(info["arena_bytes"], max(map(int, re.findall(r"mgrt\.entry .* arena (\d+)", schedule))))
        self.assertEqual(info["file_bytes"], self.output.stat().st_size)

    def test_a_target_for_each_cpu(self):
        info = self.info("--cpu=x86-64-v3,x86-64-v4", text=SMALL)
        self.assertEqual([(t["kind"], t["cpu"]) for t in info["targets"]], [("cpu", "x86-64-v3"), ("cpu", "x86-64-v4")])
        v3, v4 = (set(t["features"]) for t in info["targets"])
        self.assertTrue({"+avx2", "+fma"} <= v3 and not any("avx512" in feature for feature in v3))
        self.assertTrue({"+avx512f", "+fma"} <= v4)

    def test_the_header_and_the_places_of_images(self):
        data = self.cached(*USUAL)
        magic, file_bytes, table_bytes, table_crc, header_crc = struct.unpack_from("<8s8xQQI24xI", data)
        self.assertEqual((magic, file_bytes), (b"\x89MGB\r\n\x1a\n", len(data)))
        self.assertEqual(table_crc, crc32c(data[64:64 + table_bytes]))
        self.assertEqual(header_crc, crc32c(data[:60]))
        images = [offset for offset in range(0, len(data), PAGE) if data[offset:offset + 4] == b"\x7fELF"]
        self.assertEqual(images[:1], [-(-(64 + table_bytes) // PAGE) * PAGE])

    def test_an_image_exports_the_kernels_and_needs_libm_at_most(self):
        data = self.cached(*USUAL)
        image = self.folder / "image.so"
        image.write_bytes(data[next(offset for offset in range(0, len(data), PAGE) if data[offset:offset + 4] == b"\x7fELF"):])
        code = self.mgc(*USUAL, "--emit=code").stdout
        kernels = {name or quoted for line in code.splitlines() if "mg.kernel" in line
                   for name, quoted in re.findall(r'func\.func private @(?:([\w.]+)|"([^"]+)")', line)}
        exported = subprocess.run(["nm", "--dynamic", "--defined-only", str(image)], capture_output=True, text=True, check=True).stdout
        self.assertEqual({line.split()[-1] for line in exported.splitlines()}, kernels)
        self.assertTrue(kernels)
        needed = subprocess.run(["readelf", "--dynamic", str(image)], capture_output=True, text=True, check=True).stdout
        self.assertLessEqual(set(re.findall(r"\(NEEDED\).*\[(.*)\]", needed)), {"libm.so.6"})

    def test_equal_models_give_equal_bytes(self):
        self.assertEqual(self.write(*USUAL), self.cached(*USUAL))

    def test_an_image_lies_behind_the_tables_as_it_is(self):
        data = self.write("--from=code", text=TOY)
        self.assertEqual((data[-3:], len(data) % PAGE), (bytes([1, 2, 3]), 3))


class Refused(Bundle):
    """One error, exit status 1, no file: neither the bundle nor a part of it under another name."""

    def assert_no_file(self) -> None:
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_texts_that_are_no_bundle(self):
        for old, new, words in ERRORS:
            with self.subTest(words, new=new):
                self.assertEqual(TOY.count(old), 1)
                self.assert_one_error(self.mgc("--from=code", "-o", str(self.output), text=TOY.replace(old, new)), words)
                self.assert_no_file()

    def test_an_earlier_stages_text_is_refused_as_code(self):
        schedule = self.mgc("--emit=schedule").stdout
        self.assertEqual(self.mgc("--from=code", "-o", str(self.output), text=schedule).returncode, 1)
        self.assert_no_file()

    def test_a_folder_that_is_not_there(self):
        self.assert_one_error(self.mgc("-o", str(self.folder / "none" / "out.mgb")), "No such file or directory")
        self.assert_no_file()

    def test_a_folder_instead_of_a_file(self):
        self.output.mkdir()
        self.assert_one_error(self.mgc("-o", str(self.output)), "out.mgb: cannot write it: it is no regular file")
        self.assertEqual(list(self.folder.iterdir()), [self.output])
        self.assertEqual(list(self.output.iterdir()), [])

    def test_a_file_instead_of_a_folder(self):
        self.output.write_text("kept")
        self.assert_one_error(self.mgc("-o", str(self.output / "out.mgb")), "Not a directory")
        self.assertEqual(self.output.read_text(), "kept")

    @unittest.skipIf(os.geteuid() == 0, "root may write everywhere")
    def test_a_folder_without_permission(self):
        self.folder.chmod(0o500)
        self.addCleanup(self.folder.chmod, 0o700)
        self.assert_one_error(self.mgc("-o", str(self.output)), "Permission denied")
        self.assert_no_file()

    def test_a_model_with_an_error_leaves_the_bundle_of_before(self):
        before = self.write(text=SMALL)
        self.assert_one_error(self.mgc("-o", str(self.output), text=SMALL.replace("mg.tanh %x", "mg.tanh %z")), "undeclared SSA value")
        self.assertEqual(self.output.read_bytes(), before)
        self.assertEqual(list(self.folder.iterdir()), [self.output])

    def test_what_is_no_file_is_not_replaced(self):
        """A named pipe here, a device elsewhere."""
        os.mkfifo(self.output)
        self.assert_one_error(self.mgc("-o", str(self.output), text=SMALL), "out.mgb: cannot write it: it is no regular file")
        self.assertTrue(stat.S_ISFIFO(self.output.stat().st_mode))

    def test_a_full_disk(self):
        """A write that ends before the last byte."""
        text = TOY.replace("dense<[1, 2, 3]> : tensor<3xi8>", "dense<1> : tensor<100000xi8>")
        size = len(self.write("--from=code", text=text))

        def limit() -> None:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (size - 1, size - 1))
        for before in (None, b"the bundle of before"):
            with self.subTest(before=before):
                self.output.unlink(missing_ok=True)
                if before:
                    self.output.write_bytes(before)
                self.assert_one_error(self.mgc("--from=code", "-o", str(self.output), text=text, preexec_fn=limit), "File too large")
                self.assertEqual(self.output.read_bytes() if self.output.exists() else None, before)
                self.assertEqual(len(list(self.folder.iterdir())), 1 if before else 0)


if __name__ == "__main__":
    unittest.main()
