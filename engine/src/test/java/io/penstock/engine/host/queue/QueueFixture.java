// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.host.queue;

import io.penstock.CommonOptions;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.engine.host.file.ChannelFile;
import io.penstock.engine.host.file.LinuxFile;
import io.penstock.engine.host.kernel.Kernel;
import io.penstock.engine.kit.file.HostFile;
import io.penstock.engine.kit.memory.Slab;
import io.penstock.engine.kit.memory.Slabs;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.NativeQueue;
import io.penstock.engine.spi.Request;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A native queue, memory, and a file of random bytes. */
final class QueueFixture implements AutoCloseable {
    static final int FILE_BYTES = 1 << 20;
    static final int DEPTH = 8;

    /** How a request ended: bytes, or a negative code. */
    record Completed(int id, long result) {}

    final Slabs slabs = new Slabs(true);
    final Slab memory = slabs.allocate(FILE_BYTES);
    final Slab bounce = slabs.allocate(FILE_BYTES);
    final byte[] content = new byte[FILE_BYTES];
    final List<Completed> completed = new ArrayList<>();
    final Map<Integer, NativeFailure> failures = new HashMap<>(); // the last of each tag
    final NativeQueue queue;
    final HostFile file;

    private final Map<Integer, Request> requests = new HashMap<>();

    Request request(int tag) {
        return requests.computeIfAbsent(tag, key -> new Request(key, this::ended));
    }

    private void ended(Request request, long bytes, @Nullable NativeFailure failure) {
        if (failure != null) {
            failures.put(request.tag(), failure);
        }
        completed.add(new Completed(
                request.tag(), failure == null ? bytes : -failure.error().code()));
    }

    private QueueFixture(NativeQueue queue, HostFile file) {
        this.queue = queue;
        this.file = file;
        new Random(1).nextBytes(content);
    }

    static QueueFixture uring(Path directory, Kernel kernel) throws IOException {
        Options options = Options.none().with(CommonOptions.QUEUE_DEPTH, DEPTH);
        return new QueueFixture(UringQueue.open(kernel, options), LinuxFile.open(data(directory), both(), 1 << 20));
    }

    static QueueFixture channel(Path directory) throws IOException {
        return new QueueFixture(new ChannelQueue(DEPTH, 3), ChannelFile.open(data(directory), both(), 1 << 20));
    }

    void read(int id, long fileOffset, long memoryOffset, long bytes) {
        read(id, file, fileOffset, memoryOffset, bytes);
    }

    void read(int id, HostFile from, long fileOffset, long memoryOffset, long bytes) {
        queue.enqueue(
                request(id).file(Request.Kind.READ, from, fileOffset, bytes).memory(memory, memoryOffset));
    }

    void write(int id, long fileOffset, long memoryOffset, long bytes) {
        queue.enqueue(
                request(id).file(Request.Kind.WRITE, file, fileOffset, bytes).memory(memory, memoryOffset));
    }

    void sync(int id) {
        queue.enqueue(request(id).sync(file));
    }

    void copy(int id, Request.Kind kind, long stagingOffset, long memoryOffset, long bytes) {
        queue.enqueue(request(id).copy(kind, bounce, stagingOffset, bytes).memory(memory, memoryOffset));
    }

    void cancel(int id) {
        queue.cancel(request(id));
    }

    void turn(long waitNanos) {
        queue.turn(waitNanos);
    }

    /** Takes turns until {@code count} commands have ended in all. */
    void await(int count) {
        while (completed.size() < count) {
            turn(-1);
        }
    }

    byte[] bytes(long offset, int length) {
        byte[] bytes = new byte[length];
        memory.buffer(offset, length).get(bytes);
        return bytes;
    }

    @Override
    public void close() {
        queue.close();
        file.close();
        memory.free();
        bounce.free();
        slabs.close();
    }

    private static Set<FileOption> both() {
        return Set.of(FileOption.READ, FileOption.WRITE);
    }

    private static Path data(Path directory) throws IOException {
        byte[] content = new byte[FILE_BYTES];
        new Random(1).nextBytes(content);
        return Files.write(directory.resolve("data"), content);
    }
}
