// SPDX-License-Identifier: Apache-2.0
package io.penstock.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.abort;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.Disposable;
import reactor.core.publisher.Hooks;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;
import reactor.test.StepVerifier;
import reactor.util.context.Context;
import reactor.util.context.ContextView;

class PartFileTest {

    private static final ByteBuffer FIRST = ByteBuffer.wrap(new byte[] {1, 2, 3});

    @TempDir
    Path folder;

    private Mono<Long> write(Path target, LinkOption... options) {
        return PartFile.write(target, FIRST, part -> Mono.fromCallable(() -> Files.size(part)), options);
    }

    @Test
    void aFileThatIsCreatedAfterItWasDiscardedIsNot() throws IOException {
        PartFile part = new PartFile(folder.resolve("file"));
        part.close();
        assertThatThrownBy(() -> part.create(FIRST)).isInstanceOf(ClosedChannelException.class);
        assertThat(folder).isEmptyDirectory();
    }

    @Test
    void aFileThatHasItsNameIsNotDiscarded() throws IOException {
        PartFile part = new PartFile(folder.resolve("file"));
        part.create(FIRST.duplicate());
        part.commit();
        part.close();
        assertThat(folder.resolve("file")).hasBinaryContent(FIRST.array());
    }

    @Test
    void aFileWithTheLongestNameIsWrittenAndALongerOneIsNoFile() {
        StepVerifier.create(write(folder.resolve("x".repeat(255))))
                .expectNext(3L)
                .verifyComplete();
        StepVerifier.create(write(folder.resolve("x".repeat(256)))).verifyError(NoSuchFileException.class);
    }

    @Test
    void aFileThatFailsLeavesNothing() {
        StepVerifier.create(PartFile.write(folder.resolve("file"), FIRST, part -> Mono.error(new IOException("full"))))
                .verifyErrorMessage("full");
        assertThat(folder).isEmptyDirectory();
    }

    /** As an opening does that finds no file any more. */
    @Test
    void anErrorBehindACancelIsSilent() throws InterruptedException, IOException {
        List<Throwable> dropped = new CopyOnWriteArrayList<>();
        Hooks.onErrorDropped(dropped::add);
        try {
            AtomicReference<ContextView> opening = new AtomicReference<>();
            CountDownLatch begun = new CountDownLatch(1);
            Function<Path, Mono<Integer>> opens = part -> Mono.deferContextual(context -> {
                opening.set(context);
                begun.countDown();
                return Mono.never();
            });
            Disposable write =
                    PartFile.write(folder.resolve("file"), FIRST, opens).subscribe();
            begun.await();
            write.dispose();
            Operators.onErrorDropped(new NoSuchFileException("/proc/self/fd/7"), Context.of(opening.get()));
            assertThat(dropped).isEmpty();
        } finally {
            Hooks.resetOnErrorDropped();
        }
        awaitNames(0);
    }

    @Test
    void onlyAValueReplacesTheOldFile() throws IOException {
        Path target = Files.writeString(folder.resolve("file"), "old");
        StepVerifier.create(PartFile.write(target, FIRST, part -> Mono.empty())).verifyError(IOException.class);
        StepVerifier.create(PartFile.write(target, FIRST, part -> Mono.error(new IOException("late"))))
                .verifyErrorMessage("late");
        StepVerifier.create(PartFile.write(target, FIRST, part -> Mono.never()))
                .thenCancel()
                .verify();
        assertThat(target).hasContent("old");
        awaitNames(1);
    }

    /** The end of a cancelled write may be later; where files have names, its part is there until then. */
    private void awaitNames(int most) throws IOException {
        while (names().size() > most) {
            assertThat(Thread.interrupted()).isFalse();
            Thread.onSpinWait();
        }
    }

