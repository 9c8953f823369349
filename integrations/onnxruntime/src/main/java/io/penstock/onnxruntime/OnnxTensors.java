// SPDX-License-Identifier: Apache-2.0
package io.penstock.onnxruntime;

import ai.onnxruntime.OnnxJavaType;
import ai.onnxruntime.OnnxTensor;
import ai.onnxruntime.OrtEnvironment;
import ai.onnxruntime.OrtException;
import ai.onnxruntime.OrtProvider;
import io.penstock.BufferRegion;
import io.penstock.HostView;
import io.penstock.formats.Array;
import io.penstock.formats.DeviceArray;
import io.penstock.formats.ElementType;
import io.penstock.onnxruntime.ffi.OrtApi;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Map;

/**
 * ONNX Runtime's {@link OnnxTensor}s over device memory, without a copy: as inputs, as outputs
 * ({@code OrtSession.run(inputs, pinnedOutputs)}), and as weights ({@code SessionOptions.addInitializer}).
 *
 * <p><b>Threading:</b> thread-safe. Nothing waits for transfers: read into the memory first, and write it to a file
 * after {@code run} has returned.
 *
 * <p><b>Errors:</b> {@link OrtException} with ONNX Runtime's own message; {@link io.penstock.ClosedException} if the
 * buffer is closed; {@link IllegalArgumentException} if type, shape, byte order or alignment do not fit.
 *
 * <p><b>Ownership:</b> a tensor borrows the memory. Closing it frees nothing of the buffer. Close tensors, and sessions
 * that have one as a weight, before the buffer. If the buffer is closed first, its memory may be freed or reused while
 * ONNX Runtime still reads it; nothing detects that.
 */
public final class OnnxTensors {

    private static final Map<ElementType, OnnxJavaType> TYPES = Map.ofEntries(
            Map.entry(ElementType.BOOL, OnnxJavaType.BOOL),
            Map.entry(ElementType.I8, OnnxJavaType.INT8),
            Map.entry(ElementType.U8, OnnxJavaType.UINT8),
            Map.entry(ElementType.I16, OnnxJavaType.INT16),
            Map.entry(ElementType.I32, OnnxJavaType.INT32),
            Map.entry(ElementType.I64, OnnxJavaType.INT64),
            Map.entry(ElementType.F16, OnnxJavaType.FLOAT16),
            Map.entry(ElementType.BF16, OnnxJavaType.BFLOAT16),
            Map.entry(ElementType.F32, OnnxJavaType.FLOAT),
            Map.entry(ElementType.F64, OnnxJavaType.DOUBLE));

    private OnnxTensors() {}

    /**
     * Returns a tensor over an array in memory that the processor can address.
     *
     * @throws IllegalArgumentException if ONNX Runtime has no such type, or the array is not in native byte order and
     *     row-major
     */
    public static OnnxTensor of(OrtEnvironment environment, DeviceArray array) throws OrtException {
        return of(environment, array.region(), type(array), shape(array));
    }

    /**
     * Returns a tensor over memory that the processor can address: the memory of the host backend, and of every buffer
     * that has a {@link HostView}.
     *
     * @throws IllegalStateException if the processor cannot address it
     * @throws UnsupportedOperationException if it is larger than a ByteBuffer, and the classes of this version of ONNX
     *     Runtime differ from the classes of 1.29; the message states what was looked for and what was found
     */
    public static OnnxTensor of(OrtEnvironment environment, BufferRegion region, OnnxJavaType type, long... shape)
            throws OrtException {
        HostView view = region.buffer()
                .hostView()
                .orElseThrow(() -> new IllegalStateException(
                        "buffer must be addressable by the processor, was " + region.buffer()));
        checkLength(region, type, shape);
        long address = OrtApi.address(view.buffer(region.offset(), 0));
        checkAlignment(address, type);
        if (region.length() <= Integer.MAX_VALUE) {
            return OnnxTensor.createTensor(
                    environment, view.buffer(region.offset(), (int) region.length()), shape, type);
        }
        return OrtInternals.find().tensor("Cpu", 0, address, region.length(), type, shape);
    }

