// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.nvme.controller;

import io.penstock.backend.nvme.bus.Bus;
import java.util.concurrent.atomic.LongAdder;

/**
 * The doorbell registers: the tail of each submission queue and the head of each completion queue.
 *
 * <p><b>Threading:</b> thread-safe; each doorbell belongs to the thread of its queue pair.
 */
final class Doorbells {

    private final Bus bus;
    private final int stride;
    private final LongAdder writes = new LongAdder();

    Doorbells(Bus bus, int stride) {
        this.bus = bus;
        this.stride = stride;
    }

    /** Rings the doorbell of a submission queue. */
    void tail(int queue, int tail) {
        ring(2 * queue, tail);
    }

    /** Rings the doorbell of a completion queue. */
    void head(int queue, int head) {
        ring(2 * queue + 1, head);
    }

    /** Returns the offset of a doorbell in BAR0. */
    int offset(int index) {
        return Registers.DOORBELLS + index * stride;
    }

    private void ring(int index, int value) {
        writes.increment();
        bus.write(offset(index), value);
    }

    /** Returns how many registers were written. */
    long writes() {
        return writes.sum();
    }
}
