// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/** A thread that waits for the device, without Penstock: measured from the moment at which the device continues. */
final class DeviceWait implements Contender {

    static final long LIMIT_SECONDS = 30;

    private final Device.Application device;
    private final boolean copies;
    private final int count;
    private final Device.Gate gate;
    private final ExecutorService waiter = Executors.newSingleThreadExecutor();
    private final AutoCloseable entered;

    /**
     * Creates its resources.
     *
     * @param copies true to wait for a small copy behind the gate
     * @param count the number in one run
     */
    DeviceWait(Device.Application device, boolean copies, int count) throws Exception {
        this.device = device;
        this.copies = copies;
        this.count = count;
        gate = device.gate();
        device.finish(); // makes buffers known to other contexts
        entered = waiter.submit(device::enter).get(LIMIT_SECONDS, TimeUnit.SECONDS);
    }

    @Override
    public Measure run(long nanos) throws Exception {
        return Measure.ofMedian(count, this::once);
    }

    private long once() throws Exception {
        Measure.Work waiting = device.waiting(gate.shut(), copies);
        Future<Long> delivered = waiter.submit(waiting::run);
        gate.open();
        long took = delivered.get(LIMIT_SECONDS, TimeUnit.SECONDS) - gate.opened();
        gate.done();
        return took;
    }

    @Override
    public void close() throws Exception {
        waiter.submit(() -> {
                    entered.close();
                    return 0;
                })
                .get(LIMIT_SECONDS, TimeUnit.SECONDS);
        waiter.shutdown();
        gate.close();
    }
}
