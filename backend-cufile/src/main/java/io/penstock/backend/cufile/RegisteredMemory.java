// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile;

import io.penstock.backend.cufile.ffi.CuFile;
import io.penstock.backend.cufile.ffi.CuFileError;
import java.util.HashMap;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The memory that this process has registered with cuFile, by the pointer that it was registered by. Several who have
 * the same memory, such as two wrappings of one pointer, share a registration, and the last one out ends it.
 *
 * <p><b>Threading:</b> thread-safe; blocks. A CUDA context of the memory's is current.
 */
final class RegisteredMemory {

    /** The one of this process. */
    static final RegisteredMemory PROCESS = new RegisteredMemory();

    private static final Logger LOG = LoggerFactory.getLogger(RegisteredMemory.class);

    private static final class Range {
        final long bytes;
        final CuFileDriver.Use driver;
        int users = 1;

        Range(long bytes, CuFileDriver.Use driver) {
            this.bytes = bytes;
            this.driver = driver;
        }
    }

    private final Map<Long, Range> ranges = new HashMap<>(); // guarded by this
    private long totalBytes;

    private RegisteredMemory() {}

    /**
     * Registers memory; cuFile's driver is open.
     *
     * @throws CuFileRefusal with cuFile's answer: no room in the BAR, not its kind of memory
     */
    synchronized void register(long base, long bytes) throws CuFileRefusal {
        Range known = ranges.get(base);
        if (known != null) {
            if (known.bytes < bytes) {
                throw new CuFileRefusal("a part of this memory is registered by the same pointer already");
            }
            known.users++;
            return;
        }
        String request = "registration of " + bytes + " bytes of GPU memory";
        CuFileRefusal.check(request, "cuFileBufRegister", CuFile.cuFileBufRegister(base, bytes, 0));
        ranges.put(base, new Range(bytes, CuFileDriver.PROCESS.again()));
        totalBytes += bytes;
    }

    /** Ends one claim on what was registered by {@code base}; nothing of cuFile's uses it any more. */
    synchronized void release(long base) {
        Range range = ranges.get(base);
        if (range == null || --range.users > 0) {
            return;
        }
        ranges.remove(base);
        totalBytes -= range.bytes;
        int error = CuFile.error(CuFile.cuFileBufDeregister(base));
        if (error != CuFileError.SUCCESS) {
            LOG.warn("cuFileBufDeregister of {} bytes: {}", range.bytes, CuFileError.describe(error));
        }
        range.driver.close();
    }

    /** Returns the bytes that are registered. */
    synchronized long bytes() {
        return totalBytes;
    }

    /** Returns how many ranges are registered. */
    synchronized long count() {
        return ranges.size();
    }
}
