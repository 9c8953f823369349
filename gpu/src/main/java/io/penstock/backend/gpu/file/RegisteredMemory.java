// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gpu.file;

import io.penstock.backend.gpu.api.FileApi;
import io.penstock.backend.gpu.api.FileRefusal;
import io.penstock.engine.spi.Shared;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A range of memory that this process has registered with the file API, identified by the pointer it was registered by. Users
 * of the same memory, such as two wrappings of one pointer, share a registration; the last to leave ends it.
 *
 * <p><b>Threading:</b> thread-safe; blocks. A context of the memory must be current.
 */
public final class RegisteredMemory {

    private static final Logger LOG = LoggerFactory.getLogger(RegisteredMemory.class);

    private static final Shared<Long, RegisteredMemory> ALL = new Shared<>(RegisteredMemory::deregister);

    private final long base;
    private final long bytes;
    private final FileDriver driver;

    private RegisteredMemory(FileDriver driver, long base, long bytes) {
        this.driver = driver;
        this.base = base;
        this.bytes = bytes;
    }

    /**
     * Registers memory, or adds a user to its registration; its driver must be open.
     *
     * @throws FileRefusal with its answer: no room in the BAR, or an unsupported kind of memory
     */
    static RegisteredMemory of(FileApi files, long base, long bytes) throws FileRefusal {
        RegisteredMemory memory = ALL.open(base, () -> register(files, base, bytes));
        if (memory.bytes < bytes) {
            memory.leave();
            throw new FileRefusal("a part of this memory is registered by the same pointer already");
        }
        return memory;
    }

    private static RegisteredMemory register(FileApi files, long base, long bytes) throws FileRefusal {
        String request = "registration of " + bytes + " bytes of GPU memory";
        files.check(request, "bufRegister", files.bufRegister(base, bytes, 0));
        return new RegisteredMemory(FileDriver.join(files), base, bytes);
    }

    /** Removes a user; the file API must not use the memory for that user any more. */
    void leave() {
        ALL.leave(this);
    }

    private void deregister() {
        FileApi files = driver.files();
        int error = FileApi.error(files.bufDeregister(base));
        if (error != FileApi.SUCCESS) {
            LOG.warn("{} of {} bytes: {}", files.call("bufDeregister"), bytes, files.describe(error));
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
