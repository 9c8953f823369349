// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl;

import io.penstock.backend.gl.ffi.Gl;

/**
 * How buffers are worked with, which changed with GL 4.5. On the thread of the context; nothing is looked at that
 * {@code glGetError} tells.
 */
interface BufferCalls {

    /** Makes a buffer with storage for good; answers its name. */
    int make(long bytes, int flags);

    /** Maps all of a buffer, for as long as it lives; answers the address, or 0. */
    long map(int buffer, long bytes, int access);

    /** Copies on the device, in the order of the context. */
    void copy(int from, long fromAt, int to, long toAt, long bytes);

    /** Returns what a buffer says of itself; {@code name} is one of glGetBufferParameteri64v. */
    long parameter(int buffer, int name);

    /** Returns those that a context has. */
    static BufferCalls of(GlFacts facts) {
        return facts.hasNamedBuffers() ? new NamedBuffers() : new BoundBuffers();
    }

    /** Deletes a buffer, and with it its map; the memory stays until the device has passed what uses it. */
    static void delete(int buffer) {
        Gl.glDeleteBuffers(1, new int[] {buffer});
    }
}
