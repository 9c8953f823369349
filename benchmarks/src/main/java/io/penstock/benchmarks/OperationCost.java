// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import io.penstock.Backend;
import io.penstock.BufferRegion;
import io.penstock.DeviceBuffer;
import io.penstock.StorageFile;
import io.penstock.SubmitOptions;
import io.penstock.Transfer;
import java.nio.file.Path;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/**
 * The cost of one hot read of 4 KiB, 128 in flight. Transfers are created beforehand: only the library's own cost is
 * counted. (A caller that creates each one anew adds the 72 bytes of a transfer and its file region.)
 */
@State(Scope.Benchmark)
@BenchmarkMode(org.openjdk.jmh.annotations.Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class OperationCost {

    static final String FILE = "benchmarks.file";

    private static final int OPERATIONS = 1 << 17;
    private static final int DEPTH = 128;
    private static final int BLOCK = 4096;
    private static final int BLOCKS_EACH = 8192;
    private static final int READS_MADE = 1 << 13;
    private static final int GATHERS_MADE = 16;

    /** The delivery mode. */
    @Param({"DIRECT", "DEFAULT"})
    public String mode = "DIRECT";

    private Backend backend;
    private Transfer[] reads;
    private Transfer[] gathers;
    private int round;

    /** Creates an instance; for JMH. */
    public OperationCost() {}

    /** Opens the backend and creates the transfers. */
    @Setup(Level.Trial)
    public void open() {
        Workload workload = new Workload(Path.of(System.getProperty(FILE)), BLOCK, DEPTH, false, false);
        backend = Mode.valueOf(mode).open(PenstockSubmit.QUEUE_DEPTH);
        StorageFile file = backend.openFile(workload.file()).block();
        DeviceBuffer buffer = backend.allocate((long) DEPTH * BLOCK).block();
        reads = new Transfer[READS_MADE];
        for (int i = 0; i < reads.length; i++) {
            BufferRegion region = buffer.region((long) i % DEPTH * BLOCK, BLOCK);
            reads[i] = Transfer.read(file.region(workload.offset(0), BLOCK), region);
        }
        DeviceBuffer target = backend.allocate((long) 2 * BLOCKS_EACH * BLOCK).block();
        gathers = new Transfer[GATHERS_MADE];
        for (int i = 0; i < gathers.length; i++) {
            long[] offsets = ThreadLocalRandom.current()
                    .longs(BLOCKS_EACH, 0, workload.blocks())
                    .map(block -> block * BLOCK)
                    .toArray();
            gathers[i] = Transfer.gather(
                    file,
                    offsets,
                    BLOCK,
                    target.region((long) i % 2 * BLOCKS_EACH * BLOCK, (long) BLOCKS_EACH * BLOCK));
        }
    }

    /** Closes the backend. */
    @TearDown(Level.Trial)
    public void close() {
        backend.close();
    }

    /** A read, through {@code submit(Publisher)}. */
    @Benchmark
    @OperationsPerInvocation(OPERATIONS)
    public long submit() throws Exception {
        return run(reads, OPERATIONS, DEPTH);
    }

    /** A read, as one block of a gather. */
    @Benchmark
    @OperationsPerInvocation(OPERATIONS)
    public long gather() throws Exception {
        return run(gathers, OPERATIONS / BLOCKS_EACH, 2);
    }

    private long run(Transfer[] transfers, int count, int inFlight) throws Exception {
        int[] published = {0};
        TransferSource[] self = new TransferSource[1];
        TransferSource source = new TransferSource(inFlight, staging -> {
            if (++published[0] == count) {
                self[0].end();
            }
            return transfers[round++ & (transfers.length - 1)];
        });
        self[0] = source;
        CompletionSink sink = new CompletionSink(transfers[0].length(), completion -> source.give(0));
        backend.submit(source, SubmitOptions.DEFAULT.inFlight(inFlight)).subscribe(sink);
        return sink.await();
    }
}
