// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile;

import io.penstock.BackendUnavailableException;
import io.penstock.Failure;
import io.penstock.Options;
import io.penstock.Outcome;
import io.penstock.backend.cufile.ffi.Cuda;
import io.penstock.backend.cufile.ffi.CudaError;
import io.penstock.engine.spi.Shared;
import java.util.OptionalLong;
import java.util.function.IntSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A CUDA context that this process works in: the GPU's primary one, or one of the application's. All backends of the
 * process that name the same one share this object, its memory and its lanes.
 *
 * <p><b>Threading:</b> thread-safe.
 *
 * <p><b>Ownership:</b> whoever opens it, and whatever is allocated in it, counts as a user; the last to {@link #leave}
 * frees what is idle and lets go of the primary context. An application's context stays the application's.
 */
final class CudaContext {

    /** The call by which {@link #bind} makes it current. */
    static final String BIND = "cuCtxSetCurrent";

    /** As an application sees contexts: handle 0 is the primary one of the GPU. */
    private record Key(int ordinal, long handle) {}

    private static final Shared<Key, CudaContext> OPEN = new Shared<>(CudaContext::close);

    // What bind() has made current on a thread of ours. Compared as an object: a context that is made anew may get the
    // handle of one that is gone.
    private static final ThreadLocal<CudaContext> BOUND = new ThreadLocal<>();

    private final Key key;
    private final CudaGpu gpu;
    private final long handle;
    private final GpuSlabs memory = new GpuSlabs(this);
    private final PinnedSlots slots = new PinnedSlots(this);
    private final OrderStreams orderStreams = new OrderStreams(this);
    private @Nullable Registrations registrations; // guarded by this

    private CudaContext(Key key, CudaGpu gpu, long handle) {
        this.key = key;
        this.gpu = gpu;
        this.handle = handle;
    }

    /**
     * Becomes a user of the context that options name.
     *
     * @throws BackendUnavailableException if there is no driver, no such GPU or no such context
     */
    static CudaContext open(Options options) {
        CudaPlatform platform = CudaPlatform.find(options);
        ContextChoice choice = ContextChoice.of(options);
        CudaPlatform chosen = platform.with(choice.ordinal(platform));
        if (!chosen.isUsable()) {
            throw unavailable(chosen.reason() + "; " + chosen.remedy());
        }
        Key key = new Key(choice.ordinal(platform), choice.handle());
        CudaGpu gpu = platform.gpus().get(key.ordinal);
        return OPEN.open(key, () -> new CudaContext(key, gpu, key.handle != 0 ? key.handle : retainPrimary(gpu)));
    }

    /** Returns the handle of a context that is open, if there is one. */
    static OptionalLong anyHandle() {
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

    private static BackendUnavailableException unavailable(String why) {
        return new BackendUnavailableException(why, Failure.NOT_STARTED, null);
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
        closeRegistrations();
        orderStreams.close();
        memory.close();
        slots.close();
        if (key.handle == 0) {
            Cuda.cuDevicePrimaryCtxRelease_v2(gpu.device());
        }
    }

    private synchronized void closeRegistrations() {
        if (registrations != null) {
            registrations.close();
            registrations = null;
        }
    }

    /**
     * Returns the parts of files that are registered in it, which the first to ask for decides about.
     *
     * @throws IllegalArgumentException if others have decided otherwise
     */
    synchronized Registrations registrations(Registrations.Sizes sizes) {
        Registrations known = registrations;
        if (known == null) {
            known = new Registrations(this, sizes);
            registrations = known;
        } else if (!known.sizes().equals(sizes)) {
            throw new IllegalArgumentException("this process maps files with " + known.sizes() + " on " + gpu
                    + " already, and cannot with " + sizes + " beside it");
        }
        return known;
    }

    /** Makes it current on a thread of ours, for good; cheap if it is. */
    int bind() {
        if (BOUND.get() == this) {
            return CudaError.SUCCESS;
        }
        int result = Cuda.cuCtxSetCurrent(handle);
        if (result == CudaError.SUCCESS) {
            BOUND.set(this);
        }
        return result;
    }

    /** Runs a call with it current, on any thread, and answers what that answers; for what may fail unheard. */
    int attempt(IntSupplier call) {
        return CudaScope.in(handle, call);
    }

    /** Runs calls with it current, on any thread; that thread's own context is current again afterwards. */
    <T> T run(String request, Supplier<T> calls) {
        CudaFailure.check(request, "cuCtxPushCurrent", Cuda.cuCtxPushCurrent_v2(handle));
        try {
            return calls.get();
        } finally {
            Cuda.cuCtxPopCurrent_v2(new long[1]);
        }
    }

    CudaGpu gpu() {
        return gpu;
    }

    long handle() {
        return handle;
    }

    GpuSlabs memory() {
        return memory;
    }

    OrderStreams orderStreams() {
        return orderStreams;
    }

    PinnedSlots slots() {
        return slots;
    }

    @Override
    public String toString() {
        return (key.handle == 0 ? "primary context" : "context 0x" + Long.toHexString(handle)) + " on " + gpu;
    }
}
