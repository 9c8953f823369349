// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.staging;

import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.StagingDevice;
import org.jspecify.annotations.Nullable;

/**
 * The calls of a device, on executor threads only. A device that is lost, or throws, stays lost: whatever comes to
 * it later fails the same way.
 */
final class DeviceSide {

    static final long RUNNING = 0;

    private final StagingDevice device;
    private volatile @Nullable Throwable thrown;
    private volatile long lost; // the result that said so, 0 while all is well

    DeviceSide(StagingDevice device) {
        this.device = device;
    }

    /** Starts the copy of a piece; answers 0, or a negative result. */
    long start(Piece piece) {
        try {
            long ticket = piece.isInward() ? device.copyIn(piece.copy()) : device.copyOut(piece.copy());
            piece.ticket = ticket;
            if (ticket < 0) {
                return failed(piece, ticket);
            }
            piece.standsInOrder();
            return 0;
        } catch (RuntimeException | Error e) {
            return threw(e);
        }
    }

    /** Looks at the copy of a piece; answers {@link #RUNNING}, a positive number, or a negative result. */
    long poll(Piece piece) {
        try {
            long answer = device.poll(piece.ticket);
            return answer < 0 ? failed(piece, answer) : answer;
        } catch (RuntimeException | Error e) {
            return threw(e);
        }
    }

    /** As {@link #poll}, but waits for about {@code nanos}. */
    long await(Piece piece, long nanos) {
        try {
            long answer = device.await(piece.ticket, nanos);
            return answer < 0 ? failed(piece, answer) : answer;
        } catch (RuntimeException | Error e) {
            return threw(e);
        }
    }

    /** Returns the result of every piece from now on; 0 while the device is there. */
    long lost() {
        return lost;
    }

    String thrown() {
        return String.valueOf(thrown);
    }

    private long failed(Piece piece, long result) {
        if (device.failure(piece.kind, result).kind() == NativeFailure.Kind.LOST) {
            lost = result;
        }
        return result;
    }

    private long threw(Throwable e) {
        thrown = e;
        lost = Results.DEVICE_THREW;
        return lost;
    }
}
