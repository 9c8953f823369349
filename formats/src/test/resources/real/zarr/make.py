# SPDX-License-Identifier: Apache-2.0
"""Writes the Zarr v2 arrays of this directory by zarr-python."""
import shutil
import numpy as np, zarr, numcodecs

rng = np.random.default_rng(17)
shutil.rmtree("v2.zarr", ignore_errors=True)
root = zarr.open_group("v2.zarr", mode="w")
root.attrs["title"] = "a group"

def write(name, shape, chunks, dtype, whole=True, **options):
    array = root.create_dataset(name, shape=shape, chunks=chunks, dtype=dtype, **options)
    data = (rng.standard_normal(shape) * 50).astype(dtype)
    if whole:
        array[...] = data
    else:  # the first chunks stay missing
        array[chunks[0]:] = data[chunks[0]:]

write("plain", (5, 7), (2, 3), "<i2", compressor=None)
write("missing", (5, 6), (2, 3), "<f4", whole=False, compressor=None, fill_value=1.5)
write("nested/u16", (5, 6, 4), (2, 6, 4), ">u2", whole=False, compressor=None, fill_value=7, dimension_separator="/")
write("fortran", (3, 4, 5), (2, 3, 5), "<f8", compressor=None, order="F")
write("nan", (9,), (4,), "<f4", whole=False, compressor=None, fill_value=np.nan)
write("bool", (9,), (4,), "|b1", compressor=None)
write("complex", (3, 3), (2, 2), "<c8", compressor=None, fill_value=0)
write("blosc", (9, 40), (4, 32), "<i4")  # the default: LZ4 with shuffle
write("blosc-zstd", (9, 40), (4, 32), "<f8", compressor=numcodecs.Blosc("zstd", 3, numcodecs.Blosc.SHUFFLE))
write("zlib", (9, 40), (4, 32), "<i4", compressor=numcodecs.Zlib(5))
write("gzip", (9, 40), (4, 32), "<i4", compressor=numcodecs.GZip(5))
write("zstd", (9, 40), (4, 32), "<i4", compressor=numcodecs.Zstd(3))
write("lz4", (9, 40), (4, 32), ">i4", compressor=numcodecs.LZ4())
write("delta", (300,), (100,), "<i4", compressor=None, filters=[numcodecs.Delta("<i4")])

import zlib
lines = []
def visit(name, node):
    if isinstance(node, zarr.Array):
        data = node[...].astype(node.dtype.newbyteorder("<")).tobytes("C")
        lines.append(f"v2.zarr/{name} {node.dtype.newbyteorder('=').name} {list(node.shape)} {len(data)} {zlib.crc32(data):08x}".replace(", ", ","))
root.visititems(visit)
open("expected-zarr-python.txt", "w").write("\n".join(lines) + "\n")
