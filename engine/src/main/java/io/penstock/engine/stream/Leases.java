// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.stream;

import io.penstock.ClosedException;
import io.penstock.DeviceBuffer;
import io.penstock.Failure;
import io.penstock.HostView;
import io.penstock.engine.order.Pins;
import io.penstock.engine.resource.EngineBuffer;
import java.lang.ref.Cleaner;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * State shared by all leases of the process: the count of live ones, and the two checks for misuse (poison and leak
 * reports).
 */
public final class Leases {

    static final byte POISON = (byte) 0xDB;

    private static final LongAdder LIVE = new LongAdder();
    private static final int POISON_WINDOW = 1 << 20;

    private Leases() {}

    /** Returns the number of leases, of chunks and retained ones, that have not ended; for tests. */
    public static long live() {
        return LIVE.sum();
    }

    static void began() {
        LIVE.increment();
    }

    static void ended() {
        LIVE.decrement();
    }

    /**
     * Keeps a buffer's memory until {@link Pins#unpin}, although its backend may be closed meanwhile: that frees what
     * is not in use.
     *
     * @return null if the buffer has been closed; any access to it is refused then
     */
    static @Nullable Pins pin(DeviceBuffer buffer) {
        return buffer instanceof EngineBuffer own && own.pins().tryPin() ? own.pins() : null;
    }

    /** Fills the first bytes of a buffer with poison, if it is host-accessible and its backend is open. */
    static void poison(DeviceBuffer buffer, long length) {
        Pins pinned = pin(buffer); // a write does so after the end of the lease, which had its own
        try {
            HostView view = buffer.hostView().orElse(null);
            for (long at = 0; view != null && at < length; at += POISON_WINDOW) {
                ByteBuffer window = view.buffer(at, (int) Math.min(POISON_WINDOW, length - at));
                while (window.hasRemaining()) {
                    window.put(POISON);
                }
            }
        } catch (ClosedException closed) {
            // Closed with its backend, during the lease: the memory is about to be freed, and is not lent again.
        } finally {
            if (pinned != null) {
                pinned.unpin();
            }
        }
    }

    static ClosedException over(Object what) {
        return new ClosedException("the lease of " + what + " has ended", Failure.NOT_STARTED, null);
    }

    /** Registers {@code report} to run when {@code lease} has become unreachable. */
    static Cleaner.Cleanable watch(Object lease, Runnable report) {
        return Watch.CLEANER.register(lease, report);
    }

    /** Its thread starts with the first watched lease. */
    private static final class Watch {
        static final Cleaner CLEANER = Cleaner.create();
    }
}
