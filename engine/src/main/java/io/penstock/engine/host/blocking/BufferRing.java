// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.host.blocking;

import io.penstock.engine.host.file.LinuxFile;
import io.penstock.engine.host.kernel.Kernel;
import io.penstock.engine.host.uring.CompletionHandler;
import io.penstock.engine.host.uring.Ring;
import io.penstock.engine.host.uring.RingOptions;
import io.penstock.engine.host.uring.RingRegistration;
import io.penstock.engine.host.uring.SubmissionQueue;
import io.penstock.engine.kit.ffi.Errno;
import io.penstock.engine.kit.ffi.ErrnoException;
import io.penstock.engine.spi.DeviceMemory;
import java.util.concurrent.locks.LockSupport;

/**
 * An io_uring with one registered staging buffer: its pages are looked up and pinned once, not for each segment. One
 * operation at a time.
 *
 * <p><b>Result:</b> bytes, or {@code -errno}, as for {@code pread} and {@code pwrite}.
 *
 * <p><b>Threading:</b> one thread at a time, the holder of the staging buffer. A ring may move to another thread
 * between two operations: each thread waits for the completion of its operation, which the kernel would cancel if the
 * thread ended.
 *
 * <p><b>Ownership:</b> the staging buffer's pages stay pinned until {@link #close}, which must be called before they
 * are freed.
 */
final class BufferRing implements CompletionHandler, AutoCloseable {
    private static final int BUFFER = 0; // the only entry of the table
    private static final int MOST_REFUSALS = 1000;
    private static final long PAUSE_NANOS = 100_000;

    private final Ring ring;
    private boolean ended;
    private int result;
    private boolean broken;

    private BufferRing(Ring ring) {
        this.ring = ring;
    }

    /**
     * Registers a staging buffer.
     *
     * @throws ErrnoException if the kernel refuses; then nothing is left allocated
     */
    static BufferRing open(Kernel kernel, DeviceMemory staging) throws ErrnoException {
        Ring ring = Ring.open(kernel, RingOptions.ofEntries(1));
        RingRegistration registration = ring.registration();
        int answer = registration.makeBufferTable(BUFFER + 1);
        if (answer >= 0) {
            answer = registration.updateBuffer(BUFFER, staging.hostAddress(), staging.bytes());
        }
        if (answer < 0) {
            ring.close();
            throw new ErrnoException("io_uring_register", -answer);
        }
        return new BufferRing(ring);
    }

    /** Returns true if the ring itself has failed: operations are refused from then on. */
    boolean isBroken() {
        return broken;
    }

    long read(LinuxFile file, long fileOffset, long address, long bytes) {
        int length = Math.toIntExact(Math.min(bytes, SubmissionQueue.MAX_LENGTH));
        return end(!broken && ring.submissions().readFixed(0, file.fd(), fileOffset, address, length, BUFFER, 0));
    }

    long write(LinuxFile file, long fileOffset, long address, long bytes) {
        int length = Math.toIntExact(Math.min(bytes, SubmissionQueue.MAX_LENGTH));
        return end(!broken && ring.submissions().writeFixed(0, file.fd(), fileOffset, address, length, BUFFER, 0));
    }

    /** Blocks until the kernel has released the memory, even if the ring fails meanwhile (rule 201). */
    private long end(boolean submitted) {
        if (!submitted) {
            return -Errno.EAGAIN;
        }
        ended = false;
        int refusals = 0;
        do {
            try {
                ring.submitAndWait();
            } catch (ErrnoException failure) {
                broken = true;
            }
            reap();
            if (ended) {
                break;
            }
            if (ring.submissions().pending() == 0) {
                pauseIfBroken(); // the kernel has it, and still reads or writes
            } else if (broken || ++refusals > MOST_REFUSALS) {
                ring.refusePending(this, -Errno.EAGAIN);
            }
        } while (!ended);
        return result;
    }

    private void reap() {
        try {
            ring.reap(this);
        } catch (ErrnoException failure) {
            broken = true;
        }
    }

    private void pauseIfBroken() {
        if (broken) {
            LockSupport.parkNanos(PAUSE_NANOS);
        }
    }

    @Override
    public void completed(long userData, int result, int flags) {
        this.result = result;
        ended = true;
    }

    @Override
    public void close() {
        // The kernel tears a closed ring down asynchronously; the memory must be released now.
        ring.registration().updateBuffer(BUFFER, 0, 0);
        ring.close();
    }
}
