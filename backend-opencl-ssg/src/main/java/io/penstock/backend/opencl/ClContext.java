// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl;

import io.penstock.BackendUnavailableException;
import io.penstock.Failure;
import io.penstock.Options;
import io.penstock.Outcome;
import io.penstock.backend.opencl.ffi.OpenCl;
import io.penstock.backend.opencl.ffi.OpenClError;
import io.penstock.engine.spi.Shared;
import io.penstock.engine.spi.ffi.SignalHandlers;

/**
 * An OpenCL context that this process works in, on one device: ours, or one of the application's. All backends of the
 * process that name the same one share this object, its memory and its lanes.
 *
 * <p><b>Threading:</b> thread-safe.
 *
 * <p><b>Ownership:</b> whoever opens it, and whatever is allocated in it, counts as a user; the last to {@link #leave}
 * frees what is idle and releases the context. Of an application's context we hold one reference as long.
 */
final class ClContext {

    private static final Shared<ContextChoice, ClContext> OPEN = new Shared<>(ClContext::close);

    private final ContextChoice choice;
    private final long handle;
    private final ClBuffers memory = new ClBuffers(this);
    private final ClSlots slots = new ClSlots(this);
    private final MapTurns mapTurns = new MapTurns();
    private final OrderQueue orderQueue;

    private ClContext(ContextChoice choice, long handle, OrderQueue orderQueue) {
        this.choice = choice;
        this.handle = handle;
        this.orderQueue = orderQueue;
    }

    /**
     * Becomes a user of the context that options name.
     *
     * @throws BackendUnavailableException if there is no OpenCL, no such device or no such context
     */
    static ClContext open(Options options) {
        ContextChoice choice = ContextChoice.of(options, OpenClPlatforms.find(options));
        return OPEN.open(choice, () -> {
            long handle = take(choice);
            return new ClContext(choice, handle, new OrderQueue(handle, choice.device()));
        });
    }

    private static long take(ContextChoice choice) {
        if (choice.application() != 0) {
            check("clRetainContext", OpenCl.clRetainContext(choice.application()), choice);
            return choice.application();
        }
        OpenClDevice device = choice.device();
        int[] error = new int[1];
        long[] properties = {OpenCl.CL_CONTEXT_PLATFORM, device.platform().handle(), 0};
        long made = SignalHandlers.keep(
                () -> OpenCl.clCreateContext(properties, 1, new long[] {device.handle()}, 0, 0, error));
        check("clCreateContext", error[0], choice);
        return made;
    }

    private static void check(String call, int code, ContextChoice choice) {
        if (code != OpenClError.SUCCESS) {
            throw new BackendUnavailableException(
                    "no context on " + choice.device() + ": " + OpenClFailure.error(call, code),
                    new Failure(Outcome.NOT_STARTED, OpenClFailure.error(call, code)),
                    null);
        }
    }

    /** Counts one more user; only for one that there is a user of. */
    void join() {
        OPEN.join(this);
    }

    /** Counts one user less; the last to leave frees what is idle. */
    void leave() {
        OPEN.leave(this);
    }

    private void close() {
        slots.close();
        memory.close();
        orderQueue.close();
        OpenCl.clReleaseContext(handle);
    }

    /**
     * Makes a command queue, which the caller releases.
     *
     * @param properties bits, as the vendor's
     * @throws io.penstock.PenstockException with the driver's answer
     */
    long createQueue(long properties) {
        int[] error = new int[1];
        long queue = OpenCl.clCreateCommandQueue(handle, device().handle(), properties, error);
        OpenClFailure.check("a command queue on " + device(), "clCreateCommandQueue", error[0]);
        return queue;
    }

    OpenClDevice device() {
        return choice.device();
    }

    long handle() {
        return handle;
    }

    ClBuffers memory() {
        return memory;
    }

    ClSlots slots() {
        return slots;
    }

    MapTurns mapTurns() {
        return mapTurns;
    }

    OrderQueue orderQueue() {
        return orderQueue;
    }

    @Override
    public String toString() {
        String whose = choice.application() == 0 ? "own context" : "context 0x" + Long.toHexString(handle);
        return whose + " on " + device();
    }
}
