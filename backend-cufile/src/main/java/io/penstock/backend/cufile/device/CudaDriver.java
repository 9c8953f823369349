// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile.device;

import io.penstock.Capabilities;
import io.penstock.DeviceFence;
import io.penstock.DeviceQueue;
import io.penstock.FenceSupport;
import io.penstock.Transfer;
import io.penstock.TransferPath;
import io.penstock.backend.cufile.CudaStream;
import io.penstock.backend.cufile.CufileOptions;
import io.penstock.backend.cufile.cuda.CudaContext;
import io.penstock.backend.cufile.cuda.CudaFailure;
import io.penstock.backend.cufile.cuda.CudaFence;
import io.penstock.backend.cufile.cuda.LateWord;
import io.penstock.backend.cufile.cuda.StreamAccess;
import io.penstock.backend.cufile.ffi.Cuda;
import io.penstock.backend.cufile.ffi.CudaError;
import io.penstock.backend.cufile.ipc.IpcExport;
import io.penstock.backend.cufile.ipc.IpcImport;
import io.penstock.engine.kit.ElasticCalls;
import io.penstock.engine.spi.DeviceDriver;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.FencePoint;
import java.net.URI;
import java.nio.ByteBuffer;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A GPU as a device: memory in one CUDA context, in use until the device is closed. */
public final class CudaDriver implements DeviceDriver {

    /** The alignment that {@code cuMemAlloc} guarantees, and so what wrapped memory must have. */
    private static final long ALIGNMENT = 256;

    /** Notified of new memory. */
    public interface Watcher {

        /** Called when memory has been allocated or wrapped; may block. */
        void allocated(GpuMemory memory);

        /** Called when the device closes: no more memory is allocated. */
        void close();
    }

    private final CudaContext context;
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
    public CudaDriver(CudaContext context, @Nullable Watcher watcher, Set<TransferPath> paths, long spinNanos) {
        this.context = context;
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
        String pointer = "the CUdeviceptr 0x" + Long.toHexString(nativeHandle);
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
        return IpcExport.SCHEME;
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
        long type = attribute(pointer, Cuda.CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address);
        if ((int) type != Cuda.CU_MEMORYTYPE_DEVICE) {
            throw new IllegalArgumentException(pointer + " is memory of the host, not of a GPU");
        }
        int device = (int) attribute(pointer, Cuda.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, address);
        if (device != context.gpu().ordinal()) {
            throw new IllegalArgumentException(
                    pointer + " is memory of GPU " + device + ", this backend uses " + context.gpu());
        }
        // Memory that is mapped rather than allocated (cuMemMap) belongs to the device and has no context.
        long owner = attribute(pointer, Cuda.CU_POINTER_ATTRIBUTE_CONTEXT, address);
        if (owner != 0 && owner != context.handle()) {
            throw new IllegalArgumentException(pointer + " is memory of another context, 0x" + Long.toHexString(owner)
                    + ", this backend uses the " + context + ": see " + CufileOptions.CONTEXT);
        }
    }

    private static long attribute(String pointer, int attribute, long address) {
        long[] value = new long[1];
        int result = Cuda.cuPointerGetAttribute(value, attribute, address);
        if (result == CudaError.INVALID_VALUE) {
            throw new IllegalArgumentException(pointer + " is not memory of the CUDA driver");
        }
        CudaFailure.check("wrapping of " + pointer, "cuPointerGetAttribute", result);
        return value[0];
    }

    private static void checkRange(String pointer, long address, long bytes) {
        long[] base = new long[1];
        long[] length = new long[1];
        int result = Cuda.cuMemGetAddressRange_v2(base, length, address);
        CudaFailure.check("wrapping of " + pointer, "cuMemGetAddressRange", result);
        long behind = base[0] + length[0] - address;
        if (bytes > behind) {
            throw new IllegalArgumentException(
                    pointer + " has " + behind + " bytes up to the end of its allocation, not " + bytes);
        }
    }

    @Override
    public DeviceMemory wrap(ByteBuffer memory) {
        throw new IllegalArgumentException(
                "a GPU cannot wrap host memory: wrap a CUdeviceptr, or open backend host for " + memory);
    }

    @Override
    public DeviceFence fence(long nativeEvent) {
        int state = nativeEvent == 0 ? CudaError.INVALID_HANDLE : context.attempt(() -> Cuda.cuEventQuery(nativeEvent));
        if (state == CudaError.INVALID_HANDLE || state == CudaError.INVALID_VALUE) {
            throw new IllegalArgumentException("invalid CUevent 0x" + Long.toHexString(nativeEvent) + ": "
                    + CudaFailure.error("cuEventQuery", state));
        }
        return new CudaFence(context.handle(), nativeEvent, false, spinNanos);
    }

    @Override
    public boolean makes(DeviceQueue queue) {
        return queue instanceof CudaStream;
    }

    @Override
    public @Nullable FencePoint fencePoint(Transfer transfer, boolean exposed) {
        DeviceQueue stream = transfer.queue().orElse(null);
        if (stream == null) {
            return exposed ? new CudaPoint(context, 0, true, null) : null;
        }
        long owner = StreamAccess.context(stream);
        if (owner != context.handle()) {
            throw new IllegalArgumentException("the " + stream + " is of another context, 0x" + Long.toHexString(owner)
                    + ", this backend uses the " + context);
        }
        LateWord size = StreamAccess.size(stream);
        if (size != null && size.isClosed()) {
            throw new IllegalArgumentException("the late-bound size is closed");
        }
        return new CudaPoint(context, stream.nativeHandle(), exposed, size);
    }

    @Override
    public boolean isDeviceAddress(long address) {
        long[] type = new long[1];
        int result =
                context.attempt(() -> Cuda.cuPointerGetAttribute(type, Cuda.CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address));
        return result == CudaError.SUCCESS && (int) type[0] == Cuda.CU_MEMORYTYPE_DEVICE;
    }

    @Override
    public void close() {
        if (watcher != null) {
            watcher.close();
        }
        context.leave();
    }
}
