// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.queue;

import io.penstock.Completion;
import io.penstock.Transfer;
import io.penstock.TransferListener;
import io.penstock.engine.recording.FlightRecording;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Operators;
import reactor.util.context.Context;

/**
 * What gets the end of a transfer beside its subscriber: the listeners that the backend had when it began, and its event
 * of JDK Flight Recorder. Most transfers have none.
 */
final class Watch {

    private final String backend;
    private final Transfer transfer;
    private final List<TransferListener> listeners;
    private final @Nullable Object event; // of FlightRecording

    private Watch(String backend, Transfer transfer, List<TransferListener> listeners, @Nullable Object event) {
        this.backend = backend;
        this.transfer = transfer;
        this.listeners = listeners;
        this.event = event;
    }

    /** Begins to watch a transfer; returns null if there are neither listeners nor a recording. */
    static @Nullable Watch of(Port port, Transfer transfer) {
        List<TransferListener> listeners = port.listeners().all();
        Object event = FlightRecording.beginTransfer();
        if (listeners.isEmpty() && event == null) {
            return null;
        }
        Watch watch = new Watch(port.name(), transfer, listeners, event);
        watch.notify(listener -> listener.started(transfer));
        return watch;
    }

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
