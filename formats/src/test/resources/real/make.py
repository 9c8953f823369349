# SPDX-License-Identifier: Apache-2.0
"""Writes the files of this directory by the formats' own libraries, and what those libraries read in them."""
import json, os, zlib
import ml_dtypes, numpy as np
import safetensors, safetensors.numpy
import gguf

rng = np.random.default_rng(17)
bf16 = ml_dtypes.bfloat16

def values(shape, dtype):
    return (rng.standard_normal(shape) * 50).astype(dtype)

def line(file, name, kind, shape, data):
    return f"{file} {name} {kind} {list(map(int, shape))} {len(data)} {zlib.crc32(data):08x}"

expected = []

def expect_safetensors(file):
    for name, entry in sorted(safetensors.deserialize(open(file, "rb").read())):
        expected.append(line(file, name, entry["dtype"], entry["shape"], bytes(entry["data"])))

# safetensors: names and dtypes in an order that the writer sorts
safetensors.numpy.save_file(
    {
        "embed.weight": values((48, 20), bf16), "norm": values((21,), np.float32), "half": values((3, 5, 7), np.float16),
        "flags": values((13,), np.bool_), "bytes": values((1, 3), np.uint8), "int8": values((5,), np.int8),
        "int16": values((3, 3), np.int16), "uint16": values((2,), np.uint16), "int32": values((4,), np.int32),
        "uint32": values((1,), np.uint32), "int64": values((2, 2), np.int64), "uint64": values((3,), np.uint64),
        "double": values((6,), np.float64), "complex": values((4,), np.complex64), "scalar": np.array(2.5, np.float32),
        "empty": values((0, 4), np.float32),
    },
    "model.safetensors", metadata={"format": "np", "note": "h\u00f6\u20ac \"quoted\""})
expect_safetensors("model.safetensors")
small, kept = {}, []
for kind, shape, size in [("float8_e4m3fn", [6], 6), ("float8_e5m2", [4], 4), ("float8_e8m0fnu", [8], 8),
                          ("float4_e2m1fn_x2", [4, 3], 12)]:
    data = np.frombuffer(rng.bytes(size), np.uint8)
    kept.append(data)
    small[kind] = safetensors.TensorSpec(dtype=kind, shape=shape, data_ptr=data.ctypes.data, data_len=size)
open("small.safetensors", "wb").write(safetensors.serialize(small, None))
expect_safetensors("small.safetensors")

weights = {}
for shard in (1, 2, 3):
    file = f"sharded-{shard:05d}-of-00003.safetensors"
    arrays = {f"layer.{shard}.{part}": values((8, 16 + shard), bf16) for part in ("up", "down")}
    safetensors.numpy.save_file(arrays, file, metadata={"format": "np"})
    weights.update({name: file for name in arrays})
    expect_safetensors(file)
json.dump({"metadata": {"total_size": 2 * 2 * 8 * (17 + 18 + 19)}, "weight_map": weights},
          open("sharded.safetensors.index.json", "w"), indent=2)

def write_gguf(file, alignment=None, **split):
    writer = gguf.GGUFWriter(file, "llama", **split)
    if alignment:
        writer.add_custom_alignment(alignment)
    writer.add_description("a file for tests")
    writer.add_block_count(2)
    writer.add_float32("test.f32", 0.5); writer.add_float64("test.f64", -0.25); writer.add_bool("test.bool", True)
    writer.add_int8("test.i8", -1); writer.add_uint16("test.u16", 65535); writer.add_int64("test.i64", -2**62)
    writer.add_uint64("test.u64", 2**64 - 1); writer.add_array("test.ints", list(range(40)))
    writer.add_token_list([f"<{i}>" for i in range(30)]); writer.add_string("test.text", "gr\u00fcn\n")
    writer.add_tensor("norm.weight", values((40,), np.float32))
    writer.add_tensor("half.weight", values((3, 7), np.float16))
    writer.add_tensor("ints", values((5,), np.int32))
    for kind in (gguf.GGMLQuantizationType.Q8_0, gguf.GGMLQuantizationType.Q4_0, gguf.GGMLQuantizationType.Q5_1,
                 gguf.GGMLQuantizationType.TQ2_0, gguf.GGMLQuantizationType.MXFP4, gguf.GGMLQuantizationType.BF16):
        data = gguf.quants.quantize(values((4, 256), np.float32), kind)
        writer.add_tensor(f"{kind.name.lower()}.weight", data, raw_dtype=kind)
    writer.write_header_to_file(); writer.write_kv_data_to_file(); writer.write_tensors_to_file(); writer.close()

def expect_gguf(file):
    for t in sorted(gguf.GGUFReader(file).tensors, key=lambda t: t.name):
        expected.append(line(file, t.name, t.tensor_type.name, list(t.shape)[::-1], t.data.tobytes()))

write_gguf("model.gguf")
expect_gguf("model.gguf")
write_gguf("aligned.gguf", alignment=64)
expect_gguf("aligned.gguf")
write_gguf("parts.gguf", split_max_tensors=4)
for part in sorted(f for f in os.listdir(".") if f.startswith("parts-")):
    expect_gguf(part)
open("expected.txt", "w").write("\n".join(expected) + "\n")

# .npy files, as numpy.save writes them
np.save("c.npy", values((2, 3), "<i4"))
np.save("f.npy", np.asfortranarray(values((2, 3), ">f8")))
np.save("one.npy", np.array([True, False, True, True, False]))
np.save("scalar.npy", np.array(1.5, "<f2"))
