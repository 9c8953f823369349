// SPDX-License-Identifier: Apache-2.0
package io.penstock.integration.spark;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.spark.sql.connector.expressions.filter.Predicate;
import org.apache.spark.sql.connector.read.Scan;
import org.apache.spark.sql.connector.read.ScanBuilder;
import org.apache.spark.sql.connector.read.SupportsPushDownRequiredColumns;
import org.apache.spark.sql.connector.read.SupportsPushDownV2Filters;
import org.apache.spark.sql.types.StructType;

/** Takes the columns and the predicates of a query. A predicate is taken whole, or left to Spark. */
final class RegionScanBuilder implements ScanBuilder, SupportsPushDownRequiredColumns, SupportsPushDownV2Filters {

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
