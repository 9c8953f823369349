// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats;

import io.penstock.DeviceBuffer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.jspecify.annotations.Nullable;

/**
 * An array as a tensor of DLPack: the {@code DLManagedTensor} of {@code dlpack.h} on systems of 64 bits, which cuVS,
 * CuPy, PyTorch and others take without a copy. It is laid out here; the function that C calls at its end, which calls
 * {@link #deleted}, is made by the application, by its own means to be called by C.
 *
 * <p><b>Threading:</b> thread-safe. Nothing waits for transfers: load the array first.
 *
 * <p><b>Ownership:</b> the tensor owns the array's memory, by {@code release}, which runs once: when the library calls
 * the deleter, or at {@link #close}, whichever comes first.
 */
public final class DlTensor implements AutoCloseable {

    /** Of {@code DLDeviceType}: memory of the host backend. */
    public static final int CPU = 1;

    /** Memory of the cufile backend. */
    public static final int CUDA = 2;

    // By DLDataTypeCode; 3 is of handles.
    private static final List<Set<ElementType>> TYPES = List.of(
            Set.of(ElementType.I8, ElementType.I16, ElementType.I32, ElementType.I64),
            Set.of(ElementType.U8, ElementType.U16, ElementType.U32, ElementType.U64),
            Set.of(ElementType.F16, ElementType.F32, ElementType.F64),
            Set.of(),
            Set.of(ElementType.BF16),
            Set.of(ElementType.C64, ElementType.C128),
            Set.of(ElementType.BOOL));
    private static final Set<Integer> HANDLES = Set.of(4, 7, 8, 15); // OpenCL, Vulkan, Metal, WebGPU: not addresses
    private static final int STRUCTURE_BYTES = 64; // the extents of the dimensions follow, then their strides

    private static final ConcurrentMap<Long, DlTensor> LENT = new ConcurrentHashMap<>(); // by address

    private final DeviceArray array;
    private final int deviceType;
    private final int deviceId;
    private final Runnable release;
    private final int code;
    private @Nullable DeviceBuffer structure; // once it is lent; guarded by this
    private boolean ended; // guarded by this

    /**
     * Makes a tensor of an array.
     *
     * @param deviceType a {@code DLDeviceType}: where the memory is, which nothing checks
     * @param deviceId the number of the device, as the library counts devices of that type
     * @param release closes what owns the memory, such as {@code loaded::close}; must not throw
     * @throws IllegalArgumentException if DLPack has no such type, the array is not in the processor's byte order, or
     *     its rows do not start at whole elements
     */
    public DlTensor(DeviceArray array, int deviceType, int deviceId, Runnable release) {
        this.array = array;
        this.deviceType = deviceType;
        this.deviceId = deviceId;
        this.release = Objects.requireNonNull(release, "release");
        ElementType type = array.type();
        code = TYPES.stream().map(types -> types.contains(type)).toList().indexOf(true);
        boolean isNative = array.byteOrder() == ByteOrder.nativeOrder() || type.blockBytes() == 1;
        if (code < 0 || !isNative || array.rowStride() % type.blockBytes() != 0) {
            throw new IllegalArgumentException("a tensor must have numbers or booleans in " + ByteOrder.nativeOrder()
                    + ", and rows of whole elements; " + array + " is in " + array.byteOrder()
                    + (array.rowStride() == 0 ? "" : ", with rows every " + array.rowStride() + " bytes"));
        }
    }

    /** Returns the bytes of memory that {@link #lend} needs. */
    public int bytes() {
        return STRUCTURE_BYTES + 2 * Long.BYTES * array.shape().size();
    }

    /** Returns the elements from one to the next along each dimension. */
    long[] strides() {
        long[] strides = new long[array.shape().size()];
        long stride = 1;
        for (int i = 0; i < strides.length; i++) {
            int dimension = array.order() == Array.Order.ROW_MAJOR ? strides.length - 1 - i : i;
            strides[dimension] = stride;
            stride *= array.shape().get(dimension);
        }
        if (array.rowStride() != 0) {
            strides[0] = array.rowStride() / array.type().blockBytes();
        }
        return strides;
    }

    /**
     * Writes the structure, and returns its address, for the library that takes the tensor over.
     *
     * @param memory of the host backend, at least {@link #bytes()}, such as {@code host.wrap(direct)}; closed with this
     *     tensor
     * @param deleter the address of a function {@code void (*)(DLManagedTensor *)} that calls {@link #deleted}
     * @throws IllegalStateException if it has been lent or closed
     */
    public synchronized long lend(DeviceBuffer memory, long deleter) {
        ByteBuffer bytes = memory.hostView().orElseThrow().buffer(0, bytes());
        if (structure != null || ended) {
            throw new IllegalStateException("the tensor of " + array + " has been lent or closed");
        }
        structure = memory;
        write(bytes, memory.nativeHandle(), deleter);
        LENT.put(memory.nativeHandle(), this);
        return memory.nativeHandle();
    }

    private void write(ByteBuffer bytes, long address, long deleter) {
        int dimensions = array.shape().size();
        long data = array.region().buffer().nativeHandle();
        boolean handle = HANDLES.contains(deviceType);
        bytes.putLong(handle ? data : data + array.region().offset()); // many libraries ignore byte_offset
        bytes.putInt(deviceType).putInt(deviceId).putInt(dimensions);
        bytes.put((byte) code).put((byte) (Byte.SIZE * array.type().blockBytes()));
        bytes.putShort((short) 1); // lanes
        bytes.putLong(address + STRUCTURE_BYTES).putLong(address + STRUCTURE_BYTES + (long) Long.BYTES * dimensions);
        bytes.putLong(handle ? array.region().offset() : 0);
        bytes.putLong(0).putLong(deleter); // no manager_ctx: deleted() looks for the address
        array.shape().forEach(bytes::putLong);
        Arrays.stream(strides()).forEach(bytes::putLong);
    }

    /**
     * Ends the tensor at that address: a second call does nothing. On any thread. To be called by the function that
     * {@link #lend} is given, such as a stub of an upcall or a callback of JNA.
     */
    public static void deleted(long address) {
        DlTensor tensor = LENT.get(address);
        if (tensor != null) {
            tensor.close();
        }
    }

    /**
     * Releases the memory unless that has happened; a second call does nothing. Of a tensor that is lent, the library
     * must have let go of it without a call of the deleter, and must not call it later.
     */
    @Override
    public void close() {
        DeviceBuffer lent;
        synchronized (this) {
            if (ended) {
                return;
            }
            ended = true;
            lent = structure;
        }
        try (lent) {
            if (lent != null) {
                LENT.remove(lent.nativeHandle(), this);
            }
        } finally {
            release.run();
        }
    }
}
