// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.spi.staging;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.engine.spi.Request;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.Test;

/** A pool of one slot, and a piece that comes at the worst moment. */
class SlotPoolTest {

    private static final int SLOT = 4096;

    private final FakeHost host = new FakeHost(8 * SLOT, 1);
    private final FakeDevice device = new FakeDevice(ThreadRule.MANY, host, 2);
    private final StagedQueue queue =
            new StagedQueue(device, host, new SlotSizes(SLOT, 1, 0, 4), FillerPool.stepped(1), null, null);

    @Test
    void aPieceThatComesWhileTheLastLookGoesOnGetsTheSlot() {
        Piece late = new Piece(queue, new Request(1, (request, bytes, failure) -> {}));
        SlotPool[] pool = new SlotPool[1];
        boolean[] came = {false};
        pool[0] = new SlotPool(device, host, 1, SLOT, new ConcurrentLinkedQueue<>() {
            @Override
            public Piece poll() {
                Piece next = super.poll();
                if (next == null && !came[0]) {
                    came[0] = true; // as another thread, that finds no slot since this one holds it
                    pool[0].assign(late);
                }
                return next;
            }
        });
        Piece first = new Piece(queue, new Request(0, (request, bytes, failure) -> {}));
        pool[0].assign(first);
        pool[0].release(first.giveUpSlot());
        assertThat(came[0]).isTrue();
        assertThat(late.hasSlot()).isTrue();
        assertThat(pool[0].free()).isZero();
    }
}
