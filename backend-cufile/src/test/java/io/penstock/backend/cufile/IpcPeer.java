// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.DeviceBuffer;
import io.penstock.PeerExport;
import io.penstock.engine.testing.FakeControl;
import java.io.BufferedReader;
import java.io.FileInputStream;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.zip.CRC32;

/** A second process with a backend: it exports and opens buffers, a command at a time. */
final class IpcPeer implements AutoCloseable {

    private final Process process;
    private final BufferedReader answers;
    private final PrintStream commands;

    /** Starts a JVM with options of the backend as environment variables. */
    IpcPeer(Map<String, String> environment) throws IOException {
        this(IpcPeer.class, environment, "", ProcessBuilder.Redirect.INHERIT);
    }

    /** Starts a JVM with another program, which takes commands and answers them, too. */
    static IpcPeer of(Class<?> program, Map<String, String> environment) throws IOException {
        return new IpcPeer(program, environment, "", ProcessBuilder.Redirect.INHERIT);
    }

    /** Starts a JVM that has at most so many descriptors, and logs into a file. */
    static IpcPeer limited(Map<String, String> environment, int descriptors, Path log) throws IOException {
        return new IpcPeer(
                IpcPeer.class,
                environment,
                "ulimit -n " + descriptors + " && ",
                ProcessBuilder.Redirect.to(log.toFile()));
    }

    private IpcPeer(Class<?> program, Map<String, String> environment, String shell, ProcessBuilder.Redirect log)
            throws IOException {
        ProcessBuilder builder = new ProcessBuilder(
                        "sh",
                        "-c",
                        shell + "exec \"$0\" \"$@\"",
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx256m",
                        "-XX:TieredStopAtLevel=1",
                        "-Djava.io.tmpdir=" + System.getProperty("java.io.tmpdir"),
                        "-cp",
                        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
                        program.getName())
                .redirectError(log);
        builder.environment().putAll(environment);
        process = builder.start();
        answers = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
        commands = new PrintStream(process.getOutputStream(), true, StandardCharsets.UTF_8);
    }

    boolean isAlive() {
        return process.isAlive();
    }

    /** Gives a command, and returns the answer. */
    String ask(String command) {
        tell(command);
        return answer();
    }

    /** Gives a command. */
    void tell(String command) {
        commands.println(command);
    }

    /** Returns the next answer. */
    String answer() {
        try {
            return Objects.requireNonNull(answers.readLine(), "the other process has ended");
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Ends it as kill -9 does, after some time. */
    void killAfter(long millis) {
        try {
            process.waitFor(millis, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        kill();
    }

    /** Ends it as kill -9 does, and waits for that. */
    void kill() {
        try {
            process.destroyForcibly().waitFor(20, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void close() {
        kill();
    }

    // In the other process.

    private static final List<DeviceBuffer> BUFFERS = new ArrayList<>();
    private static final List<PeerExport> EXPORTS = new ArrayList<>();
    private static final List<InputStream> DESCRIPTORS = new ArrayList<>();

    /** Runs in the other process. */
    public static void main(String[] arguments) throws IOException {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        try (Backend backend = Backends.open("cufile")) {
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                String[] command = line.split(" ");
                String answer;
                try {
                    answer = carryOut(backend, command);
                } catch (IOException | RuntimeException e) {
                    answer = e.getClass().getSimpleName() + ": " + e.getMessage();
                }
                System.out.println(answer);
            }
        }
    }

    private static String carryOut(Backend backend, String[] command) throws IOException {
        switch (command[0]) {
            case "export" -> {
                return export(backend, random(command));
            }
            case "open" -> {
                BUFFERS.add(GpuFixture.get(backend.openBuffer(URI.create(command[1]))));
                return "" + BUFFERS.get(BUFFERS.size() - 1).length();
            }
            case "revoked" -> {
                buffer(command).revoked().block(GpuFixture.LONG);
                return "revoked";
            }
            case "close" -> {
                buffer(command).close();
                return "closed";
            }
            case "revoke" -> {
                EXPORTS.get(Integer.parseInt(command[1])).close();
                return "closed";
            }
            case "released" -> {
                return "" + released(EXPORTS.get(Integer.parseInt(command[1])));
            }
            case "reset" -> {
                BUFFERS.forEach(DeviceBuffer::close);
                EXPORTS.forEach(PeerExport::close);
                BUFFERS.clear();
                EXPORTS.clear();
                return "reset";
            }
            case "exhaust" -> {
                return exhaust();
            }
            case "restore" -> {
                for (InputStream each : DESCRIPTORS) {
                    each.close();
                }
                return "restored";
            }
            default -> {
                return look(backend, command);
            }
        }
    }

    /** Opens files until there is no descriptor left. */
    private static String exhaust() {
        try {
            while (true) {
                DESCRIPTORS.add(new FileInputStream("/dev/null"));
            }
        } catch (FileNotFoundException e) {
            return e.getMessage();
        }
    }

    private static String look(Backend backend, String[] command) {
        return switch (command[0]) {
            case "sum" -> "" + sum(GpuFixture.content(buffer(command)));
            case "left" -> "" + backend.counters().buffers();
            case "complaint" -> new FakeControl(Path.of(command[1])).complaint().orElse("none");
            default -> throw new IllegalArgumentException("no such command: " + command[0]);
        };
    }

    private static DeviceBuffer buffer(String[] command) {
        return BUFFERS.get(Integer.parseInt(command[1]));
    }

    private static byte[] random(String[] command) {
        return GpuFixture.random(Integer.parseInt(command[1]), Long.parseLong(command[2]));
    }

    private static String export(Backend backend, byte[] content) {
        DeviceBuffer made = GpuFixture.get(backend.allocate(content.length));
        GpuFixture.get(made.upload(0, ByteBuffer.wrap(content)));
        PeerExport export = made.exportPeer();
        BUFFERS.add(made);
        EXPORTS.add(export);
        return export.uri().toString();
    }

    private static boolean released(PeerExport export) {
        AtomicBoolean released = new AtomicBoolean();
        export.released().subscribe(nothing -> {}, e -> {}, () -> released.set(true));
        return released.get();
    }

    /** Returns a checksum of bytes. */
    static long sum(byte[] content) {
        CRC32 crc = new CRC32();
        crc.update(content);
        return crc.getValue();
    }
}
