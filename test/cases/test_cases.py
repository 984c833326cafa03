# Cases from public reports, each named by its number: training semantics, derivatives, numerics.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Run by unittest with MGC and MGRUN set."""

import math
import tempfile
import unittest

import numpy as np
from harness import Bench, dense, losses

DEVICES = (1, 2, 4)

LINE = """mg.model @line {
  mg.variables @v {w: f64 = constant(START)}
  mg.train @fit(%x: tensor<?xf64>, %t: tensor<?xf64>) {
    %w = mg.get @v::@w
    %y = mg.multiply %x, %w
    %loss = mg.mean_squared_error %y, %t
    mg.minimize %loss with @sgd {learning_rate = RATE}
  }
}"""


def line(start: float, rate: float) -> str:
    """y = w·x by least squares."""
    return LINE.replace("START", repr(start)).replace("RATE", repr(rate))


class Cases(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.bench = Bench(folder.name)

    def gradient(self, expression: str, **variables: np.ndarray) -> tuple[float, dict[str, np.ndarray]]:
        """Value and derivatives of a scalar `%result` over f64 variables, by one step of rate 1."""
        names = ", ".join(f"{k}: {'x'.join([*map(str, v.shape), 'f64'])} = zeros" for k, v in variables.items())
        gets = "\n".join(f"%{k} = mg.get @v::@{k}" for k in variables)
        text = (f"mg.model @g {{\nmg.variables @v {{{names}}}\nmg.train @fit(%one: tensor<?xf64>) {{\n{gets}\n{expression}\n"
                "%loss = mg.multiply %one, %result\nmg.minimize %loss with @sgd {learning_rate = 1.0}\n}\n}")
        bundle = self.bench.compile("g", text, batch=1)
        found = []
        for devices in (1, 2):
            after, lines, _ = self.bench.train(bundle, {"one": np.ones(2)}, "--steps=1", "--global-batch=2", f"--devices={devices}",
                                               state={f"v.{k}": v for k, v in variables.items()})
            found.append((losses(lines)[0], {k: v - after[f"v.{k}"] for k, v in variables.items()}))
        for k in variables:
            np.testing.assert_array_equal(found[0][1][k], found[1][1][k])
        return found[0]

    def train_line(self, targets, x, start, rate, batch, unit, steps=None):
        """(w after, step losses, epoch loss) for each device count; all must agree."""
        bundle = self.bench.compile("line", line(start, rate), batch=unit)
        results = []
        for devices in DEVICES:
            options = [f"--devices={devices}", f"--global-batch={batch}", "--epochs=1"] + ([f"--steps={steps}"] if steps else [])
            state, lines, _ = self.bench.train(bundle, {"x": np.array(x, float), "t": np.array(targets, float)}, *options)
            results.append((float(state["v.w"]), losses(lines), losses(lines, "epoch")))
        for other in results[1:]:
            np.testing.assert_allclose(other[0], results[0][0], rtol=1e-12)
            np.testing.assert_allclose(other[1], results[0][1], rtol=1e-12)
        return results[0]

    def test_r01_last_partial_batch_counts_by_its_rows(self):
        for unit in (1, 2, 4):
            w, steps, _ = self.train_line([1, 1, 4], [1, 1, 1], 0.0, 0.1, batch=4, unit=unit)
            self.assertAlmostEqual(steps[0], 6, 12)
            self.assertAlmostEqual(w, 0.4, 12)

    def test_r02_replicas_without_rows(self):
        w, _, epoch = self.train_line([1, 1, 1, 1, 4], [1] * 5, 0.0, 0.1, batch=4, unit=1)
        self.assertAlmostEqual(w, 0.96, 12)
        self.assertAlmostEqual(epoch[0], 3.688, 12)

    def test_r03_r18_gradients_are_one_mean_over_all_rows(self):
        for unit in (1, 3, 4):
            w, _, _ = self.train_line([0] * 4, [1, 2, 3, 4], 1.0, 1.0, batch=4, unit=unit)
            self.assertAlmostEqual(1.0 - w, 15, 12)

    def test_r04_a_penalty_counts_once(self):
        value, d = self.gradient("%s = mg.multiply %w, %w\n%result = mg.multiply %s by 0.5", w=np.array(2.0))
        self.assertEqual((value, d["w"]), (2.0, 2.0))

    def test_r05_masks_differ_between_rows_and_not_between_device_counts(self):
        text = """mg.model @m {
          mg.variables @v {w: 2x1000xf64 = ones}
          mg.train @fit(%row: tensor<?x2xf64>) {
            %w = mg.get @v::@w
            %ones = mg.matmul %row, %w
            %kept = mg.dropout %ones, 0.5
            %loss = mg.reduce_sum %kept, axes = [1]
            mg.minimize %loss with @sgd {learning_rate = 1.0}
          }
        }"""
        bundle = self.bench.compile("m", text, batch=1)
        masks = []
        for devices in (1, 2):
            state, _, _ = self.bench.train(bundle, {"row": np.eye(2)}, "--steps=1", "--global-batch=2", f"--devices={devices}")
            masks.append(1 - state["v.w"])  # row r holds the mask of row r of the batch: 0, or 2 times 1/2 row
        np.testing.assert_array_equal(masks[0], masks[1])
        self.assertEqual(set(masks[0].ravel()), {0.0, 1.0})
        self.assertTrue(0.42 < np.mean(masks[0][0] == masks[0][1]) < 0.58)

    def test_r08_epoch_figures_weigh_rows(self):
        text = """mg.model @m {
          mg.variables @v {w: f64 = zeros}
          mg.train @fit(%x: tensor<?xf64>) {
            %w = mg.get @v::@w
            %loss = mg.multiply %x, %w
            mg.metric "correct", %x
            mg.minimize %loss with @sgd
          }
        }"""
        bundle = self.bench.compile("m", text, batch=1)
        for devices in DEVICES:
            _, lines, _ = self.bench.train(bundle, {"x": np.array([1, 1, 1, 1, 0.0])}, "--global-batch=2", "--epochs=1", f"--devices={devices}")
            self.assertAlmostEqual([l for l in lines if l["event"] == "epoch"][0]["correct"], 0.8, 12)

    def test_r09_predictions_keep_order_and_count(self):
        text = "mg.model @m {\nmg.func @same(%x: tensor<?xf64>) -> tensor<?xf64> {\n%y = mg.multiply %x by 1.0\nmg.return %y\n}\nmg.predict @same\n}"
        bundle = self.bench.compile("m", text, batch=1)
        for devices in DEVICES:
            np.testing.assert_array_equal(self.bench.predict(bundle, {"x": np.arange(10.0)}, devices, "same"), np.arange(10.0))

    def test_r10_devices_with_unequal_batches_end(self):
        _, steps, _ = self.train_line([0] * 7, [1] * 7, 1.0, 0.0, batch=4, unit=2)
        self.assertEqual(len(steps), 2)

    def test_r11_a_variable_without_path_stays_and_is_named(self):
        text = """mg.model @m {
          mg.variables @v {a: f64 = ones, b: f64 = ones}
          mg.train @fit(%x: tensor<?xf64>) {
            %a = mg.get @v::@a
            %y = mg.multiply %x, %a
            %loss = mg.multiply %y, %y
            mg.minimize %loss with @sgd
          }
        }"""
        (self.bench.folder / "r11.mlir").write_text(text)
        import os
        import subprocess
        ran = subprocess.run([os.environ["MGC"], str(self.bench.folder / "r11.mlir"), "-o", str(self.bench.folder / "r11.mgb")], capture_output=True, text=True, check=True)
        self.assertIn("warning: variable 'v.b' has no path to the loss", ran.stderr)
        for devices in DEVICES:
            state, _, _ = self.bench.train(str(self.bench.folder / "r11.mgb"), {"x": np.ones(4)}, "--steps=1", f"--devices={devices}")
            self.assertEqual(float(state["v.b"]), 1.0)
            self.assertNotEqual(float(state["v.a"]), 1.0)

    def test_r33_ties_share(self):
        _, d = self.gradient("%result = mg.reduce_max %x, axes = [0]", x=np.array([.6, .6, .3]))
        np.testing.assert_array_equal(d["x"], [.5, .5, 0])
        _, d = self.gradient("%result = mg.maximum %a, %b", a=np.array(.6), b=np.array(.6))
        self.assertEqual((d["a"], d["b"]), (.5, .5))

    def test_r34_what_is_not_chosen_leaks_nothing(self):
        n = np.array([0.0, 2.0])
        _, d = self.gradient(f"%n = mg.constant {dense(n)}\n%zero = mg.multiply %n by 0.0\n%c = mg.compare ne, %n, %zero\n%q = mg.divide %x, %n\n"
                             "%s = mg.select %c, %q, %zero\n%result = mg.reduce_sum %s, axes = [0]", x=np.array([0.0, 1.0]))
        np.testing.assert_array_equal(d["x"], [0, .5])
        root = "%r = mg.sqrt %x\n%c = mg.compare lt, %x by LIMIT\n%s = mg.select %c, %x, %r\n%result = mg.reduce_sum %s, axes = [0]"
        _, d = self.gradient(root.replace("LIMIT", "1.0"), x=np.array([0.0]))
        np.testing.assert_array_equal(d["x"], [1])
        _, d = self.gradient(root.replace("LIMIT", "0.0"), x=np.array([-1.0, -4.0]))
        np.testing.assert_array_equal(d["x"], [1, 1])

    def test_r36_powers_at_zero_and_of_negative_bases(self):
        for a, b, da, db in [(0.0, 1.0, 1.0, 0.0), (2.0, 1.0, 1.0, 2 * math.log(2)), (0.0, 0.0, 0.0, None), (0.0, 2.0, 0.0, 0.0), (-2.0, 2.0, -4.0, None)]:
            _, d = self.gradient("%result = mg.power %a, %b", a=np.array(a), b=np.array(b))
            self.assertAlmostEqual(float(d["a"]), da, 12)
            if db is not None:
                self.assertAlmostEqual(float(d["b"]), db, 12)

    def test_r41_broadcasts_are_summed_back(self):
        x = np.arange(1.0, 13).reshape(3, 4)
        _, d = self.gradient(f"%x = mg.constant {dense(x)}\n%s = mg.add %x, %b\n%q = mg.multiply %s, %s\n%result = mg.reduce_sum %q, axes = [0, 1]", b=np.array([1., 2, 3, 4]))
        np.testing.assert_array_equal(d["b"], [36, 48, 60, 72])
        _, d = self.gradient(f"%o = mg.constant {dense(np.ones(2))}\n%s = mg.multiply %o, %v\n%result = mg.reduce_sum %s, axes = [0]", v=np.array(5.0))
        self.assertEqual((float(d["v"]), d["v"].shape), (2.0, ()))

    def test_r42_through_abs(self):
        _, d = self.gradient("%a = mg.abs %x\n%q = mg.multiply %a, %a\n%result = mg.reduce_sum %q, axes = [0]", x=np.array([-1., 2, -3]))
        np.testing.assert_array_equal(d["x"], [-2, 4, -6])

    def test_r43_two_uses_add_up(self):
        value, d = self.gradient("%m = mg.reduce_max %x, axes = [0]\n%v = mg.add %x, %m\n%result = mg.reduce_sum %v, axes = [0]", x=np.array([2., 3]))
        self.assertEqual(value, 11)
        np.testing.assert_array_equal(d["x"], [1, 3])

    def test_r46_dropout_of_nothing_and_of_all(self):
        for rate, expected in ((0.0, 1.0), (1.0, 0.0)):
            _, d = self.gradient(f"%d = mg.dropout %x, {rate}\n%result = mg.reduce_sum %d, axes = [0]", x=np.ones(5))
            np.testing.assert_array_equal(d["x"], np.full(5, expected))

    def test_r47_kinks(self):
        for op in ("relu", "abs"):
            _, d = self.gradient(f"%y = mg.{op} %x\n%result = mg.reduce_sum %y, axes = [0]", x=np.zeros(3))
            np.testing.assert_array_equal(d["x"], np.zeros(3))

    def test_r48_nan_stays_nan_at_every_width(self):
        text = """mg.model @m {
          mg.func @max(%x: tensor<?xNxf32>) -> tensor<?xf32> {
            %y = mg.reduce_max %x, axes = [1]
            mg.return %y
          }
          mg.func @relu(%x: tensor<?xNxf32>) -> tensor<?xNxf32> {
            %y = mg.relu %x
            %one = mg.maximum %y by 1.0
            mg.return %one
          }
          mg.predict @max
          mg.predict @relu
        }"""
        for width in (1, 2, 7, 8, 9, 16, 17):
            bundle = self.bench.compile(f"m{width}", text.replace("N", str(width)), batch=3)
            x = np.ones((width, width), np.float32)
            np.fill_diagonal(x, np.nan)
            self.assertTrue(np.isnan(self.bench.predict(bundle, {"x": x}, 1, "max")).all())
            np.testing.assert_array_equal(np.isnan(self.bench.predict(bundle, {"x": x}, 2, "relu")), np.isnan(x))

    def test_r49_cross_entropy_of_huge_logits(self):
        def loss(logits, label):
            labels = np.array([label], np.uint8)
            return self.gradient(f"%label = mg.constant {dense(labels)}\n%l = mg.sparse_cross_entropy %x, %label\n%result = mg.reduce_sum %l, axes = [0]", x=np.array([logits]))
        self.assertAlmostEqual(loss([-30., 30.], 0)[0], 60, 12)
        self.assertAlmostEqual(loss([1e8, 1e8], 0)[0], math.log(2), 7)
        value, d = loss([-431., 279., 427.], 0)
        self.assertEqual(value, 858)
        np.testing.assert_allclose(d["x"], [[-1, 0, 1]], atol=1e-12)
        value, _ = self.gradient(f"%t = mg.constant {dense(np.zeros(1))}\n%l = mg.binary_cross_entropy %x, %t\n%result = mg.reduce_sum %l, axes = [0]", x=np.array([100.]))
        self.assertEqual(value, 100)

    def test_r52_a_label_out_of_range_stops_before_anything_changes(self):
        text = """mg.model @m {
          mg.variables @v {w: 1x10xf32 = zeros}
          mg.train @fit(%x: tensor<?x1xf32>, %label: tensor<?xi8>) {
            %w = mg.get @v::@w
            %y = mg.matmul %x, %w
            %loss = mg.sparse_cross_entropy %y, %label
            mg.minimize %loss with @sgd
          }
        }"""
        bundle = self.bench.compile("m", text, batch=1)
        for devices in DEVICES:
            _, _, printed = self.bench.train(bundle, {"x": np.ones((3, 1), np.float32), "label": np.array([3, 10, -1], np.int8)}, f"--devices={devices}", "--global-batch=4", status=1)
            for words in ("10", "row 1", "label"):
                self.assertIn(words, printed)
            self.assertEqual(printed.count("error:"), 1)

    def test_r58_a_contraction_over_split_rows_is_summed_once(self):
        text = """mg.model @m {
          mg.variables @v {abc: 4x8xf64 = zeros}
          mg.train @fit(%b: tensor<?x2xf64>, %c: tensor<?x8xf64>) {
            %a = mg.constant ONES
            %ab = mg.matmul %b, %a
            %v = mg.get @v::@abc
            %abv = mg.matmul %ab, %v
            %products = mg.multiply %abv, %c
            %loss = mg.reduce_sum %products, axes = [1]
            mg.minimize %loss with @sgd {learning_rate = 32.0}
          }
        }""".replace("ONES", dense(np.ones((2, 4))))
        bundle = self.bench.compile("m", text, batch=8)
        for devices in DEVICES:  # dloss/dabc = (A·B)·C / 32 with B 2x32 and C 32x8 of ones, the 32 split over the devices
            state, _, _ = self.bench.train(bundle, {"b": np.ones((32, 2)), "c": np.ones((32, 8))}, "--steps=1", "--global-batch=32", f"--devices={devices}")
            np.testing.assert_array_equal(state["v.abc"], np.full((4, 8), -64.0))

    def test_r74_adam_names_where_epsilon_stands(self):
        for hat, expected in ((1.0, 3.0653e-5), (0.0, 5.0e-4)):
            text = f"""mg.model @m {{
              mg.variables @v {{w: f64 = zeros}}
              mg.train @fit(%x: tensor<?xf64>) {{
                %w = mg.get @v::@w
                %y = mg.multiply %w by 1.0e-7
                %loss = mg.multiply %x, %y
                mg.minimize %loss with @adam {{learning_rate = 1.0e-3, epsilon = 1.0e-7, epsilon_hat = {hat}}}
              }}
            }}"""
            state, _, _ = self.bench.train(self.bench.compile("m", text, batch=1), {"x": np.ones(1)}, "--steps=1")
            self.assertAlmostEqual(-float(state["v.w"]) / expected, 1, 4)

    def test_r75_one_bundle_trains_on_any_device_count(self):
        text = """mg.model @m {
          mg.variables @v {w: 5x3xf64 = glorot_uniform}
          mg.train @fit(%x: tensor<?x5xf64>, %y: tensor<?x3xf64>) {
            %w = mg.get @v::@w
            %d = mg.dropout %x, 0.3
            %s = mg.matmul %d, %w
            %loss = mg.mean_squared_error %s, %y
            mg.minimize %loss with @adam {learning_rate = 0.01}
          }
        }"""
        bundle, random = self.bench.compile("m", text, batch=2), np.random.default_rng(75)
        data = {"x": random.normal(size=(30, 5)), "y": random.normal(size=(30, 3))}
        states = [self.bench.train(bundle, data, "--epochs=5", "--global-batch=8", f"--devices={devices}")[0] for devices in (1, 2, 3, 4)]
        for state in states[1:]:
            np.testing.assert_allclose(state["v.w"], states[0]["v.w"], rtol=0, atol=1e-12)

    def test_a_metric_is_the_mean_by_its_weights(self):
        text = """mg.model @m {
          mg.variables @v {w: f64 = ones}
          mg.train @fit(%x: tensor<?xf64>, %k: tensor<?xf64>) {
            %w = mg.get @v::@w
            %loss = mg.multiply %x, %w
            mg.metric "weighted", %x weight %k
            mg.metric "plain", %x
            mg.minimize %loss weight %k with @sgd {learning_rate = 1.0}
          }
        }"""
        bundle = self.bench.compile("m", text, batch=1)
        for k, mean in (([1.0, 0, 3, 0, 4], (1 + 9 + 20) / 8), ([0.0] * 5, 0.0)):
            for devices in DEVICES:
                state, lines, _ = self.bench.train(bundle, {"x": np.arange(1.0, 6), "k": np.array(k)}, "--global-batch=5", "--epochs=1", f"--devices={devices}")
                epoch = [line for line in lines if line["event"] == "epoch"][0]
                self.assertAlmostEqual(epoch["weighted"], mean, 12)
                self.assertAlmostEqual(epoch["plain"], 3, 12)
                self.assertAlmostEqual(epoch["loss"], mean, 12)
                self.assertAlmostEqual(float(state["v.w"]), 1 - mean, 12)

    def test_a_value_and_the_same_value_moved_meet_again(self):
        # The sum works at the points of %e and of %m, and %m takes its elements from other points of %e.
        moves = {"mg.concatenate %e axis = 1": lambda e: e, "mg.transpose %e, permutation = [0, 2, 1]": lambda e: e.transpose(0, 2, 1)}
        for move, moved in moves.items():
            text = f"""mg.model @m {{
              mg.func @f(%x: tensor<?x3x3xf64>) -> tensor<?x3x3xf64> {{
                %e = mg.tanh %x
                %m = {move}
                %t = mg.sine %m
                %y = mg.add %t, %e
                mg.return %y
              }}
              mg.predict @f
            }}"""
            x = np.random.default_rng(3).normal(size=(5, 3, 3))
            found = self.bench.predict(self.bench.compile("m", text, batch=2), {"x": x}, 2, "f")
            np.testing.assert_allclose(found, np.sin(moved(np.tanh(x))) + np.tanh(x), rtol=1e-13)

    def test_true_is_one_as_an_optimizer_scalar(self):
        after = []
        for value in ("true", "1.0", "false"):
            text = line(2.0, 0.1).replace("with @sgd {", f"with @sgd_momentum {{nesterov = {value}, ")
            state, _, _ = self.bench.train(self.bench.compile("m", text, batch=4), {"x": np.ones(4), "t": np.zeros(4)}, "--epochs=3")
            after.append(float(state["v.w"]))
        self.assertEqual(after[0], after[1])
        self.assertNotEqual(after[0], after[2])


if __name__ == "__main__":
    unittest.main()
