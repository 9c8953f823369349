// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import io.penstock.Backend;
import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.FileOption;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.util.concurrent.atomic.AtomicLong;
import reactor.core.publisher.Mono;

/**
 * Penstock: a block to the end of a new file, a sync, and so on. A sync covers the writes that were accepted before it,
 * so both can be subscribed to at once; or the application waits for the write before it asks for the sync.
 */
final class PenstockAppend implements Contender {

    private final Workload workload;
    private final Mode mode;
    private final boolean atOnce;
    private final Backend backend;
    private final DeviceBuffer buffer;
    private final ByteBuffer bytes;
    private final AtomicLong written = new AtomicLong();

    PenstockAppend(Workload workload, Mode mode, boolean atOnce) {
        this.workload = workload;
        this.mode = mode;
        this.atOnce = atOnce;
        backend = mode.open(PenstockSubmit.QUEUE_DEPTH);
        buffer = backend.allocate(workload.blockBytes()).block();
        bytes = buffer.hostView().orElseThrow().buffer(0, workload.blockBytes()).order(ByteOrder.LITTLE_ENDIAN);
    }

    @Override
    public String name() {
        return (atOnce ? "append and sync, " : "append, then sync, ") + mode;
    }

    @Override
    public Measure run(long nanos) throws Exception {
        Files.deleteIfExists(workload.file());
        written.set(0);
        try (StorageFile file = backend.openFile(workload.file(), FileOption.WRITE, FileOption.CREATE_NEW)
                .block()) {
            long end = System.nanoTime() + nanos;
            return Measure.of(() -> {
                Mono.defer(() -> append(file))
                        .repeat(() -> System.nanoTime() < end)
                        .blockLast();
                return written.get() / workload.blockBytes();
            });
        }
    }

    private Mono<Completion> append(StorageFile file) {
        long offset = written.get();
        TestFile.fill(bytes, offset);
        Mono<Completion> write =
                backend.submit(Transfer.write(buffer.all(), file.region(offset, workload.blockBytes())));
        Mono<Completion> durable = atOnce
                ? write.zipWith(file.sync().thenReturn(file), (completion, synced) -> completion)
                : write.delayUntil(completion -> file.sync());
        return durable.doOnNext(completion -> written.addAndGet(completion.bytes()));
    }

    @Override
    public void verify() throws IOException {
        ByteBuffer block = ByteBuffer.allocateDirect(workload.blockBytes()).order(ByteOrder.LITTLE_ENDIAN);
        try (FileChannel file = FileChannel.open(workload.file())) {
            if (file.size() != written.get()) {
                throw new IOException(name() + ": " + file.size() + " bytes, not " + written);
            }
            for (long offset = 0; offset < file.size(); offset += workload.blockBytes()) {
                file.read(block.clear(), offset);
                TestFile.verify(block, offset, name());
            }
        }
        Files.delete(workload.file());
    }

    @Override
    public void close() {
        backend.close();
    }
}
