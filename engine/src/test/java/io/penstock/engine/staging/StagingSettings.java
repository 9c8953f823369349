// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.staging;

import io.penstock.CommonOptions;
import io.penstock.Options;
import io.penstock.engine.spi.staging.StagingOptions;

/** The options of a staged queue, for tests. */
public final class StagingSettings {

    private StagingSettings() {}

    /** Sets the size and the number of staging buffers, and the depth of the queue. */
    public static Options of(long bufferBytes, int buffersPerWorker, int depth) {
        return Options.none()
                .with(StagingOptions.BUFFER_BYTES, bufferBytes)
                .with(StagingOptions.BUFFERS_PER_WORKER, buffersPerWorker)
                .with(CommonOptions.QUEUE_DEPTH, depth);
    }
}
