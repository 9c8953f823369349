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
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/** A file system of one file of 16 MiB that fails as a test orders; {@code fault-fs.c} is its other end. */
final class FuseMount implements AutoCloseable {

    /** The length of the file. */
    static final int BYTES = 16 << 20;

    /** What a fault is about. */
    enum On {
        READ,
        WRITE,
        SYNC;

        private String letter() {
            return name().substring(0, 1).toLowerCase(Locale.ROOT);
        }
    }

    static final int EINTR = 4;
    static final int EIO = 5;
    static final int EAGAIN = 11;

    /** For a fault that does not pass. */
    static final int EVER = -1;

    private final Path folder;
    private final Process server;
    private final Writer orders;
    private final BufferedReader answers;
    private final Mounted mounted;

    private FuseMount(Path folder) throws IOException {
        this.folder = folder;
        Path program = Tool.compiled("fault-fs", "-lfuse3", "-lpthread");
        server = new ProcessBuilder(program.toString(), "-f", folder.toString())
                .redirectError(ProcessBuilder.Redirect.to(log(folder).toFile()))
                .start();
        mounted = Mounted.adopt(folder);
        orders = server.outputWriter(StandardCharsets.US_ASCII);
        answers = new BufferedReader(new InputStreamReader(server.getInputStream(), StandardCharsets.US_ASCII));
    }

    /** Mounts one for a test, which is skipped where that is not possible; its file has the pattern of its name. */
    static FuseMount of(Bench bench) {
        return bench.keep(Tool.require(() -> {
            FuseMount mount = new FuseMount(Files.createDirectory(bench.path("fuse")));
            String said = mount.answers.readLine();
            if (!"mounted".equals(said)) {
                String why = Files.readString(log(mount.folder));
                throw new IOException("no FUSE: " + said + " " + why.strip());
            }
            mount.fill();
            return mount;
        }));
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
        order("fail " + what.letter() + " " + offset + " " + errno + " " + times);
    }

    /** Lets requests that cover {@code offset} move at most so many bytes, so many times. */
    void cutShort(On what, long offset, long bytes, int times) {
        order("short " + what.letter() + " " + offset + " " + bytes + " " + times);
    }

    /** Lets requests that cover {@code offset} wait for {@link #clear}. */
    void hold(On what, long offset) {
        order("hold " + what.letter() + " " + offset);
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
