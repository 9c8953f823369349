// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.penstock.cli.testing.CommandLineRun;
import io.penstock.tck.Require;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CopyCommandTest {

    @TempDir
    Path folder;

    private Path source;
    private Path copy;

    @BeforeEach
    void name() {
        source = folder.resolve("source");
        copy = folder.resolve("copy");
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 4095, 65536, 3_000_001})
    void everySizeArrivesWhole(int size) throws IOException {
        byte[] bytes = fill(size);
        CommandLineRun run =
                CommandLineRun.of("copy", source, copy, "--chunk", "64KiB", "--verify", "--backend", "host");
        assertThat(run.err()).isEmpty();
        assertThat(run.code()).isZero();
        assertThat(copy).hasBinaryContent(bytes);
        List<String> lines = run.out().lines().toList();
        assertThat(lines).hasSize(3);
        assertThat(lines.get(0))
                .startsWith("copied " + size + " bytes to " + copy)
                .contains(size == 0 ? copy + ", path none" : size < 1 << 20 ? "/copy, path HOST" : "B/s, path ")
                .contains("host");
        assertThat(lines.get(1)).matches("SHA-256 [0-9a-f]{64}  .*source");
        assertThat(lines.get(2)).startsWith(lines.get(1).substring(0, 72));
        assertThat(names()).containsExactly("copy", "source");
    }

    /** Otherwise a user who can create a file in a folder could add options to the commands of other users. */
    @Test
    void aNameThatBeginsWithAnAtSignIsNoListOfArguments() throws IOException {
        fill(10);
        Files.writeString(copy, "old");
        Path list = Files.writeString(folder.resolve("list"), "--force\n" + source + "\n");
        for (String[] arguments :
                new String[][] {{"copy", "@" + list, "" + copy}, {"copy", "--", "@" + list, "" + copy}}) {
            CommandLineRun run = CommandLineRun.of((Object[]) arguments);
            assertThat(run.code()).isNotZero();
            assertThat(run.err()).contains("@" + list);
        }
        assertThat(CommandLineRun.of("copy", "@@x", copy, "--force").err()).contains("@@x");
        assertThat(copy).hasContent("old");
    }

    @Test
    void namesThatATerminalWouldActOnArePrintedWithoutThat() throws IOException {
        source = folder.resolve("so\u001b[2Jurce");
        copy = folder.resolve("co\npy");
        fill(10);
        CommandLineRun run = CommandLineRun.of("copy", source, copy, "--verify");
        assertThat(run.code()).as(run.err()).isZero();
        assertThat(run.out()).doesNotContain("\u001b").contains("so?[2Jurce", "co?py, path ");
        assertThat(run.out().lines()).hasSize(3);
    }

    /** U+FFFD is in place of bytes that are not UTF-8: the copy would have another name. */
    @Test
    void aNameThatWasChangedWhileItWasDecodedIsRefused() throws IOException {
        fill(10);
        String changed = folder + "/x\uFFFDy"; // no Path: a locale without U+FFFD has none of that name
        for (List<Object> names : List.of(List.<Object>of(source, changed), List.<Object>of(changed, copy))) {
            CommandLineRun run = CommandLineRun.of("copy", names.get(0), names.get(1), "--force");
            assertThat(run.code()).isEqualTo(2);
            assertThat(run.err()).contains("a file name has ");
        }
        assertThat(names()).containsExactly("source");
    }

    /** What is wholly allocated has no hole, whatever its file system calls one. */
    @Test
    void whatAFileSystemOfFuseCallsAHoleIsRead() throws Exception {
        Path mounted = Files.createDirectory(folder.resolve("mounted"));
        Path program = folder.resolve("hole");
        Require.backend("faults", whyNotCompiled("hole", program));
        Process server = started(program + " " + mounted);
        try {
            while (server.isAlive() && Files.notExists(mounted.resolve("f"))) {
                Thread.onSpinWait();
            }
            Require.backend("faults", server.isAlive() ? null : "no FUSE");
            CommandLineRun run = CommandLineRun.of("copy", mounted.resolve("f"), copy, "--backend", "host");
            assertThat(run.code()).as(run.err()).isZero();
            byte[] sevens = new byte[1 << 20];
            Arrays.fill(sevens, (byte) 7);
            assertThat(copy).hasBinaryContent(sevens);
        } finally {
            server.destroy(); // it unmounts
            server.waitFor();
        }
    }

    private static @Nullable String whyNotCompiled(String name, Path program) throws InterruptedException {
        String cc = "cc -D_GNU_SOURCE -I/usr/include/fuse3 -o %s src/test/c/%s.c -lfuse3".formatted(program, name);
        try {
            return started(cc).waitFor() == 0 ? null : "no libfuse3-dev";
        } catch (IOException e) {
            return "no C compiler: " + e.getMessage();
        }
    }

    private static Process started(String command) throws IOException {
        return new ProcessBuilder(command.split(" "))
                .directory(Path.of(System.getProperty("basedir", ""))
                        .toAbsolutePath()
                        .toFile())
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
    }

    @Test
    void anExistingFileIsReplacedOnlyByForce() throws IOException {
        byte[] bytes = fill(1000);
        Files.writeString(copy, "precious");
        assertComplaint(copy + " exists already", source, copy);
        assertThat(copy).hasContent("precious");
        assertThat(CommandLineRun.of("copy", source, copy, "--force").code()).isZero();
        assertThat(copy).hasBinaryContent(bytes);
    }

    @Test
    void aFolderGetsAFileOfTheSameNameAndFewBytesNoRate() throws IOException {
        byte[] bytes = fill(1000);
        Path target = Files.createDirectory(folder.resolve("target")).resolve("source");
        CommandLineRun run = CommandLineRun.of("copy", source, target.getParent());
        assertThat(run.code()).as(run.err()).isZero();
        assertThat(run.out()).startsWith("copied 1000 bytes to " + target + ", path ");
        assertThat(target).hasBinaryContent(bytes);
        assertComplaint(target + " exists already", source, target.getParent());
    }

    @Test
    void badInputGetsOneLineAndLeavesNothing() throws IOException {
        fill(1000);
        assertComplaint("there is no file", folder.resolve("none"), copy);
        assertComplaint("is a directory", folder, copy);
        assertComplaint("are the same file", source, folder);
        assertComplaint("are the same file", source, source);
        assertComplaint("are the same file", source, folder.resolve(".").resolve("source"));
        assertComplaint("there is no directory", source, folder.resolve("a/b"));
        assertComplaint("would use path HOST, not DIRECT", source, copy, "--path", "direct", "--backend", "host");
        assertComplaint("there is no backend 'warp'", source, copy, "--backend", "warp");
        assertThat(names()).containsExactly("source");
    }

    @Test
    void aDeviceIsNoDestination() throws IOException {
        assumeTrue(Files.exists(Path.of("/dev/null")), "there is no /dev/null");
        fill(1000);
        assertComplaint("/dev/null is not a regular file", source, Path.of("/dev/null"));
        assertComplaint("/dev/null is not a regular file", source, Path.of("/dev/null"), "--force");
    }

    @Test
    void theSourcesPermissionsAreKeptLessTheUmask() throws Exception {
        byte[] bytes = fill(1000);
        for (String mode : List.of("rw-r-----", "r--------", "rwxr-xr-x", "rw-rw-rw-")) {
            Files.setPosixFilePermissions(source, PosixFilePermissions.fromString(mode));
            Path expected = folder.resolve("expected");
            assertThat(new ProcessBuilder("cp", source.toString(), expected.toString())
                            .start()
                            .waitFor())
                    .isZero();
            for (String force : List.of("--no-force", "--force")) {
                CommandLineRun run = force.equals("--force")
                        ? CommandLineRun.of("copy", source, copy, force)
                        : CommandLineRun.of("copy", source, copy);
                assertThat(run.err()).isEmpty();
                assertThat(Files.getPosixFilePermissions(copy))
                        .as("%s, %s, as cp has it", mode, force)
                        .isEqualTo(Files.getPosixFilePermissions(expected));
                assertThat(copy).hasBinaryContent(bytes);
            }
            Files.delete(copy);
            Files.delete(expected);
        }
    }

    @Test
    void linksThatLeadToNoFileAreNamed() throws IOException {
        byte[] bytes = fill(1000);
        Path dangling = Files.createSymbolicLink(folder.resolve("dangling"), Path.of("nowhere"));
        Path loop = Files.createSymbolicLink(folder.resolve("loop"), Path.of("loop-too"));
        Files.createSymbolicLink(folder.resolve("loop-too"), Path.of("loop"));
        assertComplaint(dangling + " is a symbolic link to " + folder.resolve("nowhere"), source, dangling);
        assertComplaint(loop + " is a loop of symbolic links", source, loop);
        assertComplaint(dangling + " is a symbolic link to ", dangling, copy);
        assertComplaint(loop + " is a loop of symbolic links", loop, copy);
        assertThat(names()).containsExactly("dangling", "loop", "loop-too", "source");
        assertThat(CommandLineRun.of("copy", source, dangling, "--force").code())
                .isZero();
        assertThat(dangling).isRegularFile().hasBinaryContent(bytes);
        assertThat(folder.resolve("nowhere")).doesNotExist();
        assertThat(dangling).matches(path -> !Files.isSymbolicLink(path));
    }

    @Test
    void aFileThatStatesNoLengthIsReadToItsEnd() throws IOException {
        Path unstated = Path.of("/proc/filesystems"); // the same at each reading
        assumeTrue(Files.isReadable(unstated), "there is no " + unstated);
        byte[] bytes = Files.newInputStream(unstated).readAllBytes();
        assertThat(bytes.length).isGreaterThan(100);
        for (String chunk : List.of("64", "8MiB")) {
            CommandLineRun run = CommandLineRun.of("copy", unstated, copy, "--force", "--chunk", chunk, "--verify");
            assertThat(run.err()).isEmpty();
            assertThat(run.out()).startsWith("copied " + bytes.length + " bytes to ");
            assertThat(copy).hasBinaryContent(bytes);
        }
    }

    @Test
    void holesStayHoles() throws IOException {
        long size = (64L << 20) + 5;
        byte[] data = new byte[300_000];
        new Random(1).nextBytes(data);
        try (FileChannel sparse = FileChannel.open(source, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
            sparse.write(ByteBuffer.wrap(data), 0);
            sparse.write(ByteBuffer.wrap(data), 10L << 20);
            sparse.write(ByteBuffer.wrap(data), (30L << 20) + 4097);
            sparse.write(ByteBuffer.wrap(data, 0, 1), (50L << 20) - 1);
        }
        truncate(source, size);
        assumeTrue(blocks(source) < size / 4, "this file system has no holes");
        CommandLineRun run = CommandLineRun.of("copy", source, copy, "--chunk", "64KiB", "--verify");
        assertThat(run.err()).isEmpty();
        assertThat(run.out())
                .startsWith("copied " + size + " bytes to " + copy + " (")
                .contains(" of them in holes)");
        assertThat(Files.mismatch(source, copy)).isEqualTo(-1);
        assertThat(Files.size(copy)).isEqualTo(size);
        assertThat(blocks(copy)).as("bytes on the disk").isLessThanOrEqualTo(blocks(source) + (1 << 16));
    }

    @Test
    void aFileOfNothingButAHoleIsOneToo() throws IOException {
        Files.createFile(source);
        truncate(source, 12_345_678);
        assertThat(CommandLineRun.of("copy", source, copy, "--verify").err()).isEmpty();
        assertThat(Files.mismatch(source, copy)).isEqualTo(-1);
        // File channels lengthen a file by writing its last byte, which takes a block.
        assertThat(blocks(copy)).isLessThanOrEqualTo(blocks(source) + 4096);
    }

    private static void truncate(Path path, long size) throws IOException {
        try (RandomAccessFile file = new RandomAccessFile(path.toFile(), "rw")) {
            file.setLength(size);
        }
    }

    /** Returns the bytes that a file takes on its disk. */
    private static long blocks(Path path) throws IOException {
        Process du = new ProcessBuilder("du", "--block-size=1", path.toString()).start();
        String said = new String(du.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return Long.parseLong(said.substring(0, said.indexOf('\t')));
    }

    @Test
    void aFolderWithoutWriteAccessIsReported() throws IOException {
        fill(1000);
        CommandLineRun run = CommandLineRun.of("copy", source, Path.of("/proc/x"));
        assertThat(run.code()).isEqualTo(1);
        // The second is for a user who is not root.
        assertThat(run.complaints()[0]).containsAnyOf("no file can be created in /proc", "/proc: permission denied");
    }

    @Test
    void misuseGetsCodeTwo() throws IOException {
        fill(1000);
        assertThat(CommandLineRun.of("copy", source).code()).isEqualTo(2);
        assertThat(CommandLineRun.of("copy", source, copy, "--chunk", "0").code())
                .isEqualTo(2);
        CommandLineRun path = CommandLineRun.of("copy", source, copy, "--path", "scenic", "--backend", "host");
        assertThat(path.code()).isEqualTo(2);
        assertThat(path.err())
                .contains(
                        "there is no path 'scenic' for backend host; it accepts direct, mapped, compat, staged, host");
    }

    private static void assertComplaint(String fact, Object... arguments) {
        Object[] all = Stream.concat(Stream.of("copy"), Stream.of(arguments)).toArray();
        CommandLineRun run = CommandLineRun.of(all);
        assertThat(run.code()).isEqualTo(1);
        assertThat(run.complaints()[0]).contains(fact);
        assertThat(run.out()).isEmpty();
    }

    private byte[] fill(int size) throws IOException {
        byte[] bytes = new byte[size];
        new Random(size).nextBytes(bytes);
        Files.write(source, bytes);
        return bytes;
    }

    private List<String> names() throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.map(path -> path.getFileName().toString()).sorted().toList();
        }
    }
}
