# SPDX-License-Identifier: Apache-2.0
"""Writes the files of this directory by nibabel, and what nibabel reads in them."""
import zlib
import nibabel as nib
import numpy as np

rng = np.random.default_rng(17)
NAMES = {"int8": "I8", "uint8": "U8", "int16": "I16", "uint16": "U16", "int32": "I32", "uint32": "U32", "int64": "I64",
         "uint64": "U64", "float32": "F32", "float64": "F64", "complex64": "C64", "complex128": "C128"}
expected = []
affine = np.array([[0, -2.5, 0, 10], [0, 0, 3, 20], [-1.5, 0, 0, 30], [0, 0, 0, 1]], float)

def expect(file, order):
    image = nib.load(file)
    data = np.asanyarray(image.dataobj.get_unscaled())
    raw = data.tobytes("F")
    expected.append(f"{file} {NAMES[data.dtype.newbyteorder('=').name]} {list(data.shape)} {len(raw)} {zlib.crc32(raw):08x} {order} "
                    f"{image.dataobj.offset} {[float(x) for x in image.header.get_zooms()]} "
                    f"{[float(x) for x in image.affine[:3, :3].ravel()]}".replace(", ", ",").replace("-0.0", "0.0"))

for name, shape, dtype in [("u8", (5, 4, 3), "u1"), ("i16", (4, 3, 2, 2), "i2"), ("f32", (3, 3, 3), "f4"), ("f64", (2, 3, 2), "f8"),
                           ("c64", (2, 2, 2), "c8"), ("u32", (7, 1, 2), "u4")]:
    for order in ("<", ">"):
        header = nib.Nifti1Header(endianness=order)
        header.set_data_dtype(dtype)
        image = nib.Nifti1Image((rng.standard_normal(shape) * 50).astype(order + dtype), affine, header)
        image.header["descrip"] = b"a scan"
        file = f"{name}-{'little' if order == '<' else 'big'}.nii"
        image.to_filename(file)
        expect(file, order)
header = nib.Nifti1Header()
header.extensions.append(nib.nifti1.Nifti1Extension("comment", b"a comment of some length"))
image = nib.Nifti1Image(rng.integers(0, 99, (3, 4, 5), "i2"), None, header)
image.set_qform(affine, code=1)
image.set_sform(None, code=0)
image.to_filename("extended.nii")
expect("extended.nii", "<")
for name, shape, dtype in [("two-u8", (5, 4, 3), "u1"), ("two-f32", (3, 3, 3), "f4"), ("two-c128", (2, 2, 2), "c16")]:
    for order in ("<", ">"):
        header = nib.Nifti2Header(endianness=order)
        header.set_data_dtype(dtype)
        image = nib.Nifti2Image((rng.standard_normal(shape) * 50).astype(order + dtype), affine, header)
        image.header["descrip"] = b"a scan"
        file = f"{name}-{'little' if order == '<' else 'big'}.nii"
        image.to_filename(file)
        expect(file, order)
header = nib.Nifti2Header()
header.extensions.append(nib.nifti1.Nifti1Extension("comment", b"a comment of some length"))
image = nib.Nifti2Image(rng.integers(0, 99, (3, 4, 5), "i2"), None, header)
image.set_qform(affine, code=1)
image.set_sform(None, code=0)
image.to_filename("two-extended.nii")
expect("two-extended.nii", "<")
open("expected.txt", "w").write("\n".join(expected) + "\n")
