// SPDX-License-Identifier: Apache-2.0
package io.penstock.onnxruntime;

import ai.onnxruntime.OnnxJavaType;
import ai.onnxruntime.OnnxTensor;
import ai.onnxruntime.OrtException;
import ai.onnxruntime.TensorInfo;
import io.penstock.onnxruntime.ffi.OrtApi;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.util.Arrays;

/**
 * What is needed of ONNX Runtime's Java classes and is not public: the address of the C API, and the constructors of a
 * tensor. As of version 1.29 there is no public method for memory that a ByteBuffer cannot describe.
 */
final class OrtInternals {

    private final Field api;
    private final Constructor<?> tensor;
    private final Constructor<?> info;

    private OrtInternals(Field api, Constructor<?> tensor, Constructor<?> info) {
        this.api = api;
        this.tensor = tensor;
        this.info = info;
    }

    /**
     * Finds them.
     *
     * @throws UnsupportedOperationException if they are not there; the message states what was found
     */
    static OrtInternals find() {
        Class<?> runtime;
        try {
            runtime = Class.forName("ai.onnxruntime.OnnxRuntime", true, OnnxTensor.class.getClassLoader());
        } catch (ClassNotFoundException e) {
            throw refusal("class ai.onnxruntime.OnnxRuntime", "no such class", e);
        }
        return in(runtime, OnnxTensor.class, TensorInfo.class);
    }

    static OrtInternals in(Class<?> runtime, Class<?> tensor, Class<?> info) {
        return new OrtInternals(
                handle(runtime),
                constructor(tensor, long.class, long.class, info),
                constructor(info, long[].class, OnnxJavaType.class, TensorInfo.OnnxTensorType.class));
    }

    private static Field handle(Class<?> runtime) {
        try {
            Field field = runtime.getDeclaredField("ortApiHandle");
            field.setAccessible(true);
            field.getLong(null); // throws if it is no static long
            return field;
        } catch (ReflectiveOperationException | RuntimeException e) {
            throw refusal(
                    "a field static long ortApiHandle of " + runtime.getName(),
                    Arrays.toString(runtime.getDeclaredFields()),
                    e);
        }
    }

    private static Constructor<?> constructor(Class<?> type, Class<?>... parameters) {
        try {
            Constructor<?> constructor = type.getDeclaredConstructor(parameters);
            constructor.setAccessible(true);
            return constructor;
        } catch (ReflectiveOperationException | RuntimeException e) {
            throw refusal(
                    "a constructor of " + type.getName() + " with " + Arrays.toString(parameters),
                    Arrays.toString(type.getDeclaredConstructors()),
                    e);
        }
    }

    private static UnsupportedOperationException refusal(String wanted, String found, Exception cause) {
        return new UnsupportedOperationException(
                "ONNX Runtime "
                        + OnnxTensor.class.getPackage().getImplementationVersion()
                        + " must have " + wanted + " for a tensor over such memory, had " + found + " (" + cause + ")",
                cause);
    }

    /** Creates a tensor over memory that stays the caller's. */
    OnnxTensor tensor(String memory, int device, long address, long bytes, OnnxJavaType type, long... shape)
            throws OrtException {
        try {
            Object description = info.newInstance(shape.clone(), type, TensorInfo.OnnxTensorType.mapFromJavaType(type));
            long value = new OrtApi(api.getLong(null)).createTensor(memory, device, address, bytes, type, shape);
            return (OnnxTensor) tensor.newInstance(value, 0L, description); // 0: the allocator of strings
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("ONNX Runtime's tensor cannot be constructed", e);
        }
    }
}
