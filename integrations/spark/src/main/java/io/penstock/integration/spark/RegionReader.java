// SPDX-License-Identifier: Apache-2.0
package io.penstock.integration.spark;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.connector.metric.CustomTaskMetric;
import org.apache.spark.sql.connector.read.PartitionReader;
import org.jspecify.annotations.Nullable;

/**
 * Reads the rows of a split. Opens a backend only if bytes are wanted.
 *
 * <p>Small regions of a file are read together, and so are small files. Between two calls of {@link #next} nothing is in
 * flight: a task that Spark stops leaves nothing behind, and one that reads two sources at a time cannot wait for itself,
 * unless their rows are in device memory.
 */
final class RegionReader implements PartitionReader<InternalRow> {

    private static final long BATCH_BYTES = 16L << 20;
    private static final int BATCH_REGIONS = 256;
    private static final long SMALL_BYTES = 256 << 10; // of a file that is read packed with others

    private final List<Region> regions;
    private final Column[] columns;
    private final TransferMetric.Values metrics = new TransferMetric.Values();
    private final Queue<byte[]> ahead = new ArrayDeque<>();
    private final @Nullable HeapReader reader;
    private final @Nullable DeviceReader device;
    private int read; // regions whose bytes have been read
    private int row = -1;
    private @Nullable Object content;

    RegionReader(RegionSplit split, Column[] columns) {
        this.regions = split.regions();
        this.columns = columns;
        List<Column> wanted = Arrays.asList(columns);
        this.reader = wanted.contains(Column.BYTES) ? new HeapReader(metrics, split.times()) : null;
        this.device = wanted.contains(Column.HANDLE) ? new DeviceReader(metrics, split.times()) : null;
    }

    @Override
    public boolean next() throws IOException {
        if (++row >= regions.size()) {
            if (device != null) {
                device.release();
            }
            return false;
        }
        content = null; // two large arrays at a time are a half of many a heap
        if (device != null) {
            content = device.read(regions.get(row));
        }
        if (reader != null) {
            if (ahead.isEmpty()) {
                List<Region> batch = regions.subList(read, batchEnd());
                ahead.addAll(reader.read(batch));
                read += batch.size();
            }
            content = ahead.remove();
        }
        return true;
    }

    /** Returns the end of the regions to read together: neighbours in one file, small files, or a large one alone. */
    private int batchEnd() {
        Region first = regions.get(read);
        if (isSmallFile(read)) {
            return smallFilesEnd();
        }
        long sum = first.length();
        int end = read + 1;
        while (first.isContiguous() && end < regions.size() && end - read < BATCH_REGIONS) {
            Region next = regions.get(end);
            sum += next.length();
            if (!next.isContiguous() || !next.path().equals(first.path()) || sum > BATCH_BYTES) {
                break;
            }
            end++;
        }
        return end;
    }

    private int smallFilesEnd() {
        long sum = regions.get(read).length();
        int end = read + 1;
        while (end < regions.size() && end - read < BATCH_REGIONS && isSmallFile(end)) {
            sum += regions.get(end).length();
            if (sum > BATCH_BYTES) {
                break;
            }
            end++;
        }
        return end;
    }

    /** Returns whether a region is all that is wanted of a file, and all of it, as far as can be told. */
    private boolean isSmallFile(int index) {
        Region region = regions.get(index);
        boolean last =
                index + 1 == regions.size() || !regions.get(index + 1).path().equals(region.path());
        return last && region.elements() == null && region.offset() == 0 && region.length() <= SMALL_BYTES;
    }

    @Override
    public InternalRow get() {
        Region region = regions.get(row);
        @Nullable Object[] values = new Object[columns.length];
        for (int i = 0; i < values.length; i++) {
            values[i] = columns[i].isContent() ? content : columns[i].internal(region);
        }
        return new GenericInternalRow(values);
    }

    @Override
    public CustomTaskMetric[] currentMetricsValues() {
        return metrics.current();
    }

    @Override
    public void close() {
        ahead.clear();
        content = null;
        if (reader != null) {
            reader.close();
        }
        if (device != null) {
            device.close();
        }
    }
}
