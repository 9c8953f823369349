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
    /** On the lane. */
    DIRECT(CommonOptions.Delivery.DIRECT);

    private final CommonOptions.Delivery delivery;

    Mode(CommonOptions.Delivery delivery) {
        this.delivery = delivery;
    }

    /** Opens the host backend; all of one depth share one lane. */
    Backend open(int laneDepth) {
        return Backends.open(
                "host",
                Options.none().with(CommonOptions.DELIVERY, delivery).with(CommonOptions.LANE_DEPTH, laneDepth));
    }

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
