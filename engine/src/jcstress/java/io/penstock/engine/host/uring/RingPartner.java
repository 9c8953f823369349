// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.host.uring;

import io.penstock.engine.ffi.IoUring;
import io.penstock.engine.host.kernel.Kernel;
import io.penstock.engine.kit.ffi.ErrnoException;
import io.penstock.engine.kit.ffi.NativeMemory;
import java.io.UncheckedIOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.openjdk.jcstress.infra.results.JJ_Result;

/** The kernel's side of a ring of one submission and one completion, with the kernel's own ordering and no more. */
final class RingPartner {

    private static final int SQ_HEAD = 0;
    private static final int SQ_TAIL = 4;
    private static final int SQ_FLAGS = 8;
    private static final int CQ_HEAD = 12;
    private static final int CQ_TAIL = 16;
    private static final int ARRAY = 24;
    private static final int CQES = 32;
    private static final VarHandle INT =
            MethodHandles.byteBufferViewVarHandle(int[].class, ByteOrder.nativeOrder()).withInvokeExactBehavior();

    final RingMemory memory;
    private final ByteBuffer rings = direct(CQES + IoUring.CQE_BYTES);
    private final ByteBuffer sqes = direct(IoUring.SQE_BYTES);

    RingPartner() {
        Kernel kernel = (Kernel) Proxy.newProxyInstance(
                Kernel.class.getClassLoader(), new Class<?>[] {Kernel.class}, (self, method, arguments) -> {
                    boolean needsSqes = (long) arguments[2] == IoUring.IORING_OFF_SQES;
                    return NativeMemory.address(needsSqes ? sqes : rings);
                });
        try {
            memory = RingMemory.map(kernel, 0, params());
        } catch (ErrnoException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static ByteBuffer direct(int bytes) {
        return ByteBuffer.allocateDirect(bytes).order(ByteOrder.nativeOrder());
    }

    private static ByteBuffer params() {
        ByteBuffer params = ByteBuffer.allocate(IoUring.PARAMS_BYTES).order(ByteOrder.nativeOrder());
        params.putInt(IoUring.PARAMS_SQ_ENTRIES_OFFSET, 1).putInt(IoUring.PARAMS_CQ_ENTRIES_OFFSET, 1);
        int sq = IoUring.PARAMS_SQ_OFF_OFFSET;
        params.putInt(sq + IoUring.SQ_OFF_HEAD_OFFSET, SQ_HEAD).putInt(sq + IoUring.SQ_OFF_TAIL_OFFSET, SQ_TAIL);
        params.putInt(sq + IoUring.SQ_OFF_FLAGS_OFFSET, SQ_FLAGS).putInt(sq + IoUring.SQ_OFF_ARRAY_OFFSET, ARRAY);
        int cq = IoUring.PARAMS_CQ_OFF_OFFSET;
        params.putInt(cq + IoUring.CQ_OFF_HEAD_OFFSET, CQ_HEAD).putInt(cq + IoUring.CQ_OFF_TAIL_OFFSET, CQ_TAIL);
        return params.putInt(cq + IoUring.CQ_OFF_CQES_OFFSET, CQES);
    }

    /** Completes an operation, as io_commit_cqring does: the entry, then the tail with release. */
    void complete(long userData, int result) {
        int tail = (int) INT.get(rings, CQ_TAIL);
        rings.putLong(CQES, userData);
        rings.putInt(CQES + IoUring.CQE_RES_OFFSET, result);
        INT.setRelease(rings, CQ_TAIL, tail + 1);
    }

    /** As {@link #complete}, unless the queue is full; the kernel reads the head before it writes. */
    boolean completeIfThereIsRoom(long userData, int result) {
        if ((int) INT.getAcquire(rings, CQ_HEAD) != (int) INT.get(rings, CQ_TAIL)) {
            return false;
        }
        complete(userData, result);
        return true;
    }

    /**
     * Takes an operation if there is one, as io_get_sqe does: the tail with acquire, the entry, the head with release.
     */
    void consume(JJ_Result taken) {
        int head = (int) INT.get(rings, SQ_HEAD);
        if ((int) INT.getAcquire(rings, SQ_TAIL) != head) {
            taken.r1 = sqes.getLong(IoUring.SQE_USER_DATA_OFFSET);
            taken.r2 = sqes.getLong(IoUring.SQE_OFF_OFFSET);
            INT.setRelease(rings, SQ_HEAD, head + 1);
        }
    }
}
