// SPDX-License-Identifier: Apache-2.0
// Writes js.arrow by Apache Arrow JS, and prints what it reads in the files that are named: batch, field, role, bytes, CRC-32.
import { tableFromArrays, vectorFromArray, Table, RecordBatch, tableFromIPC, RecordBatchFileWriter, Utf8, Int32, Float32, List, Field, Bool, makeData, Struct, Dictionary, Uint8, Int16 } from "apache-arrow";
import { writeFileSync, readFileSync } from "fs";
const table = new Table({
  ints: vectorFromArray([1, null, 3, 4, 5, 6, 7], new Int32()),
  floats: vectorFromArray([1.5, 2.5, -3, 4, 5, 6, 7], new Float32()),
  text: vectorFromArray(["a", "bc", null, "", "def", "gh", "i"], new Utf8()),
  flags: vectorFromArray([true, false, true, true, false, false, true], new Bool()),
  lists: vectorFromArray([[1, 2], [], [3], null, [4, 5, 6], [7], [8]], new List(new Field("item", new Int16(), true))),
  words: vectorFromArray(["x", "y", "x", "x", "y", "z", "x"], new Dictionary(new Utf8(), new Uint8())),
});
const writer = new RecordBatchFileWriter(); writer.writeAll(table.batches); writer.finish();
writeFileSync("js.arrow", Buffer.from(await writer.toUint8Array()));
