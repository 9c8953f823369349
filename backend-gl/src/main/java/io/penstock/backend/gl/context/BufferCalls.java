// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl.context;

import io.penstock.backend.gl.ffi.Gl;
import java.util.function.LongSupplier;

/**
 * Calls on buffers, which changed with GL 4.5. On the context's thread; the methods do not check {@code glGetError}.
 */
public interface BufferCalls {

    /** Creates a buffer with immutable storage; returns its name. */
    int make(long bytes, int flags);

    /** Maps a whole buffer persistently; returns the address, or 0. */
    long map(int buffer, long bytes, int access);

    /** Copies on the device, in the order of the context. */
    void copy(int from, long fromAt, int to, long toAt, long bytes);

    /** Returns a parameter of a buffer; {@code name} is one of glGetBufferParameteri64v. */
    long parameter(int buffer, int name);

    /** Returns the calls that a context supports. */
    static BufferCalls of(GlFacts facts) {
        return facts.hasNamedBuffers() ? new Named() : new Bound();
    }

    /** Deletes a buffer and its mapping; the memory is freed once the device has completed the commands that use it. */
    static void delete(int buffer) {
        Gl.glDeleteBuffers(1, new int[] {buffer});
    }

    /** Buffers by their names; touches no state of the context. */
    final class Named implements BufferCalls {

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

    /**
     * Buffers by the two copy bindings, for GL older than 4.5. The previous bindings are restored: the context may be
     * the application's.
     */
    final class Bound implements BufferCalls {

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
}
