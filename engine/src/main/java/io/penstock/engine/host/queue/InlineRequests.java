// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.host.queue;

import io.penstock.engine.kit.ffi.NativeMemory;
import io.penstock.engine.kit.memory.HostMemory;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.Request;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Requests that a host queue completes itself, in its next turn: copies within host memory, and requests that could not
 * be submitted.
 *
 * <p><b>Threading:</b> the I/O queue only.
 */
final class InlineRequests {
    private final @Nullable Request[] requests; // a ring: each tag is in it at most once
    private final @Nullable NativeFailure[] failures; // by the same index
    private int head;
    private int count;

    InlineRequests(int depth) {
        requests = new Request[depth];
        failures = new NativeFailure[depth];
    }

    boolean isEmpty() {
        return count == 0;
    }

    /** Adds a COPY_IN or a COPY_OUT. */
    void copy(Request request) {
        add(request, null);
    }

    /** Fails a request in the next turn. */
    void fail(Request request, NativeFailure failure) {
        add(request, failure);
    }

    private void add(Request request, @Nullable NativeFailure failure) {
        int place = (head + count++) % requests.length;
        requests[place] = request;
        failures[place] = failure;
    }

    /** Completes the requests that were present when the call began; returns their number. */
    int run() {
        int runs = count;
        for (int i = 0; i < runs; i++) {
            Request request = requests[head];
            NativeFailure failure = failures[head];
            requests[head] = null;
            failures[head] = null;
            head = (head + 1) % requests.length;
            count--;
            if (request == null) {
                throw new IllegalStateException("no entry at " + head);
            }
            if (failure == null) {
                move(request);
            }
            request.end(request.bytes(), failure);
        }
        return runs;
    }

    private static void move(Request request) {
        if (request.isInward()) {
            copy(request.memory(), request.memoryOffset(), request.staging(), request.stagingOffset(), request.bytes());
        } else {
            copy(request.staging(), request.stagingOffset(), request.memory(), request.memoryOffset(), request.bytes());
        }
    }

    private static void copy(DeviceMemory target, long to, DeviceMemory source, long from, long bytes) {
        if (NativeMemory.isAvailable()) {
            NativeMemory.copy(target.hostAddress() + to, source.hostAddress() + from, bytes);
            return;
        }
        int most = 1 << 30;
        for (long done = 0; done < bytes; done += most) {
            int length = (int) Math.min(most, bytes - done);
            buffer(target, to + done, length).put(buffer(source, from + done, length));
        }
    }

    /** Returns memory as a buffer, without native calls where possible. */
    static ByteBuffer buffer(DeviceMemory memory, long offset, int length) {
        return memory instanceof HostMemory host
                ? host.buffer(offset, length)
                : NativeMemory.view(memory.hostAddress() + offset, length);
    }
}
