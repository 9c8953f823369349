// SPDX-License-Identifier: Apache-2.0
package io.penstock.cudf;

import ai.rapids.cudf.ColumnView;
import ai.rapids.cudf.ParquetOptions;
import ai.rapids.cudf.Scalar;
import ai.rapids.cudf.Table;
import io.penstock.Backend;
import io.penstock.formats.LoadedArrays;
import java.io.IOException;
import java.nio.file.Path;

/** What docs/hand-over.md shows: compiled, and not run, since it needs a GPU. */
final class CudfTables {

    private CudfTables() {}

    /** Reads a Parquet file: the chunks of its columns go straight to the GPU, which decodes them. */
    static Table parquet(Backend gpu, Backend host, Path file) throws IOException {
        try (CudfSource source = CudfSource.open(gpu, host, file)) {
            return Table.readParquet(ParquetOptions.DEFAULT, source);
        }
    }

    /** Sums up a loaded array of one dimension on the GPU. */
    static double sum(LoadedArrays arrays, String name) {
        try (ColumnView view = CudfColumns.of(arrays.get(name));
                Scalar sum = view.sum()) {
            return sum.getDouble();
        }
    }
}
