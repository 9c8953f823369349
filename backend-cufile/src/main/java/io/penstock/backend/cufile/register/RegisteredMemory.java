// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile.register;

import io.penstock.backend.cufile.driver.CuFileDriver;
import io.penstock.backend.cufile.driver.CuFileRefusal;
import io.penstock.backend.cufile.ffi.CuFile;
import io.penstock.backend.cufile.ffi.CuFileError;
import io.penstock.engine.spi.Shared;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A range of memory that this process has registered with cuFile, identified by the pointer it was registered by. Users
 * of the same memory, such as two wrappings of one pointer, share a registration; the last to leave ends it.
 *
 * <p><b>Threading:</b> thread-safe; blocks. A CUDA context of the memory must be current.
 */
public final class RegisteredMemory {

    private static final Logger LOG = LoggerFactory.getLogger(RegisteredMemory.class);

    private static final Shared<Long, RegisteredMemory> ALL = new Shared<>(RegisteredMemory::deregister);

    private final long base;
    private final long bytes;
    private final CuFileDriver driver = CuFileDriver.join();

    private RegisteredMemory(long base, long bytes) {
        this.base = base;
        this.bytes = bytes;
    }

    /**
     * Registers memory, or adds a user to its registration; cuFile's driver must be open.
     *
     * @throws CuFileRefusal with cuFile's answer: no room in the BAR, or an unsupported kind of memory
     */
    static RegisteredMemory of(long base, long bytes) throws CuFileRefusal {
        RegisteredMemory memory = ALL.open(base, () -> register(base, bytes));
        if (memory.bytes < bytes) {
            memory.leave();
            throw new CuFileRefusal("a part of this memory is registered by the same pointer already");
        }
        return memory;
    }

    private static RegisteredMemory register(long base, long bytes) throws CuFileRefusal {
        String request = "registration of " + bytes + " bytes of GPU memory";
        CuFileRefusal.check(request, "cuFileBufRegister", CuFile.cuFileBufRegister(base, bytes, 0));
        return new RegisteredMemory(base, bytes);
    }

    /** Removes a user; cuFile must not use the memory for that user any more. */
    void leave() {
        ALL.leave(this);
    }

    private void deregister() {
        int error = CuFile.error(CuFile.cuFileBufDeregister(base));
        if (error != CuFileError.SUCCESS) {
            LOG.warn("cuFileBufDeregister of {} bytes: {}", bytes, CuFileError.describe(error));
        }
        driver.leave();
    }

    public static long registeredBytes() {
        return ALL.values().stream().mapToLong(memory -> memory.bytes).sum();
    }

    /** Returns how many ranges are registered. */
    public static long count() {
        return ALL.size();
    }
}
