// SPDX-License-Identifier: Apache-2.0
package io.penstock.integration.spark;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.api.java.function.MapPartitionsFunction;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoder;
import org.apache.spark.sql.Row;

/**
 * Runs a function over the bytes of regions, on the devices of the executors. The bytes go from the files to device
 * memory, never through rows. Immutable.
 *
 * <pre>{@code
 * Dataset<Row> tensors = spark.read().format("penstock").load("/data/model").where("name like '%.weight'");
 * Dataset<Long> sums = DeviceTasks.of(tensors)
 *         .mapPartitionsOnDevice((region, chunk, backend) -> kernel.sum(chunk.region()), Encoders.LONG());
 * }</pre>
 */
public final class DeviceTasks {

    private static final long CHUNK_BYTES = 4L << 20;
    private static final int DEPTH = 4;

    private final Dataset<Row> regions;
    private final long chunkBytes;
    private final int depth;

    private DeviceTasks(Dataset<Row> regions, long chunkBytes, int depth) {
        this.regions = regions;
        this.chunkBytes = chunkBytes;
        this.depth = depth;
    }

    /**
     * Returns the tasks of rows that {@link PenstockSource} has read: a task for each partition. The source packs as
     * many bytes into one as its option {@code splitBytes} permits. The column {@code bytes} is not read.
     */
    public static DeviceTasks of(Dataset<Row> regions) {
        return new DeviceTasks(regions, CHUNK_BYTES, DEPTH);
    }

    /**
     * Returns these tasks, with chunks of at most that many bytes (default: 4 MiB). A region of as many or fewer is one
     * chunk.
     *
     * @throws IllegalArgumentException if less than 1
     */
    public DeviceTasks chunkBytes(long bytes) {
        if (bytes < 1) {
            throw new IllegalArgumentException("chunk size must be at least 1 byte, was " + bytes);
        }
        return new DeviceTasks(regions, bytes, depth);
    }

    /**
     * Returns these tasks, each with that many chunks of device memory (default: 4): the chunk in use and chunks read
     * ahead.
     *
     * @throws IllegalArgumentException if less than 1
     */
    public DeviceTasks depth(int chunks) {
        if (chunks < 1) {
            throw new IllegalArgumentException("depth must be at least 1 chunk, was " + chunks);
        }
        return new DeviceTasks(regions, chunkBytes, chunks);
    }

    /**
     * Returns the rows that a function emits for the chunks of the regions, in their order. A region without bytes has
     * no chunk.
     *
     * <p><b>Result:</b> lazy, as every Dataset.
     *
     * <p><b>Errors:</b> the errors of reading and of {@code function}; {@link IllegalArgumentException} for an array in
     * chunks of its file, which only its column {@code bytes} decodes, and if the chunks of a task are more than {@code
     * spark.penstock.in-flight-bytes}. They fail the task.
     *
     * <p><b>Cancellation:</b> a task that Spark stops cancels its transfers; its memory is freed when the device has
     * released it.
     *
     * <p><b>Ownership:</b> a task waits until the budget of its executor has room for its chunks, and takes it until it
     * has ended.
     */
    public <T> Dataset<T> mapPartitionsOnDevice(DeviceFunction<T> function, Encoder<T> encoder) {
        return regions.select("path", "name", "dtype", "shape", "byteOrder", "order", "offset", "length")
                .mapPartitions(new Task<>(function, chunkBytes, depth), encoder);
    }

    private record Task<T>(DeviceFunction<T> function, long chunkBytes, int depth)
            implements MapPartitionsFunction<Row, T>, Serializable {

        @Override
        public Iterator<T> call(Iterator<Row> rows) throws InterruptedException {
            List<Region> regions = new ArrayList<>();
            while (rows.hasNext()) {
                Region region = region(rows.next());
                if (!region.isContiguous()) {
                    throw new IllegalArgumentException(
                            "the array must lie in its file as it is to be read by chunks; select its column bytes: "
                                    + region);
                }
                if (region.length() > 0) {
                    regions.add(region);
                }
            }
            return DeviceRows.of(regions, function, chunkBytes, depth);
        }

        private static Region region(Row row) {
            Region.Elements elements = row.isNullAt(2)
                    ? null
                    : new Region.Elements(row.getString(2), row.getList(3), row.getString(4), row.getString(5));
            long offset = row.isNullAt(6) ? Region.IN_CHUNKS : row.getLong(6);
            return new Region(row.getString(0), row.getString(1), elements, offset, row.getLong(7));
        }
    }
}
