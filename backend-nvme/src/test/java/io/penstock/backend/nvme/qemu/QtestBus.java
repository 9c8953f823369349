// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.nvme.qemu;

import io.penstock.Failure;
import io.penstock.TransientStorageException;
import io.penstock.backend.nvme.MemoryPart;
import io.penstock.backend.nvme.bus.Bus;
import io.penstock.backend.nvme.bus.DmaMemory;
import io.penstock.backend.nvme.bus.IovaSpace;
import io.penstock.engine.spi.ffi.NativeMemory;
import io.penstock.engine.spi.memory.HostMemory;
import java.io.IOException;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicLong;

/** The controller of a {@link Qemu}: registers by its qtest socket, memory for DMA in the file that is its memory. */
public final class QtestBus implements Bus {

    /** Memory for DMA that was not freed. */
    public static final AtomicLong LIVE = new AtomicLong();

    private static final long BAR0 = 0xe000_0000L;
    private static final long FIRST = 1 << 20; // below is the BIOS's
    private static final int MOST_POSTED = 32;

    private final Qemu qemu;
    private final long memoryAddress;
    private final ByteBuffer in = ByteBuffer.allocate(1 << 12).flip(); // guarded by this
    private int posted; // guarded by this: commands whose answers have not been read
    private boolean ended; // guarded by this
    private final IovaSpace free = new IovaSpace(FIRST, Qemu.MEMORY_BYTES - FIRST);

    /** Configures the controller's registers and lets it access memory. */
    public QtestBus(Qemu qemu) {
        this.qemu = qemu;
        memoryAddress = NativeMemory.address(qemu.memory());
        configure(0x10, (int) BAR0);
        configure(0x14, 0);
        configure(0x04, 6); // memory space, bus master
    }

    /** Writes a register of the configuration space. */
    public void configure(int offset, int value) {
        command("outl 0xcf8 0x" + Integer.toHexString(1 << 31 | Qemu.SLOT << 11 | offset));
        command("outl 0xcfc 0x" + Integer.toHexString(value));
    }

    /** Sends a command, and returns its answer; an empty string once QEMU has ended. */
    private synchronized String command(String command) {
        post(command);
        String answer = "";
        while (posted > 0) {
            answer = answer();
        }
        return answer;
    }

    /** Sends a command whose answer is read later: QEMU executes commands in their order. */
    private synchronized void post(String command) {
        if (ended) {
            return;
        }
        try {
            ByteBuffer out = ByteBuffer.wrap((command + "\n").getBytes(StandardCharsets.US_ASCII));
            while (out.hasRemaining()) {
                qemu.qtest().write(out);
            }
            posted++;
        } catch (IOException e) {
            ended();
        }
        while (posted > MOST_POSTED) {
            answer();
        }
    }

    private String answer() {
        try {
            String answer = line();
            posted--;
            if (!answer.startsWith("OK")) {
                throw new IllegalStateException(answer);
            }
            return answer;
        } catch (IOException e) {
            ended();
            return "";
        }
    }

    /** A process that was killed is a device that was removed. */
    private void ended() {
        ended = true;
        posted = 0;
    }

    private String line() throws IOException {
        StringBuilder line = new StringBuilder();
        while (true) {
            while (in.hasRemaining()) {
                char next = (char) in.get();
                if (next == '\n') {
                    return line.toString();
                }
                line.append(next);
            }
            in.clear();
            if (qemu.qtest().read(in) < 0) {
                throw new IOException("QEMU has closed its socket");
            }
            in.flip();
        }
    }

    @Override
    public String name() {
        return "0000:00:04.0";
    }

    @Override
    public int read(int offset) {
        String answer = command("readl 0x" + Long.toHexString(BAR0 + offset));
        VarHandle.acquireFence();
        return answer.isEmpty() ? GONE : (int) Long.parseLong(answer.substring("OK 0x".length()), 16);
    }

    @Override
    public void write(int offset, int value) {
        VarHandle.releaseFence();
        post("writel 0x" + Long.toHexString(BAR0 + offset) + " 0x" + Integer.toHexString(value));
    }

    @Override
    public DmaMemory allocate(long bytes) {
        long start = free.take(bytes);
        if (start < 0) {
            throw new TransientStorageException("no " + bytes + " bytes of QEMU's memory", Failure.NOT_STARTED, null);
        }
        return part(start, bytes, () -> free.give(start, bytes));
    }

    @Override
    public DmaMemory map(HostMemory memory) {
        long start = memory.hostAddress() - memoryAddress;
        if (start < 0 || start > Qemu.MEMORY_BYTES - memory.bytes()) {
            throw new IllegalArgumentException("QEMU reaches its own memory only");
        }
        return part(start, memory.bytes(), () -> {});
    }

    @Override
    public void stopDma() {
        configure(0x04, 2);
    }

    /** {@inheritDoc} QEMU goes on. */
    @Override
    public synchronized void close() {
        while (posted > 0) {
            answer();
        }
    }

    private DmaMemory part(long start, long bytes, Runnable release) {
        LIVE.incrementAndGet();
        return new MemoryPart(qemu.memory(), start, bytes, () -> {
            LIVE.decrementAndGet();
            release.run();
        });
    }
}
