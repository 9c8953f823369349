// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.nvme.path;

import io.penstock.engine.kit.CallThreads;
import io.penstock.engine.kit.ffi.Errno;
import io.penstock.engine.kit.file.HostFailure;
import io.penstock.engine.kit.file.HostFile;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.Request;
import io.penstock.engine.spi.Wakeup;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * Requests on ordinary files of the operating system, such as the other end of a copy: blocking calls on a few threads,
 * which start with the first such request.
 *
 * <p><b>Threading:</b> the I/O queue.
 */
final class HostCalls implements CallThreads.Calls<Request> {

    private static final int THREADS = 4;

    private final CallThreads<Request> threads;
    private final long[] results; // by tag; published by the threads' queues, as the failures are
    private final @Nullable NativeFailure[] failures; // by tag

    /**
     * Creates it, without threads.
     *
     * @param depth the most requests at once
     * @param wakeup woken when a call has returned
     */
    HostCalls(int depth, Wakeup wakeup) {
        threads = new CallThreads<>("penstock-nvme-host-", THREADS, depth, wakeup, this);
        results = new long[depth];
        failures = new NativeFailure[depth];
    }

    /** Accepts a READ, WRITE or SYNC of a {@link HostFile}. */
    void begin(Request request) {
        threads.begin(request);
    }

    /** Ends the requests whose calls have returned; returns how many. */
    int end() {
        int count = 0;
        for (Request request = threads.poll(); request != null; request = threads.poll()) {
            count++;
            request.end(results[request.tag()], failures[request.tag()]);
        }
        return count;
    }

    @Override
    public void make(Request request) throws IOException {
        HostFile file = (HostFile) request.file();
        long result;
        do {
            result = switch (request.kind()) {
                case READ -> file.read(request.fileOffset(), request.hostAddress(), request.bytes());
                case WRITE -> file.write(request.fileOffset(), request.hostAddress(), request.bytes());
                default -> file.sync();
            };
        } while (result == -Errno.EINTR);
        results[request.tag()] = result;
        failures[request.tag()] = result < 0 ? HostFailure.of(request.kind(), result) : null;
    }

    @Override
    public void fail(Request request, Throwable cause) {
        failures[request.tag()] = HostFailure.of(request.kind(), cause);
    }

    /** Ends the threads; no request is in flight. */
    void close() {
        threads.close();
    }
}
