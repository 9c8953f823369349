// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.host.uring;

import io.penstock.engine.ffi.IoUring;
import io.penstock.engine.host.kernel.Kernel;
import io.penstock.engine.kit.ffi.ErrnoException;
import io.penstock.engine.kit.ffi.NativeMemory;
import java.nio.ByteBuffer;

/**
 * The memory that a ring shares with the kernel: the two rings of indices in one mapping, the SQEs in another.
 *
 * <p><b>Ownership:</b> {@link #unmap} frees both, once; called last by the ring that mapped them.
 */
final class RingMemory {
    final ByteBuffer rings;
    final ByteBuffer sqes;
    final int sqEntries;
    final int cqEntries;
    final int sqHead;
    final int sqTail;
    final int sqFlags;
    final int cqHead;
    final int cqTail;
    final int cqes;

    private final Kernel kernel;
    private final long ringsAddress;
    private final long sqesAddress;

    private RingMemory(Kernel kernel, ByteBuffer params, long ringsAddress, long sqesAddress) {
        this.kernel = kernel;
        this.ringsAddress = ringsAddress;
        this.sqesAddress = sqesAddress;
        rings = NativeMemory.view(ringsAddress, ringsBytes(params));
        sqes = NativeMemory.view(sqesAddress, sqesBytes(params));
        sqEntries = params.getInt(IoUring.PARAMS_SQ_ENTRIES_OFFSET);
        cqEntries = params.getInt(IoUring.PARAMS_CQ_ENTRIES_OFFSET);
        sqHead = params.getInt(IoUring.PARAMS_SQ_OFF_OFFSET + IoUring.SQ_OFF_HEAD_OFFSET);
        sqTail = params.getInt(IoUring.PARAMS_SQ_OFF_OFFSET + IoUring.SQ_OFF_TAIL_OFFSET);
        sqFlags = params.getInt(IoUring.PARAMS_SQ_OFF_OFFSET + IoUring.SQ_OFF_FLAGS_OFFSET);
        cqHead = params.getInt(IoUring.PARAMS_CQ_OFF_OFFSET + IoUring.CQ_OFF_HEAD_OFFSET);
        cqTail = params.getInt(IoUring.PARAMS_CQ_OFF_OFFSET + IoUring.CQ_OFF_TAIL_OFFSET);
        cqes = params.getInt(IoUring.PARAMS_CQ_OFF_OFFSET + IoUring.CQ_OFF_CQES_OFFSET);
        // The n-th submission always uses the n-th SQE: the index array is written once.
        int array = params.getInt(IoUring.PARAMS_SQ_OFF_OFFSET + IoUring.SQ_OFF_ARRAY_OFFSET);
        for (int i = 0; i < sqEntries; i++) {
            rings.putInt(array + i * Integer.BYTES, i);
        }
    }

    /** Maps the ring {@code fd} whose setup returned {@code params}; leaves nothing mapped on failure. */
    static RingMemory map(Kernel kernel, int fd, ByteBuffer params) throws ErrnoException {
        long rings = kernel.map(fd, ringsBytes(params), IoUring.IORING_OFF_SQ_RING);
        if (isError(rings)) {
            throw new ErrnoException("mmap", (int) -rings);
        }
        long sqes = kernel.map(fd, sqesBytes(params), IoUring.IORING_OFF_SQES);
        if (isError(sqes)) {
            kernel.unmap(rings, ringsBytes(params));
            throw new ErrnoException("mmap", (int) -sqes);
        }
        return new RingMemory(kernel, params, rings, sqes);
    }

    void unmap() {
        kernel.unmap(sqesAddress, sqes.capacity());
        kernel.unmap(ringsAddress, rings.capacity());
    }

    // User-space addresses are positive, error numbers are above -4096.
    private static boolean isError(long address) {
        return address < 0 && address > -4096;
    }

    // IORING_FEAT_SINGLE_MMAP: one mapping holds both rings, and is as long as the longer of the two.
    private static long ringsBytes(ByteBuffer params) {
        long array = params.getInt(IoUring.PARAMS_SQ_OFF_OFFSET + IoUring.SQ_OFF_ARRAY_OFFSET);
        long cqes = params.getInt(IoUring.PARAMS_CQ_OFF_OFFSET + IoUring.CQ_OFF_CQES_OFFSET);
        return Math.max(
                array + (long) params.getInt(IoUring.PARAMS_SQ_ENTRIES_OFFSET) * Integer.BYTES,
                cqes + (long) params.getInt(IoUring.PARAMS_CQ_ENTRIES_OFFSET) * IoUring.CQE_BYTES);
    }

    private static long sqesBytes(ByteBuffer params) {
        return (long) params.getInt(IoUring.PARAMS_SQ_ENTRIES_OFFSET) * IoUring.SQE_BYTES;
    }
}
