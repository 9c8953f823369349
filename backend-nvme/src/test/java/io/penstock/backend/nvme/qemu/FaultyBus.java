// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.nvme.qemu;

import io.penstock.Failure;
import io.penstock.TransientStorageException;
import io.penstock.backend.nvme.bus.Bus;
import io.penstock.backend.nvme.bus.DmaMemory;
import io.penstock.engine.kit.memory.HostMemory;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * A bus with faults that QEMU does not have: a removed device, fatal status at any time, attributes that are lost, no
 * memory, a deaf admin queue.
 */
public final class FaultyBus implements Bus {

    private static final int CC = 0x14;
    private static final int CSTS = 0x1c;
    private static final int AQA = 0x24;
    private static final int ADMIN_DOORBELL = 0x1000;

    private final Bus bus;
    private volatile boolean removed;
    private volatile boolean fatal;
    private volatile boolean losesAttributes;
    private volatile boolean isAdminDeaf;
    private volatile boolean stopped;
    private final List<DmaMemory> kept = new CopyOnWriteArrayList<>();
    private final AtomicInteger allocations = new AtomicInteger(Integer.MAX_VALUE);
    private final AtomicLong allocated = new AtomicLong();
    private volatile @Nullable DmaMemory last;

    /** Creates a bus without faults yet. */
    public FaultyBus(Bus bus) {
        this.bus = bus;
    }

    /** Removes the device: its registers read as all ones. */
    public void remove() {
        removed = true;
    }

    /** Reports controller fatal status until the controller is disabled. */
    public void fail() {
        fatal = true;
    }

    /** Replaces the attributes of the admin queues by 0, which controllers refuse. */
    public void loseAttributes() {
        losesAttributes = true;
    }

    /**
     * Undoes what the controller writes to a memory while it is disabled. QEMU carries out the commands in flight then,
     * and at times posts that they have succeeded; others drop them.
     */
    public void keepFromReset(DmaMemory memory) {
        kept.add(memory);
    }

    /** Loses the doorbell of the admin queue until the controller is disabled. */
    public void ignoreAdminCommands() {
        isAdminDeaf = true;
    }

    /** Has memory for so many allocations more. */
    public void limitAllocations(int most) {
        allocations.set(most);
    }

    /** Returns how many bytes were allocated, freed ones too. */
    public long allocated() {
        return allocated.get();
    }

    /** Returns what was allocated last. */
    public DmaMemory lastAllocated() {
        return Objects.requireNonNull(last);
    }

    /** Returns whether DMA was stopped. */
    public boolean isStopped() {
        return stopped;
    }

    @Override
    public String name() {
        return bus.name();
    }

    @Override
    public int read(int offset) {
        if (removed) {
            return GONE;
        }
        return bus.read(offset) | (offset == CSTS && fatal ? 2 : 0);
    }

    @Override
    public void write(int offset, int value) {
        if (removed) {
            return;
        }
        if (offset == CC && (value & 1) == 0) {
            fatal = false;
            isAdminDeaf = false;
            disable(value);
            return;
        }
        if (offset == ADMIN_DOORBELL && isAdminDeaf) {
            return;
        }
        bus.write(offset, offset == AQA && losesAttributes ? 0 : value);
    }

    private void disable(int value) {
        List<byte[]> before = kept.stream().map(FaultyBus::bytes).toList();
        bus.write(CC, value);
        bus.read(CSTS); // answered after the write has been executed
        for (int i = 0; i < before.size(); i++) {
            buffer(kept.get(i)).put(before.get(i));
        }
    }

    private static byte[] bytes(DmaMemory memory) {
        byte[] bytes = new byte[(int) memory.bytes()];
        buffer(memory).get(bytes);
        return bytes;
    }

    private static ByteBuffer buffer(DmaMemory memory) {
        return memory.buffer(0, (int) memory.bytes());
    }

    @Override
    public DmaMemory allocate(long bytes) {
        if (allocations.getAndDecrement() <= 0) {
            throw new TransientStorageException("no memory for DMA", Failure.NOT_STARTED, null);
        }
        allocated.addAndGet(bytes);
        DmaMemory memory = bus.allocate(bytes);
        last = memory;
        return memory;
    }

    @Override
    public DmaMemory map(HostMemory memory) {
        return bus.map(memory);
    }

    @Override
    public void stopDma() {
        stopped = true;
        bus.stopDma();
    }

    @Override
    public void close() {
        bus.close();
    }
}
