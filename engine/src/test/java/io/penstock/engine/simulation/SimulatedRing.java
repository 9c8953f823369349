// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.simulation;

import io.penstock.engine.ffi.IoUring;
import io.penstock.engine.kit.ffi.Errno;
import io.penstock.engine.kit.ffi.NativeMemory;
import io.penstock.engine.kit.memory.Slabs;
import io.penstock.engine.simulation.Operation.Descriptor;
import io.penstock.engine.simulation.Operation.Extent;
import io.penstock.engine.simulation.SimulatedKernel.EventFd;
import io.penstock.engine.simulation.SimulatedMemory.Given;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** One ring: its memory, shared with the driver, and its operations in flight. */
final class SimulatedRing {
    private static final int SQ_HEAD = 0;
    private static final int SQ_TAIL = 64;
    private static final int SQ_FLAGS = 128;
    private static final int CQ_HEAD = 192;
    private static final int CQ_TAIL = 256;
    private static final int CQES = 320;

    private record Cqe(long userData, int result) {}

    final RingTables tables;
    private final SimulatedKernel kernel;
    private final World world;
    private final Chance chance;
    private final int sqEntries;
    private final int cqEntries;
    private final int array;
    private final ByteBuffer rings;
    private final ByteBuffer sqes;
    private final Map<Long, Operation> inFlight = new LinkedHashMap<>();
    private final ArrayDeque<Cqe> overflow = new ArrayDeque<>();
    private final List<ByteBuffer> unmapped = new ArrayList<>();
    private int pendingWakes; // reads of a counter

    SimulatedRing(SimulatedKernel kernel, int entries, ByteBuffer params) {
        this.kernel = kernel;
        this.world = kernel.world;
        this.chance = world.chance;
        this.tables = new RingTables(kernel);
        sqEntries = powerOfTwo(entries);
        cqEntries = powerOfTwo(params.getInt(IoUring.PARAMS_CQ_ENTRIES_OFFSET));
        array = CQES + cqEntries * IoUring.CQE_BYTES;
        rings = memory(array + sqEntries * Integer.BYTES);
        sqes = memory(sqEntries * IoUring.SQE_BYTES);
        params.putInt(IoUring.PARAMS_SQ_ENTRIES_OFFSET, sqEntries).putInt(IoUring.PARAMS_CQ_ENTRIES_OFFSET, cqEntries);
        int timed = chance.oneIn(10) ? 0 : IoUring.IORING_FEAT_EXT_ARG;
        params.putInt(
                IoUring.PARAMS_FEATURES_OFFSET,
                timed
                        | IoUring.IORING_FEAT_SINGLE_MMAP
                        | IoUring.IORING_FEAT_NODROP
                        | IoUring.IORING_FEAT_SUBMIT_STABLE);
        int sq = IoUring.PARAMS_SQ_OFF_OFFSET;
        params.putInt(sq + IoUring.SQ_OFF_HEAD_OFFSET, SQ_HEAD).putInt(sq + IoUring.SQ_OFF_TAIL_OFFSET, SQ_TAIL);
        params.putInt(sq + IoUring.SQ_OFF_FLAGS_OFFSET, SQ_FLAGS).putInt(sq + IoUring.SQ_OFF_ARRAY_OFFSET, array);
        int cq = IoUring.PARAMS_CQ_OFF_OFFSET;
        params.putInt(cq + IoUring.CQ_OFF_HEAD_OFFSET, CQ_HEAD).putInt(cq + IoUring.CQ_OFF_TAIL_OFFSET, CQ_TAIL);
        params.putInt(cq + IoUring.CQ_OFF_CQES_OFFSET, CQES);
    }

    private static int powerOfTwo(int least) {
        return Integer.highestOneBit(Math.max(1, least * 2 - 1));
    }

    private static ByteBuffer memory(int bytes) {
        return ByteBuffer.allocateDirect(bytes).order(ByteOrder.nativeOrder());
    }

    long map(long length, long offset) {
        ByteBuffer part = offset == IoUring.IORING_OFF_SQES ? sqes : rings;
        if (length > part.capacity()) {
            throw new Violation("a map of " + length + " bytes of " + part.capacity());
        }
        return NativeMemory.address(part);
    }

