// SPDX-License-Identifier: Apache-2.0
// Adds to v3.zarr what zarrita writes: unsigned types, transposed chunks, and an OME-Zarr image of two levels.
import * as zarr from "zarrita";
import FileSystemStore from "@zarrita/storage/fs";
const store = new FileSystemStore("v3.zarr");
const root = zarr.root(store);
async function write(path, dtype, Type, shape, chunkShape, codecs, more = {}) {
  const array = await zarr.create(root.resolve(path), { shape, chunkShape, dtype, codecs, fillValue: 0, ...more });
  const n = shape.reduce((a, b) => a * b, 1);
  const big = Type === BigUint64Array;
  const data = Type.from({ length: n }, (_, i) => big ? BigInt(i * 977 % 1009) : i * 977 % 1009);
  const stride = shape.map((_, i) => shape.slice(i + 1).reduce((a, b) => a * b, 1));
  await zarr.set(array, null, { data, shape, stride });
}
const bytes = [{ name: "bytes", configuration: { endian: "little" } }];
await write("u16", "uint16", Uint16Array, [7, 9], [4, 4], bytes, { chunkSeparator: ".", dimensionNames: ["y", "x"], attributes: { note: "zarrita" } });
await write("u64", "uint64", BigUint64Array, [11], [4], bytes);
const rotated = (...order) => [{ name: "transpose", configuration: { order } }];
await write("rotated", "uint16", Uint16Array, [4, 5, 7], [2, 3, 4], [...rotated(1, 2, 0), ...bytes]);
await write("rotated-big", "int16", Int16Array, [3, 4, 5, 6], [2, 4, 3, 3],
  [...rotated(3, 1, 0, 2), { name: "bytes", configuration: { endian: "big" } }]);
await zarr.create(root.resolve("image"), { attributes: { ome: { version: "0.5", multiscales: [{ name: "scan",
  axes: [{ name: "z", type: "space" }, { name: "y", type: "space" }, { name: "x", type: "space" }],
  datasets: [{ path: "0", coordinateTransformations: [{ type: "scale", scale: [1, 1, 1] }] },
             { path: "1", coordinateTransformations: [{ type: "scale", scale: [2, 2, 2] }] }] }] } } });
await write("image/0", "uint16", Uint16Array, [4, 8, 6], [2, 8, 6], bytes);
await write("image/1", "uint16", Uint16Array, [2, 4, 3], [2, 4, 3], bytes);