    /**
     * Returns a tensor over an array in memory of an NVIDIA GPU, as
     * {@link #ofCuda(OrtEnvironment, int, BufferRegion, OnnxJavaType, long...)} does.
     *
     * @throws IllegalArgumentException if ONNX Runtime has no such type, or the array is not in native byte order and
     *     row-major
     */
    public static OnnxTensor ofCuda(OrtEnvironment environment, int device, DeviceArray array) throws OrtException {
        return ofCuda(environment, device, array.region(), type(array), shape(array));
    }

    /**
     * Returns a tensor over memory of an NVIDIA GPU: the memory of the cufile backend.
     *
     * <p>For sessions with the CUDA provider only. A session without takes the address for one of the host's, as do
     * {@code getValue} and the methods of the tensor that return buffers: the process crashes.
     *
     * @param device the number of the GPU in CUDA, as for {@code SessionOptions.addCUDA}
     * @param region in memory that {@link io.penstock.DeviceBuffer#nativeHandle} gives a CUDA address of; nothing
     *     checks that
     * @throws IllegalStateException if this build of ONNX Runtime has no CUDA provider, or the memory is the host's
     * @throws UnsupportedOperationException if the classes of this version of ONNX Runtime differ from the classes of
     *     1.29; the message states what was looked for and what was found
     */
    public static OnnxTensor ofCuda(
            OrtEnvironment environment, int device, BufferRegion region, OnnxJavaType type, long... shape)
            throws OrtException {
        if (!OrtEnvironment.getAvailableProviders().contains(OrtProvider.CUDA)) {
            throw new IllegalStateException(
                    "ONNX Runtime must have the provider CUDA (the artifact onnxruntime_gpu), has "
                            + OrtEnvironment.getAvailableProviders() + " in version " + environment.getVersion());
        }
        return onDevice("Cuda", device, region, type, shape);
    }

    static OnnxTensor onDevice(String memory, int device, BufferRegion region, OnnxJavaType type, long... shape)
            throws OrtException {
        if (region.buffer().hostView().isPresent()) {
            throw new IllegalStateException("buffer must be in memory of " + memory + ", was " + region.buffer());
        }
        checkLength(region, type, shape);
        long address = region.buffer().nativeHandle() + region.offset();
        checkAlignment(address, type);
        return OrtInternals.find().tensor(memory, device, address, region.length(), type, shape);
    }

    private static OnnxJavaType type(DeviceArray array) {
        OnnxJavaType type = TYPES.get(array.type());
        if (type == null) {
            throw new IllegalArgumentException("type must be one of "
                    + TYPES.keySet().stream().map(ElementType::name).sorted().toList() + ", was " + array);
        }
        if (array.byteOrder() != ByteOrder.nativeOrder() && array.type().blockBytes() > 1) {
            throw new IllegalArgumentException(
                    "byte order must be " + ByteOrder.nativeOrder() + ", was " + array.byteOrder() + " in " + array);
        }
        if (array.order() != Array.Order.ROW_MAJOR && array.shape().size() > 1) {
            throw new IllegalArgumentException("order must be ROW_MAJOR, was " + array.order() + " in " + array);
        }
        return type;
    }

    private static long[] shape(DeviceArray array) {
        return array.shape().stream().mapToLong(Long::longValue).toArray();
    }

    private static void checkLength(BufferRegion region, OnnxJavaType type, long... shape) {
        if (!TYPES.containsValue(type)) {
            throw new IllegalArgumentException("type must be of a fixed size, was " + type);
        }
        boolean empty = Arrays.stream(shape).anyMatch(dimension -> dimension == 0); // however large the others are
        long bytes = empty ? 0 : type.size;
        for (long dimension : shape) {
            if (dimension < 0) {
                throw new IllegalArgumentException("dimensions must be at least 0, were " + Arrays.toString(shape));
            }
            bytes = Math.multiplyExact(bytes, dimension);
        }
        if (bytes != region.length()) {
            throw new IllegalArgumentException("region must have " + bytes + " bytes for " + type + " "
                    + Arrays.toString(shape) + ", had " + region.length());
        }
    }

    private static void checkAlignment(long address, OnnxJavaType type) {
        if (address % type.size != 0) {
            throw new IllegalArgumentException("address must be a multiple of " + type.size + " for " + type
                    + ", was 0x" + Long.toHexString(address));
        }
    }
}
