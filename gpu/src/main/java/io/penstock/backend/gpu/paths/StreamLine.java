// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gpu.paths;

import io.penstock.backend.gpu.api.DriverApi;
import io.penstock.backend.gpu.api.FileApi;
import java.util.ArrayDeque;

/** One stream, internal or the application's, and its operations in flight, in order. */
final class StreamLine {

    /** Registration flags of a stream whose operations may start and end anywhere. */
    private static final int FIXED =
            FileApi.STREAM_FIXED_BUF_OFFSET | FileApi.STREAM_FIXED_FILE_OFFSET | FileApi.STREAM_FIXED_FILE_SIZE;

    final ArrayDeque<CallTask> operations = new ArrayDeque<>();
    private final FileApi files;
    private final long stream;
    private final boolean ours;
    private final boolean aligned;
    private final boolean registered;

    private StreamLine(FileApi files, long stream, boolean ours, boolean aligned, boolean registered) {
        this.files = files;
        this.stream = stream;
        this.ours = ours;
        this.aligned = aligned;
        this.registered = registered;
    }

    /** Wraps a stream of the application, which is not registered with the file API. */
    static StreamLine of(FileApi files, long stream) {
        return new StreamLine(files, stream, false, false, false);
    }

    /**
     * Creates a stream; a context must be current.
     *
     * @param aligned true if it is for whole blocks only, which saves a check
     * @throws io.penstock.PenstockException if none can be created
     */
    static StreamLine open(FileApi files, boolean aligned) {
        DriverApi driver = files.driver();
        long[] stream = new long[1];
        int result = driver.streamCreate(stream, DriverApi.STREAM_NON_BLOCKING);
        driver.check("a stream for " + files.product(), "streamCreate", result);
        // Optional, according to the vendor: without it the library evaluates the arguments late and allocates for each
        // operation.
        long status = files.streamRegister(stream[0], aligned ? FileApi.STREAM_FIXED_AND_ALIGNED : FIXED);
        return new StreamLine(files, stream[0], true, aligned, FileApi.error(status) == FileApi.SUCCESS);
    }

    long stream() {
        return stream;
    }

    boolean isOurs() {
        return ours;
    }

    boolean isAligned() {
        return aligned;
    }

    /** Destroys it: first for the file API, then for the driver. It must have completed everything. */
    void close() {
        if (registered) {
            files.streamDeregister(stream);
        }
        if (ours) {
            files.driver().streamDestroy(stream);
        }
    }
}
