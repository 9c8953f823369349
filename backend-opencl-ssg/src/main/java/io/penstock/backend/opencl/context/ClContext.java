// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl.context;

import io.penstock.BackendUnavailableException;
import io.penstock.Failure;
import io.penstock.Options;
import io.penstock.Outcome;
import io.penstock.backend.opencl.cl.OpenClDevice;
import io.penstock.backend.opencl.cl.OpenClFailure;
import io.penstock.backend.opencl.ffi.OpenCl;
import io.penstock.backend.opencl.ffi.OpenClError;
import io.penstock.engine.kit.SharedContext;
import io.penstock.engine.kit.ffi.SignalHandlers;
import io.penstock.engine.spi.Shared;

/**
 * An OpenCL context on one device: created by Penstock, or the application's. All backends of the process that name the
 * same context share this object and its parts.
 *
 * <p><b>Threading:</b> thread-safe.
 *
 * <p><b>Ownership:</b> each opener, and each allocation in the context, counts as a user. An application's context is
 * retained once until the last one leaves.
 */
public final class ClContext extends SharedContext<ClContext> {

    private static final Shared<ContextChoice, ClContext> OPEN = new Shared<>(ClContext::close);

    private final ContextChoice choice;
    private final long handle;

    private ClContext(ContextChoice choice, long handle) {
        super(OPEN);
        this.choice = choice;
        this.handle = handle;
    }

    /**
     * Opens the context that the options select, or adds a user to it.
     *
     * @throws BackendUnavailableException if there is no OpenCL, no such device or no such context
     */
    public static ClContext open(Options options) {
        return open(ContextChoice.of(options, OpenClPlatforms.find(options)));
    }

    /** Opens the context of a choice, or adds a user to it; as {@link #open(Options)}. */
    public static ClContext open(ContextChoice choice) {
        return OPEN.open(choice, () -> new ClContext(choice, take(choice)));
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

    @Override
    protected void free() {
        OpenCl.clReleaseContext(handle);
    }

    /**
     * Creates a command queue, which the caller releases.
     *
     * @param properties bits, as the vendor's
     * @throws io.penstock.PenstockException with the driver's answer
     */
    public long createQueue(long properties) {
        int[] error = new int[1];
        long queue = OpenCl.clCreateCommandQueue(handle, device().handle(), properties, error);
        OpenClFailure.check("a command queue on " + device(), "clCreateCommandQueue", error[0]);
        return queue;
    }

    public OpenClDevice device() {
        return choice.device();
    }

    public long handle() {
        return handle;
    }

    @Override
    public String toString() {
        String whose = choice.application() == 0 ? "own context" : "context 0x" + Long.toHexString(handle);
        return whose + " on " + device();
    }
}
