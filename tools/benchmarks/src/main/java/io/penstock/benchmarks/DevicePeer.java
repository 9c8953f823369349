// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import io.penstock.benchmarks.Device.Application;
import io.penstock.benchmarks.Device.Application.Host;
import io.penstock.engine.kit.ffi.NativeMemory;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;

/** The application's own implementations, on one thread. */
final class DevicePeer implements Contender {

    /** The implementation. */
    enum Way {
        /** {@code pread}, and the API's copy from host memory. */
        NAIVE,
        /** {@code pread} into a mapped buffer. */
        MAPPED,
        /** {@code pread} into host memory. */
        PREAD,
        /** Copies from pinned memory: no file, the limit. */
        PINNED
    }

    private static final long MOST_PINNED = 256 << 20;
    private static final int SEGMENT = 1 << 20; // moved at a time

    private final Way way;
    private final long bytes;
    private final FileChannel file;
    private final Application device;
    private final long buffer;
    private final long hostBytes;
    private final Host host;

    DevicePeer(Application device, Way way, Path hot, long bytes) throws IOException {
        this.device = device;
        this.way = way;
        this.bytes = bytes;
        file = FileChannel.open(hot);
        buffer = device.buffer(bytes, way);
        hostBytes = way == Way.PREAD ? bytes : way == Way.PINNED ? Math.min(bytes, MOST_PINNED) : SEGMENT;
        host = device.host(hostBytes, way == Way.PINNED);
        NativeMemory.fill(host.address(), hostBytes, (byte) 0);
    }

    @Override
    public Measure run(long nanos) throws Exception {
        device.poison(buffer, bytes);
        return Measure.of(() -> {
            switch (way) {
                case NAIVE -> naive();
                case MAPPED -> mapped();
                case PREAD -> read(host.address(), 0, bytes);
                case PINNED -> copies();
            }
            device.finish();
            return bytes;
        });
    }

    private void naive() throws IOException {
        for (long at = 0; at < bytes; at += SEGMENT) {
            read(host.address(), at, SEGMENT);
            device.write(buffer, at, host, SEGMENT);
        }
    }

    private void mapped() throws IOException {
        long each = device.mapBytes(bytes, SEGMENT);
        for (long at = 0; at < bytes; at += each) {
            long address = device.map(buffer, at, each);
            read(address, at, each);
            device.unmap(buffer, address);
        }
    }

    private void copies() {
        for (long at = 0; at < bytes; at += hostBytes) {
            device.copy(host, buffer, at, Math.min(hostBytes, bytes - at));
        }
    }

    private void read(long address, long from, long length) throws IOException {
        for (long at = 0; at < length; at += SEGMENT) {
            ByteBuffer segment = NativeMemory.view(address + at, SEGMENT);
            while (segment.hasRemaining()) {
                if (file.read(segment, from + at + segment.position()) <= 0) {
                    throw new IOException("the file ends at " + (from + at + segment.position()));
                }
            }
        }
    }

    @Override
    public void verify() throws IOException {
        if (way == Way.NAIVE || way == Way.MAPPED) {
            device.verify(buffer, 0, bytes, 0);
        }
    }

    @Override
    public void close() throws IOException {
        host.free().run();
        device.free(buffer);
        file.close();
    }
}
