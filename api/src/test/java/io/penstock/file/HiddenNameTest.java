// SPDX-License-Identifier: Apache-2.0
package io.penstock.file;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** What is left behind a process that was killed, and what belongs to one that lives. */
class HiddenNameTest {

    @TempDir
    Path folder;

    private List<String> names() throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.map(file -> file.getFileName().toString()).sorted().toList();
        }
    }

    /** As a process that was killed leaves it. */
    private void leave(int number) throws IOException {
        Files.createFile(folder.resolve(".file." + number + ".lock"));
        Files.writeString(folder.resolve(".file." + number + ".part"), "half");
    }

    @Test
    void whatADeadWriterHasLeftIsRemovedWhereverItIs() throws IOException {
        for (int number : List.of(0, 1, 5)) {
            leave(number);
        }
        HiddenName.removeDead(folder.resolve("file"));
        assertThat(names()).isEmpty();
    }

    @Test
    void aNameIsFreeOfWhatADeadWriterHasLeft() throws IOException {
        leave(0);
        HiddenName name = HiddenName.take(folder.resolve("file"));
        assertThat(name.path()).hasFileName(".file.0.part").doesNotExist();
        name.close();
        assertThat(names()).isEmpty();
    }

    @Test
    void anErrorIsNotHiddenByWhatCannotBeCleanedUpBehindIt() throws IOException {
        IOException error = new IOException("No locks available");
        HiddenName.deleteEmpty(folder.resolve("gone"), error);
        assertThat(error)
                .hasSuppressedException(
                        new NoSuchFileException(folder.resolve("gone").toString()));
        Path used = Files.writeString(folder.resolve("used"), "token");
        HiddenName.deleteEmpty(used, error);
        assertThat(used).exists();
        Path empty = Files.createFile(folder.resolve("empty"));
        HiddenName.deleteEmpty(empty, error);
        assertThat(empty).doesNotExist();
    }

    @Test
    void anInterruptedThreadTakesANameWithALockAndStaysInterrupted() throws IOException {
        Thread.currentThread().interrupt();
        HiddenName name = HiddenName.take(folder.resolve("file"));
        assertThat(Thread.interrupted()).isTrue();
        assertThat(name.path()).hasFileName(".file.0.part");
        assertThat(names()).containsExactly(".file.0.lock");
        name.close();
        assertThat(names()).isEmpty();
    }

    /** As a cancel's interrupts at any moment. */
    @Test
    void interruptsAtAnyMomentLeaveNothing() throws IOException {
        Thread taking = Thread.currentThread();
        Thread interrupting = new Thread(() -> {
            for (int i = 0; i < 1000; i++) { // not without end: a slow machine would take none between two
                LockSupport.parkNanos(ThreadLocalRandom.current().nextInt(400_000));
                taking.interrupt();
            }
        });
        interrupting.start();
        boolean interrupted = false;
        for (int i = 0; interrupting.isAlive(); i++) {
            interrupted |= Thread.interrupted(); // so that the next one comes in the middle
            HiddenName.take(folder.resolve("file" + i)).close();
        }
        assertThat(Thread.interrupted() || interrupted).isTrue();
        assertThat(names()).isEmpty();
    }

    @Test
    void whatALiveWriterOfThisProcessHasStays() throws IOException {
        HiddenName first = HiddenName.take(folder.resolve("file"));
        Files.writeString(first.path(), "mine");
        HiddenName second = HiddenName.take(folder.resolve("file"));
        HiddenName.removeDead(folder.resolve("file"));
        assertThat(second.path()).isNotEqualTo(first.path());
        assertThat(first.path()).hasContent("mine");
        second.close();
        first.close();
        first.close();
        assertThat(names()).isEmpty();
    }

    @Test
    @DisabledOnOs(value = OS.WINDOWS, disabledReason = "links take a privilege there, and Wine has none")
    void itStaysAlsoByAnotherNameOfItsFolder() throws IOException {
        Path folders = Files.createDirectory(folder.resolve("folder"));
        Path link = Files.createSymbolicLink(folder.resolve("link"), folders);
        HiddenName first = HiddenName.take(folders.resolve("file"));
        Files.writeString(first.path(), "mine");
        HiddenName.removeDead(link.resolve("file"));
        assertThat(first.path()).hasContent("mine");
        first.close();
    }

    /** Holds a name until its input ends. */
    static final class Holding {
        private Holding() {}

        public static void main(String[] arguments) throws IOException {
            HiddenName name = HiddenName.take(Path.of(arguments[0]));
            Files.writeString(name.path(), "alive");
            System.out.println("held");
            System.in.read();
            Runtime.getRuntime().halt(0);
        }
    }

    @Test
    void whatAnotherProcessHasStaysForAsLongAsThatLives() throws Exception {
        Path target = folder.resolve("file");
        Process other = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
                        Holding.class.getName(),
                        target.toString())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        assertThat(new String(other.getInputStream().readNBytes(4), StandardCharsets.UTF_8))
                .isEqualTo("held");
        HiddenName.removeDead(target);
        HiddenName mine = HiddenName.take(target);
        assertThat(mine.path()).hasFileName(".file.1.part");
        assertThat(folder.resolve(".file.0.part")).hasContent("alive");
        mine.close();
        HiddenName.removeDead(target); // and the look at it has not ended its lock
        assertThat(folder.resolve(".file.0.part")).hasContent("alive");
        other.getOutputStream().close();
        other.waitFor();
        HiddenName.removeDead(target);
        assertThat(names()).isEmpty();
    }

    @Test
    void manyWritersHaveANameEach() throws IOException {
        Path target = folder.resolve("file");
        List<HiddenName> all = new ArrayList<>();
        while (all.size() < 50) {
            HiddenName name = HiddenName.take(target);
            Files.createFile(name.path());
            all.add(name);
        }
        for (HiddenName name : all) {
            name.close();
        }
        assertThat(names()).isEmpty();
    }

    @Test
    void whatIsNoLockIsPassedOver() throws IOException {
        Files.createDirectory(folder.resolve(".file.0.lock"));
        HiddenName name = HiddenName.take(folder.resolve("file"));
        assertThat(name.path()).hasFileName(".file.1.part");
        name.close();
        HiddenName.removeDead(folder.resolve("file"));
        assertThat(names()).containsExactly(".file.0.lock");
    }
}
