// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.nvme.qemu;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Failure;
import io.penstock.TransientStorageException;
import io.penstock.backend.nvme.MemoryPart;
import io.penstock.backend.nvme.bus.Bus;
import io.penstock.backend.nvme.bus.DmaMemory;
import io.penstock.backend.nvme.bus.IovaSpace;
import io.penstock.engine.kit.ffi.NativeMemory;
import io.penstock.engine.kit.memory.HostMemory;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicLong;

/** The controller of a {@link Qemu}: registers by its qtest socket, memory for DMA in the file that is its memory. */
public final class QtestBus implements Bus {

    private static final AtomicLong LIVE = new AtomicLong();

    private static final long BAR0 = 0xe000_0000L;
    private static final long FIRST = 1 << 20; // below is the BIOS's

    private final AtomicLong doorbellWrites = new AtomicLong();
    private final Qemu qemu;
    private final Qtest qtest;
    private final long memoryAddress;
    private final IovaSpace free = new IovaSpace(FIRST, Qemu.MEMORY_BYTES - FIRST);

    /** Configures the controller's registers and lets it access memory. */
    public QtestBus(Qemu qemu) {
        this.qemu = qemu;
        qtest = qemu.qtest();
        memoryAddress = NativeMemory.address(qemu.memory());
        configure(0x10, (int) BAR0);
        configure(0x14, 0);
        configure(0x04, 6); // memory space, bus master
    }

    /** Returns how many parts of memory for DMA were not freed. */
    public static long live() {
        return LIVE.get();
    }

    /**
     * Checks that all memory for DMA was freed. The count begins anew, so that a test that fails does not fail the next
     * one.
     */
    public static void assertAllFreed() {
        assertThat(LIVE.getAndSet(0)).as("memory for DMA").isZero();
    }

    /** Writes a register of the configuration space. */
    public void configure(int offset, int value) {
        qtest.command("outl 0xcf8 0x" + Integer.toHexString(1 << 31 | Qemu.SLOT << 11 | offset));
        qtest.command("outl 0xcfc 0x" + Integer.toHexString(value));
    }

    @Override
    public String name() {
        return "0000:00:04.0";
    }

    @Override
    public int read(int offset) {
        String answer = qtest.command("readl 0x" + Long.toHexString(BAR0 + offset));
        VarHandle.acquireFence();
        return answer.isEmpty() ? GONE : (int) Long.parseLong(answer.substring("OK 0x".length()), 16);
    }

    @Override
    public void write(int offset, int value) {
        VarHandle.releaseFence();
        qtest.post("writel 0x" + Long.toHexString(BAR0 + offset) + " 0x" + Integer.toHexString(value));
        if (offset >= 0x1000) {
            doorbellWrites.incrementAndGet();
        }
    }

    /** Returns how many doorbell registers were written. */
    public long doorbellWrites() {
        return doorbellWrites.get();
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

    /** {@inheritDoc} QEMU keeps running. */
    @Override
    public void close() {
        qtest.await();
    }

    private DmaMemory part(long start, long bytes, Runnable release) {
        LIVE.incrementAndGet();
        return new MemoryPart(qemu.memory(), start, bytes, () -> {
            LIVE.decrementAndGet();
            release.run();
        });
    }
}
