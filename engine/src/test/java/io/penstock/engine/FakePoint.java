// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine;

import io.penstock.engine.spi.FencePoint;
import java.util.concurrent.atomic.AtomicInteger;

/** A point that records its calls. */
public final class FakePoint implements FencePoint {

    public static final long HANDLE = 0x77;

    public final boolean exposed;
    public final AtomicInteger places = new AtomicInteger();
    public final AtomicInteger frees = new AtomicInteger();

    public FakePoint(boolean exposed) {
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
