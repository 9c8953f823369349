// SPDX-License-Identifier: Apache-2.0
// Prints what zarrita reads in the arrays of this directory: path, type, shape, bytes, CRC-32 of the elements, little-endian, in row-major order.
import * as zarr from "zarrita";
import FileSystemStore from "@zarrita/storage/fs";
import { readdirSync, statSync, existsSync, writeFileSync } from "fs";
const table = Array.from({ length: 256 }, (_, n) => { for (let k = 0; k < 8; k++) n = n & 1 ? 0xedb88320 ^ (n >>> 1) : n >>> 1; return n >>> 0; });
const crc = (b) => { let c = 0xffffffff; for (const x of b) c = table[(c ^ x) & 255] ^ (c >>> 8); return (c ^ 0xffffffff) >>> 0; };
const lines = [];
async function visit(store, base, path) {
  const dir = base + path;
  if (existsSync(dir + "/.zarray") || existsSync(dir + "/zarr.json")) {
    let node;
    try { node = await zarr.open(zarr.root(store).resolve(path || "/")); } catch (e) { console.error(base + path, e._tag); node = {}; }
    if (node.kind === "array") {
      try {
        const { data, shape, stride } = await zarr.get(node, null);
        const bool = node.dtype === "bool", n = shape.reduce((a, b) => a * b, 1);
        const out = bool ? new Uint8Array(n) : new data.constructor(n);
        for (let i = 0; i < n; i++) { // in row-major order, whatever zarrita returns
          let at = 0, rest = i;
          for (let d = shape.length - 1; d >= 0; d--) { at += rest % shape[d] * stride[d]; rest = Math.floor(rest / shape[d]); }
          out[i] = bool ? data.get(at) : data[at];
        }
        const b = new Uint8Array(out.buffer, out.byteOffset, out.byteLength);
        lines.push(`${base}${path} ${node.dtype} [${shape.join(",")}] ${b.length} ${crc(b).toString(16).padStart(8, "0")}`);
      } catch (e) { console.error(base + path, e.message); }
    }
  }
  for (const f of readdirSync(dir).sort()) if (statSync(dir + "/" + f).isDirectory() && !/^(c|\d+)$/.test(f) || (f === "0" || f === "1") && path.endsWith("image")) await visit(store, base, path + "/" + f);
}
for (const base of ["v3.zarr", "v2.zarr"]) await visit(new FileSystemStore(base), base, "");
writeFileSync("expected-zarrita.txt", lines.join("\n") + "\n");
