// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.host.staged;

import io.penstock.Options;
import io.penstock.TransferPath;
import io.penstock.engine.kit.staging.ExecutorPump;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.staging.StagingDevice;
import io.penstock.engine.spi.staging.StagingPath;
import org.jspecify.annotations.Nullable;

/** The way to the card: through staging buffers. */
final class CardPath extends StagingPath {

    private final Card card;
    private final @Nullable ExecutorPump pump; // the application's thread, where the card's rule demands one

    CardPath(Card card, Options options, @Nullable ExecutorPump pump) {
        super(options, "the card has no way to files of its own");
        this.card = card;
        this.pump = pump;
    }

    @Override
    public @Nullable TransferPath copies(DeviceMemory from, DeviceMemory to) {
        return from instanceof CardMemory && to instanceof CardMemory ? TransferPath.DIRECT : null;
    }

    @Override
    public Object sharing() {
        return card;
    }

    @Override
    protected StagingDevice device() {
        return card;
    }

    @Override
    protected @Nullable ExecutorPump executor() {
        return pump;
    }
}
