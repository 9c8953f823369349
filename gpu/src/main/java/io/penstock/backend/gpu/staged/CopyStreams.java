// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gpu.staged;

import io.penstock.backend.gpu.api.DriverApi;
import io.penstock.backend.gpu.context.GpuContext;
import io.penstock.engine.kit.SharedContext;

/**
 * The streams of a context on which staging buffers are copied, one for each direction, and one for copies between
 * buffers. Copies on them wait only for the copy before. Copies between buffers do not use the link to the host: behind
 * the copies of staging buffers, each would keep that link idle while it runs.
 *
 * <p>Not one stream per staging buffer: that is slower when several threads start copies. With ten threads an H200
 * moves 49.6 GB/s with two streams and 46.4 GB/s with one each, in staging buffers of 2 MiB; 51.2 and 50.3 in staging
 * buffers of 4 MiB ({@code tools/benchmarks/experiments/links.c}, docs/results/h200.md).
 */
public record CopyStreams(GpuContext context, long toGpu, long fromGpu, long between) implements SharedContext.Part {

    private static final String REQUEST = "streams for the copies of staging buffers";

    /** Returns the streams of a context, which must be current. */
    static CopyStreams of(GpuContext context) {
        return context.part(CopyStreams.class, CopyStreams::open);
    }

    private static CopyStreams open(GpuContext context) {
        DriverApi driver = context.driver();
        long[] streams = new long[3];
        for (int made = 0; made < streams.length; made++) {
            long[] stream = new long[1];
            int result = driver.streamCreate(stream, DriverApi.STREAM_NON_BLOCKING);
            if (result != DriverApi.SUCCESS) {
                destroy(driver, streams);
                throw driver.exception(REQUEST, "streamCreate", result);
            }
            streams[made] = stream[0];
        }
        return new CopyStreams(context, streams[0], streams[1], streams[2]);
    }

    /**
     * Records an event behind the copy just started on a stream; returns the driver's result. After a failure the copy
     * has completed: nothing else would report it, and its memory must not be released before.
     */
    public static int mark(DriverApi driver, long event, long stream) {
        int recorded = driver.eventRecord(event, stream);
        if (recorded != DriverApi.SUCCESS) {
            driver.streamSynchronize(stream);
        }
        return recorded;
    }

    /**
     * Returns the state of a copy by the event behind it: not ready, success, or a failure. If only the query fails, the
     * copy may still run, and nothing of it may be released: then this waits for its end.
     */
    public static int state(DriverApi driver, long event) {
        int state = driver.eventQuery(event);
        if (state != DriverApi.NOT_READY
                && state != DriverApi.SUCCESS
                && driver.foreignCause(state).isEmpty()) {
            driver.eventSynchronize(event);
        }
        return state;
    }

    @Override
    public void close() {
        context.attempt(() -> {
            destroy(context.driver(), toGpu, fromGpu, between);
            return DriverApi.SUCCESS;
        });
    }

    private static void destroy(DriverApi driver, long... streams) {
        for (long stream : streams) {
            if (stream != 0) {
                driver.streamDestroy(stream);
            }
        }
    }
}
