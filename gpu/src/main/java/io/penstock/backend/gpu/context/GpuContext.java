// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gpu.context;

import io.penstock.Backend;
import io.penstock.BackendUnavailableException;
import io.penstock.Failure;
import io.penstock.NativeError;
import io.penstock.Outcome;
import io.penstock.backend.gpu.api.DriverApi;
import io.penstock.backend.gpu.api.FileApi;
import io.penstock.backend.gpu.api.GpuOptions;
import io.penstock.engine.kit.DaemonThread;
import io.penstock.engine.kit.SharedContext;
import io.penstock.engine.spi.Shared;
import java.util.List;
import java.util.OptionalLong;
import java.util.function.IntSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A context: the GPU's primary context, or one of the application. All backends of the process that name the same
 * context share this object and its parts.
 *
 * <p><b>Threading:</b> thread-safe.
 *
 * <p><b>Ownership:</b> each {@link #open} and each allocation in the context counts as a user; the last one releases
 * the primary context. An application's context remains the application's.
 */
public final class GpuContext extends SharedContext<GpuContext> {

    /** The call by which {@link #bind} makes the context current. */
    public static final String BIND = "ctxSetCurrent";

    // By the driver, the GPU's ordinal, and the application's handle or 0 for the primary context. Lists, not records:
    // the first hashCode of a record is slow, since the JVM makes it by method handles (decision 0053).
    private static final Shared<List<Object>, GpuContext> OPEN = new Shared<>(GpuContext::close);

    private static final int NOT_RETAINED = -1; // the thread that was to do it has thrown

    // The context that bind() made current on this thread. Compared by identity: a new context may reuse the handle of
    // a destroyed one.
    private static final ThreadLocal<GpuContext> BOUND = new ThreadLocal<>();

    private final FileApi files;
    private final DriverApi driver;
    private final GpuOptions options;
    private final GpuInfo gpu;
    private final @Nullable DaemonThread retaining; // of the primary context
    private volatile long handle;
    private volatile boolean known; // not by the handle: the handle of HIP's first device is 0
    private int retained = NOT_RETAINED; // why there is none; written before the end of retaining

    private GpuContext(FileApi files, GpuOptions options, GpuInfo gpu, long application) {
        super(OPEN);
        this.files = files;
        this.driver = files.driver();
        this.options = options;
        this.gpu = gpu;
        this.handle = application;
        this.known = application != 0;
        this.retaining = application == 0 ? new DaemonThread("penstock-gpu-context", this::retain) : null;
        if (retaining != null && !retaining.tryStart()) {
            retain();
        }
    }

    /**
     * Opens a context on a GPU, or adds a user to it. A primary context takes a tenth of a second to create, in which
     * the caller goes on: the first call that needs the context waits for it, and fails if the GPU provides none.
     *
     * @param files the vendor's tables
     * @param options the vendor's names of options
     * @param application the application's context, or 0 for the GPU's primary one
     */
    public static GpuContext open(FileApi files, GpuOptions options, GpuInfo gpu, long application) {
        return OPEN.open(
                List.of(files.driver(), gpu.ordinal(), application),
                () -> new GpuContext(files, options, gpu, application));
    }

    /** Returns the handle of any open context of a driver, if one exists. */
    public static OptionalLong anyHandle(DriverApi driver) {
        return OPEN.values().stream()
                .filter(context -> context.driver == driver && context.known)
                .mapToLong(context -> context.handle)
                .findFirst();
    }

    private void retain() {
        long[] context = new long[1];
        retained = driver.devicePrimaryCtxRetain(context, gpu.device());
        handle = context[0];
        known = retained == DriverApi.SUCCESS;
    }

    /** Waits until the context is there; returns success, or why it is not. */
    private int ready() {
        if (!known && retaining != null) {
            retaining.awaitEnd(); // after which what its thread wrote is seen
        }
        return known ? DriverApi.SUCCESS : retained;
    }

    /**
     * Returns the context's handle; waits until it is there.
     *
     * @throws BackendUnavailableException if the GPU provides none
     */
    public long handle() {
        if (ready() != DriverApi.SUCCESS) {
            NativeError error = driver.error("devicePrimaryCtxRetain", retained);
            throw new BackendUnavailableException(
                    "no context on " + gpu + ": " + error, new Failure(Outcome.NOT_STARTED, error), null);
        }
        return handle;
    }

    /**
     * Returns a backend that was opened meanwhile, once the context is there.
     *
     * @throws BackendUnavailableException if the GPU provides none; the backend is closed
     */
    public Backend ready(Backend backend) {
        try {
            handle();
            return backend;
        } catch (BackendUnavailableException e) {
            backend.close();
            throw e;
        }
    }

    @Override
    protected void free() {
        if (retaining != null && ready() == DriverApi.SUCCESS) {
            driver.devicePrimaryCtxRelease(gpu.device());
        }
    }

    /** Makes the context current, permanently, on a thread that runs no code but Penstock's; cheap if it already is. */
    public int bind() {
        return BOUND.get() == this ? DriverApi.SUCCESS : rebind();
    }

    /**
     * Makes it current on an I/O queue's thread, where by direct delivery an application may have made another current.
     */
    public int rebind() {
        int result = ready() != DriverApi.SUCCESS ? retained : driver.ctxSetCurrent(handle);
        if (result == DriverApi.SUCCESS) {
            BOUND.set(this);
        }
        return result;
    }

    /**
     * Runs a call with the context current, on any thread. Returns the call's result, or why the context cannot be made
     * current.
     */
    public int attempt(IntSupplier call) {
        return ready() != DriverApi.SUCCESS ? retained : driver.in(handle, call);
    }

    /** Runs calls with the context current, on any thread, and restores the thread's own context afterwards. */
    public <T> T run(String request, Supplier<T> calls) {
        driver.check(request, "ctxPushCurrent", driver.ctxPushCurrent(handle()));
        try {
            return calls.get();
        } finally {
            driver.ctxPopCurrent(new long[1]);
        }
    }

    /** Returns the vendor's driver API. */
    public DriverApi driver() {
        return driver;
    }

    /** Returns the vendor's file API. */
    public FileApi files() {
        return files;
    }

    /** Returns the options of the backends that use this context. */
    public GpuOptions options() {
        return options;
    }

    public GpuInfo gpu() {
        return gpu;
    }

    @Override
    public String toString() {
        return (retaining != null ? "primary context" : "context 0x" + Long.toHexString(handle)) + " on " + gpu;
    }
}
