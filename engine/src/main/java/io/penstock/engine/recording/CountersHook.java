// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.recording;

import io.penstock.Backend;
import io.penstock.Backend.Counters;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import jdk.jfr.FlightRecorder;
import reactor.core.Disposable;
import reactor.core.Disposables;

/**
 * Emits the counters of all open backends, at each period of the event in Flight Recorder.
 *
 * <p>The event is registered only while there are both a recorder and an open backend. Registering it without a
 * recorder would start the recorder's Java part, and a listener for the start of one costs tens of milliseconds on JDK
 * 17: so backends and transfers check for a recorder when they begin. Without an open backend the recorder must not
 * retain the application's classes.
 *
 * <p>Thread-safe. The lock is not taken by {@link #run}, which the recorder may call while it holds locks of its own.
 */
final class CountersHook implements Runnable {

    private static final CountersHook ALL = new CountersHook();

    private final Set<Backend> open = ConcurrentHashMap.newKeySet();
    private volatile boolean registered; // written under this

    private CountersHook() {}

    /** Adds a backend until the result is disposed of. */
    static Disposable add(Backend backend) {
        ALL.open(backend);
        if (FlightRecorder.isInitialized()) {
            registerOnce();
        }
        return Disposables.composite(() -> ALL.remove(backend));
    }

    // Under the lock: remove, having found no other backend, would end the registration that the next lines find.
    private synchronized void open(Backend backend) {
        open.add(backend);
    }

    /** Registers the periodic event, if it is not; there is a recorder. */
    static void registerOnce() {
        if (!ALL.registered) {
            ALL.register();
        }
    }

    private synchronized void register() {
        if (!registered && !open.isEmpty()) {
            FlightRecorder.addPeriodicEvent(Events.CountersEvent.class, this);
            registered = true;
        }
    }

    private synchronized void remove(Backend backend) {
        open.remove(backend);
        if (registered && open.isEmpty()) {
            registered = false;
            FlightRecorder.removePeriodicEvent(this);
        }
    }

    @Override
    public void run() {
        for (Backend backend : open) {
            Events.CountersEvent event = new Events.CountersEvent();
            Counters now = backend.counters();
            event.backend = backend.name();
            event.means = backend.means();
            event.inFlight = now.inFlight();
            event.files = now.files();
            event.buffers = now.buffers();
            event.pins = now.pins();
            event.stagingBuffers = now.stagingBuffers();
            event.stagingBuffersInUse = now.stagingBuffersInUse();
            event.fallbacks = now.fallbacks();
            event.commit();
        }
    }
}
