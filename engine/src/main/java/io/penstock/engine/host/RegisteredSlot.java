// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.host;

import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.NativeFile;
import io.penstock.engine.spi.ffi.Errno;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * A staging slot that is registered with io_uring once it has carried a few large pieces of files past the page cache.
 * All else, and all that io_uring refuses, goes by {@code pread} and {@code pwrite}: cached bytes are copied no faster by a
 * ring, and small pieces have few pages to pin (decision 0020).
 *
 * <p><b>Threading:</b> whoever holds the slot, one after another.
 */
final class RegisteredSlot implements SlotBytes {
    static final long LEAST_BYTES = 256L << 10;
    // A ring costs a few system calls and a few pages: not for a file that is read once.
    static final int USES_BEFORE = 4;

    private final Kernel kernel;
    private final BlockingBytes calls;
    private final DeviceMemory slot;
    private int uses;
    private @Nullable SlotRing ring;

    RegisteredSlot(Kernel kernel, BlockingBytes calls, DeviceMemory slot) {
        this.kernel = kernel;
        this.calls = calls;
        this.slot = slot;
    }

    @Override
    public long read(NativeFile file, long fileOffset, long address, long bytes) throws IOException {
        SlotRing ring = ringFor(file, bytes);
        if (ring != null && file instanceof LinuxFile linux) {
            long got;
            do {
                got = ring.read(linux, fileOffset, address, bytes);
            } while (got == -Errno.EINTR);
            if (got >= 0) {
                return got;
            }
        }
        return settled(ring, calls.read(file, fileOffset, address, bytes));
    }

    @Override
    public long write(NativeFile file, long fileOffset, long address, long bytes) throws IOException {
        SlotRing ring = ringFor(file, bytes);
        if (ring != null && file instanceof LinuxFile linux) {
            long put;
            do {
                put = ring.write(linux, fileOffset, address, bytes);
            } while (put == -Errno.EINTR);
            if (put >= 0) {
                return put;
            }
        }
        return settled(ring, calls.write(file, fileOffset, address, bytes));
    }

    private @Nullable SlotRing ringFor(NativeFile file, long bytes) {
        if (bytes < LEAST_BYTES || !(file instanceof LinuxFile linux) || !linux.isDirect()) {
            return null;
        }
        if (ring == null && uses <= USES_BEFORE && ++uses > USES_BEFORE) {
            try {
                ring = SlotRing.open(kernel, slot);
            } catch (ErrnoException refused) {
                calls.refused(refused); // once a slot: what others hold of the limit may be free by then
            }
        }
        return ring;
    }

    /** What the ring has refused was asked again, so that the answer is that of the call it is said to be of (rule 401). */
    private long settled(@Nullable SlotRing refusing, long answer) {
        if (refusing != null && (answer >= 0 || refusing.isBroken())) {
            close(); // the ring cannot do what the call can
        }
        return answer;
    }

    @Override
    public void close() {
        SlotRing last = ring;
        ring = null;
        if (last != null) {
            last.close();
        }
    }
}
