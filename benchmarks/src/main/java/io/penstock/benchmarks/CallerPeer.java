// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import java.io.IOException;
import java.nio.channels.FileChannel;
import org.jspecify.annotations.Nullable;

/** Blocking reads of a FileChannel, one after another on the caller's thread. */
final class CallerPeer implements Contender {

    private final Workload workload;
    private final Chains chains;
    private final FileChannel file;

    CallerPeer(Workload workload) throws IOException {
        this.workload = workload;
        chains = Chains.allocate(workload);
        file = FileChannel.open(workload.file());
    }

    @Override
    public String name() {
        return "FileChannel on the caller's thread";
    }

    @Override
    public Measure run(long nanos) throws Exception {
        return run(nanos, null);
    }

    @Override
    public Latency latency(long nanos) throws Exception {
        Stopwatch stopwatch = new Stopwatch(workload.depth());
        run(nanos, stopwatch);
        return stopwatch.latency();
    }

    private Measure run(long nanos, @Nullable Stopwatch stopwatch) throws Exception {
        long end = System.nanoTime() + nanos;
        return Measure.of(() -> {
            long count = 0;
            for (int chain = 0; System.nanoTime() < end; chain = (chain + 1) % workload.depth()) {
                if (stopwatch != null) {
                    stopwatch.begin(chain);
                }
                int bytes = file.read(chains.block(chain).clear(), chains.next(chain));
                if (bytes != workload.blockBytes()) {
                    throw new IOException(name() + ": " + bytes + " bytes");
                }
                if (stopwatch != null) {
                    stopwatch.end(chain);
                }
                count++;
            }
            return count;
        });
    }

    @Override
    public void verify() throws IOException {
        chains.verify(name());
    }

    @Override
    public void close() throws IOException {
        file.close();
    }
}
