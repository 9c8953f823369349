// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.host.uring;

import io.penstock.engine.ffi.IoUring;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The submissions of one ring: operations written into shared memory, which the next {@code enter} submits.
 *
 * <p><b>Result:</b> every operation returns whether there was room; if not, nothing was written, and the ring must be
 * submitted first. Each accepted operation has exactly one completion, with its {@code userData}.
 *
 * <p><b>Threading:</b> the ring's I/O queue only. <b>Errors:</b> arguments are not checked here: the kernel rejects
 * invalid ones in the completion. Operations take more than four parameters because a record per operation would be the
 * only allocation on this path.
 *
 * <p><b>Ownership:</b> the memory at {@code address} belongs to the kernel until the operation's own completion has
 * been reaped; the completion of its cancel is not enough.
 */
public final class SubmissionQueue {
    /** For {@code flags}: {@code fd} is an index into the ring's file table. */
    public static final int FIXED_FILE = IoUring.IOSQE_FIXED_FILE;
    /** For {@code flags}: run on a kernel worker, even if it could be done at once on the submitting thread. */
    public static final int ASYNC = IoUring.IOSQE_ASYNC;
    /** The largest length of one read or write: the kernel cuts longer ones silently (MAX_RW_COUNT). */
    public static final int MAX_LENGTH = 0x7ffff000;

    private static final ByteBuffer CLOSED = ByteBuffer.allocateDirect(0);
    private static final VarHandle INT = MethodHandles.byteBufferViewVarHandle(int[].class, ByteOrder.nativeOrder())
            .withInvokeExactBehavior();

    private final int entries;
    private final int headOffset;
    private final int tailOffset;
    private final int flagsOffset;
    private ByteBuffer rings; // I/O queue only; CLOSED after close
    private ByteBuffer sqes; // I/O queue only; CLOSED after close
    private int tail; // I/O queue only: runs ahead of the shared tail until publish()

    SubmissionQueue(RingMemory memory) {
        rings = memory.rings;
        sqes = memory.sqes;
        entries = memory.sqEntries;
        headOffset = memory.sqHead;
        tailOffset = memory.sqTail;
        flagsOffset = memory.sqFlags;
        tail = (int) INT.get(rings, tailOffset);
    }

    public boolean read(int flags, int fd, long offset, long address, int length, long userData) {
        return prepare(IoUring.IORING_OP_READ, flags, fd, offset, address, length, 0, userData);
    }

    public boolean write(int flags, int fd, long offset, long address, int length, long userData) {
        return prepare(IoUring.IORING_OP_WRITE, flags, fd, offset, address, length, 0, userData);
    }

    /** Reads into memory inside entry {@code buffer} of the ring's buffer table. */
    public boolean readFixed(int flags, int fd, long offset, long address, int length, int buffer, long userData) {
        return prepare(IoUring.IORING_OP_READ_FIXED, flags, fd, offset, address, length, buffer, userData);
    }

    /** Writes from memory inside entry {@code buffer} of the ring's buffer table. */
    public boolean writeFixed(int flags, int fd, long offset, long address, int length, int buffer, long userData) {
        return prepare(IoUring.IORING_OP_WRITE_FIXED, flags, fd, offset, address, length, buffer, userData);
    }

    /** Flushes the file; covers writes that completed before, not writes only submitted before. */
    public boolean fsync(int flags, int fd, boolean dataOnly, long userData) {
        return prepareWithOption(
                IoUring.IORING_OP_FSYNC, flags, fd, 0, dataOnly ? IoUring.IORING_FSYNC_DATASYNC : 0, userData);
    }

    /** Opens the name at {@code name}, from a folder, as the {@code struct open_how} at {@code how} has it. */
    public boolean open(int folder, long name, long how, long userData) {
        return prepare(IoUring.IORING_OP_OPENAT2, 0, folder, how, name, IoUring.OPEN_HOW_BYTES, 0, userData);
    }

    /**
     * Cancels the operation {@code target}; completes with 0, ENOENT (not found, or no longer cancellable) or EALREADY.
     */
    public boolean cancel(long target, long userData) {
        return prepare(IoUring.IORING_OP_ASYNC_CANCEL, 0, -1, 0, target, 0, 0, userData);
    }

