// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.host.blocking;

import io.penstock.engine.host.file.LinuxFile;
import io.penstock.engine.host.kernel.Kernel;
import io.penstock.engine.kit.ffi.Errno;
import io.penstock.engine.kit.ffi.ErrnoException;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.NativeFile;
import java.io.IOException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A staging buffer that is registered with io_uring once it has carried a few large segments of files that bypass the
 * page cache. All else, and all that io_uring refuses, uses {@code pread} and {@code pwrite}: cached bytes are copied
 * no faster by a ring, and small segments have few pages to pin (decision 0020).
 *
 * <p><b>Threading:</b> one thread at a time, the holder of the staging buffer.
 */
final class RegisteredBuffer implements BufferBytes {
    static final long LEAST_BYTES = 256L << 10;
    // A ring costs a few system calls and a few pages, which do not pay off for a file that is read once.
    static final int USES_BEFORE = 4;

    private final Kernel kernel;
    private final BufferBytes calls;
    private final Consumer<ErrnoException> refusals;
    private final DeviceMemory staging;
    private int uses;
    private @Nullable BufferRing ring;

    RegisteredBuffer(Kernel kernel, BufferBytes calls, Consumer<ErrnoException> refusals, DeviceMemory staging) {
        this.kernel = kernel;
        this.calls = calls;
        this.refusals = refusals;
        this.staging = staging;
    }

    @Override
    public long read(NativeFile file, long fileOffset, long address, long bytes) throws IOException {
        BufferRing ring = ringFor(file, bytes);
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
        BufferRing ring = ringFor(file, bytes);
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

    private @Nullable BufferRing ringFor(NativeFile file, long bytes) {
        if (bytes < LEAST_BYTES || !(file instanceof LinuxFile linux) || linux.isCached() || linux.lane() != null) {
            return null;
        }
        if (ring == null && uses <= USES_BEFORE && ++uses > USES_BEFORE) {
            try {
                ring = BufferRing.open(kernel, staging);
            } catch (ErrnoException refused) {
                refusals.accept(refused); // once per staging buffer: the limit may have room by then
            }
        }
        return ring;
    }

    /**
     * Returns {@code answer}, the result of the call that retried an operation refused by the ring: so the error is of
     * the call that it names (rule 401).
     */
    private long settled(@Nullable BufferRing refusing, long answer) {
        if (refusing != null && (answer >= 0 || refusing.isBroken())) {
            close(); // the ring fails where the call succeeds
        }
        return answer;
    }

    @Override
    public void close() {
        BufferRing last = ring;
        ring = null;
        if (last != null) {
            last.close();
        }
    }
}
