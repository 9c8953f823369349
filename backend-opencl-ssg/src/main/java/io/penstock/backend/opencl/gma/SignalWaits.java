// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl.gma;

import io.penstock.ClosedException;
import io.penstock.DeviceFence;
import io.penstock.Failure;
import io.penstock.TransientStorageException;
import io.penstock.backend.opencl.cl.ClFence;
import io.penstock.backend.opencl.cl.OpenClFailure;
import io.penstock.backend.opencl.context.ClContext;
import io.penstock.backend.opencl.ffi.BusMemory;
import io.penstock.backend.opencl.ffi.OpenCl;
import io.penstock.backend.opencl.ffi.OpenClError;
import io.penstock.engine.kit.ffi.NativeMemory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * The waits for the marker of one buffer, and their cleanup. Each wait has a command queue of its own while it lasts:
 * the order of values is unknown, and a wait that never completes would block all others behind it.
 *
 * <p><b>Threading:</b> thread-safe.
 */
final class SignalWaits {

    private static final int MOST = 64;

    private final ClContext context;
    private final long memory;

    // Guarded by this.
    private final ByteBuffer cell = ByteBuffer.allocateDirect(Long.BYTES).order(ByteOrder.nativeOrder());
    private final ArrayDeque<Long> idle = new ArrayDeque<>(); // queues
    private final List<Wait> waits = new ArrayList<>(); // in progress, as far as is known
    private int users = 1; // waits whose end was not reported yet, and the buffer until it is closed
    private boolean closed;

    private record Wait(ClFence end, long queue) {}

    /** Takes over the buffer, and one use of the context. */
    SignalWaits(ClContext context, long memory) {
        this.context = context;
        this.memory = memory;
    }

    Mono<Void> waitFor(long value) {
        return Mono.using(() -> fence(value), fence -> fence.outcome().then(), DeviceFence::close)
                .publishOn(Schedulers.parallel());
    }

    /** Enqueues a wait, and returns its event. */
    synchronized DeviceFence fence(long value) {
        if (closed) {
            throw new ClosedException(
                    "a wait for signal " + value + " failed: the buffer is closed", Failure.NOT_STARTED, null);
        }
        if (idle.isEmpty() || waits.size() == MOST) {
            reclaim();
        }
        if (waits.size() >= MOST) {
            throw new TransientStorageException(
                    "a wait for signal " + value + " failed: " + MOST + " waits are in flight",
                    Failure.NOT_STARTED,
                    null);
        }
        Long known = idle.poll();
        long queue = known != null ? known : context.createQueue(0);
        int answer = BusMemory.clEnqueueWaitSignalAMD(queue, memory, (int) value, 0, 0, NativeMemory.address(cell));
        if (answer == OpenClError.SUCCESS) {
            int flushed = OpenCl.clFlush(queue);
            ClFence wait = watched(queue, cell.getLong(0));
            if (flushed != OpenClError.SUCCESS) { // not clFinish, which blocks until the value arrives
                wait.close();
                throw OpenClFailure.exception("a wait for signal " + value, "clFlush", flushed);
            }
            return wait;
        }
        idle.push(queue);
        throw OpenClFailure.exception("a wait for signal " + value, "clEnqueueWaitSignalAMD", answer);
    }

    /** Takes back the queues of waits that have ended, also before the thread that polls their events reports it. */
    private void reclaim() {
        for (Iterator<Wait> each = waits.iterator(); each.hasNext(); ) {
            Wait wait = each.next();
            if (wait.end.isSignalled()) {
                each.remove();
                idle.push(wait.queue);
            }
        }
    }

    private ClFence watched(long queue, long event) {
        users++;
        // Two references: the caller's, and one held until the wait completes, whatever the caller does.
        OpenCl.clRetainEvent(event);
        ClFence end = new ClFence(event);
        Wait wait = new Wait(end, queue);
        waits.add(wait);
        end.signalled().subscribe(nothing -> {}, e -> ended(wait), () -> ended(wait));
        return new ClFence(event);
    }

    private void ended(Wait wait) {
        synchronized (this) {
            if (waits.remove(wait)) {
                idle.push(wait.queue);
            }
        }
        wait.end.close();
        leave();
    }

    /** Releases the buffer when the last wait has completed. */
    void close() {
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
        }
        leave();
    }

    private void leave() {
        synchronized (this) {
            if (--users > 0) {
                return;
            }
        }
        idle.forEach(OpenCl::clReleaseCommandQueue);
        OpenCl.clReleaseMemObject(memory);
        context.leave();
    }
}
