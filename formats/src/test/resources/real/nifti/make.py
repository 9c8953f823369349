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

def scans(prefix, header_of, image_of, kinds):
    for name, shape, dtype in kinds:
        for order in ("<", ">"):
            header = header_of(endianness=order)
            header.set_data_dtype(dtype)
            image = image_of((rng.standard_normal(shape) * 50).astype(order + dtype), affine, header)
            image.header["descrip"] = b"a scan"
            file = f"{prefix}{name}-{'little' if order == '<' else 'big'}.nii"
            image.to_filename(file)
            expect(file, order)
    header = header_of()
    header.extensions.append(nib.nifti1.Nifti1Extension("comment", b"a comment of some length"))
    image = image_of(rng.integers(0, 99, (3, 4, 5), "i2"), None, header)
    image.set_qform(affine, code=1)
    image.set_sform(None, code=0)
    image.to_filename(prefix + "extended.nii")
    expect(prefix + "extended.nii", "<")

scans("", nib.Nifti1Header, nib.Nifti1Image, [("u8", (5, 4, 3), "u1"), ("i16", (4, 3, 2, 2), "i2"), ("f32", (3, 3, 3), "f4"),
                                              ("f64", (2, 3, 2), "f8"), ("c64", (2, 2, 2), "c8"), ("u32", (7, 1, 2), "u4")])
scans("two-", nib.Nifti2Header, nib.Nifti2Image, [("u8", (5, 4, 3), "u1"), ("f32", (3, 3, 3), "f4"), ("c128", (2, 2, 2), "c16")])
open("expected.txt", "w").write("\n".join(expected) + "\n")
