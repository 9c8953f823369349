// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.host;

import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.Request;
import io.penstock.engine.spi.ffi.NativeMemory;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Requests that a host queue ends by itself, in its next turn: copies within host memory, and requests that it could not
 * hand over.
 *
 * <p><b>Threading:</b> the lane only.
 */
final class InlineRequests {
    private final @Nullable Request[] requests; // a ring: each tag is in it at most once
    private final @Nullable NativeFailure[] failures; // beside them
    private int head;
    private int count;

    InlineRequests(int depth) {
        requests = new Request[depth];
        failures = new NativeFailure[depth];
    }

    boolean isEmpty() {
        return count == 0;
    }

    /** Takes a COPY_IN or a COPY_OUT. */
    void copy(Request request) {
        add(request, null);
    }

    /** Lets the next turn fail a request. */
    void fail(Request request, NativeFailure failure) {
        add(request, failure);
    }

    private void add(Request request, @Nullable NativeFailure failure) {
        int place = (head + count++) % requests.length;
        requests[place] = request;
        failures[place] = failure;
    }

    /** Ends what was there as the call began; returns how many. */
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
                throw new IllegalStateException("nothing at " + head);
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
            copy(request.memory(), request.memoryOffset(), request.slot(), request.slotOffset(), request.bytes());
        } else {
            copy(request.slot(), request.slotOffset(), request.memory(), request.memoryOffset(), request.bytes());
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

    /** Returns memory as a buffer, without native help where it can be had without. */
    static ByteBuffer buffer(DeviceMemory memory, long offset, int length) {
        return memory instanceof HostMemory host
                ? host.buffer(offset, length)
                : NativeMemory.view(memory.hostAddress() + offset, length);
    }
}
