// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.gpu;

import io.penstock.Backend;
import io.penstock.DeviceBuffer;
import io.penstock.DeviceFence;
import io.penstock.renderer.gpu.ffi.GpuDriver;
import io.penstock.renderer.gpu.ffi.KernelLaunch;
import io.penstock.renderer.volume.KernelQueue;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.function.LongConsumer;
import java.util.function.ToIntFunction;

/**
 * The application's side of CUDA or HIP: a stream of its own in the context of a backend's memory.
 *
 * <p><b>Threading:</b> any thread, one at a time: {@code stream}'s function is called so.
 *
 * <p><b>Ownership:</b> close it before the backend.
 */
public final class GpuKernels implements KernelQueue {

    private static final int BLOCK = 128;

    /** More than a stream of slabs leases at a time: an event is signalled before it is reused. */
    private static final int EVENTS = 16;

    private final GpuVendor vendor;
    private final GpuDriver driver;
    private final long context;
    private final long stream;
    private final long module;
    private final Map<String, Long> functions = new HashMap<>();
    private final Deque<Long> events = new ArrayDeque<>();
    private final Deque<Runnable> made = new ArrayDeque<>(); // how to free it, the last first
    private final KernelLaunch launch;

    private GpuKernels(GpuVendor vendor, GpuDriver driver, long context) {
        this.vendor = vendor;
        this.driver = driver;
        this.launch = new KernelLaunch(driver);
        this.context = context;
        enter();
        try {
            byte[] image = vendor.image(driver);
            module = made("moduleLoadData", handle -> driver.moduleLoadData(handle, image), driver::moduleUnload);
            stream = made(
                    "streamCreate",
                    handle -> driver.streamCreate(handle, GpuDriver.STREAM_NON_BLOCKING),
                    driver::streamDestroy);
            for (int i = 0; i < EVENTS; i++) {
                events.add(made(
                        "eventCreate",
                        handle -> driver.eventCreate(handle, GpuDriver.EVENT_DISABLE_TIMING),
                        driver::eventDestroy));
            }
        } catch (RuntimeException | Error refused) {
            free();
            throw refused;
        }
    }

    private long made(String call, ToIntFunction<long[]> making, LongConsumer freeing) {
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
     * Opens a stream in the context that the memory of a backend {@code cufile} is in.
     *
     * @throws IllegalStateException with the driver's error, if a call fails
     */
    public static GpuKernels onCuda(Backend backend) {
        return beside(backend, GpuVendor.CUDA, GpuDriver.cuda());
    }

    /** As above, of a backend {@code hip}; where {@link #isOnHip} returned true. */
    public static GpuKernels onHip(Backend backend) {
        return beside(backend, GpuVendor.HIP, GpuDriver.hip());
    }

    /** Returns whether there is a compiler for the kernels, which come as source only, beside the open runtime of HIP. */
    public static boolean isOnHip() {
        return GpuVendor.hiprtc().isPresent();
    }

    private static GpuKernels beside(Backend backend, GpuVendor vendor, GpuDriver driver) {
        try (DeviceBuffer buffer = Objects.requireNonNull(backend.allocate(1).block())) {
            long[] context = new long[1];
            int answer = driver.pointerGetAttribute(context, vendor.contextAttribute(), buffer.nativeHandle());
            vendor.check(driver, answer, "pointerGetAttribute");
            return new GpuKernels(vendor, driver, context[0]);
        }
    }

    @Override
    public DeviceFence fence(Backend backend) {
        enter();
        long event = events.remove();
        events.add(event);
        check(driver.eventRecord(event, stream), "eventRecord");
        return backend.fence(event);
    }

    @Override
    public long allocate(long bytes) {
        enter();
        long[] address = new long[1];
        check(driver.memAlloc(address, bytes), "memAlloc");
        return address[0];
    }

    @Override
    public void free(long address) {
        synchronize();
        check(driver.memFree(address), "memFree");
    }

    @Override
    public void put(ByteBuffer from, long address) {
        enter();
        check(driver.memcpyHtoDAsync(address, from, from.remaining(), stream), "memcpyHtoDAsync");
        synchronize(); // the caller may reuse the buffer
    }

    @Override
    public void get(long address, ByteBuffer to) {
        enter();
        check(driver.memcpyDtoHAsync(to, address, to.remaining(), stream), "memcpyDtoHAsync");
        synchronize();
    }

    @Override
    public void run(String kernel, long indices, long... arguments) {
        enter();
        int blocks = Math.toIntExact((indices + BLOCK - 1) / BLOCK);
        vendor.check(
                driver,
                launch.run(function(kernel), blocks, BLOCK, stream, arguments),
                "launchKernel",
                " of " + kernel);
    }

    private long function(String kernel) {
        return functions.computeIfAbsent(kernel, name -> {
            long[] function = new long[1];
            vendor.check(driver, driver.moduleGetFunction(function, module, name), "moduleGetFunction", " of " + name);
            return function[0];
        });
    }

    private void enter() {
        check(driver.ctxSetCurrent(context), "ctxSetCurrent");
    }

    private void synchronize() {
        enter();
        check(driver.streamSynchronize(stream), "streamSynchronize");
    }

    @Override
    public void close() {
        enter();
        driver.streamSynchronize(stream);
        free();
    }

    private void check(int answer, String call) {
        vendor.check(driver, answer, call);
    }
}