    private List<String> names() throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.map(file -> file.getFileName().toString()).toList();
        }
    }

    @Test
    void whatAKilledWriterHasLeftIsRemovedByTheNext() throws IOException {
        for (String name : List.of(".file.0.lock", ".file.0.part", ".file.1.lock", ".file.1.part")) {
            Files.writeString(folder.resolve(name), "half");
        }
        StepVerifier.create(write(folder.resolve("file"))).expectNext(3L).verifyComplete();
        assertThat(names()).containsExactly("file");
    }

    @Test
    @DisabledOnOs(value = OS.WINDOWS, disabledReason = "no such permissions there")
    void whatReplacesAPrivateFileIsPrivate() throws IOException {
        for (String mode : List.of("rw-------", "r--r--r--", "rw-rw-r--")) {
            Path target = Files.writeString(folder.resolve("file"), "old");
            Files.setPosixFilePermissions(target, PosixFilePermissions.fromString(mode));
            StepVerifier.create(PartFile.write(
                            target,
                            FIRST,
                            part -> Mono.fromCallable(
                                    () -> PosixFilePermissions.toString(Files.getPosixFilePermissions(part)))))
                    .expectNext("rw-------")
                    .verifyComplete();
            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(target)))
                    .isEqualTo(mode);
            Files.delete(target);
        }
        assertThat(folder).isEmptyDirectory();
    }

    @Test
    void theLongestNameHasRoomForWhatHidesIt() {
        Path longest;
        try {
            longest = folder.resolve("\ud83d\ude00".repeat(63)); // of four bytes each, two characters of Java
        } catch (InvalidPathException e) {
            abort("names of files have no such characters in this locale");
            return;
        }
        StepVerifier.create(write(longest)).expectNext(3L).verifyComplete();
    }

    /** Returns a JVM, begun by a command of the shell. */
    private static ProcessBuilder java(String command, Class<?> program, String... arguments) {
        List<String> words = new ArrayList<>(List.of("sh", "-c", command + " \"$@\"", "sh"));
        words.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        words.addAll(List.of("-XX:-UsePerfData", "-cp"));
        words.add(System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")));
        words.add(program.getName());
        words.addAll(List.of(arguments));
        return new ProcessBuilder(words).redirectErrorStream(true);
    }

    /** Writes to a file, whose name is the argument, and prints the error. */
    static final class Writing {
        private Writing() {}

        public static void main(String[] arguments) {
            PartFile.write(Path.of(arguments[0]), FIRST, part -> Mono.just(1L))
                    .doOnError(e -> System.out.println(e.getMessage()))
                    .onErrorComplete()
                    .block();
        }
    }

    @Test
    @EnabledOnOs(value = OS.LINUX, disabledReason = "the limit takes the place of a full disk")
    void anErrorOfTheFirstBytesNamesTheTarget() throws Exception {
        Path target = folder.resolve("file");
        Process limited = java("export LC_ALL=C; ulimit -f 0; exec", Writing.class, target.toString())
                .start();
        assertThat(new String(limited.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
                .contains(target + ": File too large");
        assertThat(folder).isEmptyDirectory();
    }

    @Test
    void aPathThroughAFileLeadsToNoFile() throws IOException {
        Path file = Files.createFile(folder.resolve("file"));
        StepVerifier.create(write(file.resolve("below"))).verifyError(NoSuchFileException.class);
    }

    @Test
    void aFolderIsNotReplaced() {
        StepVerifier.create(write(folder)).verifyError(AccessDeniedException.class);
    }

    @Test
    @DisabledOnOs(value = OS.WINDOWS, disabledReason = "links take a privilege there, and Wine has none")
    void aLinkIsFollowedUnlessItIsToBeReplaced() throws IOException {
        Path link = Files.createSymbolicLink(folder.resolve("link"), Path.of("file"));
        StepVerifier.create(write(link)).expectNext(3L).verifyComplete();
        assertThat(link).isSymbolicLink();
        assertThat(folder.resolve("file")).hasBinaryContent(FIRST.array());
        StepVerifier.create(write(link, LinkOption.NOFOLLOW_LINKS))
                .expectNext(3L)
                .verifyComplete();
        assertThat(link)
                .isRegularFile()
                .satisfies(now -> assertThat(Files.isSymbolicLink(now)).isFalse());
    }

    @Test
    void aFailedSyncOfTheFolderIsPassedOn() throws IOException {
        FileChannel closed = FileChannel.open(Files.createFile(folder.resolve("file")));
        closed.close();
        assertThatThrownBy(() -> DirectorySync.force(closed)).isInstanceOf(ClosedChannelException.class);
    }

    @Test
    @EnabledOnOs(value = OS.LINUX, disabledReason = "this system has no /proc")
    void aFileSystemThatHasNoSyncOfFoldersIsNoFailure() throws IOException {
        try (FileChannel proc = FileChannel.open(Path.of("/proc"))) {
            assertThatThrownBy(() -> proc.force(true)).hasMessage("Invalid argument");
            DirectorySync.force(proc);
        }
    }

    /** Syncs a directory that has no sync, and prints what that answers. */
    static final class Syncing {
        private Syncing() {}

        public static void main(String[] arguments) throws IOException {
            try (FileChannel processes = FileChannel.open(Path.of("/proc"))) {
                DirectorySync.force(processes);
                processes.force(true);
            } catch (IOException e) {
                System.out.println(e.getMessage());
                DirectorySync.force(Path.of("/proc"));
                System.out.println("no failure");
            }
        }
    }

    /** The C library has its messages in the language of the user. */
    @Test
    @EnabledOnOs(value = OS.LINUX, disabledReason = "this system has no /proc")
    void itIsNoFailureInAnotherLanguageEither() throws Exception {
        Process german =
                java("export LC_ALL=C.UTF-8 LANGUAGE=de; exec", Syncing.class).start();
        String told = new String(german.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assumeFalse(told.startsWith("Invalid argument"), "the C library has no German messages here");
        assertThat(told).endsWith("no failure\n");
    }
}
