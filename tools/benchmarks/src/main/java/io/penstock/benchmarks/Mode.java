// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.CommonOptions;
import io.penstock.Options;
import java.util.Locale;

/** Where Penstock delivers. */
enum Mode {
    /** On Reactor's parallel scheduler, which is the default. */
    DEFAULT(CommonOptions.Delivery.PARALLEL),
    /** On the I/O queue. */
    DIRECT(CommonOptions.Delivery.DIRECT);

    private final CommonOptions.Delivery delivery;

    Mode(CommonOptions.Delivery delivery) {
        this.delivery = delivery;
    }

    /** Opens the host backend; all of one depth share one I/O queue. */
    Backend open(int queueDepth) {
        return Backends.open(
                "host",
                Options.none().with(CommonOptions.DELIVERY, delivery).with(CommonOptions.QUEUE_DEPTH, queueDepth));
    }

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
