// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.queue;

import io.penstock.Completion;
import io.penstock.Transfer;
import io.penstock.TransferListener;
import io.penstock.engine.recording.FlightRecording;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Operators;
import reactor.util.context.Context;

/** The listeners of a backend. Thread-safe: a list is replaced, never changed. */
public final class TransferListeners {

    private volatile List<TransferListener> all = List.of();

    /** Adds a listener, for transfers that begin from now on, until the result is disposed of. */
    public synchronized Disposable add(TransferListener listener) {
        Objects.requireNonNull(listener, "listener");
        List<TransferListener> more = new ArrayList<>(all);
        more.add(listener);
        all = List.copyOf(more);
        return Disposables.composite(() -> remove(listener)); // runs once
    }

    private synchronized void remove(TransferListener listener) {
        List<TransferListener> fewer = new ArrayList<>(all);
        fewer.remove(listener);
        all = List.copyOf(fewer);
    }

    /** Begins to watch a transfer of a backend; returns null if there are neither listeners nor a recording. */
    @Nullable
    Watch watch(String backend, Transfer transfer) {
        List<TransferListener> listeners = all;
        Object event = FlightRecording.beginTransfer();
        if (listeners.isEmpty() && event == null) {
            return null;
        }
        Watch watch = new Watch(backend, transfer, listeners, event);
        watch.notify(listener -> listener.started(transfer));
        return watch;
    }

    /**
     * What gets the end of a transfer beside its subscriber: the listeners that the backend had when it began, and its
     * event of JDK Flight Recorder. Most transfers have none.
     */
    record Watch(
            String backend,
            Transfer transfer,
            List<TransferListener> listeners,
            @Nullable Object event) {

        void ended(Completion completion) {
            if (event != null) {
                FlightRecording.endTransfer(event, backend, transfer, completion);
            }
            notify(listener -> listener.ended(completion));
        }

        void cancelled() {
            if (event != null) {
                FlightRecording.endTransfer(event, backend, transfer, null);
            }
            notify(listener -> listener.cancelled(transfer));
        }

        private void notify(Consumer<TransferListener> call) {
            for (TransferListener listener : listeners) {
                try {
                    call.accept(listener);
                } catch (Throwable e) { // also what Reactor counts as fatal: it is not the transfer's
                    Operators.onErrorDropped(e, Context.empty());
                }
            }
        }
    }
}
