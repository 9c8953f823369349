// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile.report;

import io.penstock.backend.cufile.ffi.CuFile;
import io.penstock.backend.gpu.file.FileDriver;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.ToLongFunction;

/**
 * cuFile's own counters, as far as its statistics level provides them.
 *
 * @param level 0 to 3
 * @param counters level 1, by the vendor's names; {@code ..._ok} and {@code ..._err} where an operation has both
 * @param readSizes level 2: reads by size in bins of powers of two, from 1 KiB; empty below
 * @param writeSizes level 2: writes by size
 * @param gpus level 3: one entry for each GPU that did I/O; empty below
 */
public record DriverStatistics(
        int level, Map<String, Long> counters, List<Long> readSizes, List<Long> writeSizes, List<Gpu> gpus) {

    /**
     * The I/O of one GPU, by path.
     *
     * @param uuid as nvidia-smi prints it
     * @param p2pReads by the kernel's own peer-to-peer DMA
     * @param nvfsReads by nvidia-fs
     * @param posixReads through host memory
     * @param unalignedReads the reads that needed a bounce buffer
     */
    record Gpu(
            String uuid,
            long p2pReads,
            long nvfsReads,
            long posixReads,
            long unalignedReads,
            long p2pWrites,
            long nvfsWrites,
            long posixWrites,
            long unalignedWrites,
            long registeredBytes) {

        /** Returns the operations that bypassed host memory. */
        public long direct() {
            return p2pReads + nvfsReads + p2pWrites + nvfsWrites;
        }

        /** Returns the operations that went through host memory. */
        public long posix() {
            return posixReads + posixWrites;
        }

        private String describe() {
            return uuid + ": " + variant("reads", p2pReads, nvfsReads, posixReads, unalignedReads) + "; "
                    + variant("writes", p2pWrites, nvfsWrites, posixWrites, unalignedWrites) + "; " + registeredBytes
                    + " bytes registered";
        }

        private static String variant(String what, long p2p, long nvfs, long posix, long unaligned) {
            return what + " " + p2p + " by peer-to-peer DMA, " + nvfs + " by nvidia-fs, " + posix
                    + " through host memory, " + unaligned + " unaligned";
        }
    }

    private static final int SIZE_CLASSES = 32;
    private static final int GPU_COUNT_OFFSET = CuFile.STATS_L2_BYTES;
    private static final int GPUS_OFFSET = GPU_COUNT_OFFSET + 8;
    private static final int MOST_GPUS = (CuFile.STATS_L3_BYTES - GPUS_OFFSET) / CuFile.PER_GPU_STATS_BYTES;
    private static final int UUID_BYTES = 16;

    /** The fields of level 1 in order; a star means two numbers, successes and failures. */
    private static final String[] FIELDS = """
            read_ops* write_ops* hdl_register_ops* hdl_deregister_ops* buf_register_ops* buf_deregister_ops*
            read_bytes write_bytes read_bw_bytes_per_sec write_bw_bytes_per_sec read_lat_avg_us write_lat_avg_us
            read_ops_per_sec write_ops_per_sec read_lat_sum_us write_lat_sum_us
            batch_submit_ops* batch_complete_ops* batch_setup_ops* batch_cancel_ops* batch_destroy_ops*
            batch_enqueued_ops* batch_posix_enqueued_ops* batch_processed_ops* batch_posix_processed_ops*
            batch_nvfs_submit_ops* batch_p2p_submit_ops* batch_aio_submit_ops* batch_iouring_submit_ops*
            batch_mixed_io_submit_ops* batch_total_submit_ops*
            batch_read_bytes batch_write_bytes batch_read_bw_bytes batch_write_bw_bytes
            batch_submit_lat_avg_us batch_completion_lat_avg_us batch_submit_ops_per_sec
            batch_complete_ops_per_sec batch_submit_lat_sum_us batch_completion_lat_sum_us
            last_batch_read_bytes last_batch_write_bytes
            """.strip().split("\\s+");

    public static final DriverStatistics NONE = new DriverStatistics(0, Map.of(), List.of(), List.of(), List.of());

    /**
     * Returns the counters; level 0 and no counters if the driver is not open, counts nothing or is too old.
     */
    public static DriverStatistics read() {
        FileDriver driver = FileDriver.find(CuFile.API);
        if (driver == null) {
            return NONE;
        }
        try {
            return readOpen();
        } finally {
            driver.leave();
        }
    }

    private static DriverStatistics readOpen() {
        int[] level = new int[1];
        if (CuFile.error(CuFile.API.getStatsLevel(level)) != CuFile.SUCCESS || level[0] <= 0) {
            return NONE;
        }
        return switch (level[0]) {
            case 1 -> read(1, CuFile.STATS_L1_BYTES, CuFile.API::getStatsL1);
            case 2 -> read(2, CuFile.STATS_L2_BYTES, CuFile.API::getStatsL2);
            default -> read(3, CuFile.STATS_L3_BYTES, CuFile.API::getStatsL3);
        };
    }

    private static DriverStatistics read(int level, int bytes, ToLongFunction<byte[]> call) {
        byte[] statistics = new byte[bytes];
        return CuFile.error(call.applyAsLong(statistics)) == CuFile.SUCCESS ? of(level, statistics) : NONE;
    }

    /** Parses the structure of a level. */
    static DriverStatistics of(int level, byte[] statistics) {
        ByteBuffer fields = ByteBuffer.wrap(statistics).order(ByteOrder.nativeOrder());
        Map<String, Long> counters = new LinkedHashMap<>();
        for (String field : FIELDS) {
            if (field.endsWith("*")) {
                String name = field.substring(0, field.length() - 1);
                counters.put(name + "_ok", fields.getLong());
                counters.put(name + "_err", fields.getLong());
            } else {
                counters.put(field, fields.getLong());
            }
        }
        List<Long> reads = new ArrayList<>();
        List<Long> writes = new ArrayList<>();
        if (level >= 2) {
            sizes(fields, reads);
            sizes(fields, writes);
        }
        return new DriverStatistics(level, counters, reads, writes, level >= 3 ? gpus(fields) : List.of());
    }

    private static void sizes(ByteBuffer fields, List<Long> sizes) {
        for (int i = 0; i < SIZE_CLASSES; i++) {
            sizes.add(fields.getLong());
        }
    }

    private static List<Gpu> gpus(ByteBuffer fields) {
        List<Gpu> gpus = new ArrayList<>();
        int count = Math.min(fields.getInt(GPU_COUNT_OFFSET), MOST_GPUS);
        for (int gpu = 0; gpu < count; gpu++) {
            int start = GPUS_OFFSET + gpu * CuFile.PER_GPU_STATS_BYTES;
            int at = start + UUID_BYTES;
            gpus.add(new Gpu(
                    uuid(fields, start),
                    fields.getLong(at + 5 * 8),
                    fields.getLong(at + 6 * 8),
                    fields.getLong(at + 7 * 8),
                    fields.getLong(at + 8 * 8),
                    fields.getLong(at + 18 * 8),
                    fields.getLong(at + 19 * 8),
                    fields.getLong(at + 20 * 8),
                    fields.getLong(at + 21 * 8),
                    fields.getLong(at + 28 * 8)));
        }
        return gpus;
    }

    private static String uuid(ByteBuffer fields, int at) {
        ByteBuffer bytes = fields.duplicate().order(ByteOrder.BIG_ENDIAN);
        return "GPU-" + new UUID(bytes.getLong(at), bytes.getLong(at + 8));
    }

    /** Returns the nonzero counters, one line each, for humans. */
    public List<String> describe() {
        List<String> lines = new ArrayList<>();
        counters.forEach((name, value) -> {
            if (value != 0) {
                lines.add(name + " = " + value);
            }
        });
        describe(lines, "reads", readSizes);
        describe(lines, "writes", writeSizes);
        gpus.forEach(gpu -> lines.add(gpu.describe()));
        if (level >= 3) {
            lines.add(direct() + " operations direct, " + posix() + " through host memory");
        }
        return lines;
    }

    private static void describe(List<String> lines, String what, List<Long> sizes) {
        for (int size = 0; size < sizes.size(); size++) {
            if (sizes.get(size) != 0) {
                lines.add(what + " by size, " + (1L << size) + " KiB = " + sizes.get(size));
            }
        }
    }

    /** Returns the operations of all GPUs that bypassed host memory. */
    public long direct() {
        return gpus.stream().mapToLong(Gpu::direct).sum();
    }

    /** Returns the operations of all GPUs that went through host memory. */
    public long posix() {
        return gpus.stream().mapToLong(Gpu::posix).sum();
    }
}
