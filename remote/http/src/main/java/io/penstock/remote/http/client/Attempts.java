// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.http.client;

import io.penstock.engine.spi.NativeException;
import io.penstock.engine.spi.NativeFailure;
import java.io.IOException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The attempts at one request, with growing pauses between them. */
final class Attempts {

    private static final Logger LOG = LoggerFactory.getLogger(Attempts.class);

    private static final long FIRST_PAUSE_MILLIS = 100;
    private static final long LONGEST_PAUSE_MILLIS = 10_000;

    private final Resource resource;
    private final int most;
    private int failed; // in a row without progress
    private long pauseMillis;

    Attempts(Resource resource, int most) {
        this.resource = resource;
        this.most = most;
    }

    /**
     * Counts a failed attempt.
     *
     * @throws NativeException if it was the last, or another would fail as well
     */
    void failed(NativeFailure failure, long retryAfterSeconds) throws NativeException {
        failed++;
        pauseOrGiveUp(failure, retryAfterSeconds);
    }

    /** Counts from the start again: an attempt has made progress. */
    void progressed() {
        failed = 0;
    }

    /** Counts from the start again: an attempt has made progress before it failed. */
    void progressed(NativeFailure failure) throws NativeException {
        failed = 0;
        pauseOrGiveUp(failure, -1);
    }

    private void pauseOrGiveUp(NativeFailure failure, long retryAfterSeconds) throws NativeException {
        if (failure.kind() != NativeFailure.Kind.TRANSIENT) {
            throw resource.failed(failure);
        }
        if (failed >= most) {
            String note = failure.note().isEmpty() ? "" : failure.note() + ", ";
            throw resource.failed(new NativeFailure(
                    failure.error(),
                    failure.kind(),
                    note + "after " + failed + (failed == 1 ? " attempt" : " attempts")));
        }
        LOG.debug("attempt {} at {} failed: {}", failed, resource, failure);
        long doubled = FIRST_PAUSE_MILLIS << Math.max(0, Math.min(failed - 1, 10));
        long jittered = doubled / 2 + ThreadLocalRandom.current().nextLong(doubled);
        pauseMillis = Math.min(LONGEST_PAUSE_MILLIS, Math.max(jittered, retryAfterSeconds * 1000));
    }

    /**
     * Waits for the pause that follows the last failure.
     *
     * @param monitor notified when it is to end early
     * @param ending whether it is; called while the monitor is held
     */
    void pause(Object monitor, BooleanSupplier ending) throws IOException {
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(pauseMillis);
        pauseMillis = 0;
        synchronized (monitor) {
            for (long left = end - System.nanoTime(); left > 0; left = end - System.nanoTime()) {
                if (ending.getAsBoolean()) {
                    return;
                }
                try {
                    TimeUnit.NANOSECONDS.timedWait(monitor, left);
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                    throw new IOException("interrupted between two attempts", e);
                }
            }
        }
    }
}
