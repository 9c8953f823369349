// SPDX-License-Identifier: Apache-2.0
package io.penstock.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.ClosedException;
import io.penstock.DeviceBuffer;
import io.penstock.FileOption;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

/** Opening files, their length, and closing them (rules 202, 402). */
public interface FileRules extends Rules {

    /** Rule 402: errors with a JDK exception type get that type. If this fails, check how open's errno is mapped. */
    @Test
    default void required_402_aMissingFileIsNoSuchFile(Bench bench) {
        Path missing = bench.path("missing");
        Witness<StorageFile> opening = Witness.of(bench.backend().openFile(missing, FileOption.READ));
        assertThat(opening.error()).isInstanceOf(NoSuchFileException.class).hasMessageContaining("missing");
    }

    /** Rule 402: CREATE_NEW never opens an existing file. If this fails, check O_EXCL. */
    @Test
    default void required_402_createNewRefusesAnExistingFileAndLeavesItAlone(Bench bench) {
        Path path = bench.file("existing", 5000);
        Witness<StorageFile> opening =
                Witness.of(bench.backend().openFile(path, FileOption.WRITE, FileOption.CREATE_NEW));
        assertThat(opening.error()).isInstanceOf(FileAlreadyExistsException.class);
        Content.assertHolds(path, Pattern.of(path), 0, 5000);
    }

