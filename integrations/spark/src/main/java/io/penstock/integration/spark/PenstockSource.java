// SPDX-License-Identifier: Apache-2.0
package io.penstock.integration.spark;

import java.util.Map;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableProvider;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.sources.DataSourceRegister;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/**
 * The source of {@code spark.read().format("penstock").load(path)}: a row for each array of the files, or, with the
 * option {@code raw}, for each region of them. Spark creates it by its name.
 *
 * <p><b>Result:</b> rows of {@code path}, {@code name}, {@code dtype}, {@code shape}, {@code byteOrder}, {@code order},
 * {@code offset}, {@code length} and {@code bytes}, or, with the option {@code deviceMemory}, {@code handle}: see
 * {@link DeviceMemory}. Bytes are read only where that column is selected.
 *
 * <p><b>Errors:</b> {@link IllegalArgumentException} while Spark plans a query, for an option out of range, a path that
 * is not of a mounted file system, or {@code bytes} of more than fit a row;
 * {@link io.penstock.formats.MalformedFileException} for a file of no known format. Errors of reading fail the task.
 */
public final class PenstockSource implements TableProvider, DataSourceRegister {

    /** Called by Spark. */
    public PenstockSource() {}

    /** Returns {@code penstock}. */
    @Override
    public String shortName() {
        return "penstock";
    }

    /**
     * Returns the schema, which is the same for all files: with the option {@code deviceMemory} it has {@code handle}
     * for {@code bytes}.
     */
    @Override
    public StructType inferSchema(CaseInsensitiveStringMap options) {
        return Column.schema(SourceOptions.deviceMemory(options));
    }

    /** Returns the files that the options name, as a table. */
    @Override
    public Table getTable(StructType schema, Transform[] partitioning, Map<String, String> properties) {
        return new RegionTable(SourceOptions.of(new CaseInsensitiveStringMap(properties)));
    }
}
