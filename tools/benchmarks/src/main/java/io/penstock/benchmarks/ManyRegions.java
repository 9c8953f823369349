// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import io.penstock.Backend;
import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.concurrent.ThreadLocalRandom;
import reactor.core.publisher.Flux;

/**
 * A million small regions of a file, gathered by transfers of some size: the cost of a region must not depend on it.
 */
final class ManyRegions implements Contender {

    private static final int REGIONS = 1_000_000;
    private static final int BYTES = 64;

    private final Backend backend;
    private final DeviceBuffer buffer;
    private final long[] offsets;
    private final Transfer[] transfers;

    ManyRegions(Path path, Order order) {
        int each = order.count("each"); // regions of one transfer
        backend = order.mode().open(order.count("depth"));
        StorageFile file = backend.openFile(path).block();
        buffer = backend.allocate((long) REGIONS * BYTES).block();
        offsets = ThreadLocalRandom.current()
                .longs(REGIONS, 0, TestFile.BYTES / BYTES)
                .map(block -> block * BYTES)
                .toArray();
        transfers = new Transfer[REGIONS / each];
        for (int i = 0; i < transfers.length; i++) {
            long[] own = new long[each];
            System.arraycopy(offsets, i * each, own, 0, each);
            transfers[i] =
                    Transfer.gather(file, own, BYTES, buffer.region((long) i * each * BYTES, (long) each * BYTES));
        }
    }

    @Override
    public Measure run(long nanos) throws Exception {
        return Measure.of(() -> backend.submit(Flux.fromArray(transfers))
                        .map(Completion::bytes)
                        .reduce(0L, Long::sum)
                        .block()
                / BYTES);
    }

    @Override
    public void verify() throws IOException {
        for (int region = 0; region < REGIONS; region++) {
            ByteBuffer found = buffer.hostView().orElseThrow().buffer((long) region * BYTES, BYTES);
            TestFile.verify(found.order(ByteOrder.LITTLE_ENDIAN), offsets[region]);
            found.putLong(0, ~found.getLong(0));
        }
    }

    @Override
    public void close() {
        backend.close();
    }
}
