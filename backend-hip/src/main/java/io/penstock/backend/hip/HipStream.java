// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.hip;

import io.penstock.backend.gpu.context.GpuContext;
import io.penstock.backend.gpu.context.GpuStream;
import io.penstock.backend.hip.ffi.Hip;
import io.penstock.backend.hip.ffi.HipOverCuda;

/**
 * A {@code hipStream_t} of the application. Transfers and the application's kernels are ordered on it without the host
 * in between.
 *
 * <pre>{@code
 * HipStream stream = HipStream.of(hipStream, device);
 * backend.enqueue(read).doOnNext(stream::await);             // kernels launched from here on see the bytes
 * chunk.releaseAfter(stream.fence());                        // the chunk is in use until the kernels so far are done
 * backend.submit(Transfer.read(from, target).on(stream));    // the copies stand in the stream itself
 * }</pre>
 *
 * <p><b>Threading:</b> any thread, whatever device is current there; the order of calls is the order of the stream.
 *
 * <p><b>Ownership:</b> the stream remains the application's. It must live until all work enqueued here has completed.
 */
@SuppressWarnings("exports") // what it inherits is its own for applications, as with StringBuilder
public final class HipStream extends GpuStream {

    private static final String NOT_LOADED = "the HIP runtime is not loaded: no backend hip is open";

    private HipStream(Handle handle) {
        super(handle);
    }

    /**
     * Wraps a stream, whose device the runtime reports (HIP 5.6 and newer); a backend {@code hip} must be open.
     *
     * @param stream the {@code hipStream_t}; not 0, the default stream of whichever device is current
     * @throws IllegalArgumentException if the runtime does not know it
     * @throws UnsupportedOperationException if the runtime does not report the device of a stream
     * @throws IllegalStateException if no backend is open
     */
    public static HipStream of(long stream) {
        Hip hip = checked(stream);
        long any = GpuContext.anyHandle(hip).orElseThrow();
        long[] context = new long[1];
        int result = hip.in(any, () -> hip.contextOfStream(stream, context));
        if (result == Hip.NOT_FOUND) {
            throw new UnsupportedOperationException(
                    "this runtime has no hipStreamGetDevice: name the device, HipStream.of(stream, device)");
        }
        if (result != Hip.SUCCESS) {
            throw new IllegalArgumentException(
                    "invalid hipStream_t 0x" + Long.toHexString(stream) + ": " + hip.error("streamGetDevice", result));
        }
        return new HipStream(new Handle(hip, stream, context[0], null));
    }

    /**
     * Wraps a stream of a device, of any version of HIP; a backend {@code hip} must be open.
     *
     * @param stream the {@code hipStream_t}; not 0
     * @param device the ordinal of its device
     * @throws IllegalStateException if no backend is open
     */
    public static HipStream of(long stream, int device) {
        return new HipStream(new Handle(checked(stream), stream, device, null));
    }

    private static Hip checked(long stream) {
        if (stream == 0) {
            throw new IllegalArgumentException("the default stream is not supported: create one with hipStreamCreate");
        }
        if (GpuContext.anyHandle(Hip.DRIVER).isPresent()) {
            return Hip.DRIVER;
        }
        if (GpuContext.anyHandle(HipOverCuda.CUDA).isPresent()) {
            return HipOverCuda.CUDA;
        }
        throw new IllegalStateException(NOT_LOADED);
    }

    /**
     * Returns the file of the HIP runtime that the backends of this process call ({@code penstock.hip.libamdhip64}), or
     * its name for the system's loader: for an application that calls HIP itself.
     *
     * @throws IllegalStateException if no backend has loaded it
     */
    public static String library() {
        String file = Hip.file();
        if (file.isEmpty()) {
            throw new IllegalStateException(NOT_LOADED);
        }
        return file;
    }
}
