// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.staging;

import io.penstock.NativeError;
import io.penstock.engine.kit.ffi.CpuSet;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.FencePoint;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.Request;
import io.penstock.engine.spi.staging.StagingDevice;
import io.penstock.engine.spi.staging.ThreadRule;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;

/**
 * A device whose copies take place as late as they may, in any order, and which ruins a staging buffer once it has read
 * it: who touches a staging buffer too early, or relies on it too long, loses bytes.
 */
final class FakeDevice implements StagingDevice {

    static final NativeFailure LOST = new NativeFailure(new NativeError("copy", -999, ""), NativeFailure.Kind.LOST);
    static final NativeFailure REFUSED =
            new NativeFailure(new NativeError("copy", -7, ""), NativeFailure.Kind.TRANSIENT);

    private record Copy(boolean in, Memory memory, int memoryAt, DeviceMemory staging, int bufferAt, int bytes) {
        static Copy of(Request request) {
            return new Copy(
                    request.isInward(),
                    (Memory) request.memory(),
                    (int) request.memoryOffset(),
                    request.staging(),
                    (int) request.stagingOffset(),
                    (int) request.bytes());
        }
    }

    final FakeHost host;
    private final ThreadRule threads;
    private final Random random;
    private final Map<Request, Copy> copies = new HashMap<>();
    BooleanSupplier permitted = () -> true;
    boolean held; // no copy ends by itself
    boolean inOrder; // copies end in their order
    int polls;
    final List<Long> waits = new ArrayList<>(); // for how many nanoseconds a thread was to wait for one
    boolean endsAfterAPoll; // the next one that is looked at runs, and then all have ended
    boolean prompt; // copies end at the first look
    boolean full; // there is no memory for staging buffers
    int allocations = -1; // there is memory for so many; -1 for any number
    int refusals; // that many copies are refused
    int lostAfter = Integer.MAX_VALUE; // copies
    boolean throwsAtPoll;
    int started;
    long startedAt; // the place in the staging buffer of the last one
    final List<FencePoint> joined = new ArrayList<>();
    CpuSet processors = CpuSet.ANY;
    final Set<String> ranOn = new HashSet<>(); // processors, of allocations and copies, if they are not any
    final Set<Long> copiedFrom = new HashSet<>(); // addresses of staging buffers

    FakeDevice(ThreadRule threads, FakeHost host, long seed) {
        this.threads = threads;
        this.host = host;
        random = new Random(seed);
    }

    /** Memory that only the device reaches. */
    static final class Memory implements DeviceMemory {
        final byte[] bytes;

        Memory(int bytes) {
            this.bytes = new byte[bytes];
        }

        @Override
        public long bytes() {
            return bytes.length;
        }

        @Override
        public long nativeHandle() {
            return 1;
        }

        @Override
        public long hostAddress() {
            return 0;
        }

        @Override
        public void free() {}
    }

    @Override
    public ThreadRule threads() {
        return threads;
    }

    @Override
    public CpuSet processors() {
        return processors;
    }

    /** Returns the processors on which the calling thread may run, as the kernel tells them. */
    static String allowed() {
        try (Stream<String> lines = Files.lines(Path.of("/proc/thread-self/status"))) {
            return lines.filter(line -> line.startsWith("Cpus_allowed_list:"))
                    .map(line -> line.split("\\s+")[1])
                    .findFirst()
                    .orElse("");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void noteProcessors() {
        if (!processors.equals(CpuSet.ANY)) {
            ranOn.add(allowed());
        }
    }

    @Override
    public synchronized DeviceMemory allocateStagingBuffer(long bytes) {
        noteProcessors();
        if (full || allocations-- == 0) {
            throw new IllegalStateException("no pinned memory");
        }
        return host.allocate(bytes);
    }

    @Override
    public synchronized void copy(Request request) {
        checkThread();
        noteProcessors();
        if (refusals > 0) {
            refusals--;
            request.fail(REFUSED);
            return;
        }
        if (started++ >= lostAfter) {
            request.fail(LOST);
            return;
        }
        FencePoint point = request.point();
        if (point != null) {
            joined.add(point);
        }
        startedAt = request.stagingOffset();
        copies.put(request, Copy.of(request));
        copiedFrom.add(request.staging().hostAddress());
        host.copying(request.staging().hostAddress(), true);
    }

    @Override
    public boolean endsInOrder() {
        return inOrder;
    }

    @Override
    public synchronized void poll(Request request) {
        checkThread();
        polls++;
        if (throwsAtPoll) {
            throw new UnsupportedOperationException("poll");
        }
        if (endsAfterAPoll) {
            endsAfterAPoll = false;
            prompt = true;
        } else if (!held && (prompt || random.nextInt(3) == 0)) {
            end(request);
        }
    }

    @Override
    public synchronized void await(Request request, long nanos) {
        checkThread();
        waits.add(nanos);
        if (!held) {
            end(request);
        }
    }

    private void end(Request request) {
        Copy copy = copies.remove(request);
        host.copying(copy.staging.hostAddress(), false);
        if (started > lostAfter) {
            request.fail(LOST);
            return;
        }
        int at = host.index(copy.staging.hostAddress()) + copy.bufferAt;
        if (copy.in) {
            System.arraycopy(host.space, at, copy.memory.bytes, copy.memoryAt, copy.bytes);
            int staging = host.index(copy.staging.hostAddress());
            Arrays.fill(host.space, staging, staging + (int) copy.staging.bytes(), (byte) 0xdb);
        } else {
            System.arraycopy(copy.memory.bytes, copy.memoryAt, host.space, at, copy.bytes);
        }
        request.complete(copy.bytes);
    }

    synchronized int running() {
        return copies.size();
    }

    private void checkThread() {
        if (!permitted.getAsBoolean()) {
            throw new AssertionError("a device call on " + Thread.currentThread());
        }
    }
}
