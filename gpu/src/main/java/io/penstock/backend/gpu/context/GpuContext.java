// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gpu.context;

import io.penstock.BackendUnavailableException;
import io.penstock.Failure;
import io.penstock.Outcome;
import io.penstock.backend.gpu.api.DriverApi;
import io.penstock.backend.gpu.api.FileApi;
import io.penstock.backend.gpu.api.GpuOptions;
import io.penstock.engine.kit.SharedContext;
import io.penstock.engine.spi.Shared;
import java.util.OptionalLong;
import java.util.function.IntSupplier;
import java.util.function.Supplier;

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

    /** Identity of a context as applications name it: handle 0 is the primary context of the GPU. */
    private record Key(DriverApi driver, int ordinal, long handle) {}

    private static final Shared<Key, GpuContext> OPEN = new Shared<>(GpuContext::close);

    // The context that bind() made current on this thread. Compared by identity: a new context may reuse the handle of
    // a destroyed one.
    private static final ThreadLocal<GpuContext> BOUND = new ThreadLocal<>();

    private final FileApi files;
    private final DriverApi driver;
    private final GpuOptions options;
    private final GpuInfo gpu;
    private final long handle;
    private final boolean primary;

    private GpuContext(FileApi files, GpuOptions options, GpuInfo gpu, long application) {
        super(OPEN);
        this.files = files;
        this.driver = files.driver();
        this.options = options;
        this.gpu = gpu;
        this.primary = application == 0;
        this.handle = primary ? retainPrimary(driver, gpu) : application;
    }

    /**
     * Opens a context on a GPU, or adds a user to it.
     *
     * @param files the vendor's tables
     * @param options the vendor's names of options
     * @param application the application's context, or 0 for the GPU's primary one
     * @throws BackendUnavailableException if the GPU provides no context
     */
    public static GpuContext open(FileApi files, GpuOptions options, GpuInfo gpu, long application) {
        return OPEN.open(
                new Key(files.driver(), gpu.ordinal(), application),
                () -> new GpuContext(files, options, gpu, application));
    }

    /** Returns the handle of any open context of a driver, if one exists. */
    public static OptionalLong anyHandle(DriverApi driver) {
        return OPEN.values().stream()
                .filter(context -> context.driver == driver)
                .mapToLong(GpuContext::handle)
                .findFirst();
    }

    private static long retainPrimary(DriverApi driver, GpuInfo gpu) {
        long[] handle = new long[1];
        int result = driver.devicePrimaryCtxRetain(handle, gpu.device());
        if (result != DriverApi.SUCCESS) {
            throw new BackendUnavailableException(
                    "no context on " + gpu + ": " + driver.error("devicePrimaryCtxRetain", result),
                    new Failure(Outcome.NOT_STARTED, driver.error("devicePrimaryCtxRetain", result)),
                    null);
        }
        return handle[0];
    }

    @Override
    protected void free() {
        if (primary) {
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
        int result = driver.ctxSetCurrent(handle);
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
        return driver.in(handle, call);
    }

    /** Runs calls with the context current, on any thread, and restores the thread's own context afterwards. */
    public <T> T run(String request, Supplier<T> calls) {
        driver.check(request, "ctxPushCurrent", driver.ctxPushCurrent(handle));
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

    public long handle() {
        return handle;
    }

    @Override
    public String toString() {
        return (primary ? "primary context" : "context 0x" + Long.toHexString(handle)) + " on " + gpu;
    }
}
