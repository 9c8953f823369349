// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl;

import io.penstock.Options;
import io.penstock.backend.opencl.ffi.OpenCl;
import io.penstock.backend.opencl.ffi.OpenClError;
import io.penstock.backend.opencl.ffi.Ssg;
import io.penstock.engine.spi.ffi.SignalHandlers;
import io.penstock.engine.spi.ssg.SsgFileObject;
import io.penstock.engine.spi.ssg.SsgRefusal;
import io.penstock.engine.spi.ssg.SsgTrial;

/**
 * Whether a device really has AMD's extension: drivers say so that have it not, so a file object is made.
 *
 * @param reason why not; empty if it has
 * @param blockBytes of the file that was tried
 */
record SsgProof(String reason, long blockBytes) {

    /**
     * Tries it in a context of its own, which is the one thing that a probe makes; only where the driver says that it has
     * the extension.
     */
    static SsgProof of(OpenClDevice device, Options options) {
        String missing = missing(device);
        if (!missing.isEmpty()) {
            return new SsgProof(missing, 0);
        }
        int[] error = new int[1];
        long[] properties = {OpenCl.CL_CONTEXT_PLATFORM, device.platform().handle(), 0};
        long context = SignalHandlers.keep(
                () -> OpenCl.clCreateContext(properties, 1, new long[] {device.handle()}, 0, 0, error));
        if (error[0] != OpenClError.SUCCESS) {
            return new SsgProof("no context: " + OpenClFailure.error("clCreateContext", error[0]), 0);
        }
        try {
            return in(context, options);
        } finally {
            OpenCl.clReleaseContext(context);
        }
    }

    /** Tries it in a context that there is. */
    static SsgProof of(ClContext context, Options options) {
        String missing = missing(context.device());
        return missing.isEmpty() ? in(context.handle(), options) : new SsgProof(missing, 0);
    }

    private static String missing(OpenClDevice device) {
        return device.claimsSsg() ? Ssg.load(device.platform().handle()) : "the device has no " + Ssg.EXTENSION;
    }

    private static SsgProof in(long context, Options options) {
        SsgFileObject.Opener driver = (path, write) -> SsgObject.open(context, path, write);
        try {
            return new SsgProof("", SsgTrial.blockBytes(options, OpenClOptions.SSG_FILE, driver));
        } catch (SsgRefusal e) {
            return new SsgProof(
                    "the driver says that it has " + Ssg.EXTENSION + ", but makes no file object: " + e.getMessage(),
                    0);
        }
    }

    boolean isProven() {
        return reason.isEmpty();
    }

    @Override
    public String toString() {
        return isProven() ? "SSG, proven by a file object, in blocks of " + blockBytes + " bytes" : "no SSG: " + reason;
    }
}
