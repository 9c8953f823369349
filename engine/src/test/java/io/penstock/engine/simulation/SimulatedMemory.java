// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.simulation;

import io.penstock.Capabilities;
import io.penstock.DeviceBuffer;
import io.penstock.DeviceFence;
import io.penstock.FenceSupport;
import io.penstock.TransferPath;
import io.penstock.engine.kit.ffi.NativeMemory;
import io.penstock.engine.kit.memory.Slab;
import io.penstock.engine.kit.memory.Slabs;
import io.penstock.engine.spi.DeviceDriver;
import io.penstock.engine.spi.DeviceMemory;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** Host memory as a device, real slabs, of which the kernel may touch only what is allocated. */
final class SimulatedMemory implements DeviceDriver {
    // Shared by all seeds: mapping pages costs more than a seed. Freed memory is filled with poison.
    private static Slabs shared = new Slabs(true);

    private final Slabs all = shared;
    private final TreeMap<Long, Slab> slabs = new TreeMap<>(); // by address, the last one there
    private final List<Slab> buffers = new ArrayList<>(); // including freed slabs
    private boolean opaque;
    private boolean closed;

    /** Memory that a native operation was given: its address, and whose it was then. */
    record Given(Slab slab, int offset, int bytes) {

        /** Returns the bytes; what has been freed meanwhile must not be touched (rule 201). */
        ByteBuffer touch() {
            try {
                return slab.buffer(offset, bytes);
            } catch (IllegalStateException freed) {
                throw new Violation("201: the kernel touches " + bytes + " bytes of memory that has been freed");
            }
        }
    }

    /** Takes note that an operation was given memory. */
    Given given(long address, int bytes) {
        Map.Entry<Long, Slab> entry = slabs.floorEntry(address);
        Slab slab = entry == null ? null : entry.getValue();
        if (slab == null || address - slab.hostAddress() + bytes > slab.bytes()) {
            throw new Violation("206: an operation on " + bytes + " bytes at " + address + ", which is not allocated");
        }
        Given given = new Given(slab, (int) (address - slab.hostAddress()), bytes);
        given.touch();
        return given;
    }

    /** From now on, the processor does not reach what is allocated, but for bounce buffers. */
    void makeOpaque() {
        opaque = true;
    }

    boolean isOpaque() {
        return opaque;
    }

    /** Returns what the processor would see if it could: bytes of any buffer that is open. */
    static ByteBuffer view(DeviceBuffer buffer, long offset, int bytes) {
        if (buffer.hostView().isPresent()) { // which throws if it is closed
            return buffer.hostView().get().buffer(offset, bytes);
        }
        return NativeMemory.view(buffer.nativeHandle() + offset, bytes);
    }

    /** Memory of which the engine knows a handle only. */
    private record Opaque(Slab slab) implements DeviceMemory {

        @Override
        public long bytes() {
            return slab.bytes();
        }

        @Override
        public long nativeHandle() {
            return slab.hostAddress();
        }

        @Override
        public long hostAddress() {
            return 0;
        }

        @Override
        public void free() {
            slab.free();
        }
    }

    @Override
    public DeviceMemory allocate(long bytes) {
        Slab slab = slab(bytes);
        buffers.add(slab);
        return opaque ? new Opaque(slab) : slab;
    }

    private Slab slab(long bytes) {
        Slab slab = all.allocate(Math.max(bytes, 1));
        slabs.put(slab.hostAddress(), slab);
        return slab;
    }

    /** Allocates a bounce buffer, for an I/O queue, a queue or a copy. */
    Slab allocateBounceBuffer(long bytes) {
        return slab(bytes);
    }

    /** Returns how many blocks of memory are allocated, but for bounce buffers. */
    long live() {
        return buffers.stream().filter(SimulatedMemory::isLive).count();
    }

    private static boolean isLive(Slab slab) {
        try {
            slab.buffer(0, 0);
            return true;
        } catch (IllegalStateException freed) {
            return false;
        }
    }

    /** Leaves what is allocated as it is: an I/O queue broke, and what it had in flight is not freed. */
    static void leave() {
        shared = new Slabs(true);
    }

    /** Looks for what is still allocated, and for writes to what is not. */
    void checkFreed() {
        if (all.liveSlabs() != 0) {
            throw new Violation("202: " + all.liveSlabs() + " blocks of memory were never freed");
        }
        for (Slab slab : slabs.values()) {
            checkPoison(slab);
        }
        if (!closed) {
            throw new Violation("601: the driver was not closed");
        }
    }

    private static void checkPoison(Slab slab) {
        int bytes = Math.toIntExact(slab.bytes());
        ByteBuffer left = NativeMemory.view(slab.hostAddress(), bytes);
        byte[] poison = new byte[bytes];
        Arrays.fill(poison, Slabs.POISON);
        int at = left.mismatch(ByteBuffer.wrap(poison));
        if (at >= 0) {
            throw new Violation("201: freed memory was written, at byte " + at + " of " + bytes);
        }
    }

    @Override
    public Capabilities capabilities() {
        return new Capabilities(
                "simulated", false, Set.of(TransferPath.HOST), FenceSupport.HOST_ONLY, true, false, Set.of());
    }

    @Override
    public DeviceMemory wrap(long nativeHandle, long bytes) {
        throw new IllegalArgumentException("not simulated");
    }

    @Override
    public DeviceMemory wrap(ByteBuffer memory) {
        throw new IllegalArgumentException("not simulated");
    }

    @Override
    public DeviceFence fence(long nativeEvent) {
        throw new IllegalArgumentException("not simulated");
    }

    @Override
    public void close() {
        closed = true;
    }
}
