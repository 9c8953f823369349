// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.nvme;

import io.penstock.Failure;
import io.penstock.TransientStorageException;
import io.penstock.backend.nvme.bus.Bus;
import io.penstock.backend.nvme.bus.DmaMemory;
import io.penstock.backend.nvme.bus.IovaSpace;
import io.penstock.engine.kit.ffi.NativeMemory;
import io.penstock.engine.kit.memory.HostMemory;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A controller that is a process ({@code src/test/c/controller.c}), as a bus: registers and memory for DMA are one file
 * that both map. Unlike QEMU's it needs only a C compiler, may have no shadow doorbells, and polls without a system
 * call.
 */
class EmulatedController implements Bus {

    private static final VarHandle WORDS = MethodHandles.byteBufferViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
    private static final long MEMORY_BYTES = 32 << 20;
    private static final long FIRST = 64 << 10; // behind the registers

    private final Path file;
    private final Submitter process;
    private final ByteBuffer memory;
    private final IovaSpace free = new IovaSpace(FIRST, MEMORY_BYTES - FIRST);
    private final AtomicLong live = new AtomicLong();
    private final AtomicLong doorbellWrites = new AtomicLong();

    /**
     * Starts it, with a disk of 64 MiB.
     *
     * @param options {@code noshadow}, {@code sgl}, {@code spin}
     */
    EmulatedController(Path program, String... options) throws IOException {
        Path shared = Path.of("/dev/shm");
        Path folder = Files.isWritable(shared) ? shared : Path.of(System.getProperty("java.io.tmpdir"));
        file = Files.createTempFile(folder, "penstock-nvme", ".memory");
        Submitter started = null;
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            memory = channel.map(FileChannel.MapMode.READ_WRITE, 0, MEMORY_BYTES);
            List<String> arguments = new ArrayList<>(List.of("64"));
            arguments.addAll(List.of(options));
            started = Submitter.start(program, file, arguments);
            String line = started.line();
            if (!"ready".equals(line)) {
                throw new IOException("the controller did not start: " + line);
            }
        } catch (IOException e) {
            if (started != null) {
                started.close();
            }
            Files.delete(file);
            throw e;
        }
        process = started;
    }

    /** Returns the file that is its memory. */
    Path memoryFile() {
        return file;
    }

    /** Returns how many parts of its memory were not freed. */
    long live() {
        return live.get();
    }

    @Override
    public String name() {
        return "0000:00:05.0";
    }

    @Override
    public int read(int offset) {
        return (int) WORDS.getVolatile(memory, offset);
    }

    @Override
    public void write(int offset, int value) {
        WORDS.setRelease(memory, offset, value);
        if (offset >= 0x1000) {
            doorbellWrites.incrementAndGet();
        }
    }

    /** Returns how many doorbell registers were written. */
    long doorbellWrites() {
        return doorbellWrites.get();
    }

    @Override
    public DmaMemory allocate(long bytes) {
        long start = free.take(bytes);
        if (start < 0) {
            throw new TransientStorageException("no " + bytes + " bytes of memory", Failure.NOT_STARTED, null);
        }
        return part(start, bytes, () -> free.give(start, bytes));
    }

    @Override
    public DmaMemory map(HostMemory part) {
        return part(part.hostAddress() - NativeMemory.address(memory), part.bytes(), () -> {});
    }

    @Override
    public void stopDma() {
        process.close();
    }

    /** {@inheritDoc} The process runs until {@link #end}. */
    @Override
    public void close() {}

    /** Ends the process. */
    void end() throws IOException {
        process.close();
        Files.delete(file);
    }

    private DmaMemory part(long start, long bytes, Runnable release) {
        live.incrementAndGet();
        return new MemoryPart(memory, start, bytes, () -> {
            live.decrementAndGet();
            release.run();
        });
    }
}
