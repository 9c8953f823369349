// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine;

import io.penstock.Capabilities;
import io.penstock.DeviceFence;
import io.penstock.Evidence;
import io.penstock.FenceSupport;
import io.penstock.FileOption;
import io.penstock.ImageRegion;
import io.penstock.PeerExport;
import io.penstock.Transfer;
import io.penstock.TransferPath;
import io.penstock.engine.kit.memory.HostMemory;
import io.penstock.engine.spi.DeviceDriver;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.FencePoint;
import io.penstock.engine.spi.IoPath;
import io.penstock.engine.spi.Limits;
import io.penstock.engine.spi.NativeFile;
import io.penstock.engine.spi.NativeQueue;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongUnaryOperator;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * Files in memory and queues whose commands end when the test says so ({@link FakeQueue}): a device with one I/O queue,
 * or more.
 */
public final class FakeDevice implements DeviceDriver, IoPath {

    /** The one address that is the device's. */
    public static final long ADDRESS = 4711;

    public final Limits limits;
    public final Map<Path, MemoryFile> files = new ConcurrentHashMap<>();
    public final AtomicInteger freed = new AtomicInteger();
    public final AtomicInteger allocated = new AtomicInteger();
    public final AtomicInteger exports = new AtomicInteger();
    public boolean dmaBufs = true;
    public final FakeQueue queue = new FakeQueue();
    public final List<FakeFence> imported = new CopyOnWriteArrayList<>();
    public final List<FakePoint> points = new CopyOnWriteArrayList<>();
    public volatile boolean hasImages;
    public volatile boolean opaque; // the processor does not reach what is allocated from now on
    public volatile @Nullable RuntimeException imageRefusal;
    public volatile @Nullable RuntimeException bufferRefusal;
    public volatile @Nullable Error bufferError;
    public volatile boolean makesPoints; // puts transfers into an order of its own
    public volatile boolean waits; // has commands wait for fences themselves
    public final List<Long> awaited = new CopyOnWriteArrayList<>();
    public int ioQueues = 1;
    public long mostCachedBytes;

    /** Thrown by the opening of each queue behind the first. */
    public @Nullable Error queueRefusal;

    public volatile Runnable amidCopies = () -> {}; // between the check of a view and the copy itself
    public volatile boolean closed;
    public final List<FakeQueue> queues = new CopyOnWriteArrayList<>(); // of all I/O queues

    public FakeDevice(Limits limits) {
        this.limits = limits;
    }

    /** A file whose bytes the test sees. */
    public final class MemoryFile implements NativeFile {
        public byte[] bytes;
        public volatile boolean closed;
        public volatile @Nullable IOException truncateRefusal;
        public volatile boolean mayWait;
        public volatile Runnable beforeSize = () -> {};
        public volatile LongUnaryOperator cached = bytes -> 0; // how many of so many bytes it reads by readCached

        public MemoryFile(byte[] bytes) {
            this.bytes = bytes;
        }

        @Override
        public Limits limits() {
            return limits;
        }

        @Override
        public Object identity() {
            return this;
        }

        @Override
        public boolean mayWait() {
            return mayWait;
        }

        @Override
        public long readCached(long offset, long address, long count) {
            return cached.applyAsLong(count);
        }

        @Override
        public long size() {
            beforeSize.run();
            return length();
        }

        private synchronized long length() {
            return bytes.length;
        }

        @Override
        public synchronized void truncate(long length) throws IOException {
            IOException refusal = truncateRefusal;
            if (refusal != null) {
                throw refusal;
            }
            resize(length);
        }

        synchronized void resize(long length) {
            bytes = Arrays.copyOf(bytes, (int) length);
        }

        @Override
        public synchronized void preallocate(long length) {
            resize(Math.max(length(), length));
        }

        @Override
        public void close() {
            closed = true;
        }

        synchronized int read(long offset, ByteBuffer to) {
            int count = (int) Math.min(to.remaining(), bytes.length - offset);
            if (count <= 0) {
                return 0;
            }
            to.put(bytes, (int) offset, count);
            return count;
        }

        synchronized int write(long offset, ByteBuffer from) {
            if (offset + from.remaining() > bytes.length) {
                resize(offset + from.remaining());
            }
            int count = from.remaining();
            from.get(bytes, (int) offset, count);
            return count;
        }
    }

    /** Memory whose free is counted. */
    private final class CountedMemory implements HostMemory {
        private final HostMemory memory;
        private final boolean opaque;

        CountedMemory(long bytes) {
            this(
                    HostMemory.wrap(ByteBuffer.allocateDirect((int) (bytes + 8191) & -4096)
                            .alignedSlice(4096)
                            .slice(0, (int) (bytes + 4095) & -4096)), // as long wherever the allocation began
                    false);
        }

