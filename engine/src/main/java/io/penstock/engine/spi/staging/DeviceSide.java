// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.spi.staging;

import io.penstock.NativeError;
import io.penstock.engine.spi.NativeFailure;
import org.jspecify.annotations.Nullable;

/**
 * The calls of a device, on executor threads only. A device that is lost, or throws, stays lost: whatever comes to
 * it later fails the same way.
 */
final class DeviceSide {

    private final StagingDevice device;
    private volatile @Nullable NativeFailure lost; // what said so; null while all is well

    DeviceSide(StagingDevice device) {
        this.device = device;
    }

    /** Starts the copy of a piece; returns whether it has begun, else the piece says why not. */
    boolean start(Piece piece) {
        try {
            device.copy(piece.beginCopy());
        } catch (RuntimeException | Error e) {
            threw(piece, e);
        }
        if (piece.failure != null) {
            note(piece.failure);
            return false;
        }
        piece.standsInOrder();
        return true;
    }

    /** Looks at the copy of a piece; returns whether it has ended, and the piece says if it has failed. */
    boolean poll(Piece piece) {
        if (!piece.hasCopyEnded()) {
            try {
                device.poll(piece.copy());
            } catch (RuntimeException | Error e) {
                threw(piece, e);
            }
        }
        return ended(piece);
    }

    /** As {@link #poll}, but waits for about {@code nanos}. */
    boolean await(Piece piece, long nanos) {
        if (!piece.hasCopyEnded()) {
            try {
                device.await(piece.copy(), nanos);
            } catch (RuntimeException | Error e) {
                threw(piece, e);
            }
        }
        return ended(piece);
    }

    /** Returns why the device is lost; null while it is there. */
    @Nullable
    NativeFailure lost() {
        return lost;
    }

    private boolean ended(Piece piece) {
        note(piece.failure);
        return piece.hasCopyEnded();
    }

    private void note(@Nullable NativeFailure failure) {
        if (failure != null && failure.kind() == NativeFailure.Kind.LOST) {
            lost = failure;
        }
    }

    /** Loses the device: what it has done to its memory before it threw is not known. */
    private static void threw(Piece piece, Throwable e) {
        piece.copy().fail(new NativeFailure(new NativeError("device copy", 0, e.toString()), NativeFailure.Kind.LOST));
    }
}
