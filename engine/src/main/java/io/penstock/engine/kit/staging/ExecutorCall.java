// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.kit.staging;

import io.penstock.Failure;
import io.penstock.TransientStorageException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;

/**
 * A call that one thread makes and another waits for. The waiting thread may give up only before the call has begun, so
 * that no result is lost, and what the call uses is not freed under it.
 */
final class ExecutorCall<T> implements Runnable {

    /** How long callers wait for it to begin: a stalled render loop must not block them for ever. */
    private static final long PATIENCE_SECONDS = 10;

    private final Supplier<T> call;
    private final AtomicBoolean taken = new AtomicBoolean(); // by the executor, or by a caller that gives up
    private final CountDownLatch begun = new CountDownLatch(1);
    private final CompletableFuture<T> result = new CompletableFuture<>();

    ExecutorCall(Supplier<T> call) {
        this.call = call;
    }

    @Override
    public void run() {
        if (!taken.compareAndSet(false, true)) {
            return;
        }
        begun.countDown();
        try {
            result.complete(call.get());
        } catch (RuntimeException | Error e) {
            result.completeExceptionally(e);
        }
    }

    /** As {@link ExecutorPump#call}. */
    T await(String request, String remedy) {
        try {
            if (!begun.await(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
                giveUp(request + " was not started for " + PATIENCE_SECONDS + " s", remedy);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            giveUp(request + " was not started when the caller was interrupted", remedy);
        }
        try {
            return result.join();
        } catch (CompletionException failed) {
            if (failed.getCause() instanceof Error error) {
                throw error;
            }
            throw (RuntimeException) failed.getCause();
        }
    }

    /** Throws, unless the call has begun. */
    private void giveUp(String what, String remedy) {
        if (taken.compareAndSet(false, true)) {
            String message = what + ": the thread that may call the device did not come to it";
            throw new TransientStorageException(
                    remedy.isEmpty() ? message : message + "; " + remedy, Failure.NOT_STARTED, null);
        }
    }
}
