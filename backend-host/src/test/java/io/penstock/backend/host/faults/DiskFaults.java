// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.host.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.FileOption;
import io.penstock.Outcome;
import io.penstock.PenstockException;
import io.penstock.PermanentStorageException;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.tck.Bench;
import io.penstock.tck.Content;
import io.penstock.tck.Pattern;
import io.penstock.tck.Rules;
import io.penstock.tck.Witness;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;

/** Faults of disks, and of other users of the disks: no space, late; a crash; files cut and replaced. */
@Tag(Tool.FAULTS)
interface DiskFaults extends Rules {

    int MIB = 1 << 20;
    int ENOSPC = 28;

    @Test
    default void aWriteThatFillsTheDiskReportsItsBytes(Bench bench) throws IOException {
        Path disk = bench.path("small");
        bench.keep(Tool.require(() -> LoopImage.memory(disk, 2)));
        StorageFile file = bench.openPlain(disk.resolve("out"), FileOption.WRITE, FileOption.CREATE);
        DeviceBuffer buffer = bench.filled(4 * MIB, new Pattern(3), 0);

        PenstockException failure =
                Signal.failure(bench.backend().submit(Transfer.write(buffer.all(), file.region(0, 4 * MIB))));

        assertThat(failure).isInstanceOf(PermanentStorageException.class);
        Signal.assertAnswer(failure, "write of 4194304 bytes at 0 of " + file.path() + " failed", "ENOSPC", ENOSPC);
        // Segments compete for what space there is: which of them got it is the kernel's business.
        assertThat(failure.outcome()).isIn(Outcome.PARTIAL, Outcome.UNKNOWN);
        Content.assertHolds(disk.resolve("out"), new Pattern(3), 0, failure.bytes());
        Signal.assertWorks(bench, bench.file("other", MIB), MIB);
    }

    @Test
    default void aDiskThatFillsUpAtWriteBackFailsTheSyncForGood(Bench bench) {
        LoopImage image = LoopImage.of(bench, 64, 24);
        StorageFile file = bench.openPlain(image.folder().resolve("a"), FileOption.WRITE, FileOption.CREATE);
        DeviceBuffer buffer = bench.filled(MIB, new Pattern(4), 0);
        for (int mib = 0; mib < 40; mib++) {
            bench.move(Transfer.write(buffer.all(), file.region((long) mib * MIB, MIB)));
        }

        PenstockException failure = Signal.failure(file.sync());

        assertThat(failure)
                .isInstanceOf(PermanentStorageException.class)
                .hasMessageContaining("sync of " + file.path() + " failed, as does every later sync of this handle");
        assertThat(failure.nativeError().orElseThrow().symbol()).isIn("ENOSPC", "EIO");
        assertThat(failure.outcome()).isEqualTo(Outcome.UNKNOWN);
        for (int again = 0; again < 5; again++) {
            assertThat(Signal.failure(file.sync()))
                    .as("sync %d after the failure: the kernel says EIO once more, and then OK (rule 403)", again)
                    .hasMessage(failure.getMessage());
        }
        Signal.assertWorks(bench, bench.file("other", MIB), MIB);
    }

    @Test
    default void noAcknowledgedByteIsLostInFiftyCrashes(Bench bench) throws IOException {
        LoopImage image = LoopImage.of(bench, 48);
        Random random = new Random(50);
        for (int round = 0; round < 50; round++) {
            Path path = image.folder().resolve("log" + round % 3);
            Pattern pattern = new Pattern(round);
            long acknowledged = appendUntilTheCrash(bench, image, path, pattern, random);
            image.remount();
            assertThat(acknowledged)
                    .as("bytes acknowledged before crash %d", round)
                    .isPositive();
            Content.assertHolds(path, pattern, 0, acknowledged);
        }
    }

    /**
     * Appends and syncs, and continues after a crash has begun until the crash is seen.
     *
     * @return how many bytes were acknowledged before: an ext4 that is just being shut down says yes to syncs that it
     *     then loses for every reader, which no crash could do
     */
    private static long appendUntilTheCrash(Bench bench, LoopImage image, Path path, Pattern pattern, Random random) {
        int before = 1 + random.nextInt(6);
        CompletableFuture<Void> crash = new CompletableFuture<>();
        long acknowledged = 0;
        long end = 0;
        try (StorageFile file = bench.openPlain(path, FileOption.WRITE, FileOption.CREATE, FileOption.TRUNCATE)) {
            for (int batch = 0; ; batch++) {
                if (batch == before) {
                    acknowledged = end;
                    crash = CompletableFuture.runAsync(() -> crash(image)); // while the next writes are under way
                }
                long[] lengths = random.longs(8, 1, 20_000).toArray();
                Witness<Boolean> synced = Witness.of(append(bench, file, pattern, end, lengths)
                        .then(file.sync())
                        .thenReturn(true));
                Signal.await(synced);
                if (synced.values().isEmpty()) {
                    assertThat(Signal.failure(synced)).isInstanceOf(PermanentStorageException.class);
                    crash.join();
                    return acknowledged;
                }
                end += LongStream.of(lengths).sum();
            }
        }
    }

