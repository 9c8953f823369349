// SPDX-License-Identifier: Apache-2.0
package io.penstock.integration.spark;

import java.util.EnumSet;
import java.util.Set;
import org.apache.spark.sql.connector.catalog.SupportsRead;
import org.apache.spark.sql.connector.catalog.TableCapability;
import org.apache.spark.sql.connector.read.ScanBuilder;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/** The files that options name. */
final class RegionTable implements SupportsRead {

    private final SourceOptions options;

    RegionTable(SourceOptions options) {
        this.options = options;
    }

    @Override
    public String name() {
        return "penstock " + options.paths();
    }

    @Override
    @SuppressWarnings("deprecation") // its replacement is not in Spark 3.5
    public StructType schema() {
        return Column.schema();
    }

    @Override
    public Set<TableCapability> capabilities() {
        return EnumSet.of(TableCapability.BATCH_READ);
    }

    @Override
    public ScanBuilder newScanBuilder(CaseInsensitiveStringMap ignored) {
        return new RegionScanBuilder(options);
    }
}
