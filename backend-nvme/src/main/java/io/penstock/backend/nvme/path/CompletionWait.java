// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.nvme.path;

import io.penstock.engine.kit.Pause;
import io.penstock.engine.kit.ffi.LibC;
import io.penstock.engine.kit.ffi.NativeMemory;
import io.penstock.engine.spi.Wakeup;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * How a queue waits for completions: for the interrupt of its completion queue, which the kernel signals by an eventfd,
 * as other threads do to wake the queue; or, without interrupts, by naps between polls. It polls without sleeping
 * first.
 *
 * <p><b>Threading:</b> the I/O queue, but for the wake-up.
 */
final class CompletionWait {

    private static final int FIRST_NAP_NANOS = 5_000;
    private static final int LONGEST_NAP_NANOS = 200_000;
    private static final int NANOS_PER_MILLI = 1_000_000;

    // struct pollfd, the word that is read from the eventfd, the one that is written.
    private static final int READ_WORD = 8;
    private static final int WRITE_WORD = 16;

    private final int eventfd; // -1 without interrupts
    private final long pollNanos;
    private final Pause pause = new Pause().naps(FIRST_NAP_NANOS, LONGEST_NAP_NANOS);
    private final ByteBuffer memory = ByteBuffer.allocateDirect(24).order(ByteOrder.nativeOrder()); // kept alive
    private final long address = NativeMemory.address(memory);
    private final Wakeup wakeup;
    private boolean closed; // guarded by this

    /**
     * Creates it.
     *
     * @param eventfd what interrupts signal, closed by {@link #close}; -1 without interrupts
     * @param pollNanos how long to poll after a completion before sleeping
     */
    CompletionWait(int eventfd, long pollNanos) {
        this.eventfd = eventfd;
        this.pollNanos = pollNanos;
        memory.putInt(0, eventfd).putShort(4, LibC.POLLIN).putLong(WRITE_WORD, 1);
        wakeup = eventfd < 0 ? new Wakeup() : new Wakeup(this::signal);
    }

    // The wait may have ended already and the queue be closing: the descriptor must not be reused between the check and
    // the write.
    private synchronized void signal() {
        if (!closed) {
            LibC.write(eventfd, address + WRITE_WORD, Long.BYTES);
        }
    }

    /** Returns the wake-up of the queue; any thread. */
    Wakeup wakeup() {
        return wakeup;
    }

    /** Starts to poll again, after a completion. */
    void progress() {
        pause.reset();
        pause.spinFor(pollNanos);
    }

    /** Waits for nothing but a wake-up, at most {@code nanos}; negative for no limit. */
    void awaitWakeup(long nanos) {
        if (eventfd < 0) {
            wakeup.await(nanos);
        } else {
            poll(nanos);
        }
    }

    /** Waits for a completion or a wake-up, at most {@code nanos}; may return without either. */
    void awaitCompletion(long nanos) {
        long nap = pause.next(nanos);
        if (nap == 0) {
            return; // polls again
        }
        if (eventfd < 0) {
            wakeup.await(nap);
        } else {
            poll(nanos);
        }
    }

    private void poll(long nanos) {
        if (wakeup.begin()) {
            long millis = nanos < 0 ? -1 : Math.max(1, Math.min(nanos / NANOS_PER_MILLI, Integer.MAX_VALUE));
            int ready = LibC.poll(address, 1, (int) millis);
            wakeup.end();
            if (ready > 0) {
                LibC.read(eventfd, address + READ_WORD, Long.BYTES); // an interrupt that comes now is for the next poll
            }
        }
    }

    /** Closes the eventfd. */
    synchronized void close() {
        if (!closed && eventfd >= 0) {
            LibC.close(eventfd);
        }
        closed = true;
    }
}