    /** Unmaps a part, if it is this ring's: the memory stays, so that a late use is not a crash, and is poison. */
    boolean unmap(long address, long length) {
        for (ByteBuffer part : List.of(rings, sqes)) {
            if (NativeMemory.address(part) == address && length <= part.capacity()) {
                for (int i = 0; i < part.capacity(); i++) {
                    part.put(i, Slabs.POISON);
                }
                unmapped.add(part);
                return true;
            }
        }
        return false;
    }

    /** Returns whether unmapped memory was not written. */
    boolean isLeftAlone() {
        return unmapped.stream().allMatch(part -> {
            byte[] bytes = new byte[part.capacity()];
            part.get(0, bytes);
            for (byte b : bytes) {
                if (b != Slabs.POISON) {
                    return false;
                }
            }
            return true;
        });
    }

    boolean isBusy() {
        return !inFlight.isEmpty() || pendingWakes > 0;
    }

    boolean hasCompletions() {
        return ready() > 0 || !overflow.isEmpty();
    }

    private int ready() {
        return rings.getInt(CQ_TAIL) - rings.getInt(CQ_HEAD);
    }

    int enter(int submit, int minComplete, int flags, long argument) {
        if (chance.oneIn(kernel.faults.refusedEnter())) {
            return minComplete > 0 && chance.oneIn(2) ? -Errno.EINTR : submit > 0 ? -Errno.EAGAIN : 0;
        }
        if (submit > 0 && !overflow.isEmpty() && chance.oneIn(3)) {
            return -Errno.EBUSY;
        }
        int given = Math.min(submit, rings.getInt(SQ_TAIL) - rings.getInt(SQ_HEAD));
        int taken = given > 1 && chance.oneIn(kernel.faults.partialSubmit()) ? chance.between(1, given - 1) : given;
        for (int i = 0; i < taken; i++) {
            int head = rings.getInt(SQ_HEAD);
            int sqe = rings.getInt(array + (head & (sqEntries - 1)) * Integer.BYTES) * IoUring.SQE_BYTES;
            take(sqe);
            rings.putInt(SQ_HEAD, head + 1);
        }
        if ((flags & IoUring.IORING_ENTER_GETEVENTS) != 0) {
            flush();
        }
        if (taken < given || minComplete == 0) {
            return taken;
        }
        boolean came = await(argument);
        flush();
        return came || taken > 0 ? taken : -Errno.ETIME;
    }

    private boolean await(long argument) {
        long nanos = -1;
        if (argument != 0) {
            ByteBuffer time = NativeMemory.view(NativeMemory.view(argument, 24).getLong(16), 16);
            nanos = time.getLong(0) * 1_000_000_000 + time.getLong(8);
        }
        return world.await(this::hasCompletions, nanos);
    }

    private void take(int sqe) {
        byte opcode = sqes.get(sqe);
        long userData = sqes.getLong(sqe + IoUring.SQE_USER_DATA_OFFSET);
        int fd = sqes.getInt(sqe + IoUring.SQE_FD_OFFSET);
        boolean registered = (sqes.get(sqe + 1) & IoUring.IOSQE_FIXED_FILE) != 0;
        EventFd counter = registered ? null : kernel.eventfd(fd);
        if (opcode == IoUring.IORING_OP_ASYNC_CANCEL) {
            cancel(sqes.getLong(sqe + IoUring.SQE_ADDR_OFFSET), userData);
        } else if (opcode == IoUring.IORING_OP_NOP) {
            post(userData, 0);
        } else if (opcode == IoUring.IORING_OP_READ && counter != null) {
            read(counter, sqes.getLong(sqe + IoUring.SQE_ADDR_OFFSET), userData);
        } else {
            start(sqe, opcode, fd, userData);
        }
    }

    private void read(EventFd counter, long address, long userData) {
        Runnable reader = () -> {
            pendingWakes--;
            NativeMemory.view(address, Long.BYTES).putLong(0, counter.count);
            counter.count = 0;
            post(userData, Long.BYTES);
        };
        pendingWakes++;
        if (counter.count > 0) {
            reader.run();
        } else {
            counter.reader = reader;
        }
    }

