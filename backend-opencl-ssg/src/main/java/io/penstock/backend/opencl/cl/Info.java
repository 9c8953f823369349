// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl.cl;

import io.penstock.backend.opencl.ffi.OpenCl;
import io.penstock.backend.opencl.ffi.OpenClError;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/**
 * The properties of one object, read by the {@code clGet...Info} function of its type.
 *
 * @param type the vendor's type name, for messages
 * @param handle the object's handle
 * @param call the vendor's name of the function
 * @param function the function
 */
public record Info(String type, long handle, String call, Function function) {

    /** A {@code clGet...Info} function: each fills bytes provided by the caller. */
    @FunctionalInterface
    public interface Function {
        int query(long handle, int name, long bytes, byte[] value, long[] length);
    }

    private static final int MOST_BYTES = 1 << 16; // a list of extensions

    static Info platform(long handle) {
        return new Info("cl_platform_id", handle, "clGetPlatformInfo", OpenCl::clGetPlatformInfo);
    }

    static Info device(long handle) {
        return new Info("cl_device_id", handle, "clGetDeviceInfo", OpenCl::clGetDeviceInfo);
    }

    public static Info context(long handle) {
        return new Info("cl_context", handle, "clGetContextInfo", OpenCl::clGetContextInfo);
    }

    public static Info queue(long handle) {
        return new Info("cl_command_queue", handle, "clGetCommandQueueInfo", OpenCl::clGetCommandQueueInfo);
    }

    public static Info memory(long handle) {
        return new Info("cl_mem", handle, "clGetMemObjectInfo", OpenCl::clGetMemObjectInfo);
    }

    public static Info event(long handle) {
        return new Info("cl_event", handle, "clGetEventInfo", OpenCl::clGetEventInfo);
    }

    /**
     * Returns a text, without surrounding space.
     *
     * @throws io.penstock.PenstockException with the driver's answer
     */
    String text(int name) {
        byte[] value = bytes(name, MOST_BYTES);
        int end = 0;
        while (end < value.length && value[end] != 0) {
            end++;
        }
        return new String(value, 0, end, StandardCharsets.UTF_8).strip();
    }

    /** Returns a cl_uint, cl_bool or cl_int. */
    public int number(int name) {
        return buffer(name, Integer.BYTES).getInt(0);
    }

    /** Returns a cl_ulong, size_t, bit field or handle. */
    public long word(int name) {
        return buffer(name, Long.BYTES).getLong(0);
    }

    /** Returns an array of handles. */
    public long[] handles(int name, int count) {
        ByteBuffer value = buffer(name, count * Long.BYTES);
        long[] handles = new long[count];
        value.asLongBuffer().get(handles);
        return handles;
    }

    private ByteBuffer buffer(int name, int bytes) {
        return ByteBuffer.wrap(bytes(name, bytes)).order(ByteOrder.nativeOrder());
    }

    private byte[] bytes(int name, int most) {
        byte[] value = new byte[most];
        int answer = function.query(handle, name, most, value, new long[1]);
        if (answer != OpenClError.SUCCESS) {
            throw OpenClFailure.exception("query of " + this, call, answer);
        }
        return value;
    }

    @Override
    public String toString() {
        return "the " + type + " 0x" + Long.toHexString(handle);
    }
}
