// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.nvme.controller;

import io.penstock.NativeError;
import io.penstock.backend.nvme.bus.Bus;
import io.penstock.engine.kit.Pause;
import io.penstock.engine.spi.NativeFailure;

/**
 * A controller's registers in BAR0: their offsets and fields, and what it does as a whole when they are written.
 *
 * <p><b>Threading:</b> what blocks, one thread at a time; all else any.
 */
final class Registers {

    /** Controller capabilities, 64 bits. */
    static final int CAP = 0x00;
    /** Controller configuration. */
    static final int CC = 0x14;
    /** Controller status. */
    static final int CSTS = 0x1c;
    /** Admin queue attributes: both sizes, 0's based. */
    static final int AQA = 0x24;
    /** Base address of the admin submission queue, 64 bits. */
    static final int ASQ = 0x28;
    /** Base address of the admin completion queue, 64 bits. */
    static final int ACQ = 0x30;
    /** The first doorbell. */
    static final int DOORBELLS = 0x1000;

    static final int CC_ENABLE = 1;
    /** A normal shutdown. */
    static final int CC_SHUTDOWN = 1 << 14;
    /** Submission queue entries of 2^6 bytes, completion queue entries of 2^4, pages of 4 KiB, the NVM command set. */
    static final int CC_LAYOUT = 6 << 16 | 4 << 20;

    static final int CSTS_READY = 1;
    static final int CSTS_FATAL = 1 << 1;
    static final int CSTS_SHUTDOWN_MASK = 3 << 2;
    static final int CSTS_SHUTDOWN_COMPLETE = 2 << 2;

    private static final long TIMEOUT_UNIT_NANOS = 500_000_000;

    private final Bus bus;
    private final long cap;

    /**
     * Reads what the controller is capable of.
     *
     * @throws ControllerException if it does not answer
     */
    Registers(Bus bus) throws ControllerException {
        this.bus = bus;
        cap = bus.read(CAP) & 0xffffffffL | (long) bus.read(CAP + Integer.BYTES) << 32;
        if (cap == -1) {
            throw ControllerException.gone("opening " + bus.name());
        }
    }

    /** Returns the largest number of entries that a queue may have (CAP.MQES is 0's based). */
    int queueEntries() {
        return (int) (cap & 0xffff) + 1;
    }

    /** Returns the distance between doorbells in bytes (CAP.DSTRD). */
    int doorbellStride() {
        return 4 << (cap >>> 32 & 0xf);
    }

    /** Returns the smallest page size that the controller supports (CAP.MPSMIN). */
    int leastPageBytes() {
        return 1 << 12 + (int) (cap >>> 48 & 0xf);
    }

    /** Disables the controller, which forgets its queues; blocks until it has. */
    void disable() throws ControllerException {
        bus.write(CC, CC_LAYOUT);
        await("disabling", CSTS_READY, 0);
    }

    /** Enables the controller with these admin queues; blocks until it is ready. */
    void enable(QueuePair admin) throws ControllerException {
        int last = admin.entries() - 1;
        bus.write(AQA, last << 16 | last);
        write64(ASQ, admin.submissions().busAddress());
        write64(ACQ, admin.completions().busAddress());
        bus.write(CC, CC_LAYOUT | CC_ENABLE);
        await("enabling", CSTS_READY | CSTS_FATAL, CSTS_READY);
    }

    /** Shuts the controller down; blocks until that is complete. */
    void shutDown() throws ControllerException {
        bus.write(CC, CC_LAYOUT | CC_ENABLE | CC_SHUTDOWN);
        await("shutdown", CSTS_SHUTDOWN_MASK, CSTS_SHUTDOWN_COMPLETE);
    }

    /** Returns why the controller needs a reset although it has not timed out; empty if it does not. */
    String fault() {
        int status = bus.read(CSTS);
        if (status == Bus.GONE) {
            return "its registers read as all ones";
        }
        return (status & CSTS_FATAL) != 0 ? "controller fatal status (CSTS.CFS)" : "";
    }

    /**
     * Blocks until the bits of {@code mask} in CSTS are {@code wanted}, for as long as CSTS.RDY may take to follow
     * CC.EN (CAP.TO).
     */
    private void await(String what, int mask, int wanted) throws ControllerException {
        long deadline = System.nanoTime() + Math.max(1, cap >>> 24 & 0xff) * TIMEOUT_UNIT_NANOS;
        Pause pause = new Pause().spins(10).naps(10_000, 1_000_000);
        while (true) {
            int status = bus.read(CSTS);
            if (status == Bus.GONE) {
                throw ControllerException.gone(what + " " + bus.name());
            }
            if ((status & mask) == wanted) {
                return;
            }
            boolean isFatal = wanted != 0 && (status & CSTS_FATAL) != 0;
            if (isFatal || System.nanoTime() - deadline > 0) {
                NativeError error = new NativeError("CSTS", status, isFatal ? "CFS" : "TIMEOUT");
                String note = isFatal ? "controller fatal status" : "the controller did not change its status in time";
                throw new ControllerException(
                        what + " " + bus.name(), new NativeFailure(error, NativeFailure.Kind.LOST, note));
            }
            pause.idle();
        }
    }

    private void write64(int offset, long value) {
        bus.write(offset, (int) value);
        bus.write(offset + Integer.BYTES, (int) (value >>> 32));
    }
}
