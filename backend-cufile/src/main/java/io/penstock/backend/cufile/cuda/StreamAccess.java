// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile.cuda;

import io.penstock.DeviceQueue;
import io.penstock.Transfer;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Access to the parts of a {@code CudaStream} that are internal to this module. That class registers the accessor in
 * its static initializer, so it is set wherever a stream exists.
 */
public abstract class StreamAccess {

    private static volatile @Nullable StreamAccess access;

    /** For {@code CudaStream} only. */
    protected StreamAccess() {}

    /** Sets the accessor that the static methods use. */
    public static void set(StreamAccess ofStreams) {
        access = ofStreams;
    }

    /** Returns the CUcontext of a stream. */
    protected abstract long contextOf(DeviceQueue stream);

    /** Returns the word with the size of transfers on a stream; null if each transfer has its own size. */
    protected abstract @Nullable LateWord sizeOf(DeviceQueue stream);

    /** Returns the CUcontext of a stream. */
    public static long context(DeviceQueue stream) {
        return Objects.requireNonNull(access).contextOf(stream);
    }

    /** Returns the word with the size of transfers on a stream; null if each transfer has its own size. */
    public static @Nullable LateWord size(DeviceQueue stream) {
        return Objects.requireNonNull(access).sizeOf(stream);
    }

    /** Returns the word with the size of a transfer that is known late; null for any other transfer. */
    public static @Nullable LateWord lateSize(Transfer transfer) {
        DeviceQueue stream = transfer.queue().orElse(null);
        return stream == null ? null : size(stream);
    }
}
