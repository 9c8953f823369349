// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gpu.context;

import io.penstock.backend.gpu.api.DriverApi;
import io.penstock.engine.kit.fence.EventFence;

/**
 * An event as a fence: imported from the application, or recorded for it by {@link GpuStream}. It is polled on the
 * one thread of the process that watches such events. A host function in the stream would also report it, but delays
 * the stream by some 20 microseconds and runs on a driver thread.
 */
public final class GpuFence extends EventFence {

    private final DriverApi driver;
    private final long context;
    private final long spinNanos;

    /**
     * Wraps an event that has been recorded.
     *
     * @param context the handle of its context
     * @param owned whether closing the fence destroys the event
     * @param spinNanos how long the event is polled without pause once a thread waits, if longer than the default
     */
    public GpuFence(DriverApi driver, long context, long event, boolean owned, long spinNanos) {
        super(event, owned);
        this.driver = driver;
        this.context = context;
        this.spinNanos = spinNanos;
    }

    @Override
    protected int query() {
        return state(driver.in(context, () -> driver.eventQuery(nativeHandle())));
    }

    /** {@inheritDoc} The context stays current: the watch has this thread to itself. */
    @Override
    protected int queryOnWatch() {
        int bound = driver.ctxSetCurrent(context);
        return state(bound == DriverApi.SUCCESS ? driver.eventQuery(nativeHandle()) : bound);
    }

    private static int state(int answer) {
        return answer == DriverApi.NOT_READY ? PENDING : answer;
    }

    @Override
    protected void watch() {
        driver.events().watch(this);
    }

    @Override
    public long spinNanos() {
        return spinNanos;
    }

    @Override
    protected void free() {
        driver.in(context, () -> driver.eventDestroy(nativeHandle()));
    }

    @Override
    protected RuntimeException failure(int code) {
        return driver.exception("a wait for a " + driver.words().event(), "eventQuery", code);
    }

    @Override
    public String toString() {
        return driver.words().event() + " 0x" + Long.toHexString(nativeHandle());
    }
}
