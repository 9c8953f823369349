import pyarrow as pa

table = pa.table({"fixed": pa.array([b"abc"] * 150, pa.binary(3))})
with pa.OSFile("python.arrow", "wb") as file:
    with pa.ipc.new_file(file, table.schema, options=pa.ipc.IpcWriteOptions(compression="lz4")) as writer:
        writer.write_table(table, max_chunksize=100)

zero = pa.table({"x": pa.array([b"", b""], pa.binary(0)), "i": [1, 2]})
with pa.OSFile("python-zero.arrow", "wb") as file:
    with pa.ipc.new_file(file, zero.schema) as writer:
        writer.write_table(zero)
