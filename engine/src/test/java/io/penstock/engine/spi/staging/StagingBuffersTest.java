// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.spi.staging;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.engine.spi.Request;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.Test;

/** A pool of one staging buffer, and a request that comes at the worst moment. */
class StagingBuffersTest {

    private static final int STAGING = 4096;

    private final FakeHost host = new FakeHost(8 * STAGING, 1);
    private final FakeDevice device = new FakeDevice(ThreadRule.MANY, host, 2);
    private final StagedQueue queue =
            new StagedQueue(device, host, new StagingSizes(STAGING, 1, 0, 4), StagingWorkers.stepped(1), null, null);

    @Test
    void aSegmentThatArrivesDuringTheLastPollGetsTheStagingBuffer() {
        StagedRequest late = new StagedRequest(queue, new Request(1, (request, bytes, failure) -> {}));
        StagingBuffers[] pool = new StagingBuffers[1];
        boolean[] came = {false};
        pool[0] = new StagingBuffers(device, host, 1, STAGING, new ConcurrentLinkedQueue<>() {
            @Override
            public StagedRequest poll() {
                StagedRequest next = super.poll();
                if (next == null && !came[0]) {
                    came[0] = true; // as another thread, that finds no staging buffer since this one holds it
                    pool[0].assign(late);
                }
                return next;
            }
        });
        StagedRequest first = new StagedRequest(queue, new Request(0, (request, bytes, failure) -> {}));
        pool[0].assign(first);
        pool[0].release(first.detachBuffer());
        assertThat(came[0]).isTrue();
        assertThat(late.hasBuffer()).isTrue();
        assertThat(pool[0].free()).isZero();
    }
}
