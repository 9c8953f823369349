// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.host.staged;

import io.penstock.Options;
import io.penstock.engine.host.BlockingBytes;
import io.penstock.engine.host.Slabs;
import io.penstock.engine.host.StagingRoute;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.NativeQueue;
import io.penstock.engine.staging.ExecutorPump;
import io.penstock.engine.staging.StagedQueue;
import org.jspecify.annotations.Nullable;

/** The way to the card: through slots. */
final class CardRoute extends StagingRoute {

    private final Card card;
    private final @Nullable ExecutorPump pump; // the application's thread, where the card's rule wants one

    CardRoute(Card card, Options options, @Nullable ExecutorPump pump) {
        super(options, "the card has no way to files of its own");
        this.card = card;
        this.pump = pump;
    }

    @Override
    public Object sharing() {
        return card;
    }

    @Override
    public NativeQueue openQueue() {
        return pump == null
                ? StagedQueue.open(card, BlockingBytes.INSTANCE, sizes())
                : StagedQueue.open(card, BlockingBytes.INSTANCE, sizes(), pump);
    }

    @Override
    public DeviceMemory allocateSlot(long bytes) {
        return Slabs.shared().allocate(bytes);
    }
}
