// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import io.penstock.Backend;
import io.penstock.BufferRegion;
import io.penstock.DeviceBuffer;
import io.penstock.StorageFile;
import io.penstock.SubmitOptions;
import io.penstock.Transfer;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/**
 * Penstock through {@code gather}: a few transfers of many random blocks, over an I/O queue of the row's depth. The
 * blocks are chosen beforehand, as in a program that reads records by an index.
 */
final class PenstockGather implements Contender {

    private static final int PLANS = 64; // per target
    private static final int TARGETS = 4;

    private final Workload workload;
    private final Mode mode;
    private final int blocks;
    private final Backend backend;
    private final StorageFile file;
    private final DeviceBuffer buffer;
    private final long[][] offsets = new long[TARGETS * PLANS][];
    private final Transfer[] plans = new Transfer[TARGETS * PLANS];
    private final int[] last = new int[TARGETS];

    /**
     * Creates an instance.
     *
     * @param blocks the number that each transfer gathers
     */
    PenstockGather(Workload workload, Mode mode, int blocks) {
        this.workload = workload;
        this.mode = mode;
        this.blocks = blocks;
        backend = mode.open(workload.depth());
        file = backend.openFile(workload.file()).block();
        buffer = backend.allocate(TARGETS * bytes()).block();
        for (int plan = 0; plan < plans.length; plan++) {
            offsets[plan] = ThreadLocalRandom.current()
                    .longs(blocks, 0, workload.blocks())
                    .map(block -> block * workload.blockBytes())
                    .toArray();
            BufferRegion target = buffer.region(plan % TARGETS * bytes(), bytes());
            plans[plan] = Transfer.gather(file, offsets[plan], workload.blockBytes(), target);
        }
    }

    private long bytes() {
        return (long) blocks * workload.blockBytes();
    }

    @Override
    public String name() {
        return "gather, " + mode;
    }

    @Override
    public Measure run(long nanos) throws Exception {
        TransferSource source = new TransferSource(TARGETS, this::next);
        long bytes = bytes();
        CompletionSink sink = new CompletionSink(
                bytes,
                completion ->
                        source.give((int) (((BufferRegion) completion.transfer().target()).offset() / bytes)));
        return Measure.of(() -> {
            backend.submit(source, SubmitOptions.DEFAULT.inFlight(TARGETS)).subscribe(sink);
            TimeUnit.NANOSECONDS.sleep(nanos);
            source.end();
            return sink.await() * blocks;
        });
    }

    private Transfer next(int target) {
        last[target] = (last[target] + TARGETS) % plans.length;
        return plans[last[target] + target];
    }

    @Override
    public void verify() throws IOException {
        for (int target = 0; target < TARGETS; target++) {
            long[] expected = offsets[last[target] + target];
            for (int block = 0; block < blocks; block++) {
                long at = target * bytes() + (long) block * workload.blockBytes();
                ByteBuffer found = buffer.hostView().orElseThrow().buffer(at, workload.blockBytes());
                TestFile.verify(found.order(ByteOrder.LITTLE_ENDIAN), expected[block], name());
                found.putLong(0, ~found.getLong(0)); // the next run must read it again
            }
        }
    }

    @Override
    public void close() {
        backend.close();
    }
}
