// SPDX-License-Identifier: Apache-2.0
package io.penstock.integration.spark;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.apache.spark.sql.connector.catalog.SupportsRead;
import org.apache.spark.sql.connector.catalog.SupportsWrite;
import org.apache.spark.sql.connector.catalog.TableCapability;
import org.apache.spark.sql.connector.expressions.filter.Predicate;
import org.apache.spark.sql.connector.read.Scan;
import org.apache.spark.sql.connector.read.ScanBuilder;
import org.apache.spark.sql.connector.read.SupportsPushDownRequiredColumns;
import org.apache.spark.sql.connector.read.SupportsPushDownV2Filters;
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

    /** Takes the columns and the predicates of a query. A predicate is taken whole, or left to Spark. */
    private static final class RegionScanBuilder
            implements ScanBuilder, SupportsPushDownRequiredColumns, SupportsPushDownV2Filters {

        private final SourceOptions options;
        private final List<Predicate> pushed = new ArrayList<>();
        private final List<RegionFilter> filters = new ArrayList<>();
        private StructType columns;

        RegionScanBuilder(SourceOptions options) {
            this.options = options;
            this.columns = Column.schema(options.deviceMemory());
        }

        @Override
        public void pruneColumns(StructType required) {
            columns = required;
        }

        @Override
        public Predicate[] pushPredicates(Predicate[] predicates) {
            List<Predicate> left = new ArrayList<>();
            for (Predicate predicate : predicates) {
                Optional<RegionFilter> filter = RegionFilter.of(predicate);
                filter.ifPresentOrElse(filters::add, () -> left.add(predicate));
                if (filter.isPresent()) {
                    pushed.add(predicate);
                }
            }
            return left.toArray(new Predicate[0]);
        }

        @Override
        public Predicate[] pushedPredicates() {
            return pushed.toArray(new Predicate[0]);
        }

        @Override
        public Scan build() {
            return new RegionScan(options, columns, List.copyOf(filters), pushed.toString());
        }
    }
}
