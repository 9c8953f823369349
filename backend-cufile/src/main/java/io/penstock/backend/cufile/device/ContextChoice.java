// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile.device;

import io.penstock.BackendUnavailableException;
import io.penstock.Failure;
import io.penstock.Options;
import io.penstock.backend.cufile.CufileOptions;
import io.penstock.backend.cufile.cuda.CudaContext;
import io.penstock.backend.cufile.cuda.CudaFailure;
import io.penstock.backend.cufile.cuda.CudaGpu;
import io.penstock.backend.cufile.ffi.Cuda;
import io.penstock.backend.cufile.ffi.CudaError;

/**
 * The context that the options select.
 *
 * @param handle the application's context, or 0 for a GPU's primary context
 * @param wanted the requested GPU, or -1 if none was requested
 */
public record ContextChoice(long handle, int wanted) {

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
    public static CudaContext open(Options options) {
        CudaPlatform platform = CudaPlatform.find(options);
        ContextChoice choice = of(options);
        CudaPlatform chosen = platform.with(choice.ordinal(platform));
        if (!chosen.isUsable()) {
            throw new BackendUnavailableException(chosen.reason() + "; " + chosen.remedy(), Failure.NOT_STARTED, null);
        }
        return CudaContext.open(platform.gpus().get(choice.ordinal(platform)), choice.handle);
    }

    private static long current(Options options) {
        if (!CudaPlatform.find(options).isUsable()) {
            return 0; // the caller reports the reason, which is more specific
        }
        long[] handle = new long[1];
        if (Cuda.cuCtxGetCurrent(handle) != CudaError.SUCCESS || handle[0] == 0) {
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
        int pushed = Cuda.cuCtxPushCurrent_v2(handle);
        if (pushed != CudaError.SUCCESS) {
            throw refused("cannot be used: " + CudaFailure.error("cuCtxPushCurrent", pushed));
        }
        int[] device = new int[1];
        int got = Cuda.cuCtxGetDevice(device);
        Cuda.cuCtxPopCurrent_v2(new long[1]);
        if (got != CudaError.SUCCESS) {
            throw refused("cannot be used: " + CudaFailure.error("cuCtxGetDevice", got));
        }
        return platform.gpus().stream()
                .filter(gpu -> gpu.device() == device[0])
                .mapToInt(CudaGpu::ordinal)
                .findFirst()
                .orElseThrow(() -> refused("is on a device that the driver does not list"));
    }

    private BackendUnavailableException refused(String why) {
        return new BackendUnavailableException(
                "the context 0x" + Long.toHexString(handle) + " " + why, Failure.NOT_STARTED, null);
    }
}
