// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.staging;

import io.penstock.Backend.StagingState;
import io.penstock.NativeError;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.staging.StagingDevice;
import org.jspecify.annotations.Nullable;

/**
 * The calls to a device, on executor threads only. A device that is lost, or throws, stays lost: all later requests
 * fail the same way.
 */
final class DeviceSide {

    private final StagingDevice device;
    private volatile @Nullable NativeFailure lost; // the failure; null while the device works

    DeviceSide(StagingDevice device) {
        this.device = device;
    }

    /** Starts the copy of a request; returns whether it has begun; if not, the request has the failure. */
    boolean start(StagedRequest staged) {
        try {
            device.copy(staged.beginCopy());
        } catch (RuntimeException | Error e) {
            threw(staged, e);
        }
        if (staged.failure != null) {
            note(staged.failure);
            return false;
        }
        staged.show(StagingState.FENCED);
        staged.markStreamOrdered();
        return true;
    }

    /** Polls the copy of a request; returns whether it has ended. If it has failed, the request has the failure. */
    boolean poll(StagedRequest staged) {
        if (!staged.hasCopyEnded()) {
            try {
                device.poll(staged.copy());
            } catch (RuntimeException | Error e) {
                threw(staged, e);
            }
        }
        return ended(staged);
    }

    /** Returns whether copies end in the order in which they were started. */
    boolean endsInOrder() {
        return device.endsInOrder();
    }

    /** As {@link #poll}, but waits for about {@code nanos}. */
    boolean await(StagedRequest staged, long nanos) {
        if (!staged.hasCopyEnded()) {
            try {
                device.await(staged.copy(), nanos);
            } catch (RuntimeException | Error e) {
                threw(staged, e);
            }
        }
        return ended(staged);
    }

    /** Returns why the device is lost; null if it is not. */
    @Nullable
    NativeFailure lost() {
        return lost;
    }

    private boolean ended(StagedRequest staged) {
        note(staged.failure);
        return staged.hasCopyEnded();
    }

    private void note(@Nullable NativeFailure failure) {
        if (failure != null && failure.kind() == NativeFailure.Kind.LOST) {
            lost = failure;
        }
    }

    /** Marks the device as lost: its effect on memory before it threw is unknown. */
    private static void threw(StagedRequest staged, Throwable e) {
        staged.copy().fail(new NativeFailure(new NativeError("device copy", 0, e.toString()), NativeFailure.Kind.LOST));
    }
}
