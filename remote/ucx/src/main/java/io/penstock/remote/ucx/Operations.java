// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.ucx;

import io.penstock.engine.kit.ffi.NativeMemory;
import io.penstock.remote.ucx.ffi.Ucp;
import io.penstock.remote.ucx.ffi.UcsStatus;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * The operations of a connection that have not ended, the headers of their messages, and how long the peer has been
 * silent meanwhile. On the thread of the connection.
 */
final class Operations {

    /** How long operations that are ended early may take. */
    static final long GRACE_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final Consumer<Throwable> failed;
    private final List<Operation> running = new ArrayList<>();
    private final ArrayDeque<Long> headers = new ArrayDeque<>(); // free ones, for reuse
    private long heardNanos = System.nanoTime();

    /** A request of UCX, which is freed when it has ended. */
    private static final class Operation {
        final long request;
        final long header; // free again with it; 0 if there is none
        final IntConsumer ended;
        long endBy = Long.MAX_VALUE; // if it has not ended by then, the connection is ended

        Operation(long request, long header, IntConsumer ended) {
            this.request = request;
            this.header = header;
            this.ended = ended;
        }
    }

    /**
     * Creates an instance.
     *
     * @param failed receives what the end of an operation throws
     */
    Operations(Consumer<Throwable> failed) {
        this.failed = failed;
    }

    /** Returns a message as the header of an operation, to which it belongs until {@link #free} or the end. */
    long header(Message message) {
        Long reused = headers.poll();
        long header = reused != null ? reused : UcxContext.allocate(Message.BYTES);
        message.write(header);
        return header;
    }

    /** Takes back a header whose operation has not begun; 0 for none. */
    void free(long header) {
        if (header != 0) {
            headers.add(header);
        }
    }

    /** Adds an operation; the result ends it early. */
    Runnable add(long request, long header, IntConsumer ended) {
        Operation operation = new Operation(request, header, ended);
        running.add(operation);
        return () -> {
            if (operation.endBy == Long.MAX_VALUE) {
                operation.endBy = System.nanoTime() + GRACE_NANOS;
            }
        };
    }

    boolean isEmpty() {
        return running.isEmpty();
    }

    /** Ends the operations that UCX has ended; returns whether there were any. */
    boolean check() {
        boolean any = false;
        for (int i = running.size() - 1; i >= 0; i--) { // the callbacks append to the list
            Operation operation = running.get(i);
            int status = Ucp.ucp_request_check_status(operation.request);
            if (status != UcsStatus.INPROGRESS) {
                any = true;
                heard();
                running.remove(i);
                Ucp.ucp_request_free(operation.request);
                ended(operation, status);
            }
        }
        return any;
    }

    private void ended(Operation operation, int status) {
        free(operation.header);
        try { // as Connection.attempt, without an object for each operation
            operation.ended.accept(status);
        } catch (Throwable e) {
            failed.accept(e);
        }
    }

    /** Ends the operations that are left, once UCX uses no memory of theirs any more, and frees all headers. */
    void cancel() {
        List<Operation> left = List.copyOf(running);
        running.clear();
        left.forEach(operation -> ended(operation, UcsStatus.CANCELED));
        headers.forEach(NativeMemory::free);
        headers.clear();
    }

    /** Notes that the peer has sent something, or has taken something. */
    void heard() {
        heardNanos = System.nanoTime();
    }

    /** Notes that nothing is expected of the peer: its silence counts from the next {@link #silence} on. */
    void expectNothing() {
        heardNanos = Long.MIN_VALUE;
    }

    /** Returns why the peer, of which something is expected, is taken for gone; null if it is not. */
    @Nullable
    String silence(long timeoutNanos) {
        long now = System.nanoTime();
        if (heardNanos == Long.MIN_VALUE) {
            heardNanos = now;
        }
        long silent = now - heardNanos;
        if (silent > timeoutNanos) {
            return "it was silent for " + millis(silent);
        }
        for (Operation operation : running) {
            if (now - operation.endBy > 0 && silent > GRACE_NANOS) {
                return "it was silent for " + millis(silent) + " when a transfer was to end";
            }
        }
        return null;
    }

    private static String millis(long nanos) {
        return TimeUnit.NANOSECONDS.toMillis(nanos) + " ms";
    }
}
