import pyarrow as pa

table = pa.table({"fixed": pa.array([b"abc"] * 150, pa.binary(3))})
with pa.OSFile("python.arrow", "wb") as file:
    with pa.ipc.new_file(file, table.schema, options=pa.ipc.IpcWriteOptions(compression="lz4")) as writer:
        writer.write_table(table, max_chunksize=100)

zero = pa.table({"x": pa.array([b"", b""], pa.binary(0)), "i": [1, 2]})
with pa.OSFile("python-zero.arrow", "wb") as file:
    with pa.ipc.new_file(file, zero.schema) as writer:
        writer.write_table(zero)

texts = ["of a text that is longer than twelve bytes", None, "", "short"]
lists = [[1, 2], None, [], [3]]
junk = pa.py_buffer(b"\x01\x63\x00\x02")  # the index of a null, 99, means nothing
indices = pa.Array.from_buffers(pa.int8(), 4, [pa.py_buffer(b"\x0d"), junk])
words = pa.array(["zero", "one", "two"])
union = pa.UnionArray.from_dense(
    pa.array([7, 9, 7, 7], pa.int8()), pa.array([0, 0, 1, 2], pa.int32()), [pa.array([1, 2, 3]), words.slice(0, 2)], ["n", "t"], [7, 9])
columns = {
    "text": pa.array(texts), "large": pa.array(texts, pa.large_utf8()), "view": pa.array(texts, pa.string_view()),
    "list": pa.array(lists), "large list": pa.array(lists, pa.large_list(pa.int64())),
    "list view": pa.array(lists, pa.list_view(pa.int64())), "large view": pa.array(lists, pa.large_list_view(pa.int64())),
    "map": pa.array([[("a", 1)], None, [], [("b", 2)]], pa.map_(pa.utf8(), pa.int64())),
    "word": pa.DictionaryArray.from_arrays(indices, words), "union": union,
    "runs": pa.RunEndEncodedArray.from_arrays([1, 4], ["a", "b"])}
nested = pa.table(columns)
more = nested.set_column(8, "word", pa.DictionaryArray.from_arrays(pa.array([3, None, 0, 1], pa.int8()), pa.array(["zero", "one", "two", "three"])))
for name, options, times in ("", {}, 1), ("-lz4", {"compression": "lz4"}, 50), ("-zstd", {"compression": "zstd"}, 50):
    with pa.OSFile(f"python-nested{name}.arrow", "wb") as file:
        with pa.ipc.new_file(file, nested.schema, options=pa.ipc.IpcWriteOptions(emit_dictionary_deltas=True, **options)) as writer:
            for table in nested, more:
                writer.write_table(pa.concat_tables([table] * times).combine_chunks())
