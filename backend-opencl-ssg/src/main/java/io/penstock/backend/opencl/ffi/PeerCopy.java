// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl.ffi;

import java.util.List;
import java.util.Map;

/** AMD's {@code cl_amd_copy_buffer_p2p}: copies between the buffers of two devices. */
public final class PeerCopy {

    /** The header and the driver's documentation disagree about the name. */
    private static final ExtensionFunctions FUNCTIONS = new ExtensionFunctions(
            PeerCopy.class,
            Map.of("clEnqueueCopyBufferP2PAMD", List.of("clEnqueueCopyBufferP2PAMD", "clEnqueueBufferCopyP2PAMD")));

    private PeerCopy() {}

    /**
     * Loads the function.
     *
     * @return why a platform does not have it, or an empty string
     */
    public static String load(long platform) {
        return FUNCTIONS.load(platform);
    }

    public static native int clEnqueueCopyBufferP2PAMD(
            long queue,
            long source,
            long target,
            long sourceOffset,
            long targetOffset,
            long bytes,
            int waits,
            long waitList,
            long event);
}
