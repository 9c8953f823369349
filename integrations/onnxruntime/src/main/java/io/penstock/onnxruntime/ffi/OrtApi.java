// SPDX-License-Identifier: Apache-2.0
package io.penstock.onnxruntime.ffi;

import ai.onnxruntime.OnnxJavaType;
import ai.onnxruntime.OrtException;
import com.sun.jna.Function;
import com.sun.jna.Memory;
import com.sun.jna.Native;
import com.sun.jna.Pointer;
import com.sun.jna.ptr.PointerByReference;
import java.nio.ByteBuffer;

/**
 * The table of functions {@code OrtApi} of {@code onnxruntime_c_api.h}, called by their position. Positions do not
 * change: newer versions append to the table.
 */
public final class OrtApi {
    private static final int GET_ERROR_CODE = 1;
    private static final int GET_ERROR_MESSAGE = 2;
    private static final int CREATE_TENSOR_WITH_DATA_AS_ORT_VALUE = 49;
    private static final int CREATE_MEMORY_INFO = 68;
    private static final int RELEASE_STATUS = 93;
    private static final int RELEASE_MEMORY_INFO = 94;

    private static final int ORT_DEVICE_ALLOCATOR = 0;
    private static final int ORT_MEM_TYPE_DEFAULT = 0;

    private final Pointer table;

    /** Takes the address of the table. */
    public OrtApi(long address) {
        table = new Pointer(address);
    }

    /** Returns the address of byte 0 of a direct buffer. */
    public static long address(ByteBuffer buffer) {
        return Pointer.nativeValue(Native.getDirectBufferPointer(buffer));
    }

    /**
     * Creates an {@code OrtValue}, a tensor over memory that stays the caller's.
     *
     * @param memory what kind of memory it is, as {@code CreateMemoryInfo} spells it: {@code Cpu}, {@code Cuda}
     * @param device the number of the device
     * @return its handle
     */
    public long createTensor(String memory, int device, long address, long bytes, OnnxJavaType type, long... shape)
            throws OrtException {
        PointerByReference info = new PointerByReference();
        check(call(CREATE_MEMORY_INFO, memory, ORT_DEVICE_ALLOCATOR, device, ORT_MEM_TYPE_DEFAULT, info));
        try (Memory dimensions = new Memory(Math.max(1, shape.length) * (long) Long.BYTES)) {
            dimensions.write(0, shape, 0, shape.length);
            PointerByReference value = new PointerByReference();
            check(call(
                    CREATE_TENSOR_WITH_DATA_AS_ORT_VALUE,
                    info.getValue(),
                    new Pointer(address),
                    bytes,
                    dimensions,
                    (long) shape.length,
                    elementType(type),
                    value));
            return Pointer.nativeValue(value.getValue());
        } finally {
            function(RELEASE_MEMORY_INFO).invokeVoid(new Object[] {info.getValue()});
        }
    }

    /** Returns the number of an {@code ONNXTensorElementDataType}; the numbers of the Java API differ. */
    private static int elementType(OnnxJavaType type) {
        return switch (type) {
            case FLOAT -> 1;
            case UINT8 -> 2;
            case INT8 -> 3;
            case INT16 -> 5;
            case INT32 -> 6;
            case INT64 -> 7;
            case BOOL -> 9;
            case FLOAT16 -> 10;
            case DOUBLE -> 11;
            case BFLOAT16 -> 16;
            default -> throw new IllegalArgumentException("type must be of a fixed size, was " + type);
        };
    }

    private Function function(int position) {
        return Function.getFunction(table.getPointer((long) position * Native.POINTER_SIZE));
    }

    private long call(int position, Object... arguments) {
        return Pointer.nativeValue(function(position).invokePointer(arguments));
    }

    /** Throws the error of an {@code OrtStatus}, and frees it; null is success. */
    private void check(long status) throws OrtException {
        if (status == 0) {
            return;
        }
        Object[] argument = {new Pointer(status)};
        int code = function(GET_ERROR_CODE).invokeInt(argument);
        String message = function(GET_ERROR_MESSAGE).invokeString(argument, false);
        function(RELEASE_STATUS).invokeVoid(argument);
        throw new OrtException(code, message);
    }
}
