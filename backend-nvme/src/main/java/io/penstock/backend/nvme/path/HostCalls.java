// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.nvme.path;

import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.Request;
import io.penstock.engine.spi.Wakeup;
import io.penstock.engine.spi.ffi.Errno;
import io.penstock.engine.spi.file.HostFailure;
import io.penstock.engine.spi.file.HostFile;
import java.io.IOException;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import org.jspecify.annotations.Nullable;

/**
 * Requests on ordinary files of the operating system, such as the other end of a copy: blocking calls on a few threads,
 * which start with the first such request.
 *
 * <p><b>Threading:</b> the I/O queue.
 */
final class HostCalls {

    private static final int THREADS = 4;

    private final Wakeup wakeup;
    private final BlockingQueue<Request> waiting;
    private final BlockingQueue<Request> returned;
    private final long[] results; // by tag; published by returned
    private final @Nullable NativeFailure[] failures; // by tag; published by returned
    private final Thread[] threads = new Thread[THREADS];
    private int started;
    private int inFlight;

    /**
     * Creates it, without threads.
     *
     * @param depth the most requests at once
     * @param wakeup woken when a call has returned
     */
    HostCalls(int depth, Wakeup wakeup) {
        this.wakeup = wakeup;
        waiting = new ArrayBlockingQueue<>(depth);
        returned = new ArrayBlockingQueue<>(depth);
        results = new long[depth];
        failures = new NativeFailure[depth];
    }

    /** Accepts a READ, WRITE or SYNC of a {@link HostFile}. */
    void begin(Request request) {
        inFlight++;
        if (started < Math.min(inFlight, THREADS)) {
            Thread thread = new Thread(null, this::run, "penstock-nvme-host-" + started, 0, false);
            thread.setDaemon(true);
            threads[started++] = thread;
            thread.start();
        }
        waiting.add(request); // there is room for every tag
    }

    /** Ends the requests whose calls have returned; returns how many. */
    int end() {
        int count = 0;
        while (inFlight > 0) {
            Request request = returned.poll();
            if (request == null) {
                break;
            }
            inFlight--;
            count++;
            request.end(results[request.tag()], failures[request.tag()]);
        }
        return count;
    }

    private void run() {
        try {
            while (true) {
                Request request = waiting.take();
                call(request);
                returned.add(request);
                wakeup.wake();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // closed
        }
    }

    private void call(Request request) {
        int tag = request.tag();
        failures[tag] = null;
        try {
            long result = move(request, (HostFile) request.file());
            results[tag] = result;
            if (result < 0) {
                failures[tag] = HostFailure.of(request.kind(), result);
            }
        } catch (IOException | RuntimeException e) {
            failures[tag] = HostFailure.of(request.kind(), e);
        }
    }

    private static long move(Request request, HostFile file) throws IOException {
        long result;
        do {
            result = switch (request.kind()) {
                case READ -> file.read(request.fileOffset(), request.hostAddress(), request.bytes());
                case WRITE -> file.write(request.fileOffset(), request.hostAddress(), request.bytes());
                default -> file.sync();
            };
        } while (result == -Errno.EINTR);
        return result;
    }

    /** Ends the threads; no request is in flight. */
    void close() {
        for (int i = 0; i < started; i++) {
            threads[i].interrupt();
        }
    }
}
