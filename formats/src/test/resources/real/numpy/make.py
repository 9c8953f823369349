# SPDX-License-Identifier: Apache-2.0
"""Writes the files of this directory by NumPy, and what NumPy reads in them."""
import os, zipfile, zlib
import numpy as np
from numpy.lib import format as npy

rng = np.random.default_rng(17)
NAMES = {"bool": "BOOL", "int8": "I8", "uint8": "U8", "int16": "I16", "uint16": "U16", "int32": "I32", "uint32": "U32",
         "int64": "I64", "uint64": "U64", "float16": "F16", "float32": "F32", "float64": "F64", "complex64": "C64",
         "complex128": "C128"}
expected = []

def values(shape, dtype):
    return (rng.standard_normal(shape) * 50).astype(dtype)

def name(dtype):
    if dtype.kind in "SUV":
        return dtype.str[1:]
    if dtype.kind in "mM":
        return ("DATETIME64" if dtype.kind == "M" else "TIMEDELTA64") + dtype.str[3:]
    return "LONGDOUBLE" if dtype == np.longdouble else NAMES[dtype.name]

def expect(file, key, array):
    """The bytes in the order of the file: those of the transpose, if it is in Fortran's order."""
    fortran = array.flags.f_contiguous and not array.flags.c_contiguous
    data = (array.T if fortran else array).tobytes()
    order = ">" if array.dtype.byteorder == ">" else "<"
    expected.append(f"{file} {key} {name(array.dtype)} {list(array.shape)} {len(data)} {zlib.crc32(data):08x} "
                    f"{order}{'F' if fortran else 'C'}")

arrays = {
    "v1": values((3, 4, 5), "<f4"), "fortran": np.asfortranarray(values((3, 4, 5), "<f4")), "big": values((7,), ">i4"),
    "big-fortran": np.asfortranarray(values((2, 3), ">f8")), "scalar": np.array(1.5, "<f2"), "empty": values((0, 4), "<i8"),
    "bool": values((5,), "?"), "u8": values((300,), "u1"), "u16": values((9,), "<u2"), "u64": values((9,), "<u8"),
    "complex": values((3,), "<c8"), "complex128": values((2, 2), "<c16"), "text": np.array([b"ab", b"cdefg"]),
    "unicode": np.array(["ab", "c\u00e4d"]), "time": np.array(["2026-01-02"], "M8[ns]"), "raw": np.zeros(3, "V5"),
    "long": values((4,), np.longdouble),
}
for key in ("v1", "fortran", "big", "big-fortran", "scalar", "empty", "text", "unicode", "time", "long"):
    np.save(key + ".npy", arrays[key])
for version in (2, 3):
    with open(f"v{version}.npy", "wb") as file:
        npy.write_array(file, values((2, 3), "<i2"), version=(version, 0))
with open("two.npy", "wb") as file:  # NumPy reads the first
    np.save(file, values((4,), "<f4")); np.save(file, values((5,), "<f4"))
bits = np.concatenate([rng.integers(0, 2**32, 1500, np.uint32), np.arange(0x33000000, 0x47900000, 0x1F7FF1, np.uint32),
                       np.array([0, 0x80000000, 0x7F800000, 0xFF800000, 0x7FC00000, 0x477FEFFF, 0x477FF000, 0x38801000, 0x33000001], np.uint32)])
np.save("floats.npy", bits.view("<f4"))
np.save("halves.npy", bits.view("<f4").astype("<f2").view("<u2"))  # for SmallFloats
for file in sorted(f for f in os.listdir(".") if f.endswith(".npy")):
    expect(file, file[:-4], np.load(file))
np.savez("stored.npz", **arrays)
np.savez_compressed("deflated.npz", **arrays)
zipfile.ZIP64_LIMIT = 16  # so that a small file has what NumPy writes for large arrays
with zipfile.ZipFile("zip64.npz", "w") as z:
    for key in ("v1", "big"):
        with z.open(key + ".npy", "w", force_zip64=True) as member:
            npy.write_array(member, arrays[key])
    z.comment = b"a comment"
for file in ("stored.npz", "deflated.npz", "zip64.npz"):
    with np.load(file) as z:
        for key in z.files:
            expect(file, key, z[key])
open("expected.txt", "w").write("\n".join(expected) + "\n")

# What is refused
with open("object.bad", "wb") as file:
    np.save(file, np.array([{}, None], object), allow_pickle=True)
with open("structure.bad", "wb") as file:
    np.save(file, np.zeros(3, [("a", "<f4"), ("b", "<i2")]))
