// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine;

import io.penstock.engine.spi.FencePoint;
import java.util.concurrent.atomic.AtomicInteger;

/** A point that writes down what is asked of it. */
final class FakePoint implements FencePoint {

    static final long HANDLE = 0x77;

    final boolean exposed;
    final AtomicInteger places = new AtomicInteger();
    final AtomicInteger frees = new AtomicInteger();

    FakePoint(boolean exposed) {
        this.exposed = exposed;
    }

    @Override
    public void place(Runnable placed) {
        places.incrementAndGet();
        placed.run();
    }

    @Override
    public long nativeHandle() {
        return places.get() == 0 ? 0 : HANDLE;
    }

    @Override
    public void free() {
        frees.incrementAndGet();
    }
}
