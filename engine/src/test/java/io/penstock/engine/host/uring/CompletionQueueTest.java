// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.host.uring;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.engine.ffi.IoUring;
import io.penstock.engine.host.kernel.Kernel;
import io.penstock.engine.kit.ffi.ErrnoException;
import io.penstock.engine.kit.ffi.NativeMemory;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Completions in memory that a kernel writes over as soon as it may. */
class CompletionQueueTest {

    private static final int ENTRIES = 4;
    private static final int HEAD = 0;
    private static final int TAIL = 64;
    private static final int CQES = 128;
    private static final long POISON = -99;

    private final ByteBuffer rings = memory(CQES + ENTRIES * IoUring.CQE_BYTES + ENTRIES * Integer.BYTES);
    private final ByteBuffer sqes = memory(ENTRIES * IoUring.SQE_BYTES);
    private int overwritten;

    private static ByteBuffer memory(int bytes) {
        return ByteBuffer.allocateDirect(bytes).order(ByteOrder.nativeOrder());
    }

    private CompletionQueue open() throws ErrnoException {
        Kernel kernel = (Kernel) Proxy.newProxyInstance(
                Kernel.class.getClassLoader(), new Class<?>[] {Kernel.class}, (self, method, arguments) -> {
                    assertThat(method.getName()).isEqualTo("map");
                    return NativeMemory.address((long) arguments[2] == IoUring.IORING_OFF_SQES ? sqes : rings);
                });
        ByteBuffer params = memory(IoUring.PARAMS_BYTES);
        params.putInt(IoUring.PARAMS_SQ_ENTRIES_OFFSET, ENTRIES).putInt(IoUring.PARAMS_CQ_ENTRIES_OFFSET, ENTRIES);
        params.putInt(IoUring.PARAMS_SQ_OFF_OFFSET + IoUring.SQ_OFF_ARRAY_OFFSET, CQES + ENTRIES * IoUring.CQE_BYTES);
        params.putInt(IoUring.PARAMS_CQ_OFF_OFFSET + IoUring.CQ_OFF_HEAD_OFFSET, HEAD);
        params.putInt(IoUring.PARAMS_CQ_OFF_OFFSET + IoUring.CQ_OFF_TAIL_OFFSET, TAIL);
        params.putInt(IoUring.PARAMS_CQ_OFF_OFFSET + IoUring.CQ_OFF_CQES_OFFSET, CQES);
        return new CompletionQueue(RingMemory.map(kernel, 3, params));
    }

    private void complete(long userData) {
        int tail = rings.getInt(TAIL);
        rings.putLong(CQES + (tail & (ENTRIES - 1)) * IoUring.CQE_BYTES, userData);
        rings.putInt(TAIL, tail + 1);
    }

    /** Writes over what the driver has given back. */
    private void reuse() {
        for (; overwritten != rings.getInt(HEAD); overwritten++) {
            rings.putLong(CQES + (overwritten & (ENTRIES - 1)) * IoUring.CQE_BYTES, POISON);
        }
    }

    @Test
    void completionsAreGivenBackWhenTheyHaveBeenRead() throws ErrnoException {
        CompletionQueue queue = open();
        List<Long> seen = new ArrayList<>();
        for (long round = 0; round < 3; round++) { // around the ring
            for (int i = 0; i < 3; i++) {
                complete(round * 3 + i);
            }
            assertThat(queue.drain((userData, result, flags) -> {
                        seen.add(userData);
                        reuse();
                    }))
                    .isEqualTo(3);
            reuse();
            assertThat(rings.getInt(HEAD)).as("given back").isEqualTo(rings.getInt(TAIL));
        }
        assertThat(seen).containsExactly(0L, 1L, 2L, 3L, 4L, 5L, 6L, 7L, 8L);
    }
}
