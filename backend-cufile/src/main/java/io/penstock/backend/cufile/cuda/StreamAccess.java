// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile.cuda;

import io.penstock.DeviceQueue;
import io.penstock.Transfer;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What the packages of this module see of a {@code CudaStream} that an application does not: the class sets this when it is
 * initialized, which it is where there is a stream.
 */
public abstract class StreamAccess {

    private static volatile @Nullable StreamAccess access;

    /** For the class of the streams. */
    protected StreamAccess() {}

    /** Sets what all methods ask. */
    public static void set(StreamAccess ofStreams) {
        access = ofStreams;
    }

    /** Returns the CUcontext of a stream. */
    protected abstract long contextOf(DeviceQueue stream);

    /** Returns the word with the size of transfers on a stream; null where each transfer has its own. */
    protected abstract @Nullable LateWord sizeOf(DeviceQueue stream);

    /** Returns the CUcontext of a stream. */
    public static long context(DeviceQueue stream) {
        return Objects.requireNonNull(access).contextOf(stream);
    }

    /** Returns the word with the size of transfers on a stream; null where each transfer has its own. */
    public static @Nullable LateWord size(DeviceQueue stream) {
        return Objects.requireNonNull(access).sizeOf(stream);
    }

    /** Returns whether a transfer has a size that is known late. */
    public static boolean isSizedLate(Transfer transfer) {
        DeviceQueue stream = transfer.queue().orElse(null);
        return stream != null && size(stream) != null;
    }
}
