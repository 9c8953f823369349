// SPDX-License-Identifier: Apache-2.0
package io.penstock.integration.spark;

import java.util.EnumSet;
import java.util.Set;
import org.apache.spark.sql.connector.catalog.SupportsRead;
import org.apache.spark.sql.connector.catalog.SupportsWrite;
import org.apache.spark.sql.connector.catalog.TableCapability;
import org.apache.spark.sql.connector.read.ScanBuilder;
import org.apache.spark.sql.connector.write.LogicalWriteInfo;
import org.apache.spark.sql.connector.write.WriteBuilder;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/** The files that options name. */
final class RegionTable implements SupportsRead, SupportsWrite {

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
        return Column.schema(options.deviceMemory());
    }

    @Override
    public Set<TableCapability> capabilities() {
        return EnumSet.of(
                TableCapability.BATCH_READ,
                TableCapability.MICRO_BATCH_READ,
                TableCapability.BATCH_WRITE,
                TableCapability.ACCEPT_ANY_SCHEMA);
    }

    @Override
    public ScanBuilder newScanBuilder(CaseInsensitiveStringMap ignored) {
        return new RegionScanBuilder(options);
    }

    @Override
    public WriteBuilder newWriteBuilder(LogicalWriteInfo info) {
        return new FileWrite(options, info);
    }
}
