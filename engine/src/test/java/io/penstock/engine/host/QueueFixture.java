// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.host;

import io.penstock.FileOption;
import io.penstock.engine.spi.Command;
import io.penstock.engine.spi.NativeQueue;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;

/** A native queue, memory, and a file of random bytes. */
final class QueueFixture implements AutoCloseable {
    static final int FILE_BYTES = 1 << 20;
    static final int DEPTH = 8;

    /** A completion. */
    record Completed(int id, long result) {}

    final Slabs slabs = new Slabs(true);
    final Slab memory = slabs.allocate(FILE_BYTES);
    final Slab slot = slabs.allocate(FILE_BYTES);
    final byte[] content = new byte[FILE_BYTES];
    final List<Completed> completed = new ArrayList<>();
    final NativeQueue queue;
    final HostFile file;

    private final Command command = new Command();

    private QueueFixture(NativeQueue queue, HostFile file) {
        this.queue = queue;
        this.file = file;
        new Random(1).nextBytes(content);
    }

    static QueueFixture uring(Path directory, Kernel kernel) throws IOException {
        UringOptions options = new UringOptions(DEPTH, 64 << 10, true);
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
                id, command.file(Command.Kind.READ, from, fileOffset, bytes).memory(memory, memoryOffset));
    }

    void write(int id, long fileOffset, long memoryOffset, long bytes) {
        queue.enqueue(
                id, command.file(Command.Kind.WRITE, file, fileOffset, bytes).memory(memory, memoryOffset));
    }

    void sync(int id) {
        queue.enqueue(id, command.sync(file));
    }

    void copy(int id, Command.Kind kind, long slotOffset, long memoryOffset, long bytes) {
        queue.enqueue(id, command.copy(kind, slot, slotOffset, bytes).memory(memory, memoryOffset));
    }

    void turn(long waitNanos) {
        queue.turn(waitNanos, (id, result) -> completed.add(new Completed(id, result)));
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
        slot.free();
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
