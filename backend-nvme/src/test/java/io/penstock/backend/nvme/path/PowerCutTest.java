// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.nvme.path;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.DeviceBuffer;
import io.penstock.DeviceLostException;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.backend.nvme.NvmeOptions;
import io.penstock.backend.nvme.qemu.MemoryDisk;
import io.penstock.backend.nvme.qemu.NbdDisk;
import io.penstock.backend.nvme.qemu.Qemu;
import io.penstock.backend.nvme.qemu.QtestBus;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Power cuts: QEMU is killed between writes and their sync, during writes, and during a sync, and its disk forgets what
 * was not flushed. {@code -Dpenstock.tck.cuts=50} is the number of rounds.
 */
class PowerCutTest {

    private static final int ROUNDS = Integer.getInteger("penstock.tck.cuts", 6);
    private static final int BLOCKS = 64;
    private static final int BLOCK = 4096;
    private static final Duration TIMEOUT = Duration.ofSeconds(10);

    private final MemoryDisk content = new MemoryDisk((long) BLOCKS * BLOCK);
    private final long[] written = new long[BLOCKS]; // the last value of each block
    private final long[] durable = new long[BLOCKS]; // the value at the last sync that has completed
    private int syncs;

    @Test
    @Timeout(value = 5, unit = TimeUnit.MINUTES) // many rounds on a busy machine
    void whatWasSyncedIsThereAfterAPowerCut() throws Exception {
        Random random = new Random(20);
        try (NbdDisk disk = new NbdDisk(content)) {
            for (int round = 1; round <= ROUNDS; round++) {
                try (Qemu qemu = Qemu.start(disk.drive(), "");
                        Backend backend = open(qemu);
                        StorageFile file = backend.openFile(
                                        Path.of("0000:00:04.0", "1"), FileOption.READ, FileOption.WRITE)
                                .block(TIMEOUT);
                        DeviceBuffer buffer =
                                backend.allocate((long) BLOCKS * BLOCK).block(TIMEOUT)) {
                    check(backend, file, buffer);
                    write(backend, file, buffer, random, round * 2L).block(TIMEOUT);
                    CompletableFuture<?> sync = file.sync().toFuture();
                    CompletableFuture<?> last = sync;
                    if (round % 3 != 0) { // else during the sync
                        sync.get(TIMEOUT.toSeconds(), TimeUnit.SECONDS);
                        keep();
                        last = write(backend, file, buffer, random, round * 2L + 1)
                                .toFuture();
                    }
                    if (round % 3 == 1) { // else during writes
                        last.get(TIMEOUT.toSeconds(), TimeUnit.SECONDS);
                    }
                    TimeUnit.MICROSECONDS.sleep(random.nextInt(2000));
                    qemu.kill();
                    if (round % 3 == 0 && hasCompleted(sync)) {
                        keep();
                    }
                    content.cut();
                }
            }
        }
        assertThat(syncs).as("syncs that have completed").isGreaterThanOrEqualTo(ROUNDS * 2 / 3);
    }

    /** What was written is durable: a sync has completed. */
    private void keep() {
        System.arraycopy(written, 0, durable, 0, BLOCKS);
        syncs++;
    }

    /** Waits for the end of a sync, which fails if the controller was removed before. */
    private static boolean hasCompleted(CompletableFuture<?> sync) throws Exception {
        try {
            sync.get(TIMEOUT.toSeconds(), TimeUnit.SECONDS);
            return true;
        } catch (ExecutionException e) {
            assertThat(e).hasCauseInstanceOf(DeviceLostException.class);
            return false;
        }
    }

    private static Backend open(Qemu qemu) {
        Options options =
                Options.none().with(NvmeOptions.TIMEOUT, Duration.ofSeconds(5)).resolve(Backends.options());
        return NvmeProvider.open(
                "cut",
                "cut",
                () -> new QtestBus(qemu),
                controller -> new BlockRanges(controller, true, 1 << 20),
                options);
    }

    /** Writes some blocks, all in flight at once, with {@code value} at their start. */
    private Mono<Void> write(Backend backend, StorageFile file, DeviceBuffer buffer, Random random, long value) {
        return Flux.fromStream(random.ints(BLOCKS / 2, 0, BLOCKS).distinct().boxed())
                .flatMap(block -> {
                    long at = (long) block * BLOCK;
                    ByteBuffer bytes = ByteBuffer.allocateDirect(BLOCK).putLong(0, value);
                    written[block] = value;
                    return buffer.upload(at, bytes)
                            .then(backend.submit(Transfer.write(buffer.region(at, BLOCK), file.region(at, BLOCK))));
                })
                .then();
    }

    private void check(Backend backend, StorageFile file, DeviceBuffer buffer) {
        backend.submit(Transfer.read(file.all(), buffer.all())).block(TIMEOUT);
        ByteBuffer bytes = ByteBuffer.allocateDirect(BLOCKS * BLOCK);
        buffer.download(0, bytes).block(TIMEOUT);
        for (int block = 0; block < BLOCKS; block++) {
            long found = bytes.getLong(block * BLOCK);
            assertThat(found).as("block %d", block).isBetween(durable[block], written[block]);
            written[block] = found;
            durable[block] = found;
        }
    }
}
