// SPDX-License-Identifier: Apache-2.0
package com.example.memory;

import io.penstock.NativeError;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.Request;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** As most devices are: copies run on a thread of the device, in order, and the engine asks whether they have ended. */
final class QueuedDevice extends MemoryDevice {

    private final ExecutorService queue = Executors.newSingleThreadExecutor(work -> {
        Thread thread = new Thread(work, "memory-queued");
        thread.setDaemon(true);
        return thread;
    });

    /** The vendor's event of a copy. */
    private static final class Event {
        private Future<?> copied;

        Event(Future<?> copied) {
            this.copied = copied;
        }
    }

    @Override
    public void copy(Request copy) {
        Future<?> copied = queue.submit(() -> move(copy));
        copy.attachment(Event.class, first -> new Event(copied)).copied = copied;
    }

    @Override
    public void poll(Request copy) {
        await(copy, 0);
    }

    @Override
    public void await(Request copy, long nanos) {
        Future<?> copied = copy.attachment(Event.class, unknown -> {
                    throw new IllegalStateException("copy() has not returned");
                })
                .copied;
        try {
            copied.get(nanos, TimeUnit.NANOSECONDS);
            copy.complete(copy.bytes());
        } catch (TimeoutException e) {
            return; // still in flight
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (ExecutionException e) { // the vendor's error, and whether a retry can succeed
            NativeError error = new NativeError("memory.put", 1, String.valueOf(e.getCause()));
            copy.fail(new NativeFailure(error, NativeFailure.Kind.PERMANENT));
        }
    }

    @Override
    public boolean endsInOrder() {
        return true; // one thread makes all copies
    }

    @Override
    public void close() {
        queue.shutdown();
    }
}
