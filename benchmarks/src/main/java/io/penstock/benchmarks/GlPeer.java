// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import io.penstock.backend.gl.ffi.Gl;
import io.penstock.benchmarks.ffi.GlFunctions;
import io.penstock.engine.host.Slabs;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.ffi.NativeMemory;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;

/** What an application does by itself, on the thread of its context. */
final class GlPeer implements Contender {

    /** How it is done. */
    enum Way {
        /** {@code pread}, and {@code glNamedBufferSubData}. */
        NAIVE("pread and glBufferSubData", GlFunctions.GL_DYNAMIC_STORAGE_BIT),
        /** {@code pread} into a piece that is mapped for it, and unmapped. */
        MAPPED("pread into a map per transfer", Gl.GL_MAP_WRITE_BIT),
        /** {@code pread} into memory that no device has. */
        PREAD("pread alone", 0),
        /** Copies from a buffer that is mapped for good: no file, the limit. */
        PINNED("copies of pinned memory, the limit", 0);

        final String title;
        private final int flags; // of the buffer

        Way(String title, int flags) {
            this.title = title;
            this.flags = flags;
        }
    }

    private static final long MOST_PINNED = 256 << 20;
    private static final int SLOT = Gl.GL_MAP_WRITE_BIT | Gl.GL_MAP_PERSISTENT_BIT | Gl.GL_MAP_COHERENT_BIT;

    private final Way way;
    private final long bytes;
    private final int pieceBytes;
    private final FileChannel file;
    private final GlMemoryCheck memory = new GlMemoryCheck();
    private final DeviceMemory plain;
    private final int buffer;
    private final int pinned; // 0 where nothing is copied
    private final long pinnedBytes;

    /**
     * Makes what it needs.
     *
     * @param pieceBytes that are moved at a time
     */
    GlPeer(Way way, Path hot, long bytes, int pieceBytes) throws IOException {
        this.way = way;
        this.bytes = bytes;
        this.pieceBytes = pieceBytes;
        file = FileChannel.open(hot);
        plain = Slabs.shared().allocate(way == Way.PREAD ? bytes : pieceBytes);
        buffer = GlMemoryCheck.buffer(bytes, way.flags);
        pinnedBytes = Math.min(bytes, MOST_PINNED);
        pinned = way == Way.PINNED ? GlMemoryCheck.buffer(pinnedBytes, SLOT | Gl.GL_CLIENT_STORAGE_BIT) : 0;
        if (pinned != 0) {
            NativeMemory.fill(Gl.glMapNamedBufferRange(pinned, 0, pinnedBytes, SLOT), pinnedBytes, (byte) 0);
        }
    }

    @Override
    public String name() {
        return way.title;
    }

    @Override
    public Measure run(long nanos) throws Exception {
        memory.poison(buffer, bytes);
        Measure measure = Measure.of(() -> {
            switch (way) {
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
        for (long at = 0; at < bytes; at += pieceBytes) {
            read(plain.hostAddress(), at, pieceBytes);
            GlFunctions.glNamedBufferSubData(buffer, at, pieceBytes, plain.hostAddress());
        }
    }

    private void mapped() throws IOException {
        int access = Gl.GL_MAP_WRITE_BIT | GlFunctions.GL_MAP_INVALIDATE_RANGE_BIT;
        for (long at = 0; at < bytes; at += pieceBytes) {
            read(Gl.glMapNamedBufferRange(buffer, at, pieceBytes, access), at, pieceBytes);
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
        for (long at = 0; at < length; at += pieceBytes) {
            ByteBuffer piece = NativeMemory.view(address + at, pieceBytes);
            while (piece.hasRemaining()) {
                if (file.read(piece, from + at + piece.position()) <= 0) {
                    throw new IOException(name() + ": the file ends at " + (from + at + piece.position()));
                }
            }
        }
    }

    @Override
    public void verify() throws IOException {
        if (way == Way.NAIVE || way == Way.MAPPED) {
            memory.verify(name(), buffer, 0, bytes, 0);
        }
    }

    @Override
    public void close() throws IOException {
        GlMemoryCheck.delete(buffer);
        GlMemoryCheck.delete(pinned); // GL passes over 0
        plain.free();
        memory.close();
        file.close();
    }
}
