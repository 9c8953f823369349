// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.host.uring;

import io.penstock.engine.ffi.IoUring;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The completions of one ring, read from shared memory.
 *
 * <p><b>Threading:</b> the ring's I/O queue only.
 */
final class CompletionQueue {
    private static final ByteBuffer CLOSED = ByteBuffer.allocateDirect(0);
    private static final VarHandle INT = MethodHandles.byteBufferViewVarHandle(int[].class, ByteOrder.nativeOrder())
            .withInvokeExactBehavior();

    private final int entries;
    private final int headOffset;
    private final int tailOffset;
    private final int cqesOffset;
    private ByteBuffer rings; // I/O queue only; CLOSED after close
    private int head; // I/O queue only: runs ahead of the shared head until the end of drain()

    CompletionQueue(RingMemory memory) {
        rings = memory.rings;
        entries = memory.cqEntries;
        headOffset = memory.cqHead;
        tailOffset = memory.cqTail;
        cqesOffset = memory.cqes;
        head = (int) INT.get(rings, headOffset);
    }

    /** Returns the number of completions ready to be drained. */
    int ready() {
        // Acquire pairs with the kernel's release of tail in io_commit_cqring: a CQE before tail is complete, and so
        // are the bytes that its operation has written.
        return (int) INT.getAcquire(rings, tailOffset) - head;
    }

    /** Delivers the completions that are ready when the call begins; returns their number. */
    int drain(CompletionHandler handler) {
        int count = ready();
        int end = head + count;
        try {
            while (head != end) {
                int cqe = cqesOffset + (head & (entries - 1)) * IoUring.CQE_BYTES;
                head++; // before the handler: a completion is delivered once, even if the handler throws
                handler.completed(
                        rings.getLong(cqe),
                        rings.getInt(cqe + IoUring.CQE_RES_OFFSET),
                        rings.getInt(cqe + IoUring.CQE_FLAGS_OFFSET));
            }
        } finally {
            // Release pairs with the kernel's read of head: it must not reuse a CQE before this thread has read it.
            if (count > 0) {
                INT.setRelease(rings, headOffset, head);
            }
        }
        return count;
    }

    /** Makes every later call throw instead of reading unmapped memory. */
    void close() {
        rings = CLOSED;
    }
}
