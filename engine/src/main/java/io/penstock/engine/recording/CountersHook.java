// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.recording;

import io.penstock.Backend;
import io.penstock.Backend.Counters;
import jdk.jfr.FlightRecorder;
import jdk.jfr.FlightRecorderListener;
import reactor.core.Disposable;

/**
 * Emits the counters of a backend, each time that Flight Recorder asks for them. It is added as a periodic event only when
 * there is a recorder: that call would start one.
 */
final class CountersHook implements FlightRecorderListener, Runnable, Disposable {

    private final Backend backend;
    private volatile boolean disposed;

    private CountersHook(Backend backend) {
        this.backend = backend;
    }

    static Disposable start(Backend backend) {
        CountersHook hook = new CountersHook(backend);
        FlightRecorder.addListener(hook);
        return hook;
    }

    /** Called at once if there is a recorder. */
    @Override
    public void recorderInitialized(FlightRecorder recorder) {
        FlightRecorder.addPeriodicEvent(CountersEvent.class, this);
    }

    @Override
    public void run() {
        if (disposed) { // before it was added, by another thread
            FlightRecorder.removePeriodicEvent(this);
            return;
        }
        CountersEvent event = new CountersEvent();
        Counters now = backend.counters();
        event.backend = backend.name();
        event.inFlight = now.inFlight();
        event.files = now.files();
        event.buffers = now.buffers();
        event.pins = now.pins();
        event.stagingBuffers = now.stagingBuffers();
        event.stagingBuffersInUse = now.stagingBuffersInUse();
        event.fallbacks = now.fallbacks();
        event.commit();
    }

    @Override
    public void dispose() {
        disposed = true;
        FlightRecorder.removeListener(this);
        if (FlightRecorder.isInitialized()) {
            FlightRecorder.removePeriodicEvent(this);
        }
    }

    @Override
    public boolean isDisposed() {
        return disposed;
    }
}
