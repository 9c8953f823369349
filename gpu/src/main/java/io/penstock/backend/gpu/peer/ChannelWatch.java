// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gpu.peer;

import io.penstock.engine.kit.DaemonThread;
import java.io.IOException;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The one thread of the process that waits for connections and for their ends. It runs while a channel is watched, and
 * makes no call until one is ready.
 *
 * <p><b>Threading:</b> thread-safe.
 */
final class ChannelWatch {

    private static final Logger LOG = LoggerFactory.getLogger(ChannelWatch.class);

    private static final int PAUSE_MILLIS = 100;

    private static @Nullable Selector running; // guarded by the class

    private static final List<Runnable> PAUSED = new ArrayList<>(); // how they resume; used by the thread

    private ChannelWatch() {}

    /**
     * Calls {@code ready} on the thread whenever a channel is ready for an operation, until its key is cancelled or the
     * channel closed.
     */
    static synchronized void watch(SelectableChannel channel, int operation, Consumer<SelectionKey> ready)
            throws IOException {
        channel.configureBlocking(false);
        Selector selector = running;
        if (selector != null) {
            channel.register(selector, operation, ready);
            selector.wakeup();
            return;
        }
        Selector opened = Selector.open();
        channel.register(opened, operation, ready);
        try {
            new DaemonThread("penstock-gpu-ipc", () -> run(opened)).start();
        } catch (OutOfMemoryError e) {
            opened.close();
            throw e;
        }
        running = opened;
    }

    /**
     * Calls {@code ready} no more for a moment: the channel is ready, but what it needs is missing, such as a
     * descriptor. To be called by {@code ready}.
     */
    static void pause(SelectionKey key) {
        int operation = key.interestOps();
        key.interestOps(0);
        PAUSED.add(() -> {
            try {
                key.interestOps(operation);
            } catch (CancelledKeyException e) {
                // it was closed meanwhile
            }
        });
    }

    /** Closes a channel: of one that is watched, the descriptor is closed by the thread. */
    static synchronized void close(SelectableChannel channel) {
        try {
            channel.close();
        } catch (IOException e) {
            LOG.debug("closing of {} failed", channel, e);
        }
        if (running != null) {
            running.wakeup();
        }
    }

    private static void run(Selector selector) {
        try {
            do {
                List<Runnable> resumed = List.copyOf(PAUSED);
                PAUSED.clear();
                selector.select(ChannelWatch::notify, resumed.isEmpty() ? 0 : PAUSE_MILLIS);
                resumed.forEach(Runnable::run);
            } while (!isOver(selector));
        } catch (IOException e) {
            LOG.error("exports and imports of GPU memory do not end any more", e);
        }
    }

    @SuppressWarnings("unchecked")
    private static void notify(SelectionKey key) {
        try {
            ((Consumer<SelectionKey>) key.attachment()).accept(key);
        } catch (RuntimeException | Error e) { // a defect, or of who waited; the other channels must not suffer
            LOG.error("{} is watched no more", key.channel(), e);
            key.cancel();
        }
    }

    /** Ends the thread if no channel is left; a later one starts another thread. */
    private static synchronized boolean isOver(Selector selector) throws IOException {
        selector.selectNow(); // removes the keys that were cancelled
        selector.selectedKeys().clear(); // for the next select, which notifies without the lock
        if (!selector.keys().isEmpty()) {
            return false;
        }
        running = null;
        selector.close();
        return true;
    }
}
