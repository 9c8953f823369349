// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl;

import io.penstock.backend.gl.ffi.Gl;

/** Buffers by their names; touches no state of the context. */
final class NamedBuffers implements BufferCalls {

    @Override
    public int make(long bytes, int flags) {
        int[] name = new int[1];
        Gl.glCreateBuffers(1, name);
        Gl.glNamedBufferStorage(name[0], bytes, 0, flags);
        return name[0];
    }

    @Override
    public long map(int buffer, long bytes, int access) {
        return Gl.glMapNamedBufferRange(buffer, 0, bytes, access);
    }

    @Override
    public void copy(int from, long fromAt, int to, long toAt, long bytes) {
        Gl.glCopyNamedBufferSubData(from, to, fromAt, toAt, bytes);
    }

    @Override
    public long parameter(int buffer, int name) {
        long[] value = new long[1];
        Gl.glGetNamedBufferParameteri64v(buffer, name, value);
        return value[0];
    }
}
