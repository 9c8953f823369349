// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.cuda;

import io.penstock.Backend;
import io.penstock.DeviceBuffer;
import io.penstock.DeviceFence;
import io.penstock.renderer.cuda.ffi.CudaDriver;
import io.penstock.renderer.cuda.ffi.Nvrtc;
import io.penstock.renderer.volume.KernelQueue;
import io.penstock.renderer.volume.Kernels;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.function.LongConsumer;
import java.util.function.ToIntFunction;

/**
 * The application's side of CUDA: a stream of its own in the context of a backend's memory.
 *
 * <p><b>Threading:</b> any thread, one at a time: {@code stream}'s function is called so.
 *
 * <p><b>Ownership:</b> close it before the backend.
 */
public final class CudaKernels implements KernelQueue {

    private static final int BLOCK = 128;

    /** More than a stream of slabs leases at a time: an event is signalled before it is reused. */
    private static final int EVENTS = 16;

    private final long context;
    private final long stream;
    private final long module;
    private final Map<String, Long> functions = new HashMap<>();
    private final Deque<Long> events = new ArrayDeque<>();
    private final Deque<Runnable> made = new ArrayDeque<>(); // how to free it, the last first
    private final CudaDriver.KernelLaunch launch = new CudaDriver.KernelLaunch();

    private CudaKernels(long context) {
        this.context = context;
        enter();
        try {
            module = module();
            stream = made(
                    handle -> CudaDriver.cuStreamCreate(handle, CudaDriver.CU_STREAM_NON_BLOCKING),
                    "cuStreamCreate",
                    CudaDriver::cuStreamDestroy_v2);
            for (int i = 0; i < EVENTS; i++) {
                events.add(made(
                        handle -> CudaDriver.cuEventCreate(handle, CudaDriver.CU_EVENT_DISABLE_TIMING),
                        "cuEventCreate",
                        CudaDriver::cuEventDestroy_v2));
            }
        } catch (RuntimeException | Error refused) {
            free();
            throw refused;
        }
    }

    private long module() {
        int[] device = new int[1];
        check(CudaDriver.cuCtxGetDevice(device), "cuCtxGetDevice");
        int[] major = new int[1];
        int[] minor = new int[1];
        attribute(major, device[0], CudaDriver.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
        attribute(minor, device[0], CudaDriver.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
        byte[] ptx = ComposeModule.ptx(10 * major[0] + minor[0]);
        return made(handle -> CudaDriver.cuModuleLoadData(handle, ptx), "cuModuleLoadData", CudaDriver::cuModuleUnload);
    }

    private long made(ToIntFunction<long[]> making, String call, LongConsumer freeing) {
        long[] handle = new long[1];
        check(making.applyAsInt(handle), call);
        made.push(() -> freeing.accept(handle[0]));
        return handle[0];
    }

    private void free() {
        made.forEach(Runnable::run);
        made.clear();
    }

    /**
     * Opens a stream in the context that a backend's memory is in.
     *
     * @throws IllegalStateException with CUDA's error, if a call fails
     */
    public static CudaKernels beside(Backend backend) {
        try (DeviceBuffer buffer = Objects.requireNonNull(backend.allocate(1).block())) {
            long[] context = new long[1];
            check(
                    CudaDriver.cuPointerGetAttribute(
                            context, CudaDriver.CU_POINTER_ATTRIBUTE_CONTEXT, buffer.nativeHandle()),
                    "cuPointerGetAttribute");
            return new CudaKernels(context[0]);
        }
    }

    @Override
    public DeviceFence fence(Backend backend) {
        enter();
        long event = events.remove();
        events.add(event);
        check(CudaDriver.cuEventRecord(event, stream), "cuEventRecord");
        return backend.fence(event);
    }

    @Override
    public long allocate(long bytes) {
        enter();
        long[] address = new long[1];
        check(CudaDriver.cuMemAlloc_v2(address, bytes), "cuMemAlloc");
        return address[0];
    }

    @Override
    public void free(long address) {
        synchronize();
        check(CudaDriver.cuMemFree_v2(address), "cuMemFree");
    }

    @Override
    public void put(ByteBuffer from, long address) {
        enter();
        check(CudaDriver.cuMemcpyHtoDAsync_v2(address, from, from.remaining(), stream), "cuMemcpyHtoDAsync");
        synchronize(); // the caller may reuse the buffer
    }

    @Override
    public void get(long address, ByteBuffer to) {
        enter();
        check(CudaDriver.cuMemcpyDtoHAsync_v2(to, address, to.remaining(), stream), "cuMemcpyDtoHAsync");
        synchronize();
    }

    @Override
    public void run(String kernel, long indices, long... arguments) {
        enter();
        int blocks = Math.toIntExact((indices + BLOCK - 1) / BLOCK);
        check(launch.run(function(kernel), blocks, BLOCK, stream, arguments), "cuLaunchKernel of " + kernel);
    }

    private long function(String kernel) {
        return functions.computeIfAbsent(kernel, name -> {
            long[] function = new long[1];
            check(CudaDriver.cuModuleGetFunction(function, module, name), "cuModuleGetFunction of " + name);
            return function[0];
        });
    }

    private static void attribute(int[] value, int device, int attribute) {
        check(CudaDriver.cuDeviceGetAttribute(value, attribute, device), "cuDeviceGetAttribute");
    }

    private void enter() {
        check(CudaDriver.cuCtxSetCurrent(context), "cuCtxSetCurrent");
    }

    private void synchronize() {
        enter();
        check(CudaDriver.cuStreamSynchronize(stream), "cuStreamSynchronize");
    }

    @Override
    public void close() {
        enter();
        CudaDriver.cuStreamSynchronize(stream);
        free();
    }

    private static void check(int answer, String call) {
        if (answer != 0) {
            throw new IllegalStateException(call + " -> " + CudaDriver.nameOf(answer));
        }
    }

    /**
     * The kernels of {@code compose.cu} as PTX: compiled for the device if NVIDIA's runtime compiler is available,
     * otherwise as compiled by CUDA 13.0 from the same source ({@code nvcc -ptx -arch=compute_75 --fmad=false -x cu
     * compose.cu}). The first line of {@code compose.ptx}, added by hand, has the SHA-256 of that source; a test
     * compares.
     */
    private static final class ComposeModule {

        private ComposeModule() {}

        /**
         * Returns the PTX, with a final NUL.
         *
         * @param capability the device's, 90 for 9.0
         */
        static byte[] ptx(int capability) {
            if (!Nvrtc.isPresent()) {
                return (Kernels.source("compose.ptx") + '\0').getBytes(StandardCharsets.US_ASCII);
            }
            return Nvrtc.compile(
                    Kernels.source("compose.cu"),
                    "--gpu-architecture=compute_" + capability,
                    "--fmad=false", // the processor rounds after each operation
                    "--prec-div=true",
                    "--prec-sqrt=true",
                    "--ftz=false");
        }
    }
}
