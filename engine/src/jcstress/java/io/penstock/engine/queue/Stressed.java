// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.queue;

import io.penstock.engine.FakePort;

import io.penstock.engine.order.BusyRegions;
import io.penstock.engine.plan.Extents;
import io.penstock.engine.resource.EngineBuffer;
import io.penstock.engine.resource.EngineFile;
import io.penstock.engine.resource.Identity;

import io.penstock.DeviceBuffer;
import io.penstock.FileOption;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.Limits;
import io.penstock.engine.spi.NativeFile;
import io.penstock.engine.spi.NativeQueue;
import io.penstock.engine.spi.Request;
import io.penstock.engine.spi.Wakeup;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** A transfer with a file, a buffer and an I/O queue of its own, small enough to be made a million times. */
public final class Stressed extends OpenTransfer {

    private static final int BYTES = 64;
    private static final Path PATH = Path.of("stressed");

    final AtomicInteger ends = new AtomicInteger();
    final Held queue;
    final IoQueue ioQueue;

    private Stressed(Port port, Transfer transfer) {
        super(port, transfer);
        this.queue = new Held();
        this.ioQueue = new IoQueue(queue, QueueLimits.ofBytes(1 << 20), () -> 0);
    }

    static Stressed make() {
        return new Stressed(new FakePort(0), read());
    }

    static Stressed makeOrdered(Object key) {
        return new Stressed(new FakePort(0), read().ordered(key));
    }

    public static Transfer read() {
        StorageFile file =
                new EngineFile(null, PATH, Set.of(FileOption.READ), List.of(new EngineFile.OpenedFile(new File(), "")));
        DeviceBuffer buffer = new EngineBuffer(null, new Memory(), BYTES);
        return Transfer.read(file.region(0, BYTES), buffer.all());
    }

    @Override
    protected void ended() {
        ends.incrementAndGet();
    }

    /** As the backend does it, when pins are taken. */
    void admit() {
        admit(FakePort.PATH, 0, ioQueue);
    }

    boolean isBusy() {
        return BusyRegions.ALL.overlapping(Extents.of(transfer(), Identity.OF)) != null;
    }

    /** Forgets what is kept by the file's identity. */
    void forget() {
        ((EngineFile) transfer().fileRegion(0).file()).locks().close();
    }

    /** A queue that keeps its one command until it is ended by hand. */
    static final class Held implements NativeQueue {
        private final Wakeup wakeup = new Wakeup();
        private @Nullable Request held;
        boolean ends;
        int commands;

        @Override
        public int depth() {
            return 1;
        }

        @Override
        public void enqueue(Request request) {
            held = request;
            commands++;
        }

        boolean isHeld() {
            return held != null;
        }

        @Override
        public void cancel(Request request) {}

        @Override
        public void turn(long waitNanos) {
            Request request = held;
            if (request != null && ends) {
                held = null;
                request.complete(BYTES);
            }
        }

        @Override
        public Wakeup wakeup() {
            return wakeup;
        }

        @Override
        public void close() {}
    }

    private static final class File implements NativeFile {
        @Override
        public Limits limits() {
            return Limits.none(1 << 20);
        }

        @Override
        public Object identity() {
            return this;
        }

        @Override
        public long size() {
            return BYTES;
        }

        @Override
        public void truncate(long length) {}

        @Override
        public void preallocate(long length) {}

        @Override
        public void close() {}
    }

    private static final class Memory implements DeviceMemory {
        private static final AtomicLong HANDLES = new AtomicLong(1);
        private final long handle = HANDLES.getAndAdd(BYTES);

        @Override
        public long bytes() {
            return BYTES;
        }

        @Override
        public long nativeHandle() {
            return handle;
        }

        @Override
        public long hostAddress() {
            return 0;
        }

        @Override
        public void free() {}
    }
}
