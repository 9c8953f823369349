// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl;

import io.penstock.backend.gl.ffi.Gl;
import java.util.function.LongSupplier;

/**
 * Buffers by the two bindings that are for copies, where GL is older than 4.5. What was bound there is bound again
 * afterwards: the context may be the application's.
 */
final class BoundBuffers implements BufferCalls {

    private final int[] read = new int[1];
    private final int[] written = new int[1];

    @Override
    public int make(long bytes, int flags) {
        int[] name = new int[1];
        Gl.glGenBuffers(1, name);
        bound(name[0], () -> {
            Gl.glBufferStorage(Gl.GL_COPY_WRITE_BUFFER, bytes, 0, flags);
            return 0;
        });
        return name[0];
    }

    @Override
    public long map(int buffer, long bytes, int access) {
        return bound(buffer, () -> Gl.glMapBufferRange(Gl.GL_COPY_WRITE_BUFFER, 0, bytes, access));
    }

    @Override
    public void copy(int from, long fromAt, int to, long toAt, long bytes) {
        Gl.glGetIntegerv(Gl.GL_COPY_READ_BUFFER, read);
        Gl.glGetIntegerv(Gl.GL_COPY_WRITE_BUFFER, written);
        Gl.glBindBuffer(Gl.GL_COPY_READ_BUFFER, from);
        Gl.glBindBuffer(Gl.GL_COPY_WRITE_BUFFER, to);
        Gl.glCopyBufferSubData(Gl.GL_COPY_READ_BUFFER, Gl.GL_COPY_WRITE_BUFFER, fromAt, toAt, bytes);
        Gl.glBindBuffer(Gl.GL_COPY_READ_BUFFER, read[0]);
        Gl.glBindBuffer(Gl.GL_COPY_WRITE_BUFFER, written[0]);
    }

    @Override
    public long parameter(int buffer, int name) {
        long[] value = new long[1];
        return bound(buffer, () -> {
            Gl.glGetBufferParameteri64v(Gl.GL_COPY_WRITE_BUFFER, name, value);
            return value[0];
        });
    }

    private long bound(int buffer, LongSupplier calls) {
        Gl.glGetIntegerv(Gl.GL_COPY_WRITE_BUFFER, written);
        Gl.glBindBuffer(Gl.GL_COPY_WRITE_BUFFER, buffer);
        long answer = calls.getAsLong();
        Gl.glBindBuffer(Gl.GL_COPY_WRITE_BUFFER, written[0]);
        return answer;
    }
}
