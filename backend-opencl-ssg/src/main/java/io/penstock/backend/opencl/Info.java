// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl;

import io.penstock.backend.opencl.ffi.OpenClError;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/**
 * One of OpenCL's {@code clGet...Info} functions, asked about one object: they all fill bytes that the caller brings.
 *
 * @param subject of the questions, for messages
 * @param call the vendor's name of the function
 * @param question the function with its object
 */
record Info(String subject, String call, Question question) {

    /** A {@code clGet...Info} function with its object. */
    @FunctionalInterface
    interface Question {
        int ask(int name, long bytes, byte[] value, long[] length);
    }

    private static final int MOST_BYTES = 1 << 16; // a list of extensions

    /**
     * Returns a text, without what surrounds it.
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
    int number(int name) {
        return buffer(name, Integer.BYTES).getInt(0);
    }

    /** Returns a cl_ulong, size_t, bit field or handle. */
    long word(int name) {
        return buffer(name, Long.BYTES).getLong(0);
    }

    /** Returns an array of handles. */
    long[] handles(int name, int count) {
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
        int answer = question.ask(name, most, value, new long[1]);
        if (answer != OpenClError.SUCCESS) {
            throw OpenClFailure.exception("a look at " + subject, call, answer);
        }
        return value;
    }
}
