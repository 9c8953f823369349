// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gpu.paths;

import io.penstock.backend.gpu.api.DriverApi;
import io.penstock.backend.gpu.api.FileApi;
import java.util.ArrayDeque;

/**
 * One stream, internal or the application's.
 *
 * @param isAligned whether it is for whole blocks only
 * @param isRegistered with the file API
 * @param operations in flight, in order
 */
record StreamLine(
        FileApi files,
        long stream,
        boolean isOurs,
        boolean isAligned,
        boolean isRegistered,
        ArrayDeque<CallTask> operations) {

    /** Registration flags of a stream whose operations may start and end anywhere. */
    private static final int FIXED =
            FileApi.STREAM_FIXED_BUF_OFFSET | FileApi.STREAM_FIXED_FILE_OFFSET | FileApi.STREAM_FIXED_FILE_SIZE;

    /** Wraps a stream of the application, which is not registered with the file API. */
    static StreamLine of(FileApi files, long stream) {
        return new StreamLine(files, stream, false, false, false, new ArrayDeque<>());
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
        boolean registered = FileApi.error(status) == FileApi.SUCCESS;
        return new StreamLine(files, stream[0], true, aligned, registered, new ArrayDeque<>());
    }

    /** Destroys it: first for the file API, then for the driver. It must have completed everything. */
    void close() {
        if (isRegistered) {
            files.streamDeregister(stream);
        }
        if (isOurs) {
            files.driver().streamDestroy(stream);
        }
    }
}
