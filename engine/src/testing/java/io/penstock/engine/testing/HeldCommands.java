// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.testing;

import io.penstock.engine.spi.NativeFile;
import io.penstock.engine.spi.NativeQueue;
import io.penstock.engine.spi.Request;
import io.penstock.tck.Bench;
import io.penstock.tck.Gate;
import io.penstock.tck.Pattern;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A gate in front of a native queue: commands on its file wait until a test lets them go. Unlike a named pipe it works
 * with any queue, and is a device that cannot stop: a cancelled read ends, and writes memory, when the gate opens.
 */
public final class HeldCommands implements Gate {

    private static final Set<HeldCommands> GATES = ConcurrentHashMap.newKeySet();

    private final Path path;
    private final Set<NativeFile> files = ConcurrentHashMap.newKeySet();
    private final Set<NativeQueue> queues = ConcurrentHashMap.newKeySet();
    private long readable; // this and the next three: guarded by this
    private boolean holdsWrites;
    private long written;
    private boolean closed;

    private HeldCommands(Path path) {
        this.path = path;
    }

    /** Makes a gate whose file, of {@link Gate#CAPACITY} bytes, is in {@code folder}. */
    public static Gate in(Path folder) throws IOException {
        HeldCommands gate = new HeldCommands(folder.resolve("gate"));
        byte[] content = new byte[CAPACITY];
        Pattern.of(gate.path).fill(ByteBuffer.wrap(content), 0);
        Files.write(gate.path, content);
        GATES.add(gate);
        return gate;
    }

    /** Notes that a file was opened, in case it is a gate's. */
    static void opened(Path path, NativeFile file) {
        GATES.stream().filter(gate -> gate.path.equals(path)).forEach(gate -> gate.files.add(file));
    }

    /** Returns whether {@code request} has to wait at a gate, which then wakes {@code queue} when it opens. */
    static boolean hold(Request request, NativeQueue queue) {
        boolean moves = request.kind() == Request.Kind.READ || request.kind() == Request.Kind.WRITE;
        for (HeldCommands gate : GATES) {
            if (moves && gate.files.contains(request.file())) {
                gate.queues.add(queue);
                return !gate.lets(request);
            }
        }
        return false;
    }

    /** Notes the bytes of a write, in case it went through a gate. */
    static void ended(Request request, long bytes) {
        for (HeldCommands gate : GATES) {
            if (request.kind() == Request.Kind.WRITE && gate.files.contains(request.file())) {
                gate.wrote(bytes);
            }
        }
    }

    private synchronized boolean lets(Request request) {
        if (closed || (request.kind() == Request.Kind.WRITE && !holdsWrites)) {
            return true;
        }
        if (request.kind() == Request.Kind.WRITE || readable < request.bytes()) {
            return false;
        }
        readable -= request.bytes();
        return true;
    }

    private synchronized void wrote(long bytes) {
        written += bytes;
        notifyAll();
    }

    @Override
    public Path path() {
        return path;
    }

    @Override
    public synchronized void holdWrites() {
        holdsWrites = true;
        written = 0;
    }

    @Override
    public void letReadsEnd(int bytes) {
        synchronized (this) {
            readable += bytes;
        }
        queues.forEach(queue -> queue.wakeup().wake());
    }

    @Override
    public void letWritesEnd(int bytes) {
        synchronized (this) {
            holdsWrites = false;
        }
        queues.forEach(queue -> queue.wakeup().wake());
        awaitWritten(bytes);
    }

    private synchronized void awaitWritten(int bytes) {
        long deadline = System.nanoTime() + Bench.PATIENCE.toNanos();
        while (written < bytes) {
            long millis = (deadline - System.nanoTime()) / 1_000_000;
            if (millis <= 0) {
                throw new AssertionError("only " + written + " of " + bytes + " bytes have come through the gate");
            }
            try {
                wait(millis);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new AssertionError("interrupted at the gate", e);
            }
        }
    }

    @Override
    public void close() {
        synchronized (this) {
            closed = true;
        }
        queues.forEach(queue -> queue.wakeup().wake());
        // It stays known while commands are still on their way to it: they may pass now.
        GATES.removeIf(gate -> gate != this && gate.isClosed());
    }

    private synchronized boolean isClosed() {
        return closed;
    }
}