    private void start(int sqe, byte opcode, int fd, long userData) {
        boolean registered = (sqes.get(sqe + 1) & IoUring.IOSQE_FIXED_FILE) != 0;
        Descriptor descriptor = registered ? tables.file(fd) : kernel.files.descriptor(fd);
        long address = sqes.getLong(sqe + IoUring.SQE_ADDR_OFFSET);
        int bytes = sqes.getInt(sqe + IoUring.SQE_LEN_OFFSET);
        if (descriptor == null) {
            throw new Violation("201: an operation on a file that is closed");
        }
        boolean fixed = opcode == IoUring.IORING_OP_READ_FIXED || opcode == IoUring.IORING_OP_WRITE_FIXED;
        if (fixed && !tables.holds(sqes.getShort(sqe + IoUring.SQE_BUF_INDEX_OFFSET), address, bytes)) {
            throw new Violation("an operation on memory that its bounce buffer does not hold");
        }
        Given memory = opcode == IoUring.IORING_OP_FSYNC ? null : kernel.memory.given(address, bytes);
        long offset = sqes.getLong(sqe + IoUring.SQE_OFF_OFFSET);
        int early = bytes == 0 ? 0 : chance.below(bytes + 1);
        Operation operation = new Operation(userData, opcode, descriptor, new Extent(offset, bytes), memory, early);
        if (inFlight.putIfAbsent(userData, operation) != null) {
            throw new Violation("two operations with the same user data");
        }
        world.say("kernel: takes", operation);
        if (operation.isMisaligned(address)) {
            end(operation, -Errno.EINVAL);
        } else if (chance.oneIn(3)) {
            end(operation);
        } else {
            long nanos = chance.oneIn(kernel.faults.slow()) ? chance.below(3_000_000) : chance.below(2000);
            world.later(nanos, () -> end(operation));
        }
    }

    private void end(Operation operation) {
        if (!operation.over) {
            end(operation, operation.end(chance, kernel.faults, kernel::errorNoted));
        }
    }

    private void end(Operation operation, int result) {
        operation.over = true;
        world.say("kernel: ends", operation, "with", result);
        inFlight.remove(operation.userData);
        post(operation.userData, result);
    }

    /** Cancelling is inherently racy: every answer that the kernel may give. */
    private void cancel(long target, long userData) {
        Operation operation = inFlight.get(target);
        int variant = chance.below(4);
        if (operation == null || variant == 0) {
            post(userData, -Errno.ENOENT); // and yet it may run on, and write
        } else if (variant == 1) {
            post(userData, -Errno.EALREADY);
            operation.interruption = chance.oneIn(2) ? -Errno.EINTR : chance.oneIn(2) ? -Errno.ECANCELED : 0;
        } else if (variant == 2) {
            post(userData, 0);
            end(operation, -Errno.ECANCELED);
        } else {
            end(operation, -Errno.ECANCELED);
            post(userData, 0);
        }
    }

    private void post(long userData, int result) {
        Cqe cqe = new Cqe(userData, result);
        if (!overflow.isEmpty() || ready() == cqEntries || chance.oneIn(kernel.faults.overflow())) {
            overflow.add(cqe);
            rings.putInt(SQ_FLAGS, IoUring.IORING_SQ_CQ_OVERFLOW);
        } else {
            put(cqe);
        }
    }

    private void put(Cqe cqe) {
        int tail = rings.getInt(CQ_TAIL);
        int place = CQES + (tail & (cqEntries - 1)) * IoUring.CQE_BYTES;
        rings.putLong(place, cqe.userData).putInt(place + IoUring.CQE_RES_OFFSET, cqe.result);
        rings.putInt(place + IoUring.CQE_FLAGS_OFFSET, 0).putInt(CQ_TAIL, tail + 1);
    }

    private void flush() {
        while (!overflow.isEmpty() && ready() < cqEntries) {
            put(overflow.remove());
        }
        rings.putInt(SQ_FLAGS, overflow.isEmpty() ? 0 : IoUring.IORING_SQ_CQ_OVERFLOW);
    }
}
