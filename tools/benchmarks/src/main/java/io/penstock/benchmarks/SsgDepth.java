// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import io.penstock.Backend;
import io.penstock.CommonOptions;
import io.penstock.DeviceBuffer;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.StorageFile;
import io.penstock.SubmitOptions;
import io.penstock.Transfer;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.ThreadLocalRandom;

/**
 * A separate process, since a layer must be inserted under OpenCL before its first call: reads by AMD's extension, with
 * a given number in flight.
 *
 * <p>Each line is an order, {@code run DEPTH NANOS BYTES}, with an answer in the format of {@link PeerProcess}: reads,
 * nanoseconds, processor time, and no median.
 */
final class SsgDepth {

    private static final int MOST_BLOCK = 65536;
    private static final int MOST_DEPTH = 64;

    private final Backend backend;
    private final StorageFile file;
    private final DeviceBuffer buffer;
    private final long[] offsets = new long[MOST_DEPTH];
    private final ClDevice device;
    private final long bytes;
    private int block;

    private SsgDepth(Path hot, long bytes) {
        Options options = Options.none().with("penstock.opencl.path", "ssg").with(CommonOptions.QUEUE_DEPTH, 256);
        device = new ClDevice();
        backend = device.open(options);
        file = backend.openFile(hot, FileOption.READ).block();
        buffer = backend.allocate((long) MOST_DEPTH * MOST_BLOCK).block();
        this.bytes = bytes;
    }

    /** Takes orders until there are no more. */
    public static void main(String[] arguments) throws Exception {
        SsgDepth reads = new SsgDepth(Path.of(arguments[0]), Long.parseLong(arguments[1]));
        BufferedReader orders = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        for (String order = orders.readLine(); order != null; order = orders.readLine()) {
            String[] words = order.split(" ");
            reads.block = Integer.parseInt(words[3]);
            Measure measure = reads.run(Integer.parseInt(words[1]), Long.parseLong(words[2]));
            System.out.println("ok " + measure.operations() + " " + measure.nanos() + " " + measure.cpuNanos() + " 0");
        }
        System.exit(0);
    }

    private Measure run(int depth, long nanos) throws Exception {
        device.poison(buffer.nativeHandle(), buffer.length());
        TransferSource source = new TransferSource(depth, this::transfer);
        CompletionSink sink = new CompletionSink(block, end -> source.give(CompletionSink.part(end)));
        Measure measure = sink.measure(backend.submit(source, SubmitOptions.DEFAULT.inFlight(depth)), source, nanos);
        verify(depth);
        return measure;
    }

    private Transfer transfer(int chain) {
        offsets[chain] = ThreadLocalRandom.current().nextLong(bytes / block) * block;
        return Transfer.read(file.region(offsets[chain], block), buffer.region((long) chain * block, block));
    }

    private void verify(int depth) throws IOException {
        for (int chain = 0; chain < depth; chain++) {
            device.verify(buffer.nativeHandle(), (long) chain * block, block, offsets[chain]);
        }
    }
}
