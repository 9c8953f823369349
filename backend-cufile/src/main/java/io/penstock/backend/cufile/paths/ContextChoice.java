// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile.paths;

import io.penstock.BackendUnavailableException;
import io.penstock.Failure;
import io.penstock.Options;
import io.penstock.backend.cufile.CufileOptions;
import io.penstock.backend.cufile.ffi.CuFile;
import io.penstock.backend.cufile.ffi.Cuda;
import io.penstock.backend.gpu.api.GpuOptions;
import io.penstock.backend.gpu.context.GpuContext;
import io.penstock.backend.gpu.context.GpuInfo;
import io.penstock.backend.gpu.mapped.Registrations;

/**
 * The context that the options select.
 *
 * @param handle the application's context, or 0 for a GPU's primary context
 * @param wanted the requested GPU, or -1 if none was requested
 */
public record ContextChoice(long handle, int wanted) {

    private static final GpuOptions OPTIONS = new GpuOptions(
            CufileOptions.PATH,
            CufileOptions.CONTEXT,
            CufileOptions.REGISTER,
            CufileOptions.REGISTER_BYTES,
            CufileOptions.DIRECT_BYTES,
            CufileOptions.SEGMENT_BYTES,
            CufileOptions.THREADS,
            CufileOptions.STREAMS);

    /** The options of the mapped path. */
    public static final Registrations.Names MAPPED = new Registrations.Names(
            CufileOptions.MAPPED_BYTES, CufileOptions.MAPPED_SEGMENT_BYTES, CufileOptions.MAPPED_THREADS);

    /** Reads the options; needs the driver only if they name an application's context. */
    public static ContextChoice of(Options options) {
        int ordinal = options.get(CufileOptions.DEVICE);
        boolean isSet = !options.source(CufileOptions.DEVICE).equals("default");
        String text = options.get(CufileOptions.CONTEXT);
        return switch (text) {
            case "primary" -> new ContextChoice(0, ordinal);
            case "current" -> new ContextChoice(current(options), isSet ? ordinal : -1);
            default -> new ContextChoice(Long.decode(text), isSet ? ordinal : -1);
        };
    }

    /**
     * Opens the context that the options select, or adds a user to it.
     *
     * @throws BackendUnavailableException if there is no driver, no such GPU or no such context
     */
    public static GpuContext open(Options options) {
        CudaPlatform platform = CudaPlatform.find(options);
        ContextChoice choice = of(options);
        CudaPlatform chosen = platform.with(choice.ordinal(platform));
        if (!chosen.isUsable()) {
            throw new BackendUnavailableException(chosen.reason() + "; " + chosen.remedy(), Failure.NOT_STARTED, null);
        }
        return open(platform.gpus().get(choice.ordinal(platform)), choice.handle);
    }

    /** As above, of a known GPU; {@code handle} is 0 for its primary context. */
    public static GpuContext open(GpuInfo gpu, long handle) {
        return GpuContext.open(CuFile.API, OPTIONS, gpu, handle);
    }

    private static long current(Options options) {
        if (!CudaPlatform.find(options).isUsable()) {
            return 0; // the caller reports the reason, which is more specific
        }
        long[] handle = new long[1];
        if (Cuda.DRIVER.ctxGetCurrent(handle) != Cuda.SUCCESS || handle[0] == 0) {
            throw new BackendUnavailableException(
                    CufileOptions.CONTEXT + "=current, but no CUDA context is current on thread "
                            + Thread.currentThread().getName(),
                    Failure.NOT_STARTED,
                    null);
        }
        return handle[0];
    }

    /**
     * Returns the GPU that the context is on.
     *
     * @throws BackendUnavailableException if the driver does not know the context, or it is not on the requested GPU
     */
    public int ordinal(CudaPlatform platform) {
        if (handle == 0 || !platform.isUsable()) {
            return Math.max(wanted, 0);
        }
        int found = find(platform);
        if (wanted >= 0 && wanted != found) {
            throw refused("is on GPU " + found + ", but " + CufileOptions.DEVICE + " is " + wanted);
        }
        return found;
    }

    private int find(CudaPlatform platform) {
        int pushed = Cuda.DRIVER.ctxPushCurrent(handle);
        if (pushed != Cuda.SUCCESS) {
            throw refused("cannot be used: " + Cuda.DRIVER.error("ctxPushCurrent", pushed));
        }
        int[] device = new int[1];
        int got = Cuda.DRIVER.ctxGetDevice(device);
        Cuda.DRIVER.ctxPopCurrent(new long[1]);
        if (got != Cuda.SUCCESS) {
            throw refused("cannot be used: " + Cuda.DRIVER.error("ctxGetDevice", got));
        }
        return platform.gpus().stream()
                .filter(gpu -> gpu.device() == device[0])
                .mapToInt(GpuInfo::ordinal)
                .findFirst()
                .orElseThrow(() -> refused("is on a device that the driver does not list"));
    }

    private BackendUnavailableException refused(String why) {
        return new BackendUnavailableException(
                "the context 0x" + Long.toHexString(handle) + " " + why, Failure.NOT_STARTED, null);
    }
}
