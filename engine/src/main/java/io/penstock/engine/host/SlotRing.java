// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.host;

import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.ffi.Errno;
import java.util.concurrent.locks.LockSupport;

/**
 * An io_uring that knows one slot: its pages are found and pinned once, and not for each piece. One operation at a time.
 *
 * <p><b>Result:</b> bytes, or {@code -errno}, as of {@code pread} and {@code pwrite}.
 *
 * <p><b>Threading:</b> whoever holds the slot, one after another. A ring may change hands between two operations: each
 * thread waits for the end of its own, which the kernel would cancel if the thread ended.
 *
 * <p><b>Ownership:</b> the slot's pages stay pinned until {@link #close}, which comes before they are freed.
 */
final class SlotRing implements CompletionHandler, AutoCloseable {
    private static final int BUFFER = 0; // the only one of the table
    private static final int MOST_REFUSALS = 1000;
    private static final long PAUSE_NANOS = 100_000;

    private final Ring ring;
    private boolean ended;
    private int result;
    private boolean broken;

    private SlotRing(Ring ring) {
        this.ring = ring;
    }

    /**
     * Registers a slot.
     *
     * @throws ErrnoException if the kernel refuses; nothing is left behind then
     */
    static SlotRing open(Kernel kernel, DeviceMemory slot) throws ErrnoException {
        Ring ring = Ring.open(kernel, RingOptions.ofEntries(1));
        RingRegistration registration = ring.registration();
        int answer = registration.makeBufferTable(BUFFER + 1);
        if (answer >= 0) {
            answer = registration.updateBuffer(BUFFER, slot.hostAddress(), slot.bytes());
        }
        if (answer < 0) {
            ring.close();
            throw new ErrnoException("io_uring_register", -answer);
        }
        return new SlotRing(ring);
    }

    /** Returns whether the ring itself has failed: operations are refused from then on. */
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

    /** Waits until the kernel has let go of the memory, whatever becomes of the ring meanwhile (rule 201). */
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
        // The kernel takes a closed ring down when it gets round to it; the memory must be free of it now.
        ring.registration().updateBuffer(BUFFER, 0, 0);
        ring.close();
    }
}
