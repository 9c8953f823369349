// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile;

import static io.penstock.backend.cufile.GpuFixture.await;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.stream.Stream;
import java.util.zip.CRC32;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** One read for four processes, on the fake and on the machine's own driver. */
abstract class SharedReadRules {

    static final int PROCESSES = 4;
    static final int MIB = 1 << 20;
    private static final long PATIENCE = 60_000; // milliseconds: longer than any test waits
    private static final long CLASSES = 4 * MIB; // at most, that a process reads meanwhile
    private static final long LITTLE = 2_000; // for tests in which some may not come

    private static final @Nullable IpcPeer[] STARTED = new IpcPeer[PROCESSES];

    @TempDir
    Path folder;

    /** The length of the file. */
    long bytes;

    long chunkBytes;

    private final List<IpcPeer> opened = new ArrayList<>(); // those that have the file open
    private final Set<Integer> waiting = new HashSet<>(); // processes that have not answered
    private long sum;

    /** Options of a process's backend, as environment variables. */
    abstract Map<String, String> environment(int process);

    IpcPeer peer(int process) {
        IpcPeer running = STARTED[process];
        if (running == null || !running.isAlive()) {
            try {
                running = IpcPeer.of(SharedPeer.class, environment(process));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            STARTED[process] = running;
        }
        return running;
    }

    @AfterEach
    void nothingIsLeft() {
        waiting.forEach(process -> peer(process).kill()); // of a test that has failed
        for (IpcPeer peer : opened) {
            if (peer.isAlive()) {
                assertThat(peer.ask("close")).isEqualTo("closed");
            }
        }
        for (IpcPeer peer : opened) {
            if (peer.isAlive()) {
                await(() -> peer.ask("left").equals("0"));
                assertThat(peer.ask("complaint")).isEqualTo("none");
            }
        }
        await(() -> sockets().isEmpty());
    }

    @AfterAll
    static void end() {
        for (int process = 0; process < PROCESSES; process++) {
            IpcPeer peer = STARTED[process];
            if (peer != null) {
                peer.close();
                STARTED[process] = null;
            }
        }
    }

    private List<Path> sockets() {
        try (Stream<Path> files = Files.list(folder)) {
            return files.filter(file -> !file.getFileName().toString().startsWith("file"))
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Makes a file, each MiB of which is another. */
    Path file(String name) throws IOException {
        return file(name, "");
    }

    private Path file(String name, String header) throws IOException {
        Path file = folder.resolve(name);
        ByteBuffer block = ByteBuffer.wrap(GpuFixture.random(MIB, name.hashCode()));
        CRC32 crc = new CRC32();
        try (FileChannel to = FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
            to.write(ByteBuffer.wrap(header.getBytes(StandardCharsets.ISO_8859_1)));
            for (long at = 0; at < bytes; at += MIB) {
                block.putLong(0, at);
                block.limit((int) Math.min(MIB, bytes - at));
                crc.update(block.rewind());
                to.write(block.rewind());
            }
        }
        sum = crc.getValue();
        return file;
    }

    void open(int process, Path file) {
        IpcPeer peer = peer(process);
        assertThat(peer.ask("open " + file)).isEqualTo("opened");
        opened.add(peer);
    }

    void openAll(Path file) {
        for (int process = 0; process < PROCESSES; process++) {
            open(process, file);
        }
    }

    void start(int process, long patience) {
        waiting.add(process);
        peer(process).tell("start " + folder.resolve("read") + " " + PROCESSES + " " + patience + " " + chunkBytes);
    }

    /** Returns how many bytes a process has read when it has all of the file. */
    private long ended(int process, String reason) {
        String[] answer = answer(process);
        assertThat(answer[0]).as(String.join(" ", answer)).isEqualTo("done");
        assertThat(answer[1]).isEqualTo("" + bytes);
        assertThat(answer[5])
                .matches("[0-9]+ of " + bytes + " bytes were copied from buffers of other members" + reason
                        + "(; through .*)?");
        assertThat(peer(process).ask("sum")).as("process " + process).isEqualTo("" + sum);
        return Long.parseLong(answer[2]);
    }

    private String[] answer(int process) {
        String answer = peer(process).answer();
        waiting.remove(process);
        return answer.split(" ", 6);
    }

    /** Each waits for the others, so all have their answers before the first is asked for its bytes. */
    String[][] allEnded() {
        String[][] answers = new String[PROCESSES][];
        for (int process = 0; process < PROCESSES; process++) {
            answers[process] = answer(process);
        }
        for (int process = 0; process < PROCESSES; process++) {
            assertThat(answers[process][0])
                    .as(Arrays.toString(answers[process]))
                    .isEqualTo("done");
            assertThat(peer(process).ask("sum")).as("process " + process).isEqualTo("" + sum);
        }
        long nanos = Arrays.stream(answers)
                .mapToLong(answer -> Long.parseLong(answer[3]))
                .max()
                .orElseThrow();
        long read = read(answers);
        System.out.printf(
                "%d processes: each has %d bytes after at most %d ms, %.1f GB/s for each; read by all: %d bytes, %.3f of the file;"
                        + " by each: %s; %s%n",
                PROCESSES,
                bytes,
                nanos / 1_000_000,
                (double) bytes / nanos,
                read,
                (double) read / bytes,
                Arrays.stream(answers).map(answer -> answer[2]).toList(),
                answers[0][5]);
        return answers;
    }

    /** Returns the bytes that processes have read by system calls. */
    static long read(String[]... answers) {
        return Arrays.stream(answers)
                .mapToLong(answer -> Long.parseLong(answer[2]))
                .sum();
    }

    @Test
    @Timeout(180)
    void fourProcessesReadAFileOnce() throws IOException {
        openAll(file("file"));
        for (int round = 0; round < 3; round++) { // the first loads classes, too
            for (int process = 0; process < PROCESSES; process++) {
                start(process, PATIENCE);
            }
            assertThat(read(allEnded())).isBetween(bytes, bytes + bytes / 10);
        }
    }

    @Test
    @Timeout(180)
    void fourProcessesLoadAnArrayOnce() throws IOException {
        String header =
                String.format("%-117s\n", "{'descr': '|u1', 'fortran_order': False, 'shape': (" + bytes + ",), }");
        Path file = file("file.npy", "\u0093NUMPY\1\0v\0" + header);
        for (int process = 0; process < PROCESSES; process++) {
            peer(process).tell("load " + file + " " + folder.resolve("load") + " " + PROCESSES + " " + PATIENCE);
            waiting.add(process);
        }
        long read = 0;
        for (int process = 0; process < PROCESSES; process++) {
            String[] answer = answer(process);
            assertThat(answer[0]).as(String.join(" ", answer)).isEqualTo("loaded");
            assertThat(answer[2]).as("process " + process).isEqualTo("" + sum);
            assertThat(String.join(" ", answer)).containsOnlyOnce(" bytes were copied from buffers of other members");
            read += Long.parseLong(answer[1]);
        }
        assertThat(read).isLessThan(bytes + bytes / 10 + PROCESSES * CLASSES);
    }

    private long readByAll() {
        return opened.stream()
                .mapToLong(peer -> Long.parseLong(peer.ask("read")))
                .sum();
    }

    @Test
    void aProcessThatComesLateCopiesWhatTheOthersHaveRead() throws IOException {
        openAll(file("file"));
        long before = readByAll();
        for (int process = 0; process < PROCESSES - 1; process++) {
            start(process, PATIENCE);
        }
        await(() -> readByAll() - before >= bytes);
        start(PROCESSES - 1, PATIENCE);
        for (int process = 0; process < PROCESSES - 1; process++) {
            ended(process, "");
        }
        assertThat(ended(PROCESSES - 1, "")).isLessThan(bytes / 10);
    }

    @Test
    void aProcessThatDoesNotComeIsWaitedForWithinTheLimit() throws IOException {
        openAll(file("file"));
        start(0, 300);
        start(1, 300);
        ended(0, "; [12] of 4 processes came within PT0.3S"); // 1 if the other needed longer
        ended(1, "; [12] of 4 processes came within PT0.3S");
    }

    private void cancel(int process) {
        String answer = peer(process).ask("cancel");
        if (answer.startsWith("done")) { // meanwhile
            answer = peer(process).answer();
        }
        assertThat(answer).isEqualTo("cancelled");
        waiting.remove(process);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3})
    void aProcessThatCancelsLeavesTheOthersRight(int cancelled) throws IOException {
        openAll(file("file"));
        long before = readByAll();
        start(cancelled, PATIENCE); // the first is the host
        await(() -> readByAll() - before >= bytes / 4);
        for (int process = 0; process < PROCESSES; process++) {
            if (process != cancelled) {
                start(process, LITTLE);
            }
        }
        cancel(cancelled);
        for (int process = 0; process < PROCESSES; process++) {
            if (process != cancelled) {
                ended(process, ".*");
            }
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})
    void aProcessThatIsKilledAtAnyMomentLeavesTheOthersRight(long seed) throws IOException {
        Random random = new Random(seed);
        openAll(file("file"));
        for (int process = 0; process < PROCESSES; process++) {
            start(process, LITTLE);
        }
        int killed = random.nextInt(PROCESSES);
        peer(killed).killAfter(random.nextInt(300));
        waiting.remove(killed);
        for (int process = 0; process < PROCESSES; process++) {
            if (process != killed) {
                ended(process, ".*");
            }
        }
    }

    @Test
    void whatKilledProcessesLeaveIsNoObstacleToOthers() throws IOException {
        Path file = file("file");
        for (int round = 0; round < 2; round++) {
            open(0, file);
            start(0, PATIENCE);
            await(() -> !sockets().isEmpty());
            peer(0).kill();
            waiting.remove(0);
        }
        assertThat(sockets()).isNotEmpty();
        openAll(file);
        for (int process = 0; process < PROCESSES; process++) {
            start(process, PATIENCE);
        }
        assertThat(read(allEnded())).isLessThan(bytes + bytes / 10);
    }

    @Test
    void aProcessThatReadsAnotherFileIsRefused() throws IOException {
        open(0, file("file-of-others"));
        open(1, file("file"));
        start(0, PATIENCE);
        await(() -> Files.exists(folder.resolve("read-part.0"))); // the host is there
        start(1, PATIENCE);
        assertThat(String.join(" ", answer(1)))
                .startsWith(
                        "failed io.penstock.PermanentStorageException: a shared read at " + folder.resolve("read-part")
                                + " is refused: all processes must read the same files: the others read [(dev=");
        cancel(0);
    }
}
