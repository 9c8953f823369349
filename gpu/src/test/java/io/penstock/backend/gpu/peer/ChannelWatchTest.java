// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gpu.peer;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.Pipe;
import java.nio.channels.SelectionKey;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class ChannelWatchTest {

    private static void write(Pipe pipe) {
        try {
            pipe.sink().write(ByteBuffer.allocate(1));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void aChannelThatFailsEndsNoOther() throws Exception {
        assertEndsNoOther(() -> {
            throw new IllegalStateException("meant to fail");
        });
        assertEndsNoOther(() -> {
            throw new AssertionError("meant to fail, as what has waited for an end may");
        });
    }

    private static void assertEndsNoOther(Runnable failure) throws Exception {
        Pipe bad = Pipe.open();
        Pipe good = Pipe.open();
        CompletableFuture<Void> notified = new CompletableFuture<>();
        ChannelWatch.watch(good.source(), SelectionKey.OP_READ, key -> {
            notified.complete(null);
            key.cancel();
        });
        ChannelWatch.watch(bad.source(), SelectionKey.OP_READ, key -> {
            write(good);
            failure.run();
        });
        write(bad);
        notified.get(10, TimeUnit.SECONDS);
        for (Pipe pipe : new Pipe[] {bad, good}) {
            pipe.sink().close();
            ChannelWatch.close(pipe.source());
        }
    }

    /** Exports have a lock of their own, and close channels within it. */
    @Test
    void whatIsReadyBetweenTwoSelectsIsHandledWithoutTheLock() throws Exception {
        Pipe first = Pipe.open();
        Pipe second = Pipe.open();
        CompletableFuture<Boolean> locked = new CompletableFuture<>();
        ChannelWatch.watch(second.source(), SelectionKey.OP_READ, key -> {
            locked.complete(Thread.holdsLock(ChannelWatch.class));
            key.cancel();
        });
        ChannelWatch.watch(first.source(), SelectionKey.OP_READ, key -> {
            write(second); // is not ready for the select that runs
            key.cancel();
        });
        write(first);
        assertThat(locked.get(10, TimeUnit.SECONDS)).isFalse();
        for (Pipe pipe : new Pipe[] {first, second}) {
            pipe.sink().close();
            ChannelWatch.close(pipe.source());
        }
    }
}
