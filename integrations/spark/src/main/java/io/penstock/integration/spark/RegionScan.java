// SPDX-License-Identifier: Apache-2.0
package io.penstock.integration.spark;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalLong;
import org.apache.spark.network.util.JavaUtils;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.connector.metric.CustomMetric;
import org.apache.spark.sql.connector.read.Batch;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.connector.read.Scan;
import org.apache.spark.sql.connector.read.Statistics;
import org.apache.spark.sql.connector.read.SupportsReportStatistics;
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream;
import org.apache.spark.sql.types.StructType;
import org.jspecify.annotations.Nullable;

/** The regions that a query selects. Files are listed, and their metadata read, once, by the driver. */
final class RegionScan implements Scan, Batch, SupportsReportStatistics {

    /** As {@code spark.sql.files.maxPartitionBytes}. */
    private static final long SPLIT_BYTES = 128L << 20;

    private static final int METADATA_BYTES = 200; // of a row without its content, roughly

    /** The most bytes of a binary value in a row of Spark, less some for the other columns of the row. */
    static final long MOST_ROW_BYTES = Integer.MAX_VALUE - (1 << 20);

    private final SourceOptions options;
    private final StructType columns;
    private final List<RegionFilter> filters;
    private final String description;
    private RegionSplit.@Nullable Found found;

    RegionScan(SourceOptions options, StructType columns, List<RegionFilter> filters, String pushed) {
        this.options = options;
        this.columns = columns;
        this.filters = filters;
        this.description = "penstock " + options.paths() + ", columns " + Arrays.toString(columns.fieldNames())
                + ", pushed filters " + pushed;
    }

    @Override
    public StructType readSchema() {
        return columns;
    }

    @Override
    public String description() {
        return description;
    }

    @Override
    public Batch toBatch() {
        return this;
    }

    @Override
    public MicroBatchStream toMicroBatchStream(String checkpoint) {
        return new RegionStream(this, options, checkpoint);
    }

    @Override
    public CustomMetric[] supportedCustomMetrics() {
        return TransferMetric.all();
    }

    private boolean readsBytes() {
        return Arrays.stream(Column.of(columns)).anyMatch(Column::isContent);
    }

    private synchronized RegionSplit.Found found() {
        if (found == null) {
            try {
                found = find(Listing.of(options));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
        return found;
    }

    /** Returns the regions of files that all filters pass. */
    RegionSplit.Found find(List<Path> files) throws IOException {
        FileTimes times = FileTimes.of(files);
        List<Region> found =
                Regions.of(files, options).stream().filter(this::passes).toList();
        if (readsBytes() && !options.deviceMemory()) {
            found.forEach(RegionScan::checkFits);
        }
        // Shards that only their index names come last.
        return new RegionSplit.Found(
                found,
                times.with(found.stream()
                        .map(region -> Path.of(region.path()))
                        .distinct()
                        .toList()));
    }

    boolean passes(Region region) {
        return filters.stream().allMatch(filter -> Boolean.TRUE.equals(filter.test(region)));
    }

    private static void checkFits(Region region) {
        if (region.length() > MOST_ROW_BYTES) {
            throw new IllegalArgumentException(
                    "column bytes must have at most " + MOST_ROW_BYTES + " bytes in a row, had "
                            + region
                            + (region.isContiguous()
                                    ? "; the option regionBytes cuts it into several rows"
                                    : "; select the row's other columns, or leave the array out by its name"));
        }
    }

    @Override
    public Statistics estimateStatistics() {
        List<Region> found = found().regions();
        long bytes = readsBytes() ? found.stream().mapToLong(Region::length).sum() : 0;
        return new Statistics() {
            @Override
            public OptionalLong sizeInBytes() {
                return OptionalLong.of(bytes + (long) METADATA_BYTES * found.size());
            }

            @Override
            public OptionalLong numRows() {
                return OptionalLong.of(found.size());
            }
        };
    }

    @Override
    public InputPartition[] planInputPartitions() {
        return plan(found());
    }

    InputPartition[] plan(RegionSplit.Found found) {
        OptionalLong most = options.splitBytes();
        long openBytes = most.isEmpty() && readsBytes() ? openBytes() : 0;
        return RegionSplit.pack(found, most.orElseGet(() -> splitBytes(found.regions())), openBytes)
                .toArray(new InputPartition[0]);
    }

    /** Returns how many bytes could be read in the time in which a file is opened, as Spark's own sources count it. */
    private static long openBytes() {
        return JavaUtils.byteStringAsBytes(SparkSession.active().conf().get("spark.sql.files.openCostInBytes"));
    }

    /** Returns the bytes of a split: where no bytes are read, as many as give each core one. */
    private long splitBytes(List<Region> found) {
        if (readsBytes()) {
            return SPLIT_BYTES;
        }
        int cores = SparkSession.active().sparkContext().defaultParallelism();
        return Math.max(1, found.stream().mapToLong(Region::length).sum() / Math.max(1, cores));
    }

    @Override
    public PartitionReaderFactory createReaderFactory() {
        Column[] wanted = Column.of(columns);
        return partition -> new RegionReader((RegionSplit) partition, wanted);
    }
}
