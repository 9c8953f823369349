// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import io.penstock.Backend;
import io.penstock.DeviceFence;
import io.penstock.backend.opencl.OpenClQueue;
import java.util.concurrent.CompletableFuture;
import reactor.core.publisher.Mono;

/** Small reads whose copies are already enqueued, or fences there, measured from the opening of the queue. */
final class OpenClSmallReads extends DeviceSmallReads {

    private final OpenClGate gate;
    private final OpenClQueue queue;

    OpenClSmallReads(String name, Backend backend, Plan plan) {
        this(name, backend, new OpenClMemory(backend), plan);
    }

    private OpenClSmallReads(String name, Backend backend, OpenClMemory memory, Plan plan) {
        super(name, backend, memory, plan);
        gate = new OpenClGate(memory);
        queue = OpenClQueue.of(gate.queue);
    }

    @Override
    long once() throws Exception {
        gate.shut();
        long took;
        if (plan.fenceOnly()) {
            try (DeviceFence fence = queue.fence()) {
                took = took(fence.signalled());
            }
        } else {
            took = took(backend.submit(read().on(queue)));
        }
        gate.done();
        return took;
    }

    private long took(Mono<?> signal) throws Exception {
        CompletableFuture<Long> delivered = delivery(signal);
        long opened = gate.open();
        return await(delivered) - opened;
    }

    @Override
    public void close() {
        gate.close();
        super.close();
    }
}
