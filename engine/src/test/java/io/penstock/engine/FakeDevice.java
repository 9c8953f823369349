// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine;

import io.penstock.Capabilities;
import io.penstock.DeviceFence;
import io.penstock.Evidence;
import io.penstock.FenceSupport;
import io.penstock.FileOption;
import io.penstock.ImageRegion;
import io.penstock.NativeError;
import io.penstock.PeerExport;
import io.penstock.Target;
import io.penstock.Transfer;
import io.penstock.TransferPath;
import io.penstock.engine.host.HostMemory;
import io.penstock.engine.spi.Command;
import io.penstock.engine.spi.DeviceDriver;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.FencePoint;
import io.penstock.engine.spi.Limits;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.NativeFile;
import io.penstock.engine.spi.NativeQueue;
import io.penstock.engine.spi.Route;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** Files in memory and a queue whose commands end when the test says so: a device with one lane, or more. */
final class FakeDevice implements DeviceDriver, Route {

    final Limits limits;
    final Map<Path, MemoryFile> files = new ConcurrentHashMap<>();
    final AtomicInteger freed = new AtomicInteger();
    final AtomicInteger allocated = new AtomicInteger();
    final AtomicInteger exports = new AtomicInteger();
    final FakeQueue queue = new FakeQueue();
    final List<FakePoint> points = new CopyOnWriteArrayList<>();
    volatile boolean hasImages;
    volatile @Nullable RuntimeException imageRefusal;
    volatile @Nullable RuntimeException slotRefusal;
    volatile boolean makesPoints; // puts transfers into an order of its own
    volatile boolean waits; // has commands wait for fences themselves
    final List<Long> awaited = new CopyOnWriteArrayList<>();
    int lanes = 1;
    final List<FakeQueue> queues = new CopyOnWriteArrayList<>(); // of all lanes

    FakeDevice(Limits limits) {
        this.limits = limits;
    }

    /** A file whose bytes the test sees. */
    final class MemoryFile implements NativeFile {
        byte[] bytes;
        volatile boolean closed;

        MemoryFile(byte[] bytes) {
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
        public synchronized long size() {
            return bytes.length;
        }

        @Override
        public synchronized void truncate(long length) {
            bytes = Arrays.copyOf(bytes, (int) length);
        }

        @Override
        public void preallocate(long length) {
            truncate(Math.max(size(), length));
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
                truncate(offset + from.remaining());
            }
            int count = from.remaining();
            from.get(bytes, (int) offset, count);
            return count;
        }
    }

    /** Memory whose free is counted. */
    private final class CountedMemory implements HostMemory {
        private final HostMemory memory;

        CountedMemory(long bytes) {
            memory = HostMemory.wrap(
                    ByteBuffer.allocateDirect((int) (bytes + 8191) & -4096).alignedSlice(4096));
            allocated.incrementAndGet();
        }

        @Override
        public ByteBuffer buffer(long offset, int length) {
            return memory.buffer(offset, length);
        }

        @Override
        public long bytes() {
            return memory.bytes();
        }

        @Override
        public long hostAddress() {
            return memory.hostAddress();
        }

        @Override
        public PeerExport exportPeer() {
            exports.incrementAndGet();
            return new FakeExport(exports);
        }

        @Override
        public void free() {
            freed.incrementAndGet();
        }
    }

    /** Counts itself out when it is closed. */
    private record FakeExport(AtomicInteger exports) implements PeerExport {
        @Override
        public int descriptor() {
            return 33;
        }

        @Override
        public long offset() {
            return 512;
        }

        @Override
        public long bytes() {
            return 8192;
        }

        @Override
        public long pageBytes() {
            return 65536;
        }

        @Override
        public long alignment() {
            return 4096;
        }

        @Override
        public void close() {
            exports.decrementAndGet();
        }
    }

    /** A command as the queue took it. */
    record Taken(
            int id,
            Command.Kind kind,
            MemoryFile file,
            long fileOffset,
            HostMemory memory,
            long memoryOffset,
            long bytes) {}

    /** Ends commands in order by itself, or holds them until the test ends them. */
    static final class FakeQueue implements NativeQueue {
        private final Semaphore woken = new Semaphore(0);
        final AtomicInteger wakes = new AtomicInteger();
        final AtomicInteger syncs = new AtomicInteger();
        final AtomicInteger transfers = new AtomicInteger();
        private final List<Runnable> ends = new ArrayList<>(); // lane only, or under hold
        final Map<Integer, Taken> held = new TreeMap<>();
        final List<Integer> cancelled = new ArrayList<>();
        volatile boolean hold;
        volatile int shortBy; // reads and writes move at most this many bytes, if not 0
        volatile long failFrom = Long.MAX_VALUE; // file commands from this offset on fail
        volatile long failWith; // the result of the next file command, if not 0
        final Map<Integer, Runnable> joining =
                new ConcurrentHashMap<>(); // commands that want to say that they stand in order
        Runnable beforeWait = () -> {}; // the test's, on the lane
        private Completions sink = (id, result) -> {};

        @Override
        public int depth() {
            return 8;
        }

