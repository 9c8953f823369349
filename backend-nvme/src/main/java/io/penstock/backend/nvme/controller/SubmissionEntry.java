// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.nvme.controller;

import java.nio.ByteBuffer;

/**
 * An entry of a submission queue, 64 bytes; one object per queue, moved from entry to entry.
 *
 * <p><b>Threading:</b> the thread of its queue pair. No method allocates.
 */
public final class SubmissionEntry {

    /** The size of an entry. */
    public static final int BYTES = 64;

    /** Commands of the NVM command set. */
    public static final int FLUSH = 0x00;

    public static final int WRITE = 0x01;
    public static final int READ = 0x02;

    static final int CREATE_SUBMISSION_QUEUE = 0x01;
    static final int DELETE_SUBMISSION_QUEUE = 0x00;
    static final int DELETE_COMPLETION_QUEUE = 0x04;
    static final int CREATE_COMPLETION_QUEUE = 0x05;
    static final int IDENTIFY = 0x06;
    static final int ABORT = 0x08;
    static final int SET_FEATURES = 0x09;
    static final int DOORBELL_BUFFER_CONFIG = 0x7c;

    private static final int NAMESPACE = 4;
    private static final int SGL = 1 << 14; // PSDT: data by a list, no metadata by one
    private static final int DATA_POINTER = 24;
    private static final int COMMAND_WORDS = 40; // command dword 10

    private final ByteBuffer queue; // little-endian
    private int at;

    SubmissionEntry(ByteBuffer queue) {
        this.queue = queue;
    }

    SubmissionEntry moveTo(int index) {
        at = index * BYTES;
        return this;
    }

    /** Sets the command, and everything else to 0. */
    public SubmissionEntry command(int opcode, int commandId, int namespace) {
        queue.putInt(at, opcode | commandId << 16);
        queue.putInt(at + NAMESPACE, namespace);
        for (int i = at + 8; i < at + BYTES; i += 8) {
            queue.putLong(i, 0);
        }
        return this;
    }

    /** Sets the data pointer to two physical region pages, or to one and a list. */
    public SubmissionEntry data(long prp1, long prp2) {
        queue.putLong(at + DATA_POINTER, prp1);
        queue.putLong(at + DATA_POINTER + 8, prp2);
        return this;
    }

    /** Sets the data pointer to a scatter-gather list of one segment, an SGL data block. */
    public SubmissionEntry segment(long address, int bytes) {
        queue.putInt(at, queue.getInt(at) | SGL);
        queue.putLong(at + DATA_POINTER, address);
        queue.putLong(at + DATA_POINTER + 8, Integer.toUnsignedLong(bytes)); // the type of the descriptor is 0
        return this;
    }

    /** Sets the blocks of a Read or Write, command dwords 10 to 12. */
    public SubmissionEntry blocks(long first, int count) {
        queue.putLong(at + COMMAND_WORDS, first);
        queue.putInt(at + COMMAND_WORDS + 8, count - 1);
        return this;
    }

    /** Sets command dwords 10 and 11. */
    SubmissionEntry words(int word10, int word11) {
        queue.putInt(at + COMMAND_WORDS, word10);
        queue.putInt(at + COMMAND_WORDS + 4, word11);
        return this;
    }
}
