// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile.paths;

import io.penstock.Options;
import io.penstock.backend.cufile.CufileOptions;
import io.penstock.backend.cufile.ffi.CuFile;
import io.penstock.backend.cufile.report.DriverStatistics;
import io.penstock.backend.gpu.api.DriverProperties;
import io.penstock.backend.gpu.api.FileRefusal;
import io.penstock.backend.gpu.file.FileSettings;
import java.util.ArrayList;
import java.util.List;

/**
 * The settings of cuFile's driver, for the whole process. 0 leaves a setting to {@code cufile.json}; sizes are in whole
 * blocks of 4 KiB, as the driver requires, except {@code maxDirectIoKilobytes}.
 *
 * @param ownThreads the number of threads in cuFile's own pool
 * @param statistics the level of its counters
 * @param pollKilobytes the largest operation that it polls for
 * @param maxDirectIoKilobytes the most that it requests from the storage at a time: from 1 MiB on, in steps of 64 KiB
 * @param deviceCacheKilobytes the size of its bounce buffers on each GPU
 * @param maxPinnedKilobytes the limit of GPU memory that may be registered
 */
public record CuFileSettings(
        int ownThreads,
        int statistics,
        long pollKilobytes,
        long maxDirectIoKilobytes,
        long deviceCacheKilobytes,
        long maxPinnedKilobytes)
        implements FileSettings {

    // Of CUFileSizeTConfigParameter_t and CUFileBoolConfigParameter_t.
    private static final int EXECUTION_MAX_IO_THREADS = 2;
    private static final int EXECUTION_PARALLEL_IO = 4;

    public static CuFileSettings of(Options options) {
        return new CuFileSettings(
                options.get(CufileOptions.OWN_THREADS),
                options.get(CufileOptions.STATISTICS),
                kilobytes(options.get(CufileOptions.POLL_BYTES)),
                directIoKilobytes(options.get(CufileOptions.DIRECT_IO_BYTES)),
                kilobytes(options.get(CufileOptions.CACHE_BYTES)),
                kilobytes(options.get(CufileOptions.PINNED_BYTES)));
    }

    /** The guide takes steps of 64 KiB from 1 MiB on; the reference, any whole blocks: the guide's satisfy both. */
    private static long directIoKilobytes(long bytes) {
        return bytes == 0 ? 0 : Math.max(1024, (bytes + (64 << 10) - 1) / (64 << 10) * 64);
    }

    private static long kilobytes(long bytes) {
        return (bytes + CuFile.BLOCK_BYTES - 1) / CuFile.BLOCK_BYTES * (CuFile.BLOCK_BYTES >> 10);
    }

    /**
     * Applies the settings that must precede opening the driver (later they fail with CU_FILE_DRIVER_ALREADY_OPEN).
     *
     * @throws FileRefusal with libcufile's answer
     */
    @Override
    public void beforeOpening() throws FileRefusal {
        if (ownThreads > 0) {
            check("setParameterSizeT", CuFile.API.setParameterSizeT(EXECUTION_MAX_IO_THREADS, ownThreads));
            check("setParameterBool", CuFile.API.setParameterBool(EXECUTION_PARALLEL_IO, 1));
        }
    }

    /**
     * Applies the settings of an open driver.
     *
     * @throws FileRefusal with libcufile's answer, such as CU_FILE_DRIVER_UNSUPPORTED_LIMIT
     */
    @Override
    public void afterOpening() throws FileRefusal {
        if (pollKilobytes > 0) {
            check("driverSetPollMode", CuFile.API.driverSetPollMode(1, pollKilobytes));
        }
        if (maxDirectIoKilobytes > 0) {
            check("driverSetMaxDirectIOSize", CuFile.API.driverSetMaxDirectIOSize(maxDirectIoKilobytes));
        }
        if (deviceCacheKilobytes > 0) {
            check("driverSetMaxCacheSize", CuFile.API.driverSetMaxCacheSize(deviceCacheKilobytes));
        }
        if (maxPinnedKilobytes > 0) {
            check("driverSetMaxPinnedMemSize", CuFile.API.driverSetMaxPinnedMemSize(maxPinnedKilobytes));
        }
        if (statistics > 0) {
            check("setStatsLevel", CuFile.API.setStatsLevel(statistics));
            check("statsStart", CuFile.API.statsStart());
        }
    }

    /**
     * Returns the options that the driver accepted but did not apply. Without nvidia-fs, libcufile 1.15 applies none of
     * its four setters' values, before it is opened or after (docs/vendors/cufile.md).
     */
    @Override
    public List<String> ignored(DriverProperties driver) {
        List<String> ignored = new ArrayList<>();
        if (pollKilobytes > 0 && !(driver.polls() && driver.pollKilobytes() == pollKilobytes)) {
            ignored.add(CufileOptions.POLL_BYTES.name());
        }
        if (maxDirectIoKilobytes > 0 && driver.maxDirectIoKilobytes() != maxDirectIoKilobytes) {
            ignored.add(CufileOptions.DIRECT_IO_BYTES.name());
        }
        if (deviceCacheKilobytes > 0 && driver.deviceCacheKilobytes() != deviceCacheKilobytes) {
            ignored.add(CufileOptions.CACHE_BYTES.name());
        }
        if (maxPinnedKilobytes > 0 && driver.maxPinnedKilobytes() != maxPinnedKilobytes) {
            ignored.add(CufileOptions.PINNED_BYTES.name());
        }
        return ignored;
    }

    @Override
    public boolean provesDirect() {
        DriverStatistics counted = DriverStatistics.read();
        return counted.level() >= 3 && counted.posix() == 0;
    }

    private void check(String call, long status) throws FileRefusal {
        CuFile.API.check("opening cuFile's driver with " + this, call, status);
    }

    @Override
    public String toString() {
        return CufileOptions.OWN_THREADS + "=" + ownThreads + ", " + CufileOptions.STATISTICS + "=" + statistics
                + kilobytes(CufileOptions.POLL_BYTES.name(), pollKilobytes)
                + kilobytes(CufileOptions.DIRECT_IO_BYTES.name(), maxDirectIoKilobytes)
                + kilobytes(CufileOptions.CACHE_BYTES.name(), deviceCacheKilobytes)
                + kilobytes(CufileOptions.PINNED_BYTES.name(), maxPinnedKilobytes);
    }

    private static String kilobytes(String option, long kilobytes) {
        return kilobytes == 0 ? "" : ", " + option + "=" + kilobytes + "KiB";
    }
}
