// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gpu.context;

import io.penstock.DeviceFence;
import io.penstock.DeviceQueue;
import io.penstock.Failure;
import io.penstock.PermanentStorageException;
import io.penstock.Transfer;
import io.penstock.backend.gpu.api.DriverApi;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A stream of the application: what a vendor's public class, such as {@code CudaStream}, wraps. That class registers in
 * its static initializer how to find it, so that it is found wherever such a stream exists.
 */
public final class GpuStream {

    private static final Map<Class<?>, Function<DeviceQueue, GpuStream>> WRAPPERS = new ConcurrentHashMap<>();

    private final DriverApi driver;
    private final long handle;
    private final long context;
    private final @Nullable LateWord size;

    /** Wraps a stream of a context. */
    public GpuStream(DriverApi driver, long handle, long context) {
        this(driver, handle, context, null);
    }

    private GpuStream(DriverApi driver, long handle, long context, @Nullable LateWord size) {
        this.driver = driver;
        this.handle = handle;
        this.context = context;
        this.size = size;
    }

    /** Registers how to find the stream in a public class. */
    public static <T extends DeviceQueue> void wrappedIn(Class<T> type, Function<T, GpuStream> unwrap) {
        WRAPPERS.put(type, wrapper -> unwrap.apply(type.cast(wrapper)));
    }

    /** Returns the stream of a queue; null if it is none of a GPU. */
    public static @Nullable GpuStream of(DeviceQueue queue) {
        Function<DeviceQueue, GpuStream> unwrap = WRAPPERS.get(queue.getClass());
        return unwrap == null ? null : unwrap.apply(queue);
    }

    /** Returns the word with the size of a transfer that is known late; null for any other transfer. */
    public static @Nullable LateWord lateSize(Transfer transfer) {
        DeviceQueue queue = transfer.queue().orElse(null);
        GpuStream stream = queue == null ? null : of(queue);
        return stream == null ? null : stream.size;
    }

    public DriverApi driver() {
        return driver;
    }

    public long handle() {
        return handle;
    }

    public long context() {
        return context;
    }

    /** Returns the word with the size of transfers on this stream; null if each transfer has its own size. */
    public @Nullable LateWord size() {
        return size;
    }

    /** Returns this stream for transfers whose size is in a word. */
    public GpuStream sized(LateWord word) {
        return new GpuStream(driver, handle, context, word);
    }

    /** Creates a word for a size, a multiple of {@code unit}. */
    public LateWord lateWord(long unit) {
        return LateWord.in(driver, context, unit);
    }

    /**
     * Returns a fence at the current tail of the stream.
     *
     * @throws io.penstock.PenstockException with the driver's answer
     */
    public DeviceFence fence() {
        long[] event = new long[1];
        check("eventCreate", () -> driver.eventCreate(event, DriverApi.EVENT_DISABLE_TIMING));
        GpuFence fence = new GpuFence(driver, context, event[0], true, 0);
        try {
            check("eventRecord", () -> driver.eventRecord(event[0], handle));
            return fence;
        } catch (RuntimeException | Error e) {
            fence.close();
            throw e;
        }
    }

    /**
     * Makes later work in the stream wait, on the GPU, until {@code fence} is signalled.
     *
     * @throws IllegalArgumentException if the fence has no event of a driver
     * @throws io.penstock.PenstockException with the driver's answer
     */
    public void await(DeviceFence fence) {
        long event = fence.nativeHandle();
        if (event == 0) {
            throw new IllegalArgumentException(
                    fence + " has no " + driver.words().event() + ": only the host can wait for it");
        }
        check("streamWaitEvent", () -> driver.streamWaitEvent(handle, event, 0));
    }

    private void check(String entry, IntSupplier calls) {
        int result = driver.in(context, calls);
        if (result != DriverApi.SUCCESS) {
            throw new PermanentStorageException(
                    this + " refused: " + driver.error(entry, result),
                    new Failure(Failure.NOT_STARTED.outcome(), driver.error(entry, result)),
                    null);
        }
    }

    @Override
    public String toString() {
        return driver.words().stream() + " 0x" + Long.toHexString(handle);
    }
}
