// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile.cuda;

import io.penstock.BackendUnavailableException;
import io.penstock.Failure;
import io.penstock.Outcome;
import io.penstock.backend.cufile.ffi.Cuda;
import io.penstock.backend.cufile.ffi.CudaError;
import io.penstock.engine.kit.SharedContext;
import io.penstock.engine.spi.Shared;
import java.util.OptionalLong;
import java.util.function.IntSupplier;
import java.util.function.Supplier;

/**
 * A CUDA context: the GPU's primary context, or one of the application. All backends of the process that name the same
 * context share this object and its parts.
 *
 * <p><b>Threading:</b> thread-safe.
 *
 * <p><b>Ownership:</b> each {@link #open} and each allocation in the context counts as a user; the last one releases
 * the primary context. An application's context remains the application's.
 */
public final class CudaContext extends SharedContext<CudaContext> {

    /** The call by which {@link #bind} makes the context current. */
    public static final String BIND = "cuCtxSetCurrent";

    /** Identity of a context as applications name it: handle 0 is the primary context of the GPU. */
    private record Key(int ordinal, long handle) {}

    private static final Shared<Key, CudaContext> OPEN = new Shared<>(CudaContext::close);

    // The context that bind() made current on this thread. Compared by identity: a new context may reuse the handle of
    // a destroyed one.
    private static final ThreadLocal<CudaContext> BOUND = new ThreadLocal<>();

    private final CudaGpu gpu;
    private final long handle;
    private final boolean primary;

    private CudaContext(CudaGpu gpu, long application) {
        super(OPEN);
        this.gpu = gpu;
        this.primary = application == 0;
        this.handle = primary ? retainPrimary(gpu) : application;
    }

    /**
     * Opens a context on a GPU, or adds a user to it.
     *
     * @param application the application's CUcontext, or 0 for the GPU's primary one
     * @throws BackendUnavailableException if the GPU provides no context
     */
    public static CudaContext open(CudaGpu gpu, long application) {
        return OPEN.open(new Key(gpu.ordinal(), application), () -> new CudaContext(gpu, application));
    }

    /** Returns the handle of any open context, if one exists. */
    public static OptionalLong anyHandle() {
        return OPEN.values().stream().mapToLong(CudaContext::handle).findFirst();
    }

    private static long retainPrimary(CudaGpu gpu) {
        long[] handle = new long[1];
        int result = Cuda.cuDevicePrimaryCtxRetain(handle, gpu.device());
        if (result != CudaError.SUCCESS) {
            throw new BackendUnavailableException(
                    "no context on " + gpu + ": " + CudaFailure.error("cuDevicePrimaryCtxRetain", result),
                    new Failure(Outcome.NOT_STARTED, CudaFailure.error("cuDevicePrimaryCtxRetain", result)),
                    null);
        }
        return handle[0];
    }

    @Override
    protected void free() {
        if (primary) {
            Cuda.cuDevicePrimaryCtxRelease_v2(gpu.device());
        }
    }

    /** Makes the context current, permanently, on a thread that runs no code but Penstock's; cheap if it already is. */
    public int bind() {
        return BOUND.get() == this ? CudaError.SUCCESS : rebind();
    }

    /**
     * Makes it current on an I/O queue's thread, where by direct delivery an application may have made another current.
     */
    public int rebind() {
        int result = Cuda.cuCtxSetCurrent(handle);
        if (result == CudaError.SUCCESS) {
            BOUND.set(this);
        }
        return result;
    }

    /**
     * Runs a call with the context current, on any thread. Returns the call's result, or why the context cannot be made
     * current.
     */
    public int attempt(IntSupplier call) {
        return in(handle, call);
    }

    /**
     * Runs a call in a context, on any thread, and restores the thread's own context afterwards. Returns the call's
     * result, or why the context cannot be made current.
     */
    public static int in(long context, IntSupplier call) {
        int pushed = Cuda.cuCtxPushCurrent_v2(context);
        if (pushed != CudaError.SUCCESS) {
            return pushed;
        }
        try {
            return call.getAsInt();
        } finally {
            Cuda.cuCtxPopCurrent_v2(new long[1]);
        }
    }

    /** Runs calls with the context current, on any thread, and restores the thread's own context afterwards. */
    public <T> T run(String request, Supplier<T> calls) {
        CudaFailure.check(request, "cuCtxPushCurrent", Cuda.cuCtxPushCurrent_v2(handle));
        try {
            return calls.get();
        } finally {
            Cuda.cuCtxPopCurrent_v2(new long[1]);
        }
    }

    public CudaGpu gpu() {
        return gpu;
    }

    public long handle() {
        return handle;
    }

    @Override
    public String toString() {
        return (primary ? "primary context" : "context 0x" + Long.toHexString(handle)) + " on " + gpu;
    }
}
