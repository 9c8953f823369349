// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import java.io.IOException;
import java.nio.channels.FileChannel;

/** Blocking reads of a FileChannel, one after the other on the caller's own thread. */
final class CallerPeer implements Contender {

    private final Workload workload;
    private final Slots slots;
    private final FileChannel file;

    CallerPeer(Workload workload) throws IOException {
        this.workload = workload;
        slots = Slots.allocate(workload);
        file = FileChannel.open(workload.file());
    }

    @Override
    public String name() {
        return "FileChannel on the caller's thread";
    }

    @Override
    public Measure run(long nanos) throws Exception {
        long end = System.nanoTime() + nanos;
        return Measure.of(() -> {
            long count = 0;
            for (int slot = 0; System.nanoTime() < end; slot = (slot + 1) % workload.depth()) {
                int bytes = file.read(slots.block(slot).clear(), slots.next(slot));
                if (bytes != workload.blockBytes()) {
                    throw new IOException(name() + ": " + bytes + " bytes");
                }
                count++;
            }
            return count;
        });
    }

    @Override
    public void verify() throws IOException {
        slots.verify(name());
    }

    @Override
    public void close() throws IOException {
        file.close();
    }
}