    /** Completes once {@code fd} has one of {@code events}, with the events that are ready. */
    public boolean poll(int fd, int events, long userData) {
        return prepareWithOption(IoUring.IORING_OP_POLL_ADD, 0, fd, 0, events, userData);
    }

    /** Completes with 0, at once. */
    public boolean nop(long userData) {
        return prepare(IoUring.IORING_OP_NOP, 0, -1, 0, 0, 0, 0, userData);
    }

    /** Returns the number of operations that the kernel has not consumed yet. */
    public int pending() {
        // Acquire pairs with the kernel's release of head in io_commit_sqring: the SQEs before head have been copied
        // (IORING_FEAT_SUBMIT_STABLE), so overwriting them cannot change an operation already consumed.
        return tail - (int) INT.getAcquire(rings, headOffset);
    }

    /** Returns the number of operations that there is room for. */
    public int space() {
        return entries - pending();
    }

    /** Withdraws pending operations and completes them with {@code result}. */
    void refusePending(CompletionHandler handler, int result) {
        int end = tail;
        tail -= pending();
        publish(); // no other reader: the kernel reads the tail inside enter only
        for (int next = tail; next != end; next++) {
            int sqe = (next & (entries - 1)) * IoUring.SQE_BYTES;
            handler.completed(sqes.getLong(sqe + IoUring.SQE_USER_DATA_OFFSET), result, 0);
        }
    }

    /** Publishes every operation written so far to the kernel. */
    void publish() {
        // Release pairs with the kernel's smp_load_acquire of tail in io_sqring_entries: it must not read an SQE before
        // this thread has finished writing it. Where this thread itself enters the kernel (no SQPOLL) it reads its own
        // stores in order, and a plain store would do; the release is for a ring whose tail is read by the kernel's
        // thread. No test on x86 can distinguish the two, since its stores are never reordered with each other.
        INT.setRelease(rings, tailOffset, tail);
    }

    /** Returns true if completions are held in the kernel because the completion queue was full. */
    boolean hasOverflow() {
        // Acquire, so that the flag is read before the completion queue is drained again; a stale 0 only delays: the
        // flag is checked at each reap.
        return ((int) INT.getAcquire(rings, flagsOffset) & IoUring.IORING_SQ_CQ_OVERFLOW) != 0;
    }

    /** Makes every later call throw instead of writing to unmapped memory. */
    void close() {
        rings = CLOSED;
        sqes = CLOSED;
    }

    private boolean prepareWithOption(byte opcode, int flags, int fd, int length, int option, long userData) {
        if (!prepare(opcode, flags, fd, 0, 0, length, 0, userData)) {
            return false;
        }
        sqes.putInt(((tail - 1) & (entries - 1)) * IoUring.SQE_BYTES + IoUring.SQE_RW_FLAGS_OFFSET, option);
        return true;
    }

    // Plain writes: publish() orders them. Every byte is written, since indexes are reused.
    private boolean prepare(
            byte opcode, int flags, int fd, long offset, long address, int length, int buffer, long userData) {
        if (space() == 0) {
            return false;
        }
        int sqe = (tail & (entries - 1)) * IoUring.SQE_BYTES;
        sqes.putInt(sqe, opcode | flags << 8); // little-endian: opcode, flags, and ioprio 0
        sqes.putInt(sqe + IoUring.SQE_FD_OFFSET, fd);
        sqes.putLong(sqe + IoUring.SQE_OFF_OFFSET, offset);
        sqes.putLong(sqe + IoUring.SQE_ADDR_OFFSET, address);
        sqes.putLong(sqe + IoUring.SQE_LEN_OFFSET, length); // and rw_flags 0
        sqes.putLong(sqe + IoUring.SQE_USER_DATA_OFFSET, userData);
        sqes.putLong(sqe + IoUring.SQE_BUF_INDEX_OFFSET, buffer); // and personality, file_index 0
        sqes.putLong(sqe + IoUring.SQE_ADDR3_OFFSET, 0);
        sqes.putLong(sqe + IoUring.SQE_ADDR3_OFFSET + Long.BYTES, 0);
        tail++;
        return true;
    }
}
