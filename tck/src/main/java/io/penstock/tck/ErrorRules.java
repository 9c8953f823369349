// SPDX-License-Identifier: Apache-2.0
package io.penstock.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.FileOption;
import io.penstock.ImageRegion;
import io.penstock.NativeError;
import io.penstock.Outcome;
import io.penstock.PenstockException;
import io.penstock.PermanentStorageException;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;

/** Failures: sorted by remedy, and accurate (rules 401, 402). */
public interface ErrorRules extends Rules {

    /** Rule 401: call, code, symbol. If this fails, check {@code NativeQueue.failure}. */
    @Test
    default void required_401_aWriteThatTheDeviceRefusesIsAPermanentErrorWithTheNativeAnswer(Bench bench) {
        Transfer write = bench.failingWrite();
        PenstockException error =
                (PenstockException) Witness.of(bench.backend().submit(write)).error();
        assertThat(error).isInstanceOf(PermanentStorageException.class);
        NativeError answer = error.nativeError().orElseThrow();
        assertThat(answer.call()).isNotBlank();
        assertThat(answer.symbol()).isNotBlank();
        assertThat(answer.code()).isNotZero();
        assertThat(error).hasMessageContaining(write + " failed").hasMessageContaining(answer.symbol());
        assertThat(error.bytes()).isZero();
        assertThat(error.outcome()).isNotEqualTo(Outcome.PARTIAL);
    }

    /** Rule 401: a folder has no bytes. If this fails, check either open or the failure of the read. */
    @Test
    default void required_401_aFolderCannotBeRead(Bench bench) throws IOException {
        Path folder = Files.createDirectory(bench.path("folder"));
        DeviceBuffer buffer = bench.poisoned(4096);
        Throwable error = Witness.of(bench.backend()
                        .withFile(
                                folder,
                                FileOption.READ,
                                file -> bench.backend().submit(Transfer.read(file.region(0, 4096), buffer.all()))))
                .error();
        assertThat(error).isInstanceOfAny(FileSystemException.class, PermanentStorageException.class);
        assertThat(error).hasMessageContaining("folder");
        Content.assertPoison(buffer.all());
    }

    /**
     * A vectored error is signalled last, and reports what was moved. If this fails, check what waits for the other
     * segments.
     */
    @Test
    default void required_401_aFailedPairLeavesTheOthersCounted(Bench bench) {
        Path path = bench.path("out");
        StorageFile file = bench.open(path, FileOption.READ, FileOption.WRITE, FileOption.CREATE);
        DeviceBuffer buffer = bench.filled(1 << 20, WriteRules.WRITTEN, 0);
        Transfer failing = bench.failingWrite();
        Transfer write =
                Transfer.write(buffer.all(), file.region(0, 1 << 20)).and(failing.fileRegion(0), failing.target(0));
        PenstockException error =
                (PenstockException) Witness.of(bench.backend().submit(write)).error();
        // How much of the good pair was moved is up to the engine; what it reports must be true.
        long moved = error.bytes(0);
        assertThat(error.bytes(1)).isZero();
        assertThat(error.bytes()).isEqualTo(moved);
        assertThat(error.outcome()).isNotEqualTo(Outcome.NOT_STARTED);
        Content.assertHolds(path, WriteRules.WRITTEN, 0, moved);
    }

    /**
     * A failure does not affect later transfers. If this fails, check the state that a failed command leaves in the I/O
     * queue.
     */
    @Test
    default void required_401_afterFailuresEverythingElseContinues(Bench bench) {
        Transfer failing = bench.failingWrite();
        StorageFile file = bench.open(bench.file("data", 4096), FileOption.READ);
        DeviceBuffer buffer = bench.poisoned(4096);
        for (int i = 0; i < 300; i++) {
            assertThat(Witness.of(bench.backend().submit(failing)).error())
                    .isInstanceOf(PermanentStorageException.class);
        }
        bench.move(Transfer.read(file.all(), buffer.all()));
        Content.assertHolds(buffer.all(), file.all());
    }

    /**
     * Rule 103: a file truncated meanwhile is read short, not wrong. If this fails, check the length that a read uses.
     */
    @Test
    default void required_103_aFileTruncatedByAnotherReadsShort(Bench bench) throws IOException {
        Path path = bench.file("data", 100_000);
        StorageFile file = bench.openChanging(path, FileOption.READ);
        DeviceBuffer buffer = bench.poisoned(110_000);
        try (FileChannel another = FileChannel.open(path, StandardOpenOption.WRITE)) {
            another.truncate(50_001);
        }
        assertThat(file.size()).isEqualTo(50_001);
        Completion completion = bench.move(Transfer.read(file.region(0, 100_000), buffer.region(0, 100_000)));
        assertThat(completion.bytes()).isEqualTo(50_001);
        Content.assertHolds(buffer.region(0, 50_001), file.region(0, 50_001));
        Content.assertPoison(buffer.region(100_000, 10_000));
    }

    /** A file may be renamed and deleted while it is open. If this fails, check that paths are used at open only. */
    @Test
    default void required_103_aFileDeletedByAnotherIsReadToItsEnd(Bench bench) throws IOException {
        Path path = bench.file("data", 10_000);
        StorageFile file = bench.openChanging(path, FileOption.READ);
        DeviceBuffer buffer = bench.poisoned(10_000);
        Files.delete(path);
        assertThat(bench.move(Transfer.read(file.region(0, 10_000), buffer.all()))
                        .bytes())
                .isEqualTo(10_000);
        Content.assertHolds(buffer.all(), file.region(0, 10_000));
    }

    /** Rule 402: a target that the device does not support. If this fails, check the arguments of {@code submit}. */
    @Test
    default void required_402_anImageIsRefusedAtOnceWhereThereAreNone(Bench bench) {
        Assumptions.assumeFalse(bench.backend().capabilities().images(), "this device has images");
        StorageFile file = bench.open(bench.file("data", 4096), FileOption.READ);
        ImageRegion image = new ImageRegion(
                1,
                0,
                new ImageRegion.Texels(0, 0, 0),
                new ImageRegion.Texels(32, 32, 1),
                new ImageRegion.Layout(1, 4, 128, 4096));
        assertThatThrownBy(() -> bench.backend().submit(Transfer.read(file.all(), image)))
                .isInstanceOf(IllegalArgumentException.class);
    }

    /**
     * Rule 402: a queue that belongs to no device of this backend. If this fails, check {@code Transfer.queue} before
     * it is used.
     */
    @Test
    default void required_402_anUnknownQueueIsRefusedAtOnce(Bench bench) {
        StorageFile file = bench.open(bench.file("data", 4096), FileOption.READ);
        Transfer read = Transfer.read(file.all(), bench.poisoned(4096).all()).on(() -> 0x1000);
        assertThatThrownBy(() -> bench.backend().submit(read)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> bench.backend().enqueue(read)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> bench.backend().explain(read)).isInstanceOf(IllegalArgumentException.class);
        Witness<Completion> witness = Witness.of(bench.backend().submit(Flux.just(read)));
        assertThat(witness.error()).isInstanceOf(IllegalArgumentException.class);
    }
}
