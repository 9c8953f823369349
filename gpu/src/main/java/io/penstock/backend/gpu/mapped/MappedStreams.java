// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gpu.mapped;

import io.penstock.backend.gpu.api.DriverApi;
import io.penstock.backend.gpu.context.GpuContext;
import io.penstock.backend.gpu.device.GpuPoint;
import io.penstock.backend.gpu.staged.CopyStreams;
import io.penstock.engine.kit.Pause;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.Wakeup;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The streams of one I/O queue that copies from mappings, and the copies in flight on them. The I/O queue starts, polls
 * and settles them, and makes no blocking call.
 */
final class MappedStreams {

    /** How long an I/O queue may sleep while copies are in flight. */
    static final long NAP_NANOS = 10_000;

    /** Two, so that the link is not idle between one copy and the next. */
    private static final int STREAMS = 2;

    /** The least time for which copies are polled without pause before the I/O queue sleeps between polls. */
    private static final long SPIN_NANOS = 50_000;

    /** Receives the completions of copies. */
    interface Settled {

        /**
         * Reports that a copy has completed.
         *
         * @param failure null if it succeeded
         */
        void copied(MappedCopy copy, @Nullable NativeFailure failure);
    }

    /** An internal stream: its copies complete in order, so that only the oldest is polled. */
    private record Line(long stream, ArrayDeque<MappedCopy> copies) {}

    private final GpuContext context;
    private final DriverApi driver;
    private final List<Line> lines = new ArrayList<>();
    private final ArrayDeque<MappedCopy> elsewhere = new ArrayDeque<>(); // on the application's streams
    private final List<Long> events = new ArrayList<>();
    private final long[] made = new long[1];
    private final Pause pause = new Pause();
    private int next;

    private MappedStreams(GpuContext context) {
        this.context = context;
        this.driver = context.driver();
    }

    static MappedStreams open(GpuContext context) {
        context.join();
        MappedStreams all = new MappedStreams(context);
        try {
            return context.run("streams for mapped copies", all::withStreams);
        } catch (RuntimeException | Error e) {
            all.close();
            throw e;
        }
    }

    private MappedStreams withStreams() {
        for (int i = 0; i < STREAMS; i++) {
            int result = driver.streamCreate(made, DriverApi.STREAM_NON_BLOCKING);
            driver.check("streams for mapped copies", "streamCreate", result);
            lines.add(new Line(made[0], new ArrayDeque<>()));
        }
        return this;
    }

    /** Starts the next part of a copy, within one segment; returns why that failed, or null. */
    @Nullable
    NativeFailure start(MappedCopy copy) {
        int bound = context.rebind();
        if (bound != DriverApi.SUCCESS) {
            return driver.failure(GpuContext.BIND, bound);
        }
        if (copy.event == 0) {
            int result = driver.eventCreate(made, DriverApi.EVENT_DISABLE_TIMING);
            if (result != DriverApi.SUCCESS) {
                return driver.failure("eventCreate", result);
            }
            copy.event = made[0];
            events.add(made[0]);
        }
        Line line = lines.get(next++ & (STREAMS - 1));
        GpuPoint point = copy.point();
        long stream = point == null ? line.stream : point.stream(line.stream);
        NativeFailure failure = start(copy, stream);
        if (failure == null) {
            (stream == line.stream ? line.copies : elsewhere).add(copy);
            if (point != null) {
                point.join(copy.event);
            }
            copy.joinOrder();
        }
        return failure;
    }

    private @Nullable NativeFailure start(MappedCopy copy, long stream) {
        long from = copy.from();
        FileMapping mapping = copy.segment().mapping;
        copy.part = Math.min(copy.bytes - copy.done, mapping.segmentBytes - from % mapping.segmentBytes);
        int copied = driver.memcpyHtoDAsync(copy.to(), mapping.address(from), copy.part, stream);
        if (copied != DriverApi.SUCCESS) {
            return driver.failure("memcpyHtoDAsync", copied);
        }
        int marked = CopyStreams.mark(driver, copy.event, stream);
        return marked == DriverApi.SUCCESS ? null : driver.failure("eventRecord", marked);
    }

    /** Removes and reports the copies that have completed. */
    void settle(Settled to) {
        for (Line line : lines) {
            while (!line.copies.isEmpty() && settle(line.copies, to)) {
                // the next may have completed too
            }
        }
        for (int i = elsewhere.size(); i > 0; i--) {
            if (!settle(elsewhere, to)) {
                elsewhere.add(elsewhere.remove());
            }
        }
    }

    private boolean settle(ArrayDeque<MappedCopy> copies, Settled to) {
        int state = CopyStreams.state(driver, copies.element().event);
        if (state == DriverApi.NOT_READY) {
            return false;
        }
        to.copied(copies.remove(), state == DriverApi.SUCCESS ? null : driver.failure("eventQuery", state));
        return true;
    }

    DriverApi driver() {
        return driver;
    }

    boolean isBusy() {
        for (int i = 0; i < lines.size(); i++) {
            if (!lines.get(i).copies.isEmpty()) {
                return true;
            }
        }
        return !elsewhere.isEmpty();
    }

    /** Polls for a while; returns true if a copy has completed or the I/O queue was woken. */
    boolean spin(long nanos, Wakeup wakeup) {
        pause.spinFor(Math.max(SPIN_NANOS, nanos));
        do {
            if (anyEnded() || wakeup.poll()) {
                return true;
            }
        } while (pause.next() == 0);
        return false;
    }

    private boolean anyEnded() {
        for (int i = 0; i < lines.size(); i++) {
            if (hasEnded(lines.get(i).copies.peek())) {
                return true;
            }
        }
        for (MappedCopy copy : elsewhere) {
            if (hasEnded(copy)) {
                return true;
            }
        }
        return false;
    }

    private boolean hasEnded(@Nullable MappedCopy copy) {
        return copy != null && driver.eventQuery(copy.event) != DriverApi.NOT_READY;
    }

    /** Frees streams and events; no copy may be in flight. */
    void close() {
        // If the context is gone, they are too.
        context.attempt(() -> {
            events.forEach(driver::eventDestroy);
            lines.forEach(line -> driver.streamDestroy(line.stream));
            return DriverApi.SUCCESS;
        });
        context.leave();
    }
}
