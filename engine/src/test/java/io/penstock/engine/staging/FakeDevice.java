// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.staging;

import io.penstock.NativeError;
import io.penstock.engine.spi.Command;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.FencePoint;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.StagingDevice;
import io.penstock.engine.spi.ThreadRule;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.BooleanSupplier;

/**
 * A device whose copies take place as late as they may, in any order, and which ruins a slot once it has read it: who
 * touches a slot too early, or relies on it too long, loses bytes.
 */
final class FakeDevice implements StagingDevice {

    static final long LOST = -999;
    static final long REFUSED = -7;

    private record Copy(boolean in, Memory memory, int memoryAt, DeviceMemory slot, int slotAt, int bytes) {}

    final FakeHost host;
    private final ThreadRule threads;
    private final Random random;
    private final Map<Long, Copy> copies = new HashMap<>();
    private long nextTicket;
    BooleanSupplier permitted = () -> true;
    boolean held; // no copy ends by itself
    boolean endsBehindALook; // the next one that is looked at runs, and then all have ended
    private boolean prompt;
    int refusals; // that many copies are refused
    int lostAfter = Integer.MAX_VALUE; // copies
    boolean throwsAtPoll;
    int started;
    final List<FencePoint> joined = new ArrayList<>();

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
    public DeviceMemory allocateSlot(long bytes) {
        return host.allocate(bytes);
    }

    @Override
    public synchronized long copyIn(Command command) {
        return start(true, command);
    }

    @Override
    public synchronized long copyOut(Command command) {
        return start(false, command);
    }

    private long start(boolean in, Command command) {
        checkThread();
        if (refusals > 0) {
            refusals--;
            return REFUSED;
        }
        if (started++ >= lostAfter) {
            return LOST;
        }
        FencePoint point = command.point();
        if (point != null) {
            joined.add(point);
        }
        DeviceMemory slot = command.slot();
        Memory memory = (Memory) command.memory();
        long ticket = nextTicket++;
        copies.put(ticket, new Copy(in, memory, (int) command.memoryOffset(), slot, (int) command.slotOffset(), (int)
                command.bytes()));
        host.copying(slot.hostAddress(), true);
        return ticket;
    }

    @Override
    public synchronized long poll(long ticket) {
        checkThread();
        if (throwsAtPoll) {
            throw new UnsupportedOperationException("poll");
        }
        if (endsBehindALook) {
            endsBehindALook = false;
            prompt = true;
            return 0;
        }
        return held || (!prompt && random.nextInt(3) != 0) ? 0 : end(ticket);
    }

    @Override
    public synchronized long await(long ticket, long nanos) {
        checkThread();
        return held ? 0 : end(ticket);
    }

    private long end(long ticket) {
        Copy copy = copies.remove(ticket);
        host.copying(copy.slot.hostAddress(), false);
        if (started > lostAfter) {
            return LOST;
        }
        int at = host.index(copy.slot.hostAddress()) + copy.slotAt;
        if (copy.in) {
            System.arraycopy(host.space, at, copy.memory.bytes, copy.memoryAt, copy.bytes);
            int slot = host.index(copy.slot.hostAddress());
            Arrays.fill(host.space, slot, slot + (int) copy.slot.bytes(), (byte) 0xdb);
        } else {
            System.arraycopy(copy.memory.bytes, copy.memoryAt, host.space, at, copy.bytes);
        }
        return 1;
    }

    synchronized int running() {
        return copies.size();
    }

    private void checkThread() {
        if (!permitted.getAsBoolean()) {
            throw new AssertionError("a device call on " + Thread.currentThread());
        }
    }

    @Override
    public NativeFailure failure(Command.Kind kind, long result) {
        return new NativeFailure(
                new NativeError("copy", result, ""),
                result == LOST ? NativeFailure.Kind.LOST : NativeFailure.Kind.TRANSIENT);
    }
}