        CountedMemory(HostMemory memory, boolean opaque) {
            this.memory = memory;
            this.opaque = opaque;
            allocated.incrementAndGet();
        }

        @Override
        public ByteBuffer buffer(long offset, int length) {
            ByteBuffer buffer = memory.buffer(offset, length);
            amidCopies.run();
            return buffer;
        }

        @Override
        public long bytes() {
            return memory.bytes();
        }

        @Override
        public long hostAddress() {
            return opaque ? 0 : memory.hostAddress();
        }

        @Override
        public PeerExport exportPeer() {
            exports.incrementAndGet();
            return new FakeExport(512, 8192, 65536, 4096, Mono.empty(), exports, dmaBufs);
        }

        @Override
        public void free() {
            freed.incrementAndGet();
        }
    }

    /** Counts itself out when it is closed. */
    private record FakeExport(
            long offset,
            long bytes,
            long pageBytes,
            long alignment,
            Mono<Void> released,
            AtomicInteger exports,
            boolean dmaBuf)
            implements PeerExport {

        @Override
        public int descriptor() {
            if (!dmaBuf) {
                throw new UnsupportedOperationException("no dma-buf");
            }
            return 33;
        }

        @Override
        public List<String> limits(String... importers) {
            return List.of(importers);
        }

        @Override
        public void close() {
            exports.decrementAndGet();
        }
    }

    @Override
    public Capabilities capabilities() {
        return new Capabilities(
                "fake", false, Set.of(TransferPath.HOST), FenceSupport.HOST_ONLY, true, hasImages, Set.of());
    }

    @Override
    public DeviceMemory allocate(long bytes) {
        return opaque
                ? new CountedMemory(HostMemory.wrap(ByteBuffer.allocateDirect((int) bytes)), true)
                : new CountedMemory(bytes);
    }

    @Override
    public DeviceMemory wrap(long nativeHandle, long bytes) {
        return new CountedMemory(HostMemory.wrap(nativeHandle, bytes), false);
    }

    @Override
    public DeviceMemory wrap(ByteBuffer memory) {
        return HostMemory.wrap(memory);
    }

    @Override
    public void checkImage(ImageRegion region) {}

    @Override
    public DeviceMemory image(ImageRegion region) {
        RuntimeException refusal = imageRefusal;
        if (refusal != null && region.level() > 0) {
            throw refusal;
        }
        return new CountedMemory(region.length());
    }

    @Override
    public DeviceFence fence(long nativeEvent) {
        FakeFence fence = new FakeFence();
        fence.handle = nativeEvent;
        imported.add(fence);
        return fence;
    }

    @Override
    public @Nullable FencePoint fencePoint(Transfer transfer, boolean exposed) {
        if (!makesPoints) {
            return null;
        }
        FakePoint point = new FakePoint(exposed);
        points.add(point);
        return point;
    }

    @Override
    public boolean awaits(Transfer transfer, FencePoint point, DeviceFence fence) {
        awaited.add(fence.nativeHandle());
        return waits;
    }

    @Override
    public boolean makes(DeviceFence fence) {
        return fence instanceof FakeFence;
    }

    @Override
    public void close() {
        closed = true;
    }

    @Override
    public boolean isDeviceAddress(long address) {
        return address == ADDRESS;
    }

    @Override
    public long mostCachedBytes() {
        return mostCachedBytes;
    }

    @Override
    public TransferPath path() {
        return TransferPath.HOST;
    }

    @Override
    public Evidence evidence() {
        return Evidence.OBSERVED;
    }

    @Override
    public NativeFile open(Path path, Set<FileOption> options) {
        return files.computeIfAbsent(path, p -> new MemoryFile(new byte[0]));
    }

    @Override
    public Object sharing() {
        return this;
    }

    @Override
    public int ioQueues() {
        return ioQueues;
    }

    @Override
    public NativeQueue openQueue() {
        // Two I/O queues must not take each other's wakes: the first gets the queue that the test holds, others their
        // own.
        Error refusal = queueRefusal;
        if (refusal != null && !queues.isEmpty()) {
            throw refusal;
        }
        FakeQueue next = queues.isEmpty() ? queue : new FakeQueue();
        queues.add(next);
        return next;
    }

    @Override
    public DeviceMemory allocateBounceBuffer(long bytes) {
        RuntimeException refusal = bufferRefusal;
        if (refusal != null) {
            throw refusal;
        }
        Error error = bufferError;
        if (error != null) {
            throw error;
        }
        return new CountedMemory(bytes);
    }
}
