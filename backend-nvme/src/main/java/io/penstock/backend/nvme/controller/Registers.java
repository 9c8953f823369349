// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.nvme.controller;

/** Offsets and fields of the controller's registers in BAR0. */
final class Registers {

    /** Controller capabilities, 64 bits. */
    static final int CAP = 0x00;
    /** Version. */
    static final int VS = 0x08;
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

    private Registers() {}

    /** Returns the largest number of entries that a queue may have (CAP.MQES is 0's based). */
    static int queueEntries(long cap) {
        return (int) (cap & 0xffff) + 1;
    }

    /** Returns how long CSTS.RDY may take to follow CC.EN (CAP.TO). */
    static long readyNanos(long cap) {
        return Math.max(1, cap >>> 24 & 0xff) * TIMEOUT_UNIT_NANOS;
    }

    /** Returns the distance between doorbells in bytes (CAP.DSTRD). */
    static int doorbellStride(long cap) {
        return 4 << (cap >>> 32 & 0xf);
    }

    /** Returns the smallest page size that the controller supports (CAP.MPSMIN). */
    static int leastPageBytes(long cap) {
        return 1 << 12 + (int) (cap >>> 48 & 0xf);
    }
}
