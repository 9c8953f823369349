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

    private static final long THREW = Long.MIN_VALUE;

    private final StagingDevice device;
    private volatile @Nullable Throwable thrown; // by the call after which it was lost
    private volatile long lost; // the result that said so, or THREW; 0 while all is well

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
            return threw(piece, e);
        }
    }

    /** Looks at the copy of a piece; answers {@link #RUNNING}, a positive number, or a negative result. */
    long poll(Piece piece) {
        try {
            long answer = device.poll(piece.ticket);
            return answer < 0 ? failed(piece, answer) : answer;
        } catch (RuntimeException | Error e) {
            return threw(piece, e);
        }
    }

    /** As {@link #poll}, but waits for about {@code nanos}. */
    long await(Piece piece, long nanos) {
        try {
            long answer = device.await(piece.ticket, nanos);
            return answer < 0 ? failed(piece, answer) : answer;
        } catch (RuntimeException | Error e) {
            return threw(piece, e);
        }
    }

    /** Returns the result of a piece that has not gone to the device yet; 0 while the device is there. */
    long lost(Piece piece) {
        long answer = lost;
        if (answer != THREW) {
            return answer;
        }
        piece.thrown = thrown;
        return Results.deviceThrew(piece);
    }

    private long failed(Piece piece, long result) {
        if (device.failure(piece.kind, result).kind() == NativeFailure.Kind.LOST) {
            lost = result;
        }
        return result;
    }

    private long threw(Piece piece, Throwable e) {
        piece.thrown = e;
        thrown = e;
        lost = THREW; // after thrown, which whoever reads this wants
        return Results.deviceThrew(piece);
    }
}
