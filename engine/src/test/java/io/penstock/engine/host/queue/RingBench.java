// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.host.queue;

import io.penstock.CommonOptions;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.engine.host.file.ChannelFile;
import io.penstock.engine.host.file.LinuxFile;
import io.penstock.engine.host.kernel.LinuxKernel;
import io.penstock.engine.host.uring.CompletionHandler;
import io.penstock.engine.host.uring.Ring;
import io.penstock.engine.host.uring.RingOptions;
import io.penstock.engine.host.uring.SubmissionQueue;
import io.penstock.engine.kit.file.HostFile;
import io.penstock.engine.kit.memory.Slab;
import io.penstock.engine.kit.memory.Slabs;
import io.penstock.engine.options.HostOptions;
import io.penstock.engine.spi.NativeQueue;
import io.penstock.engine.spi.Request;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Set;

/**
 * Random reads of a file by one thread, as fio would: over the bare ring, and over the queues of the SPI.
 *
 * <p>The processor time of the thread is what to compare on a machine that others use too.
 *
 * <p>Not a test: {@code main} takes the file, what to measure (ring, uring, pool), block size, depth, seconds, and
 * optionally from how many bytes on reads go to kernel workers and whether the file is direct.
 */
final class RingBench {
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    private final LinuxFile file;
    private final Slab memory;
    private final long blocks;
    private final int blockBytes;
    private final int depth;
    private final double seconds;
    private final long asyncBytes;
    private final int[] free;
    private int freeCount;
    private long busyNanos; // of this thread, in the last round
    private long count; // of reads, in the last round
    private long random = 88172645463325252L;

    private RingBench(String[] args, LinuxFile file) throws IOException {
        this.file = file;
        blockBytes = Integer.parseInt(args[2]);
        depth = Integer.parseInt(args[3]);
        seconds = Double.parseDouble(args[4]);
        asyncBytes = args.length > 5 ? Long.parseLong(args[5]) : 64 << 10;
        blocks = file.size() / blockBytes;
        memory = new Slabs().allocate((long) blockBytes * depth);
        free = new int[depth];
        for (int id = 0; id < depth; id++) {
            free[freeCount++] = id;
        }
    }

    public static void main(String[] args) throws IOException {
        Set<FileOption> options =
                args.length > 6 ? Set.of(FileOption.READ, FileOption.DIRECT) : Set.of(FileOption.READ);
        LinuxFile file = LinuxFile.open(Path.of(args[0]), options, 1 << 20);
        RingBench bench = new RingBench(args, file);
        for (int round = 0; round < 3; round++) {
            double perSecond = switch (args[1]) {
                case "ring" -> bench.ring();
                case "uring" ->
                    bench.queue(UringQueue.open(
                            LinuxKernel.INSTANCE,
                            Options.none()
                                    .with(CommonOptions.QUEUE_DEPTH, bench.depth)
                                    .with(HostOptions.ASYNC_BYTES, bench.asyncBytes)));
                default -> bench.queue(new ChannelQueue(bench.depth, 4));
            };
            System.out.printf(
                    "%s %d B, depth %d: %.0f/s, %.2f GB/s; %d ns of the I/O queue's processor each%n",
                    args[1],
                    bench.blockBytes,
                    bench.depth,
                    perSecond,
                    perSecond * bench.blockBytes / 1e9,
                    bench.busyNanos / bench.count);
        }
    }

    private double ring() throws IOException {
        try (Ring ring = Ring.open(LinuxKernel.INSTANCE, RingOptions.ofEntries(depth))) {
            ring.registration().makeFileTable(1);
            ring.registration().updateFile(0, file.fd());
            ring.registration().makeBufferTable(1);
            ring.registration().updateBuffer(0, memory.hostAddress(), memory.bytes());
            int flags = SubmissionQueue.FIXED_FILE | (blockBytes >= asyncBytes ? SubmissionQueue.ASYNC : 0);
            CompletionHandler handler = (id, result, ignored) -> ended((int) id, result);
            long done = 0;
            long busyBefore = THREADS.getCurrentThreadCpuTime();
            long begin = System.nanoTime();
            while (System.nanoTime() - begin < seconds * 1e9) {
                for (int turn = 0; turn < 16; turn++) {
                    while (freeCount > 0) {
                        int id = free[--freeCount];
                        ring.submissions().readFixed(flags, 0, offset(), address(id), blockBytes, 0, id);
                    }
                    ring.submitAndWait();
                    done += ring.reap(handler);
                }
            }
            long end = System.nanoTime();
            while (freeCount < depth) {
                ring.submitAndWait();
                ring.reap(handler);
            }
            busyNanos = THREADS.getCurrentThreadCpuTime() - busyBefore;
            count = done;
            return done * 1e9 / (end - begin);
        }
    }

    private double queue(NativeQueue queue) throws IOException {
        HostFile opened =
                queue instanceof ChannelQueue ? ChannelFile.open(file.path(), Set.of(FileOption.READ), 1 << 20) : file;
        long[] done = {0};
        Request[] requests = new Request[depth];
        Arrays.setAll(
                requests,
                tag -> new Request(tag, (request, bytes, failure) -> {
                    if (failure != null) {
                        throw new IllegalStateException(failure.toString());
                    }
                    ended(request.tag(), bytes);
                    done[0]++;
                }));
        long busyBefore = THREADS.getCurrentThreadCpuTime();
        long begin = System.nanoTime();
        while (System.nanoTime() - begin < seconds * 1e9) {
            for (int turn = 0; turn < 16; turn++) {
                while (freeCount > 0) {
                    int id = free[--freeCount];
                    queue.enqueue(requests[id]
                            .file(Request.Kind.READ, opened, offset(), blockBytes)
                            .memory(memory, (long) id * blockBytes));
                }
                queue.turn(-1);
            }
        }
        long end = System.nanoTime();
        long counted = done[0];
        while (freeCount < depth) {
            queue.turn(-1);
        }
        busyNanos = THREADS.getCurrentThreadCpuTime() - busyBefore;
        count = counted;
        queue.close();
        return counted * 1e9 / (end - begin);
    }

    private void ended(int id, long result) {
        if (result != blockBytes) {
            throw new IllegalStateException("a read of " + blockBytes + " bytes returned " + result);
        }
        free[freeCount++] = id;
    }

    private long address(int id) {
        return memory.hostAddress() + (long) id * blockBytes;
    }

    private long offset() {
        random ^= random << 13;
        random ^= random >>> 7;
        random ^= random << 17;
        return (random >>> 1) % blocks * blockBytes;
    }
}
