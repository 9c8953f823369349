// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import io.penstock.Backend;
import io.penstock.backend.opencl.ffi.OpenCl;
import io.penstock.engine.spi.ffi.NativeMemory;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;

/** What an application does by itself, on one thread. */
final class OpenClPeer implements Contender {

    /** How it is done. */
    enum Way {
        /** {@code pread}, and a blocking {@code clEnqueueWriteBuffer}. */
        NAIVE("pread and blocking clEnqueueWriteBuffer"),
        /** A file channel that reads into a buffer that is mapped as a whole. */
        MAPPED("FileChannel into a mapped buffer"),
        /** {@code pread} into memory that no device has. */
        PREAD("pread alone"),
        /** Copies from memory that the driver has pinned: no file, the limit. */
        PINNED("pinned copies, the limit");

        final String title;

        Way(String title) {
            this.title = title;
        }
    }

    private static final long MOST_PINNED = 256 << 20;

    private final Way way;
    private final long bytes;
    private final int pieceBytes;
    private final FileChannel file;
    private final Backend backend; // has the context
    private final OpenClMemory memory;
    private final long buffer;
    private final long pinned;
    private final long pinnedBytes;
    private final long host; // where that is mapped

    /**
     * Opens what it needs.
     *
     * @param backend closed with this
     * @param pieceBytes that are moved at a time
     */
    OpenClPeer(Way way, Backend backend, Path hot, long bytes, int pieceBytes) throws IOException {
        this.way = way;
        this.bytes = bytes;
        this.pieceBytes = pieceBytes;
        this.backend = backend;
        file = FileChannel.open(hot);
        memory = new OpenClMemory(backend);
        buffer = memory.buffer(OpenCl.CL_MEM_READ_WRITE, bytes);
        pinnedBytes = way == Way.PREAD ? bytes : way == Way.PINNED ? Math.min(bytes, MOST_PINNED) : pieceBytes;
        pinned = memory.buffer(OpenCl.CL_MEM_READ_WRITE | OpenCl.CL_MEM_ALLOC_HOST_PTR, pinnedBytes);
        host = memory.map(pinned, pinnedBytes);
        NativeMemory.fill(host, pinnedBytes, (byte) 0);
    }

    @Override
    public String name() {
        return way.title;
    }

    @Override
    public Measure run(long nanos) throws Exception {
        memory.poison(buffer, bytes);
        return Measure.of(() -> switch (way) {
            case NAIVE -> naive();
            case MAPPED -> mapped();
            case PREAD -> into(host);
            case PINNED -> copies();
        });
    }

    private long naive() throws IOException {
        ByteBuffer piece = NativeMemory.view(host, pieceBytes);
        for (long at = 0; at < bytes; at += pieceBytes) {
            read(piece.clear(), at);
            OpenClMemory.check(
                    "clEnqueueWriteBuffer",
                    OpenCl.clEnqueueWriteBuffer(memory.queue, buffer, 1, at, pieceBytes, host, 0, 0, 0));
        }
        return bytes;
    }

    private long mapped() throws IOException {
        long address = memory.map(buffer, bytes);
        into(address);
        memory.unmap(buffer, address);
        return bytes;
    }

    private long into(long address) throws IOException {
        for (long at = 0; at < bytes; at += pieceBytes) {
            read(NativeMemory.view(address + at, pieceBytes), at);
        }
        return bytes;
    }

    private void read(ByteBuffer piece, long at) throws IOException {
        while (piece.hasRemaining()) {
            if (file.read(piece, at + piece.position()) <= 0) {
                throw new IOException(name() + ": the file ends at " + (at + piece.position()));
            }
        }
    }

    private long copies() {
        for (long at = 0; at < bytes; at += pinnedBytes) {
            long length = Math.min(pinnedBytes, bytes - at);
            OpenClMemory.check(
                    "clEnqueueWriteBuffer",
                    OpenCl.clEnqueueWriteBuffer(memory.queue, buffer, 0, at, length, host, 0, 0, 0));
        }
        memory.finish();
        return bytes;
    }

    @Override
    public void verify() throws IOException {
        if (way == Way.NAIVE || way == Way.MAPPED) {
            memory.verify(name(), buffer, 0, bytes, 0);
        }
    }

    @Override
    public void close() throws IOException {
        memory.unmap(pinned, host);
        OpenCl.clReleaseMemObject(pinned);
        OpenCl.clReleaseMemObject(buffer);
        memory.close();
        file.close();
        backend.close();
    }
}
