"""What the tests with the toy model share. Standard library only.
SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""
import re
import struct


def write_npy(path, values):
    head = ("{'descr': '<f4', 'fortran_order': False, 'shape': (%d,), }" % len(values)).ljust(117) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + struct.pack("<%df" % len(values), *values))


def read_npy(path):
    with open(path, "rb") as file:
        data = file.read()
    start = 10 + struct.unpack("<H", data[8:10])[0]
    return list(struct.unpack("<%df" % ((len(data) - start) // 4), data[start:]))


def without_advice(stderr):
    """Without the lines on idle devices, which depend on how busy the machine is."""
    return re.sub(r"^warning: device \d+ is busy [^\n]*\n", "", stderr, flags=re.MULTILINE)
