// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.recording;

import io.penstock.Backend;
import io.penstock.Completion;
import io.penstock.FailedCompletion;
import io.penstock.Transfer;
import io.penstock.TransferPath;
import jdk.jfr.FlightRecorder;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.Disposables;

/**
 * Emits the events, if a recording enables them. JDK Flight Recorder is a module that a runtime may lack: an event that
 * has begun is an {@code Object} to callers, whose classes could not be loaded otherwise.
 *
 * <p>Thread-safe. Without a recording a call costs a read of a static field, and allocates nothing.
 */
public final class FlightRecording {

    private static final boolean IS_PRESENT = isPresent();

    private FlightRecording() {}

    private static boolean isPresent() {
        try {
            Class.forName("jdk.jfr.FlightRecorder", false, null);
            return true;
        } catch (ClassNotFoundException e) {
            return false;
        }
    }

    /**
     * Begins the event of a transfer.
     *
     * @return null if no recording enables it
     */
    public static @Nullable Object beginTransfer() {
        return IS_PRESENT ? Recorder.beginTransfer() : null;
    }

    /**
     * Ends the event of a transfer.
     *
     * @param completion null if the transfer was cancelled
     */
    public static void endTransfer(Object begun, String backend, Transfer transfer, @Nullable Completion completion) {
        Recorder.endTransfer((Events.TransferEvent) begun, backend, transfer, completion);
    }

    /**
     * Begins the event of a stage of a staged request.
     *
     * @return null if no recording enables it
     */
    public static @Nullable Object beginStage() {
        return IS_PRESENT ? Recorder.beginStage() : null;
    }

    /**
     * Ends the event of a stage.
     *
     * @param failure null if it has not failed
     */
    public static void endStage(Object begun, String stage, long bytes, @Nullable Object failure) {
        Recorder.endStage((Events.StageEvent) begun, stage, bytes, failure);
    }

    /** Emits an event for a transfer, or all of them, for which a path that the backend prefers is not taken. */
    public static void fallback(String backend, Object transfer, TransferPath path, String reason) {
        if (IS_PRESENT) {
            Recorder.fallback(backend, transfer, path, reason);
        }
    }

    /**
     * Emits the counters of a backend periodically, until the result is disposed of. If a recorder is started later,
     * from the next transfer of the process on.
     */
    public static Disposable countersOf(Backend backend) {
        return IS_PRESENT ? CountersHook.add(backend) : Disposables.disposed();
    }

    /** What needs the module. */
    private static final class Recorder {

        /**
         * Returns whether there is a recorder. Without one, no event's class is loaded: that would start the recorder's
         * Java part, in the first transfer of every process.
         */
        private static boolean isStarted() {
            return FlightRecorder.isInitialized();
        }

        /** The JIT removes the event if no recording enables it. */
        static @Nullable Object beginTransfer() {
            if (!isStarted()) {
                return null;
            }
            CountersHook.registerOnce();
            Events.TransferEvent event = new Events.TransferEvent();
            if (!event.isEnabled()) {
                return null;
            }
            event.begin();
            return event;
        }

        static void endTransfer(
                Events.TransferEvent event, String backend, Transfer transfer, @Nullable Completion completion) {
            event.end();
            if (!event.shouldCommit()) {
                return;
            }
            event.backend = backend;
            event.transfer = transfer.toString();
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

        static @Nullable Object beginStage() {
            if (!isStarted()) {
                return null;
            }
            Events.StageEvent event = new Events.StageEvent();
            if (!event.isEnabled()) {
                return null;
            }
            event.begin();
            return event;
        }

        static void endStage(Events.StageEvent event, String stage, long bytes, @Nullable Object failure) {
            event.end();
            if (event.shouldCommit()) {
                event.stage = stage;
                event.bytes = failure == null ? bytes : 0;
                event.failure = failure == null ? null : failure.toString();
                event.commit();
            }
        }

        static void fallback(String backend, Object transfer, TransferPath path, String reason) {
            if (!isStarted()) {
                return;
            }
            Events.FallbackEvent event = new Events.FallbackEvent();
            if (event.isEnabled()) {
                event.backend = backend;
                event.transfer = transfer.toString();
                event.path = path.name();
                event.reason = reason;
                event.commit();
            }
        }
    }
}
