// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gpu.mapped;

import io.penstock.backend.gpu.api.DriverApi;
import io.penstock.backend.gpu.context.GpuContext;
import io.penstock.backend.gpu.mapped.FileMapping.Segment;
import io.penstock.engine.kit.ffi.Errno;
import io.penstock.engine.kit.ffi.LibC;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** Registers pages of mapped files with the driver, so that the GPU can read them. */
final class Pinning {

    private static final int MADV_WILLNEED = 3;
    private static final int MADV_POPULATE_READ = 22; // Linux 5.14

    /** The resolution of a file system's clock, at worst: a change within it would not show in the stamp. */
    private static final long CLOCK_TICK_NANOS = 20_000_000;

    private Pinning() {}

    /** Returns why the driver cannot register pages of a file, as on some file systems; or an empty string. */
    static String tryPage(GpuContext context, int fd) {
        long page = LibC.pageSize();
        long address = LibC.orErrno(LibC.mmap(0, page, FileMapping.PROT_READ, LibC.MAP_SHARED, fd, 0));
        if (address < 0) {
            return "mmap -> " + Errno.symbol((int) -address);
        }
        DriverApi driver = context.driver();
        int result = context.attempt(() -> {
            int registered = driver.memHostRegister(address, page, DriverApi.HOST_READ_ONLY);
            return registered == DriverApi.SUCCESS ? driver.memHostUnregister(address) : registered;
        });
        LibC.munmap(address, page);
        return result == DriverApi.SUCCESS
                ? ""
                : driver.error("memHostRegister", result).toString();
    }

    /** Registers a segment and returns the driver's result; takes a millisecond for some tens of megabytes. */
    static int register(DriverApi driver, Segment segment) {
        awaitClock(segment.mapping.key);
        // Pages are faulted in here, by all registrars in parallel, and not in the driver, which serializes calls. An
        // older kernel does not have MADV_POPULATE_READ; then the driver waits for pages.
        LibC.madvise(segment.address, segment.bytes, MADV_WILLNEED);
        LibC.madvise(segment.address, segment.bytes, MADV_POPULATE_READ);
        return driver.memHostRegister(segment.address, segment.bytes, DriverApi.HOST_READ_ONLY);
    }

    /** Waits until any change to the file would show in its stamp; no page is pinned before. */
    private static void awaitClock(FileKey key) {
        long rest = CLOCK_TICK_NANOS;
        while (rest > 0) {
            long age = TimeUnit.MILLISECONDS.toNanos(System.currentTimeMillis()) - key.changedNanos();
            if (age < 0 || age >= CLOCK_TICK_NANOS) {
                return; // another clock, or long enough ago
            }
            long nap = Math.min(rest, CLOCK_TICK_NANOS - age);
            LockSupport.parkNanos(nap);
            rest -= nap;
        }
    }
}
