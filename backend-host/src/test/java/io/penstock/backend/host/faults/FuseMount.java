// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.host.faults;

import io.penstock.tck.Bench;
import io.penstock.tck.Pattern;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** A file system that fails as a test orders, with a file of 16 MiB; {@code fault-fs.c} is its other end. */
final class FuseMount implements AutoCloseable {

    /** The length of the file. */
    static final int BYTES = 16 << 20;

    /** The program of libfuse 3. */
    static final String CURRENT = "fault-fs";

    /** The program of libfuse 2. */
    static final String OLD = "fault-fs-2";

    /** What a fault is about. */
    enum On {
        READ("r"),
        WRITE("w"),
        SYNC("s"),
        OPEN("o"),
        SIZE("g"),
        TRUNCATE("t"),
        CLOSE("c"),
        RENAME("n"),
        NAMES("d"),
        MODE("m"),
        OWNER("u"),
        ATTRIBUTE("x");

        private final String letter; // in orders

        On(String letter) {
            this.letter = letter;
        }
    }

    static final int EPERM = 1;
    static final int EINTR = 4;
    static final int EIO = 5;
    static final int EAGAIN = 11;
    static final int EOPNOTSUPP = 95;

    /** For a fault that does not pass. */
    static final int EVER = -1;

    private final Path folder;
    private final Process server;
    private final Writer orders;
    private final BufferedReader answers;
    private final Mounted mounted;

    private FuseMount(Path folder, String name, Map<String, String> variables) throws IOException {
        this.folder = folder;
        boolean old = name.equals(OLD);
        Path program = Tool.compiled(name, old ? "-lfuse" : "-lfuse3", "-lpthread");
        String options = old ? "direct_io,attr_timeout=0,entry_timeout=0" : "default_permissions";
        ProcessBuilder start = new ProcessBuilder(program.toString(), "-f", "-o", options, folder.toString())
                .redirectError(ProcessBuilder.Redirect.to(log(folder).toFile()));
        start.environment().putAll(variables);
        server = start.start();
        mounted = Mounted.adopt(folder);
        orders = server.outputWriter(StandardCharsets.US_ASCII);
        answers = new BufferedReader(new InputStreamReader(server.getInputStream(), StandardCharsets.US_ASCII));
    }

    /** Mounts one for a test, which is skipped where that is not possible; its file has the pattern of its name. */
    static FuseMount of(Bench bench) {
        return of(bench, Map.of());
    }

    /** As above; it agrees to no asynchronous direct I/O, as file systems of libfuse 2 do. */
    static FuseMount synchronous(Bench bench) {
        return of(bench, Map.of("SYNC_DIRECT", "1"));
    }

    /** As above; with variables of its program. */
    static FuseMount of(Bench bench, Map<String, String> variables) {
        return bench.keep(Tool.require(() -> {
            FuseMount mount = in(bench.path(""), CURRENT, variables);
            mount.fill();
            return mount;
        }));
    }

    /** Mounts one in a folder, by {@link #CURRENT} or {@link #OLD}, with a file of zeros. */
    static FuseMount in(Path parent, String program, Map<String, String> variables) throws IOException {
        FuseMount mount = new FuseMount(Files.createDirectory(parent.resolve("fuse")), program, variables);
        String said = mount.answers.readLine();
        if (!"mounted".equals(said)) {
            String why = Files.readString(log(mount.folder));
            mount.close();
            throw new IOException("no FUSE: " + said + " " + why.strip());
        }
        return mount;
    }

    private static Path log(Path folder) {
        return folder.resolveSibling("fault-fs.log");
    }

    private void fill() throws IOException {
        try (FileChannel channel = FileChannel.open(file(), StandardOpenOption.WRITE)) {
            ByteBuffer bytes = ByteBuffer.allocateDirect(1 << 20);
            for (long at = 0; at < BYTES; at += bytes.capacity()) {
                Pattern.of(file()).fill(bytes.clear(), at);
                channel.write(bytes.flip(), at);
            }
        }
    }

    /** Returns the file. */
    Path file() {
        return folder.resolve("data");
    }

    /** Lets requests that cover {@code offset} answer {@code errno}, so many times. */
    void fail(On what, long offset, int errno, int times) {
        order("fail " + what.letter + " " + offset + " " + errno + " " + times);
    }

    /** Lets requests that cover {@code offset} move at most so many bytes, so many times. */
    void cutShort(On what, long offset, long bytes, int times) {
        order("short " + what.letter + " " + offset + " " + bytes + " " + times);
    }

    /** Lets requests that cover {@code offset} wait for {@link #clear}. */
    void hold(On what, long offset) {
        order("hold " + what.letter + " " + offset);
    }

    /** Returns when {@code count} requests wait. */
    void awaitHeld(int count) {
        order("held " + count);
    }

    /** Lets reads take up to so many microseconds. */
    void slow(int micros) {
        order("slow " + micros);
    }

    /** Lets the file state a length of 0, whatever it has. */
    void stateNoLength() {
        order("unstated");
    }

    /** Ends all faults. */
    void clear() {
        order("clear");
    }

    private void order(String line) {
        try {
            orders.write(line + "\n");
            orders.flush();
            String answer = answers.readLine();
            if (!"ok".equals(answer)) {
                throw new AssertionError("\"" + line + "\" was answered by " + answer);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Kills the server, as a crash would. */
    void kill() {
        server.destroyForcibly();
        Tool.await(server);
    }

    @Override
    public void close() throws IOException {
        if (server.isAlive()) {
            orders.close(); // it ends, and unmounts
            try {
                server.waitFor(10, TimeUnit.SECONDS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            server.destroyForcibly();
        }
        mounted.close();
    }
}