    /** Rule 402: the system's permissions apply. If this fails, check how EACCES is mapped. Root is never denied. */
    @Test
    default void required_402_aForbiddenFileIsAccessDenied(Bench bench) throws IOException {
        Path path = bench.file("forbidden", 100);
        Assumptions.assumeTrue(
                Files.getFileStore(path).supportsFileAttributeView(PosixFileAttributeView.class),
                "this file system has no permissions that can be taken away");
        Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("---------"));
        Require.backend("user", Files.isReadable(path) ? "this process may read everything (root)" : null);
        Witness<StorageFile> opening = Witness.of(bench.backend().openFile(path, FileOption.READ));
        assertThat(opening.error()).isInstanceOf(AccessDeniedException.class);
    }

    /** Rule 402: a folder cannot be opened for writing. If this fails, check how EISDIR is mapped. */
    @Test
    default void required_402_aFolderCannotBeOpenedForWriting(Bench bench) throws IOException {
        Path folder = Files.createDirectory(bench.path("folder"));
        Witness<StorageFile> opening = Witness.of(bench.backend().openFile(folder, FileOption.WRITE));
        assertThat(opening.error()).isInstanceOf(FileSystemException.class).hasMessageContaining("folder");
    }

    /** Rule 402: contradictory options are a caller bug. If this fails, check {@code openFile}'s argument checks. */
    @Test
    default void required_402_contradictingOptionsAreRefusedAtOnce(Bench bench) {
        Path path = bench.path("new");
        for (FileOption option : List.of(FileOption.CREATE, FileOption.CREATE_NEW, FileOption.TRUNCATE)) {
            assertThatThrownBy(() -> bench.backend().openFile(path, FileOption.READ, option))
                    .as("READ with %s", option)
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining(option.name());
        }
        assertThat(path).doesNotExist();
    }

    /** Laziness: nothing happens before subscription. If this fails, check where {@code openFile} calls open. */
    @Test
    default void required_303_openingIsLazyAndEachSubscriptionOpensAFileOfItsOwn(Bench bench) {
        Path path = bench.path("made");
        Mono<StorageFile> opening = bench.backend().openFile(path, FileOption.WRITE, FileOption.CREATE);
        bench.letOthersRun();
        assertThat(path).doesNotExist();

        StorageFile first = bench.keep(Bench.get(opening));
        StorageFile second = bench.keep(Bench.get(opening));
        first.close();
        assertThat(path).exists();
        assertThat(second.size()).isZero();
    }

    /** A file returns the options with which it was opened. If this fails, check what the handle stores. */
    @Test
    default void required_api_aFileHasItsPathOptionsSizeAndBlockSize(Bench bench) {
        Path path = bench.file("data", 12_345);
        StorageFile file = bench.open(path, FileOption.READ, FileOption.WRITE);
        assertThat(file.path()).isEqualTo(path);
        assertThat(file.options()).isEqualTo(bench.withSubjects(FileOption.READ, FileOption.WRITE));
        assertThat(file.size()).isEqualTo(12_345);
        assertThat(file.all().length()).isEqualTo(12_345);
        assertThat(Long.bitCount(file.blockSize()))
                .as("block size %d is a power of two", file.blockSize())
                .isOne();
    }

    /** READ is the default. If this fails, check the default of {@code openFile}. */
    @Test
    default void required_api_withoutOptionsAFileIsOpenedForReading(Bench bench) {
        StorageFile file = bench.openPlain(bench.file("data", 4096));
        DeviceBuffer buffer = bench.poisoned(4096);
        assertThat(bench.move(Transfer.read(file.all(), buffer.all())).bytes()).isEqualTo(4096);
        Content.assertHolds(buffer.all(), file.all());
    }

    /** TRUNCATE truncates, and nothing else does. If this fails, check O_TRUNC. */
    @Test
    default void required_api_truncateAtOpenEmptiesTheFile(Bench bench) {
        Path path = bench.file("full", 9000);
        bench.open(path, FileOption.WRITE).close();
        assertThat(path).hasSize(9000);
        assertThat(bench.open(path, FileOption.WRITE, FileOption.TRUNCATE).size())
                .isZero();
    }

    /** The length can be increased and reduced; the remaining bytes stay unchanged. If this fails, check ftruncate. */
    @Test
    default void required_206_truncateCutsAndLengthensWithZeros(Bench bench) {
        Path path = bench.file("data", 10_000);
        StorageFile file = bench.open(path, FileOption.READ, FileOption.WRITE);
        Bench.run(file.truncate(5000));
        assertThat(file.size()).isEqualTo(5000);
        Bench.run(file.truncate(9000));
        assertThat(file.size()).isEqualTo(9000);
        Content.assertHolds(path, Pattern.of(path), 0, 5000);
        Content.assertAll(Content.bytes(path, 5000, 4000), (byte) 0);
    }

    /** Preallocation changes no byte. If this fails, check fallocate's mode and range. */
    @Test
    default void required_206_preallocateLengthensAndChangesNoByte(Bench bench) {
        Path path = bench.file("data", 3000);
        StorageFile file = bench.open(path, FileOption.READ, FileOption.WRITE);
        Witness<Void> first = Witness.of(file.preallocate(1 << 20)).awaitEnd();
        if (first.terminals() == 1 && file.size() == 3000) {
            Assumptions.abort("this subject does not support preallocation: " + first.error()); // EOPNOTSUPP
        }
        assertThat(first.all()).isEmpty();
        assertThat(file.size()).isEqualTo(1 << 20);
        Bench.run(file.preallocate(100));
        assertThat(file.size()).as("preallocate does not shorten").isEqualTo(1 << 20);
        Content.assertHolds(path, Pattern.of(path), 0, 3000);
        Content.assertAll(Content.bytes(path, 3000, 5000), (byte) 0);
    }

    /** Rule 402: a negative length is a caller bug. If this fails, check where it is tested. */
    @Test
    default void required_402_aNegativeLengthIsRefusedAtOnce(Bench bench) {
        StorageFile file = bench.open(bench.file("data", 100), FileOption.READ, FileOption.WRITE);
        assertThatThrownBy(() -> file.truncate(-1)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> file.preallocate(-1)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> file.region(-1, 10)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> file.region(Long.MAX_VALUE, 10)).isInstanceOf(IllegalArgumentException.class);
        assertThat(file.size()).isEqualTo(100);
    }

    /** Rule 202: close is final and idempotent. If this fails, check the state of the handle. */
    @Test
    default void required_202_aClosedFileRefusesEverythingAndCloseMayBeRepeated(Bench bench) {
        StorageFile file = bench.open(bench.file("data", 4096), FileOption.READ, FileOption.WRITE);
        DeviceBuffer buffer = bench.poisoned(4096);
        Transfer read = Transfer.read(file.all(), buffer.all());
        file.close();
        file.close();
        assertThatThrownBy(file::size).isInstanceOf(ClosedException.class);
        assertThat(Witness.of(bench.backend().submit(read)).error()).isInstanceOf(ClosedException.class);
        assertThat(Witness.of(file.sync()).error()).isInstanceOf(ClosedException.class);
        assertThat(Witness.of(file.truncate(1)).error()).isInstanceOf(ClosedException.class);
        Content.assertPoison(buffer.all());
    }

    /** A file that is opened too late is closed. If this fails, check {@code openFile}'s cancellation. */
    @Test
    default void required_201_aFileOpenedAfterTheCancelIsClosed(Bench bench) {
        Path path = bench.file("data", 100);
        List<Witness<StorageFile>> openings = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
            Witness<StorageFile> opening = Witness.of(bench.backend().openFile(path, FileOption.READ));
            opening.cancel();
            openings.add(opening);
        }
        bench.letOthersRun();
        // A file that won the race against its cancel is closed by the caller.
        openings.forEach(opening -> opening.values().forEach(StorageFile::close));
    }

    /**
     * {@code withFile} closes the file however its function terminates. If this fails, check the close, not
     * {@code usingWhen}.
     */
    @Test
    default void required_202_withFileClosesAfterSuccessAndFailure(Bench bench) {
        Path path = bench.file("data", 100);
        List<StorageFile> files = new ArrayList<>();
        Bench.get(bench.backend().withFile(path, FileOption.READ, file -> {
            files.add(file);
            return Mono.just(1);
        }));
        Witness.of(bench.backend().withFile(path, FileOption.READ, file -> {
                    files.add(file);
                    return Mono.error(new IOException("the function's own"));
                }))
                .error();
        assertThat(files)
                .hasSize(2)
                .allSatisfy(file -> assertThatThrownBy(file::size).isInstanceOf(ClosedException.class));
    }
}
