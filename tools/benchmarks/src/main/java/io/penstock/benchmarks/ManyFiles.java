// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import io.penstock.Backend;
import io.penstock.BufferRegion;
import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import reactor.core.publisher.Flux;

/**
 * Reads the blocks of some 40 MB in one file or in many, all open, in scattered order: the cost of a read must not
 * depend on the number of files.
 */
final class ManyFiles implements Contender {

    static final int BYTES = 4096;
    static final int BLOCKS = 10_000; // in all files together
    static final int READS = 50 * BLOCKS;
    private static final int STEP = 3_677; // prime: visits every block before it comes back to one

    private final Backend backend;
    private final StorageFile[] files;
    private final DeviceBuffer buffer;
    private final BufferRegion[] regions;

    ManyFiles(Path parent, Order order) throws IOException {
        int count = order.count("count");
        int depth = order.count("depth");
        backend = order.mode().open(PenstockHost.QUEUE_DEPTH);
        List<Path> paths = make(parent, count);
        files = new StorageFile[count];
        for (int i = 0; i < count; i++) {
            files[i] = backend.openFile(paths.get(i)).block();
        }
        buffer = backend.allocate((long) depth * 2 * BYTES).block();
        regions = new BufferRegion[depth * 2];
        for (int i = 0; i < regions.length; i++) {
            regions[i] = buffer.region((long) i * BYTES, BYTES);
        }
    }

    /** Creates this many files of equal length, unless they exist. */
    static List<Path> make(Path parent, int count) throws IOException {
        Path directory = Files.createDirectories(parent.resolve("of-" + count));
        int fileBytes = BLOCKS / count * BYTES;
        ByteBuffer bytes = ByteBuffer.allocate(fileBytes).order(ByteOrder.LITTLE_ENDIAN);
        List<Path> paths = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            Path path = directory.resolve("file-" + i);
            if (!Files.exists(path) || Files.size(path) != fileBytes) {
                TestFile.fill(bytes, (long) i * fileBytes);
                Files.write(path, bytes.array());
            }
            paths.add(path);
        }
        return paths;
    }

    /** Returns the block that a read takes. */
    static int block(long number) {
        return (int) (number * STEP % BLOCKS);
    }

    @Override
    public Measure run(long nanos) throws Exception {
        return Measure.of(() -> Flux.range(0, READS)
                        .map(this::read)
                        .as(backend::submit)
                        .map(Completion::bytes)
                        .reduce(0L, Long::sum)
                        .block()
                / BYTES);
    }

    // Regions are used in turn; with twice as many as reads in flight, none is used by two at once for long.
    private Transfer read(int number) {
        int block = block(number);
        int perFile = BLOCKS / files.length;
        return Transfer.read(
                files[block / perFile].region((long) (block % perFile) * BYTES, BYTES),
                regions[number % regions.length]);
    }

    /** Reads some blocks one by one and checks them: while many reads share a region, its contents are undefined. */
    @Override
    public void verify() throws IOException {
        for (int i = 0; i < 100; i++) {
            backend.submit(read(i)).block();
            ByteBuffer found = buffer.hostView().orElseThrow().buffer(regions[i].offset(), BYTES);
            TestFile.verify(found.order(ByteOrder.LITTLE_ENDIAN), (long) block(i) * BYTES);
        }
    }

    @Override
    public void close() {
        backend.close();
    }
}