        @Override
        public synchronized void enqueue(int id, Command command) {
            if (command.kind() == Command.Kind.COPY_IN || command.kind() == Command.Kind.COPY_OUT) {
                boolean in = command.kind() == Command.Kind.COPY_IN;
                ByteBuffer slot = window(command.slot(), command.slotOffset(), command.bytes());
                ByteBuffer memory = window(command.memory(), command.memoryOffset(), command.bytes());
                long bytes = command.bytes();
                ends.add(() -> {
                    (in ? memory : slot).put(in ? slot : memory);
                    sink.completed(id, bytes);
                });
                return;
            }
            Taken taken = new Taken(
                    id,
                    command.kind(),
                    (MemoryFile) command.file(),
                    command.fileOffset(),
                    command.kind() == Command.Kind.SYNC ? HostMemory.wrap(1, 0) : (HostMemory) command.memory(),
                    command.memoryOffset(),
                    command.bytes());
            taken(command.kind());
            Runnable inOrder = command.inOrder();
            if (inOrder != null) {
                joining.put(id, inOrder);
            }
            if (hold) {
                held.put(id, taken);
            } else {
                ends.add(() -> sink.completed(id, perform(taken)));
            }
        }

        private void taken(Command.Kind kind) {
            (kind == Command.Kind.SYNC ? syncs : transfers).incrementAndGet();
        }

        private long perform(Taken taken) {
            if (failWith != 0) {
                long result = failWith;
                failWith = 0;
                return result;
            }
            if (taken.kind() == Command.Kind.SYNC) {
                return 0;
            }
            if (taken.fileOffset() >= failFrom) {
                return -5;
            }
            if (isMisaligned(taken, taken.file().limits())) {
                return -22;
            }
            long bytes = shortBy == 0 ? taken.bytes() : Math.min(shortBy, taken.bytes());
            ByteBuffer memory = window(taken.memory(), taken.memoryOffset(), bytes);
            return taken.kind() == Command.Kind.READ
                    ? taken.file().read(taken.fileOffset(), memory)
                    : taken.file().write(taken.fileOffset(), memory);
        }

        private static boolean isMisaligned(Taken taken, Limits limits) {
            long address = taken.memory().hostAddress() + taken.memoryOffset();
            return (taken.fileOffset() | taken.bytes()) % limits.fileAlignment() != 0
                    || address % limits.memoryAlignment() != 0;
        }

        private static ByteBuffer window(DeviceMemory memory, long offset, long bytes) {
            return ((HostMemory) memory).buffer(offset, (int) bytes);
        }

        /** Ends a held command as the device would. */
        synchronized void release(int id) {
            Taken taken = held.remove(id);
            ends.add(() -> sink.completed(id, perform(taken)));
            wake();
        }

        synchronized void releaseAll() {
            hold = false;
            List.copyOf(held.keySet()).forEach(this::release);
        }

        /** Ends a held command with a result of the test's. */
        synchronized void end(int id, long result) {
            held.remove(id);
            ends.add(() -> sink.completed(id, result));
            wake();
        }

        /** Makes the next turn throw, as a bug would. */
        synchronized void breakWith(String message) {
            ends.add(() -> {
                throw new IllegalStateException(message);
            });
            wake();
        }

        @Override
        public synchronized void cancel(int id) {
            cancelled.add(id);
        }

        @Override
        public void turn(long waitNanos, Completions completions) {
            sink = completions;
            if (!runEnds() && waitNanos != 0) {
                beforeWait.run();
                await(waitNanos);
                runEnds();
            }
        }

        private void await(long waitNanos) {
            try {
                if (waitNanos < 0) {
                    woken.acquire();
                } else if (!woken.tryAcquire(waitNanos, TimeUnit.NANOSECONDS)) {
                    return;
                }
                woken.drainPermits();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }

        private boolean runEnds() {
            List<Runnable> now;
            synchronized (this) {
                now = List.copyOf(ends);
                ends.clear();
            }
            now.forEach(Runnable::run);
            return !now.isEmpty();
        }

        @Override
        public void wake() {
            wakes.incrementAndGet();
            woken.release();
        }

        @Override
        public NativeFailure failure(Command.Kind kind, long result) {
            NativeFailure.Kind what = result == -4
                    ? NativeFailure.Kind.RETRY
                    : result == -125 ? NativeFailure.Kind.CANCELLED : NativeFailure.Kind.PERMANENT;
            return new NativeFailure(new NativeError("fake", -result, "EFAKE"), what);
        }

        @Override
        public void close() {}
    }

    @Override
    public Capabilities capabilities() {
        return new Capabilities(
                "fake", false, Set.of(TransferPath.HOST), FenceSupport.HOST_ONLY, true, hasImages, Set.of());
    }

    @Override
    public DeviceMemory allocate(long bytes) {
        return new CountedMemory(bytes);
    }

    @Override
    public DeviceMemory wrap(long nativeHandle, long bytes) {
        return HostMemory.wrap(nativeHandle, bytes);
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
        throw new IllegalArgumentException("no fences");
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
    public void close() {}

    @Override
    public TransferPath path() {
        return TransferPath.HOST;
    }

    @Override
    public Evidence evidence() {
        return Evidence.OBSERVED;
    }

    @Override
    public String reason() {
        return "";
    }

    @Override
    public String remedy() {
        return "";
    }

    @Override
    public NativeFile open(Path path, Set<FileOption> options) {
        return files.computeIfAbsent(path, p -> new MemoryFile(new byte[0]));
    }

    @Override
    public String refusal(NativeFile file, Target target, @Nullable DeviceMemory memory) {
        return "";
    }

    @Override
    public Object sharing() {
        return this;
    }

    @Override
    public int lanes() {
        return lanes;
    }

    @Override
    public NativeQueue openQueue() {
        // Two lanes must not take each other's wakes: the first gets the queue that the test holds, others their own.
        FakeQueue next = queues.isEmpty() ? queue : new FakeQueue();
        queues.add(next);
        return next;
    }

    @Override
    public DeviceMemory allocateSlot(long bytes) {
        RuntimeException refusal = slotRefusal;
        if (refusal != null) {
            throw refusal;
        }
        return new CountedMemory(bytes);
    }
}