    private static Flux<Completion> append(Bench bench, StorageFile file, Pattern pattern, long from, long... lengths) {
        DeviceBuffer buffer = bench.filled(LongStream.of(lengths).sum(), pattern, from); // a record each, side by side
        List<Transfer> writes = new ArrayList<>();
        long at = 0;
        for (long length : lengths) {
            writes.add(Transfer.write(buffer.region(at, length), file.region(from + at, length)));
            at += length;
        }
        return bench.backend().submit(Flux.fromIterable(writes)).doFinally(end -> buffer.close());
    }

    private static void crash(LoopImage image) {
        try {
            image.crash();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    default void aFileCutAgainAndAgainUnderReadsNeverShowsWhatIsNotThere(Bench bench) throws IOException {
        Path path = bench.file("cut", 8 * MIB);
        Pattern pattern = Pattern.of(path);
        StorageFile file = bench.openPlain(path, FileOption.READ);
        DeviceBuffer buffer = bench.poisoned(8 * MIB);
        ByteBuffer content = Content.bytes(path, 0, 8 * MIB);
        Random random = new Random(8);
        for (int round = 0; round < 50; round++) {
            // Whole pages, since the rest of one keeps its zeros.
            long length = 4096L * random.nextInt(2048);
            Witness<Completion> read =
                    Witness.of(bench.backend().submit(Transfer.read(file.region(0, 8 * MIB), buffer.all())));
            try (FileChannel another = FileChannel.open(path, StandardOpenOption.WRITE)) {
                another.truncate(length);
                Completion completion = Signal.value(read);
                assertThat(completion.bytes()).isBetween(length, 8L * MIB);
                assertHoldsOrIsZeroed(Content.bytes(buffer.region(0, completion.bytes())), pattern, length);
                another.write(content.rewind(), 0);
            }
        }
        Signal.assertWorks(bench, path, 8 * MIB);
    }

    /**
     * Asserts that bytes are the file's, or, from where it was cut, zeros: before the kernel drops a folio of the page
     * cache, of one page or of many, it zeroes what is behind the cut, and a read that has begun may see that.
     */
    private static void assertHoldsOrIsZeroed(ByteBuffer bytes, Pattern pattern, long cut) {
        long wrong = pattern.difference(bytes, 0);
        if (wrong < 0) {
            return;
        }
        assertThat(wrong).as("the first wrong byte before the cut").isGreaterThanOrEqualTo(cut);
        for (int at = (int) wrong; at < bytes.limit(); at++) {
            byte found = bytes.get(at);
            if (found != 0 && found != pattern.at(at)) {
                throw new AssertionError("byte " + at + " behind the cut at " + cut + " is " + found);
            }
        }
    }

    @Test
    default void aFileReplacedUnderReadsIsReadToItsEndAsItWas(Bench bench) throws IOException {
        Path path = bench.file("data", 8 * MIB);
        StorageFile file = bench.openPlain(path, FileOption.READ);
        DeviceBuffer buffer = bench.poisoned(8 * MIB);
        Flux<Transfer> reads = Flux.range(0, 128)
                .map(i -> Transfer.read(file.region(i * 65_536L, 65_536), buffer.region(i * 65_536L, 65_536)));

        Witness<Completion> completions = Witness.of(bench.backend().submit(reads), 8);
        completions.awaitValues(8);
        Path other = Files.write(bench.path("other"), new byte[1000]);
        Files.move(other, path, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        completions.request(Long.MAX_VALUE);
        Signal.await(completions);

        assertThat(completions.all()).hasSize(128).allMatch(completion -> completion.bytes() == 65_536);
        Content.assertHolds(Content.bytes(buffer.all()), Pattern.of(path), 0, 8 * MIB);
        try (StorageFile replaced = bench.openPlain(path, FileOption.READ)) {
            assertThat(replaced.size()).isEqualTo(1000);
        }
    }
}
