// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl.staged;

import io.penstock.PenstockException;
import io.penstock.backend.opencl.context.ClContext;
import io.penstock.backend.opencl.ffi.OpenCl;
import io.penstock.engine.kit.SharedContext;

/**
 * The command queues of a context on which staging buffers are copied, one for each direction, one for copies between
 * buffers, and one for maps, which wait for no copy.
 *
 * <p>Not one queue per staging buffer: that is slower when several threads start copies, as with CUDA's streams
 * (docs/results/h200.md). Where the device is the processor, which copies with several threads, queues are out of
 * order.
 *
 * @param toDevice for copies to the device
 * @param fromDevice for copies from the device
 * @param between for copies between buffers
 * @param maps for maps of new staging buffers
 */
record CopyQueues(long toDevice, long fromDevice, long between, long maps) implements SharedContext.Part {

    /**
     * Returns the queues of a context. They are closed after the {@linkplain ClStagingBuffer.Pool staging buffers},
     * which need them to be unmapped: the pool is there first.
     *
     * @throws PenstockException with the driver's answer
     */
    static CopyQueues of(ClContext context) {
        return context.part(CopyQueues.class, CopyQueues::open);
    }

    private static CopyQueues open(ClContext context) {
        long copies = context.device().isHardware() ? 0 : context.device().orderlessQueues();
        long[] made = new long[4];
        try {
            for (int i = 0; i < made.length; i++) {
                made[i] = context.createQueue(i < 3 ? copies : 0);
            }
        } catch (PenstockException e) {
            release(made);
            throw e;
        }
        return new CopyQueues(made[0], made[1], made[2], made[3]);
    }

    /** Releases them; no command may be in flight. */
    @Override
    public void close() {
        release(toDevice, fromDevice, between, maps);
    }

    private static void release(long... queues) {
        for (long queue : queues) {
            if (queue != 0) {
                OpenCl.clReleaseCommandQueue(queue);
            }
        }
    }
}
