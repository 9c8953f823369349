// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.nvme.qemu;

import io.penstock.engine.kit.ffi.NativeAccess;
import io.penstock.tck.Require;
import java.io.Closeable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A running QEMU whose processor executes nothing, with an NVMe controller in slot 4. Its memory is a file that this
 * process maps too; its registers are accessed by a {@link QtestBus}.
 */
public final class Qemu implements Closeable {

    static final int SLOT = 4;
    static final long MEMORY_BYTES = 1L << 30;

    private static final String PROGRAM = "qemu-system-x86_64";
    private static final long PATIENCE_SECONDS = 20;

    private final Path folder;
    private final Process process;
    private final Qtest qtest;
    private final SocketChannel qmp;
    private final FileChannel memoryFile;
    private final ByteBuffer memory;

    /**
     * Starts QEMU, or skips the test where there is none.
     *
     * @param disk the value of {@code -drive} but for its identifier, such as {@code file=...,format=raw}
     * @param device further properties of the controller, such as {@code mdts=5}; may be empty
     */
    public static Qemu start(String disk, String device) {
        require();
        try {
            return new Qemu(disk, device);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Skips the test where there is no QEMU. */
    public static void require() {
        Require.backend("qemu", refusal());
    }

    /** Returns why QEMU cannot be started here, or null. */
    public static @Nullable String refusal() {
        if (NativeAccess.refusal() != null) {
            return NativeAccess.refusal().toString();
        }

        return Stream.of(System.getenv().getOrDefault("PATH", "").split(":"))
                        .anyMatch(folder -> Files.isExecutable(Path.of(folder, PROGRAM)))
                ? null
                : "there is no " + PROGRAM + " (Debian: qemu-system-x86)";
    }

    private Qemu(String disk, String device) throws IOException {
        folder = Files.createTempDirectory("penstock-qemu");
        Path shared = Path.of("/dev/shm");
        Path ram = (Files.isWritable(shared) ? shared : folder).resolve(folder.getFileName() + ".ram");
        try (ServerSocketChannel forQtest = listen("qtest");
                ServerSocketChannel forQmp = listen("qmp")) {
            process = new ProcessBuilder(withMonitor(ram, disk, device))
                    .redirectErrorStream(true)
                    .redirectOutput(folder.resolve("log").toFile())
                    .start();
            Runtime.getRuntime().addShutdownHook(new Thread(process::destroy));
            qtest = new Qtest(accept(forQtest));
            qmp = accept(forQmp);
            line(qmp); // the greeting
            monitor("{\"execute\": \"qmp_capabilities\"}");
            memoryFile = FileChannel.open(ram, StandardOpenOption.READ, StandardOpenOption.WRITE);
            memory = memoryFile.map(FileChannel.MapMode.READ_WRITE, 0, MEMORY_BYTES);
        } finally {
            Files.deleteIfExists(ram);
        }
    }

    /**
     * Returns the command that starts QEMU; its qtest connects to the socket {@code qtest} in {@code folder}.
     *
     * @param ram the file that is its memory, which it creates
     * @param disk as for {@link #start}
     * @param device as for {@link #start}
     */
    public static List<String> command(Path folder, Path ram, String disk, String device) throws IOException {
        byte[] halted = new byte[64 << 10]; // cli; hlt; jmp -3
        for (int i = 0; i < halted.length; i += 4) {
            halted[i] = (byte) 0xfa;
            halted[i + 1] = (byte) 0xf4;
            halted[i + 2] = (byte) 0xeb;
            halted[i + 3] = (byte) 0xfd;
        }
        Path bios = Files.write(folder.resolve("bios"), halted);
        List<String> command = new ArrayList<>(List.of("timeout", "-k", "1", "600", PROGRAM));
        command.addAll(List.of("-M", "q35,memory-backend=ram", "-accel", "tcg", "-bios", bios.toString()));
        command.addAll(List.of("-m", (MEMORY_BYTES >> 20) + "M", "-nodefaults", "-display", "none"));
        command.addAll(List.of(
                "-object",
                "memory-backend-file,id=ram,share=on,mem-path=" + ram + ",size=" + (MEMORY_BYTES >> 20) + "M"));
        command.addAll(List.of("-qtest", "unix:" + folder.resolve("qtest"), "-qtest-log", "/dev/null"));
        command.addAll(List.of("-drive", disk + ",if=none,id=disk"));
        command.addAll(List.of(
                "-device", "nvme,drive=disk,serial=PENSTOCK,addr=" + SLOT + (device.isEmpty() ? "" : "," + device)));
        return command;
    }

    private List<String> withMonitor(Path ram, String disk, String device) throws IOException {
        List<String> command = new ArrayList<>(command(folder, ram, disk, device));
        command.addAll(List.of("-qmp", "unix:" + folder.resolve("qmp")));
        return command;
    }

    private ServerSocketChannel listen(String name) throws IOException {
        ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
        return server.bind(UnixDomainSocketAddress.of(folder.resolve(name)));
    }

    private SocketChannel accept(ServerSocketChannel server) throws IOException {
        FutureTask<SocketChannel> accepted = new FutureTask<>(server::accept);
        Thread thread = new Thread(accepted, "accept");
        thread.setDaemon(true);
        thread.start();
        try {
            return accepted.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException | ExecutionException | TimeoutException e) {
            process.destroyForcibly();
            throw new IOException("QEMU did not start: " + Files.readString(folder.resolve("log")), e);
        }
    }

    /** Returns the memory that QEMU and this process share, from address 0 on. */
    ByteBuffer memory() {
        return memory;
    }

    /** Returns a path by which other processes open the memory, though its file has no name any more. */
    public Path memoryFile() throws IOException {
        Path descriptors = Path.of("/proc/" + ProcessHandle.current().pid() + "/fd");
        String name = folder.getFileName() + ".ram";
        try (Stream<Path> links = Files.list(descriptors)) {
            return links.filter(link -> leadsTo(link, name)).findFirst().orElseThrow();
        }
    }

    private static boolean leadsTo(Path link, String name) {
        try {
            return Files.readSymbolicLink(link).toString().contains(name);
        } catch (IOException e) {
            return false; // closed meanwhile
        }
    }

    Qtest qtest() {
        return qtest;
    }

    /** Executes a command of QEMU's monitor, in JSON, and returns its answer. */
    public synchronized String monitor(String command) {
        try {
            qmp.write(ByteBuffer.wrap((command + "\n").getBytes(java.nio.charset.StandardCharsets.UTF_8)));
            String answer = line(qmp);
            while (answer.contains("\"event\"")) {
                answer = line(qmp);
            }
            if (!answer.contains("\"return\"")) {
                throw new IllegalStateException(command + ": " + answer);
            }
            return answer;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Limits the disk to so many operations a second; 0 for no limit. */
    public void throttle(int operations) {
        monitor(
                "{\"execute\": \"block_set_io_throttle\", \"arguments\": {\"device\": \"disk\", \"bps\": 0, \"bps_rd\": 0,"
                        + " \"bps_wr\": 0, \"iops\": " + operations + ", \"iops_rd\": 0, \"iops_wr\": 0}}");
    }

    /** Ends QEMU at once, as a power cut does. */
    public void kill() {
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly();
        process.onExit().join();
    }

    static String line(SocketChannel channel) throws IOException {
        StringBuilder line = new StringBuilder();
        ByteBuffer one = ByteBuffer.allocate(1);
        while (true) {
            one.clear();
            if (channel.read(one) < 0) {
                throw new IOException("QEMU has closed its socket");
            }
            if (one.get(0) == '\n') {
                return line.toString();
            }
            line.append((char) one.get(0));
        }
    }

    @Override
    public void close() throws IOException {
        kill();
        qtest.close();
        qmp.close();
        memoryFile.close();
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path path : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(path);
            }
        }
    }
}
