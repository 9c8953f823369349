// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gpu.device;

import io.penstock.Capabilities;
import io.penstock.DeviceFence;
import io.penstock.DeviceQueue;
import io.penstock.FenceSupport;
import io.penstock.Transfer;
import io.penstock.TransferPath;
import io.penstock.backend.gpu.api.DriverApi;
import io.penstock.backend.gpu.context.GpuContext;
import io.penstock.backend.gpu.context.GpuFence;
import io.penstock.backend.gpu.context.GpuStream;
import io.penstock.backend.gpu.context.LateWord;
import io.penstock.backend.gpu.peer.IpcExport;
import io.penstock.backend.gpu.peer.IpcImport;
import io.penstock.engine.kit.ElasticCalls;
import io.penstock.engine.spi.DeviceDriver;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.FencePoint;
import java.net.URI;
import java.nio.ByteBuffer;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A GPU as a device: memory in one context, in use until the device is closed. */
public final class GpuDevice implements DeviceDriver {

    /** The alignment that {@code memAlloc} guarantees, and so what wrapped memory must have. */
    private static final long ALIGNMENT = 256;

    /** Notified of new memory. */
    public interface Watcher {

        /** Called when memory has been allocated or wrapped; may block. */
        void allocated(GpuMemory memory);

        /** Called when the device closes: no more memory is allocated. */
        void close();
    }

    private final GpuContext context;
    private final DriverApi driver;
    private final @Nullable Watcher watcher;
    private final long spinNanos;
    private final Capabilities capabilities;

    /**
     * Takes over one use of a context.
     *
     * @param watcher notified of new memory, and closed with the device; null for none
     * @param paths the paths that transfers may take
     * @param spinNanos how long imported events are polled without pause, if longer than the default
     */
    public GpuDevice(GpuContext context, @Nullable Watcher watcher, Set<TransferPath> paths, long spinNanos) {
        this.context = context;
        this.driver = context.driver();
        this.watcher = watcher;
        this.spinNanos = spinNanos;
        this.capabilities = new Capabilities(
                context.gpu().name(),
                true,
                paths,
                FenceSupport.AFTER_STAGING,
                false,
                false,
                Set.of(context.toString()));
    }

    @Override
    public Capabilities capabilities() {
        return capabilities;
    }

    @Override
    public DeviceMemory allocate(long bytes) {
        return offered(GpuSlabs.of(context).allocate(Math.max(bytes, 1)));
    }

    @Override
    public DeviceMemory wrap(long nativeHandle, long bytes) {
        String pointer = "the " + driver.words().pointer() + " 0x" + Long.toHexString(nativeHandle);
        if (nativeHandle % ALIGNMENT != 0) {
            throw new IllegalArgumentException(pointer + " is not a multiple of " + ALIGNMENT);
        }
        context.run("wrapping of " + pointer, () -> {
            checkContext(pointer, nativeHandle);
            checkRange(pointer, nativeHandle, bytes);
            return context;
        });
        GpuSpan span = new GpuSpan(context, nativeHandle, bytes);
        // The application may free the memory as soon as its buffer is closed: the registration must end before.
        return offered(new GpuMemory(span, 0, bytes, span::end));
    }

    @Override
    public String scheme() {
        return IpcExport.scheme(driver);
    }

    @Override
    public DeviceMemory open(URI uri) {
        IpcImport imported = IpcImport.open(context, uri);
        context.join();
        GpuSpan span = new GpuSpan(context, imported.address(), imported.bytes());
        // The last close of a buffer may happen on an I/O queue, and unmapping may wait for the GPU.
        Runnable free = () -> ElasticCalls.run(() -> {
            span.end();
            imported.close();
            context.leave();
        });
        return offered(new GpuMemory(span, 0, imported.bytes(), free, imported.revoked()));
    }

    private GpuMemory offered(GpuMemory memory) {
        if (watcher != null) {
            try {
                watcher.allocated(memory);
            } catch (RuntimeException | Error e) {
                memory.free();
                throw e;
            }
        }
        return memory;
    }

    private void checkContext(String pointer, long address) {
        long[] found = new long[3];
        int result = driver.describe(address, found);
        if (result == DriverApi.INVALID_VALUE) {
            throw new IllegalArgumentException(
                    pointer + " is not memory of the " + driver.words().vendor() + " driver");
        }
        driver.check("wrapping of " + pointer, "pointerGetAttribute", result);
        if (found[0] == 0) {
            throw new IllegalArgumentException(pointer + " is memory of the host, not of a GPU");
        }
        if (found[1] != context.gpu().ordinal()) {
            throw new IllegalArgumentException(
                    pointer + " is memory of GPU " + found[1] + ", this backend uses " + context.gpu());
        }
        // Memory that is mapped rather than allocated (cuMemMap) belongs to the device and has no context.
        if (found[2] != 0 && found[2] != context.handle()) {
            throw new IllegalArgumentException(pointer + " is memory of another context, 0x"
                    + Long.toHexString(found[2]) + ", this backend uses the " + context + ": see "
                    + context.options().context());
        }
    }

    private void checkRange(String pointer, long address, long bytes) {
        long[] base = new long[1];
        long[] length = new long[1];
        int result = driver.memGetAddressRange(base, length, address);
        driver.check("wrapping of " + pointer, "memGetAddressRange", result);
        long behind = base[0] + length[0] - address;
        if (bytes > behind) {
            throw new IllegalArgumentException(
                    pointer + " has " + behind + " bytes up to the end of its allocation, not " + bytes);
        }
    }

    @Override
    public DeviceMemory wrap(ByteBuffer memory) {
        throw new IllegalArgumentException("a GPU cannot wrap host memory: wrap a "
                + driver.words().pointer() + ", or open backend host for " + memory);
    }

    @Override
    public DeviceFence fence(long nativeEvent) {
        int state = nativeEvent == 0 ? DriverApi.INVALID_HANDLE : context.attempt(() -> driver.eventQuery(nativeEvent));
        if (state == DriverApi.INVALID_HANDLE || state == DriverApi.INVALID_VALUE) {
            throw new IllegalArgumentException("invalid " + driver.words().event() + " 0x"
                    + Long.toHexString(nativeEvent) + ": " + driver.error("eventQuery", state));
        }
        return new GpuFence(driver, context.handle(), nativeEvent, false, spinNanos);
    }

    @Override
    public boolean makes(DeviceQueue queue) {
        GpuStream.Handle stream = GpuStream.Handle.of(queue);
        return stream != null && stream.driver() == driver;
    }

    @Override
    public @Nullable FencePoint fencePoint(Transfer transfer, boolean exposed) {
        GpuStream.Handle stream = GpuStream.Handle.of(transfer.queue().orElse(null));
        if (stream == null) {
            return exposed ? new GpuPoint(context, 0, true, null) : null;
        }
        long owner = stream.context();
        if (owner != context.handle()) {
            throw new IllegalArgumentException("the " + stream + " is of another context, 0x" + Long.toHexString(owner)
                    + ", this backend uses the " + context);
        }
        LateWord size = stream.size();
        if (size != null && size.isClosed()) {
            throw new IllegalArgumentException("the late-bound size is closed");
        }
        return new GpuPoint(context, stream.stream(), exposed, size);
    }

    @Override
    public boolean isDeviceAddress(long address) {
        long[] found = new long[3];
        return context.attempt(() -> driver.describe(address, found)) == DriverApi.SUCCESS && found[0] != 0;
    }

    @Override
    public void close() {
        if (watcher != null) {
            watcher.close();
        }
        context.leave();
    }
}
