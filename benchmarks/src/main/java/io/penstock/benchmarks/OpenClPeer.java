// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import io.penstock.Backend;
import io.penstock.backend.opencl.ffi.OpenCl;
import io.penstock.engine.spi.ffi.NativeMemory;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;

/** The application's own implementations, on one thread. */
final class OpenClPeer implements Contender {

    /** The implementation. */
    enum Variant {
        /** {@code pread}, and a blocking {@code clEnqueueWriteBuffer}. */
        NAIVE("pread and blocking clEnqueueWriteBuffer"),
        /** A file channel that reads into a buffer that is mapped as a whole. */
        MAPPED("FileChannel into a mapped buffer"),
        /** {@code pread} into memory unknown to any device. */
        PREAD("pread alone"),
        /** Copies from memory that the driver has pinned: no file, the limit. */
        PINNED("pinned copies, the limit");

        final String title;

        Variant(String title) {
            this.title = title;
        }
    }

    private static final long MOST_PINNED = 256 << 20;

    private final Variant variant;
    private final long bytes;
    private final int segmentBytes;
    private final FileChannel file;
    private final Backend backend; // has the context
    private final OpenClMemory memory;
    private final long buffer;
    private final long pinned;
    private final long pinnedBytes;
    private final long host; // where that is mapped

    /**
     * Opens its resources.
     *
     * @param backend closed with this
     * @param segmentBytes moved at a time
     */
    OpenClPeer(Variant variant, Backend backend, Path hot, long bytes, int segmentBytes) throws IOException {
        this.variant = variant;
        this.bytes = bytes;
        this.segmentBytes = segmentBytes;
        this.backend = backend;
        file = FileChannel.open(hot);
        memory = new OpenClMemory(backend);
        buffer = memory.buffer(OpenCl.CL_MEM_READ_WRITE, bytes);
        pinnedBytes = variant == Variant.PREAD
                ? bytes
                : variant == Variant.PINNED ? Math.min(bytes, MOST_PINNED) : segmentBytes;
        pinned = memory.buffer(OpenCl.CL_MEM_READ_WRITE | OpenCl.CL_MEM_ALLOC_HOST_PTR, pinnedBytes);
        host = memory.map(pinned, pinnedBytes);
        NativeMemory.fill(host, pinnedBytes, (byte) 0);
    }

    @Override
    public String name() {
        return variant.title;
    }

    @Override
    public Measure run(long nanos) throws Exception {
        memory.poison(buffer, bytes);
        return Measure.of(() -> switch (variant) {
            case NAIVE -> naive();
            case MAPPED -> mapped();
            case PREAD -> into(host);
            case PINNED -> copies();
        });
    }

    private long naive() throws IOException {
        ByteBuffer segment = NativeMemory.view(host, segmentBytes);
        for (long at = 0; at < bytes; at += segmentBytes) {
            read(segment.clear(), at);
            OpenClMemory.check(
                    "clEnqueueWriteBuffer",
                    OpenCl.clEnqueueWriteBuffer(memory.queue, buffer, 1, at, segmentBytes, host, 0, 0, 0));
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
        for (long at = 0; at < bytes; at += segmentBytes) {
            read(NativeMemory.view(address + at, segmentBytes), at);
        }
        return bytes;
    }

    private void read(ByteBuffer segment, long at) throws IOException {
        while (segment.hasRemaining()) {
            if (file.read(segment, at + segment.position()) <= 0) {
                throw new IOException(name() + ": the file ends at " + (at + segment.position()));
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
        if (variant == Variant.NAIVE || variant == Variant.MAPPED) {
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
