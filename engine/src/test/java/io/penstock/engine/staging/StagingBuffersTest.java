// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.staging;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.engine.kit.ffi.CpuSet;
import io.penstock.engine.spi.Request;
import io.penstock.engine.spi.staging.ThreadRule;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.Test;

/** A pool of one staging buffer, and a request that comes at the worst moment. */
class StagingBuffersTest {

    private static final int STAGING = 4096;

    private final FakeHost host = new FakeHost(8 * STAGING, 1);
    private final FakeDevice device = new FakeDevice(ThreadRule.MANY, host, 2);
    private final StagedQueue queue =
            new StagedQueue(device, host, StagingSettings.of(STAGING, 1, 4), StagingWorkers.stepped(1), null, null);

    @Test
    void withoutMemoryForAllThereIsNoQueueAndNothingIsLeft() {
        device.allocations = 2;
        assertThatThrownBy(() -> new StagingBuffers(device, CpuSet.ANY, host, 4, STAGING, 3))
                .hasMessage("no pinned memory");
        queue.close();
        assertThat(host.allFreed()).isTrue();
    }

    @Test
    void aPermitNeverComesBeforeItsBuffer() {
        StagedRequest first = staged(0);
        StagedRequest next = staged(1);
        StagingBuffers[] pool = new StagingBuffers[1];
        pool[0] = new StagingBuffers(
                StagingBuffers.allocate(device, CpuSet.ANY, host, 1, STAGING, 1), new ConcurrentLinkedQueue<>() {
                    @Override
                    public StagedRequest poll() {
                        StagedRequest polled = super.poll();
                        if (polled == next) { // as its worker, at once
                            next.permit();
                            next.takeBuffer(pool[0]);
                        }
                        return polled;
                    }
                });
        pool[0].admit(first);
        first.takeBuffer(pool[0]);
        pool[0].admit(next);
        assertThat(next.hasBuffer()).isFalse();
        first.releaseBuffer(pool[0]);
        assertThat(next.hasBuffer()).isTrue();
    }

    private StagedRequest staged(int tag) {
        return new StagedRequest(
                queue,
                new Request(tag, (request, bytes, failure) -> {}).file(Request.Kind.READ, new FakeFile(1, 1, 1), 0, 1));
    }

    @Test
    void aSegmentThatArrivesDuringTheLastPollGetsTheStagingBuffer() {
        StagedRequest late = staged(1);
        StagingBuffers[] pool = new StagingBuffers[1];
        boolean[] came = {false};
        pool[0] = new StagingBuffers(
                StagingBuffers.allocate(device, CpuSet.ANY, host, 1, STAGING, 1), new ConcurrentLinkedQueue<>() {
                    @Override
                    public StagedRequest poll() {
                        StagedRequest next = super.poll();
                        if (next == null && !came[0]) {
                            came[0] = true; // as another thread, that finds no staging buffer since this one holds it
                            pool[0].admit(late);
                        }
                        return next;
                    }
                });
        StagedRequest first = staged(0);
        pool[0].admit(first);
        first.releaseBuffer(pool[0]);
        assertThat(came[0]).isTrue();
        late.takeBuffer(pool[0]);
        assertThat(late.hasBuffer()).isTrue();
        assertThat(pool[0].free()).isZero();
    }
}
