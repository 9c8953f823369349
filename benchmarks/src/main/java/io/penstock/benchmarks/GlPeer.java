// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import io.penstock.backend.gl.ffi.Gl;
import io.penstock.benchmarks.ffi.GlFunctions;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.ffi.NativeMemory;
import io.penstock.engine.spi.memory.Slabs;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;

/** The application's own implementations, on the thread of its context. */
final class GlPeer implements Contender {

    /** The implementation. */
    enum Variant {
        /** {@code pread}, and {@code glNamedBufferSubData}. */
        NAIVE("pread and glBufferSubData", GlFunctions.GL_DYNAMIC_STORAGE_BIT),
        /** {@code pread} into a segment that is mapped for it, and unmapped. */
        MAPPED("pread into a map per transfer", Gl.GL_MAP_WRITE_BIT),
        /** {@code pread} into memory unknown to any device. */
        PREAD("pread alone", 0),
        /** Copies from a persistently mapped buffer: no file, the limit. */
        PINNED("copies of pinned memory, the limit", 0);

        final String title;
        private final int flags; // of the buffer

        Variant(String title, int flags) {
            this.title = title;
            this.flags = flags;
        }
    }

    private static final long MOST_PINNED = 256 << 20;
    private static final int STAGING = Gl.GL_MAP_WRITE_BIT | Gl.GL_MAP_PERSISTENT_BIT | Gl.GL_MAP_COHERENT_BIT;

    private final Variant variant;
    private final long bytes;
    private final int segmentBytes;
    private final FileChannel file;
    private final GlMemoryCheck memory = new GlMemoryCheck();
    private final DeviceMemory plain;
    private final int buffer;
    private final int pinned; // 0 where nothing is copied
    private final long pinnedBytes;

    /**
     * Creates its resources.
     *
     * @param segmentBytes moved at a time
     */
    GlPeer(Variant variant, Path hot, long bytes, int segmentBytes) throws IOException {
        this.variant = variant;
        this.bytes = bytes;
        this.segmentBytes = segmentBytes;
        file = FileChannel.open(hot);
        plain = Slabs.shared().allocate(variant == Variant.PREAD ? bytes : segmentBytes);
        buffer = GlMemoryCheck.buffer(bytes, variant.flags);
        pinnedBytes = Math.min(bytes, MOST_PINNED);
        pinned = variant == Variant.PINNED ? GlMemoryCheck.buffer(pinnedBytes, STAGING | Gl.GL_CLIENT_STORAGE_BIT) : 0;
        if (pinned != 0) {
            NativeMemory.fill(Gl.glMapNamedBufferRange(pinned, 0, pinnedBytes, STAGING), pinnedBytes, (byte) 0);
        }
    }

    @Override
    public String name() {
        return variant.title;
    }

    @Override
    public Measure run(long nanos) throws Exception {
        memory.poison(buffer, bytes);
        Measure measure = Measure.of(() -> {
            switch (variant) {
                case NAIVE -> naive();
                case MAPPED -> mapped();
                case PREAD -> read(plain.hostAddress(), 0, bytes);
                case PINNED -> copies();
            }
            Gl.glFinish();
            return bytes;
        });
        GlFunctions.check(name());
        return measure;
    }

    private void naive() throws IOException {
        for (long at = 0; at < bytes; at += segmentBytes) {
            read(plain.hostAddress(), at, segmentBytes);
            GlFunctions.glNamedBufferSubData(buffer, at, segmentBytes, plain.hostAddress());
        }
    }

    private void mapped() throws IOException {
        int access = Gl.GL_MAP_WRITE_BIT | GlFunctions.GL_MAP_INVALIDATE_RANGE_BIT;
        for (long at = 0; at < bytes; at += segmentBytes) {
            read(Gl.glMapNamedBufferRange(buffer, at, segmentBytes, access), at, segmentBytes);
            if (GlFunctions.glUnmapNamedBuffer(buffer) == 0) {
                throw new IOException("a map has lost its contents");
            }
        }
    }

    private void copies() {
        for (long at = 0; at < bytes; at += pinnedBytes) {
            Gl.glCopyNamedBufferSubData(pinned, buffer, 0, at, Math.min(pinnedBytes, bytes - at));
        }
    }

    private void read(long address, long from, long length) throws IOException {
        for (long at = 0; at < length; at += segmentBytes) {
            ByteBuffer segment = NativeMemory.view(address + at, segmentBytes);
            while (segment.hasRemaining()) {
                if (file.read(segment, from + at + segment.position()) <= 0) {
                    throw new IOException(name() + ": the file ends at " + (from + at + segment.position()));
                }
            }
        }
    }

    @Override
    public void verify() throws IOException {
        if (variant == Variant.NAIVE || variant == Variant.MAPPED) {
            memory.verify(name(), buffer, 0, bytes, 0);
        }
    }

    @Override
    public void close() throws IOException {
        GlMemoryCheck.delete(buffer);
        GlMemoryCheck.delete(pinned); // GL ignores 0
        plain.free();
        memory.close();
        file.close();
    }
}
