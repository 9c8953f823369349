// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import io.penstock.Backend;
import io.penstock.DeviceFence;
import java.util.concurrent.CompletableFuture;

/** Small reads that wait for the application's drawing, measured from its completion. */
final class GlSmallReads extends DeviceSmallReads {

    private final GlGate gate = new GlGate();

    GlSmallReads(String name, Backend backend, Plan plan) {
        super(name, backend, new GlMemoryCheck(), plan);
    }

    @Override
    long once() throws Exception {
        long took;
        try (DeviceFence drawn = backend.fence(gate.shut())) {
            CompletableFuture<Long> delivered =
                    delivery(plan.fenceOnly() ? drawn.signalled() : backend.submit(read().after(drawn)));
            long at = await(delivered);
            took = at - gate.opened();
        }
        gate.done();
        return took;
    }

    @Override
    public void close() {
        gate.close();
        super.close();
    }
}
