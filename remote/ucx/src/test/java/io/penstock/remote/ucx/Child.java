// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.ucx;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.DeviceBuffer;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.engine.kit.file.HostFailure;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import java.util.zip.CRC32;
import org.jspecify.annotations.Nullable;
import reactor.core.Exceptions;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** A second process: it exports, or reads what this one exports. */
final class Child implements AutoCloseable {

    private final Process process;
    private final BufferedReader answers;
    private final PrintStream commands;
    private @Nullable URI memory;
    private @Nullable URI file;

    /** Starts a JVM. */
    Child(List<String> launcher, Map<String, String> environment, String... arguments) throws IOException {
        List<String> command = new ArrayList<>(launcher);
        command.addAll(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx256m",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
                Child.class.getName()));
        command.addAll(List.of(arguments));
        ProcessBuilder builder = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT);
        builder.environment().putAll(environment);
        process = builder.start();
        answers = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
        commands = new PrintStream(process.getOutputStream(), true, StandardCharsets.UTF_8);
    }

    /** Starts an exporter of a buffer and of a file of so many zeros. */
    static Child exporter(String transports, int bytes, Path folder) throws IOException {
        return exporter(List.of(), "127.0.0.1", transports, bytes, folder);
    }

    /** Starts an exporter by a command that ends in the command of the JVM. */
    static Child exporter(List<String> launcher, String address, String transports, int bytes, Path folder)
            throws IOException {
        return exporter(
                new Child(launcher, Map.of("UCX_TLS", transports), "export", "" + bytes, folder.toString(), address));
    }

    /** Starts an exporter with other variables of UCX. */
    static Child exporter(Map<String, String> environment, int bytes, Path folder) throws IOException {
        return exporter(new Child(List.of(), environment, "export", "" + bytes, folder.toString(), "127.0.0.1"));
    }

    /** Starts an exporter of a buffer of a device, which UCX accesses itself. */
    static Child exporterOf(String backend, String transports, int bytes, Path folder) throws IOException {
        Map<String, String> environment = Map.of("UCX_TLS", transports, "PENSTOCK_UCX_GPU_DIRECT", "true");
        return exporter(
                new Child(List.of(), environment, "export", "" + bytes, folder.toString(), "127.0.0.1", backend));
    }

    private static Child exporter(Child child) throws IOException {
        child.memory = URI.create(child.line());
        child.file = URI.create(child.line());
        return child;
    }

    /** Returns its next line. */
    String line() throws IOException {
        String line = answers.readLine();
        if (line == null) {
            throw new IOException("the child has ended: " + (process.isAlive() ? "alive" : process.exitValue()));
        }
        return line;
    }

    /** Returns the URI of the buffer of an exporter. */
    URI memory() {
        return Objects.requireNonNull(memory);
    }

    /** Returns the URI of the file of an exporter. */
    URI file() {
        return Objects.requireNonNull(file);
    }

    /** Gives a command, and returns the answer. */
    String ask(String command) throws IOException {
        commands.println(command);
        return line();
    }

    /** Sends a signal, by its name; after STOP all its threads have stopped. */
    void signal(String name) throws IOException, InterruptedException {
        new ProcessBuilder("kill", "-" + name, "" + process.pid()).start().waitFor();
        while (name.equals("STOP") && !isStopped()) {
            Thread.onSpinWait();
        }
    }

    /** The kernel stops each thread when it next runs, after the signal was sent. */
    private boolean isStopped() throws IOException {
        try (Stream<Path> threads = Files.list(Path.of("/proc/" + process.pid() + "/task"))) {
            for (Path thread : threads.toList()) {
                String state = Files.readString(thread.resolve("stat"));
                if (state.charAt(state.lastIndexOf(')') + 2) != 'T') {
                    return false;
                }
            }
        }
        return true;
    }

    /** Waits for its end, and returns its status. */
    int end() throws InterruptedException {
        if (!process.waitFor(30, TimeUnit.SECONDS)) {
            throw new IllegalStateException("the child must end, is alive");
        }
        return process.exitValue();
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }

    // In the child.

    /** Runs in the child. */
    public static void main(String[] arguments) throws Exception {
        if (arguments[0].equals("addresses")) {
            System.out.println(Mutations.run(Integer.parseInt(arguments[1]), Long.parseLong(arguments[2])));
            return;
        }
        try (Backend backend = Backends.open("host")) {
            if (arguments[0].equals("export")) {
                try (Backend device = Backends.open(arguments.length > 4 ? arguments[4] : "host")) {
                    export(backend, device, Integer.parseInt(arguments[1]), Path.of(arguments[2]), arguments[3]);
                }
            } else if (arguments[0].equals("few")) {
                openWithFewDescriptors(
                        backend.openFile(URI.create(arguments[1])).doOnNext(StorageFile::close));
            } else {
                readForEver(backend, URI.create(arguments[1]), arguments[0].equals("write"));
            }
        }
    }

    private static void export(Backend backend, Backend device, int bytes, Path folder, String host)
            throws IOException {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        Path path = folder.resolve("exported-" + ProcessHandle.current().pid());
        try (UcxListener listener = UcxListener.open(
                        backend, new InetSocketAddress(InetAddress.getByName(host), 0), Options.none());
                DeviceBuffer zeros =
                        Objects.requireNonNull(backend.allocate(bytes).block());
                DeviceBuffer buffer =
                        Objects.requireNonNull(device.allocate(bytes).block());
                StorageFile file = Objects.requireNonNull(
                        backend.openFile(path, FileOption.READ, FileOption.WRITE, FileOption.CREATE)
                                .block())) {
            ByteBuffer content = ByteBuffer.allocateDirect(bytes);
            zeros.upload(0, content).block();
            buffer.upload(0, content).block();
            backend.submit(Transfer.write(zeros.all(), file.region(0, bytes))).block();
            UcxExport memory = listener.export(buffer, FileOption.READ, FileOption.WRITE);
            System.out.println(memory.uri());
            System.out.println(listener.export(file).uri());
            for (String command = in.readLine(); command != null; command = in.readLine()) {
                if (command.equals("revoke")) {
                    memory.close();
                }
                buffer.download(0, content).block();
                CRC32 crc = new CRC32();
                crc.update(content.duplicate());
                System.out.println(
                        crc.getValue() + " " + backend.counters().pins() + (memory.isStaged() ? " staged" : ""));
            }
        }
    }

    /** Opens a file once, then with no descriptor left, and with one more each time, until that succeeds. */
    private static void openWithFewDescriptors(Mono<StorageFile> opening) throws IOException {
        opening.block();
        Backends.open("host").close(); // a class that is loaded later would need a file
        HostFailure.ofLimit("nothing", new IOException("unknown", new IOException("Too many open files")));
        Deque<FileChannel> all = new ArrayDeque<>();
        try {
            while (true) {
                all.push(FileChannel.open(Path.of("/dev/null")));
            }
        } catch (IOException full) {
            System.out.println("full");
        }
        for (String refusal = "full"; !refusal.isEmpty(); all.pop().close()) {
            try {
                opening.block();
                refusal = "";
            } catch (RuntimeException e) {
                refusal = Exceptions.unwrap(e).toString();
            }
            System.out.println(refusal);
        }
        opening.block();
        System.out.println("open");
    }

    /** Reads or writes until it is killed or that fails. */
    private static void readForEver(Backend backend, URI uri, boolean writes) {
        FileOption access = writes ? FileOption.WRITE : FileOption.READ;
        StorageFile file = Objects.requireNonNull(backend.openFile(uri, access).block());
        DeviceBuffer buffer =
                Objects.requireNonNull(backend.allocate(file.size()).block());
        buffer.hostView().orElseThrow().write(0, ByteBuffer.allocate((int) file.size()));
        System.out.println("open");
        Transfer transfer = writes ? Transfer.write(buffer.all(), file.all()) : Transfer.read(file.all(), buffer.all());
        try {
            Flux.range(0, Integer.MAX_VALUE)
                    .concatMap(i -> backend.submit(transfer))
                    .index()
                    .filter(pair -> pair.getT1() == 0)
                    .doOnNext(pair -> System.out.println("transferring"))
                    .blockLast();
        } catch (RuntimeException e) {
            System.out.println(e.getClass().getSimpleName() + ": " + e.getMessage());
        }
    }
}
