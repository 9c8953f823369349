// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.queue;

import io.penstock.Completion;
import io.penstock.FailedCompletion;
import io.penstock.Transfer;
import io.penstock.TransferListener;
import java.util.List;
import java.util.function.Consumer;
import jdk.jfr.FlightRecorder;
import org.jspecify.annotations.Nullable;
import reactor.core.Exceptions;
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
    private final @Nullable Object event; // a TransferEvent: that class cannot be loaded where there is no jdk.jfr

    private Watch(String backend, Transfer transfer, List<TransferListener> listeners, @Nullable Object event) {
        this.backend = backend;
        this.transfer = transfer;
        this.listeners = listeners;
        this.event = event;
    }

    /** Begins to watch a transfer; null if nothing wants to know. */
    static @Nullable Watch of(Port port, Transfer transfer) {
        List<TransferListener> listeners = port.listeners().all();
        Object event = Recorder.IS_PRESENT ? Recorder.begin() : null;
        if (listeners.isEmpty() && event == null) {
            return null;
        }
        Watch watch = new Watch(port.name(), transfer, listeners, event);
        watch.notify(listener -> listener.started(transfer));
        return watch;
    }

    void ended(Completion completion) {
        if (event != null) {
            Recorder.end(event, this, completion);
        }
        notify(listener -> listener.ended(completion));
    }

    void cancelled() {
        if (event != null) {
            Recorder.end(event, this, null);
        }
        notify(listener -> listener.cancelled(transfer));
    }

    private void notify(Consumer<TransferListener> call) {
        for (TransferListener listener : listeners) {
            try {
                call.accept(listener);
            } catch (Throwable e) {
                Exceptions.throwIfJvmFatal(e);
                Operators.onErrorDropped(e, Context.empty());
            }
        }
    }

    /** JDK Flight Recorder, a module that a runtime may lack. */
    private static final class Recorder {

        static final boolean IS_PRESENT = isPresent();

        private static boolean isPresent() {
            try {
                Class.forName("jdk.jfr.FlightRecorder", false, null);
                return true;
            } catch (ClassNotFoundException e) {
                return false;
            }
        }

        /** Returns null if no recording wants events of transfers; the JIT then removes the event. */
        static @Nullable Object begin() {
            // Without a recorder the event's class is not loaded: that would start the recorder's Java part, in the
            // first transfer of every process.
            if (!FlightRecorder.isInitialized()) {
                return null;
            }
            TransferEvent event = new TransferEvent();
            if (!event.isEnabled()) {
                return null;
            }
            event.begin();
            return event;
        }

        static void end(Object begun, Watch watch, @Nullable Completion completion) {
            TransferEvent event = (TransferEvent) begun;
            event.end();
            if (!event.shouldCommit()) {
                return;
            }
            event.backend = watch.backend;
            event.transfer = watch.transfer.toString();
            event.outcome = "CANCELLED";
            if (completion != null) {
                event.path = completion.path().name();
                event.bytes = completion.bytes();
                event.waited = completion.startedNanos() == 0
                        ? completion.endedNanos() - completion.subscribedNanos()
                        : completion.startedNanos() - completion.subscribedNanos();
                event.outcome = completion instanceof FailedCompletion failed
                        ? failed.error().getClass().getSimpleName()
                        : "OK";
            }
            event.commit();
        }
    }
}
