// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile.cuda;

import io.penstock.BackendUnavailableException;
import io.penstock.Failure;
import io.penstock.Outcome;
import io.penstock.backend.cufile.ffi.Cuda;
import io.penstock.backend.cufile.ffi.CudaError;
import io.penstock.engine.spi.Shared;
import java.util.HashMap;
import java.util.Map;
import java.util.OptionalLong;
import java.util.function.Function;
import java.util.function.IntSupplier;
import java.util.function.Supplier;

/**
 * A CUDA context that this process works in: the GPU's primary one, or one of the application's. All backends of the
 * process that name the same one share this object, and what is kept in it.
 *
 * <p><b>Threading:</b> thread-safe.
 *
 * <p><b>Ownership:</b> each {@link #open} and {@link #join} is a user, and so is each allocation in the context; the last to
 * {@link #leave} closes the parts and releases the primary context. An application's context stays the application's.
 */
public final class CudaContext {

    /** The call by which {@link #bind} makes it current. */
    public static final String BIND = "cuCtxSetCurrent";

    /** What is kept in a context: one object of each type, closed with the context, which has no other user then. */
    public interface Part {

        /** Frees everything. */
        void close();
    }

    /** As an application sees contexts: handle 0 is the primary one of the GPU. */
    private record Key(int ordinal, long handle) {}

    private static final Shared<Key, CudaContext> OPEN = new Shared<>(CudaContext::close);

    // What bind() has made current on a thread of ours. Compared as an object: a context that is made anew may get the
    // handle of one that is gone.
    private static final ThreadLocal<CudaContext> BOUND = new ThreadLocal<>();

    private final CudaGpu gpu;
    private final long handle;
    private final boolean primary;
    private final Map<Class<?>, Part> parts = new HashMap<>(); // guarded by itself

    private CudaContext(CudaGpu gpu, long application) {
        this.gpu = gpu;
        this.primary = application == 0;
        this.handle = primary ? retainPrimary(gpu) : application;
    }

    /**
     * Becomes a user of a context on a GPU.
     *
     * @param application the application's CUcontext, or 0 for the GPU's primary one
     * @throws BackendUnavailableException if the GPU gives no context
     */
    public static CudaContext open(CudaGpu gpu, long application) {
        return OPEN.open(new Key(gpu.ordinal(), application), () -> new CudaContext(gpu, application));
    }

    /** Returns the handle of a context that is open, if there is one. */
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

    /** Counts one more user; only for one that there is a user of. */
    public void join() {
        OPEN.join(this);
    }

    /** Counts one user less; the last to leave closes the context. */
    public void leave() {
        OPEN.leave(this);
    }

    private void close() {
        parts.values().forEach(Part::close);
        if (primary) {
            Cuda.cuDevicePrimaryCtxRelease_v2(gpu.device());
        }
    }

    /** Returns the part of a type, which is made when it is first asked for. */
    public <T extends Part> T part(Class<T> type, Function<CudaContext, T> make) {
        synchronized (parts) {
            Part known = parts.get(type);
            if (known == null) {
                known = make.apply(this);
                parts.put(type, known);
            }
            return type.cast(known);
        }
    }

    /** Makes it current on a thread of ours, for good; cheap if it is. */
    public int bind() {
        if (BOUND.get() == this) {
            return CudaError.SUCCESS;
        }
        int result = Cuda.cuCtxSetCurrent(handle);
        if (result == CudaError.SUCCESS) {
            BOUND.set(this);
        }
        return result;
    }

    /** Runs a call with it current, on any thread; returns what the call does, or why the context cannot be made current. */
    public int attempt(IntSupplier call) {
        return in(handle, call);
    }

    /**
     * Runs a call in a context, on any thread; that thread's own context is current again afterwards. Returns what the call
     * does, or why the context cannot be made current.
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

    /** Runs calls with it current, on any thread; that thread's own context is current again afterwards. */
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
