// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import com.sun.management.OperatingSystemMXBean;
import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.Option;
import io.penstock.Options;
import io.penstock.benchmarks.ffi.GpuMemoryCheck;
import java.io.IOException;
import java.io.InputStream;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** The data that all cufile rows share: the files, the C peers and the check of GPU memory. */
final class GpuBench extends DeviceBench {

    private static final List<String> LIBRARIES =
            List.of("penstock.cufile.libcuda", "penstock.cufile.libcufile", "penstock.cufile.device");
    private static final List<String> PYTHON = List.of("python3", "tools/benchmarks/src/main/python/torch_peers.py");

    private final PeerProcess peers;
    private final PeerProcess python = new PeerProcess(PYTHON, Map.of());
    private final Path unread; // appears changed before each read
    private final Path written;
    private final int devices;

    private GpuBench(Settings settings, CSources sources) throws IOException {
        super(settings, CudaDevice.FIRST, settings.directory().resolve("hot-gpu"));
        peers = new PeerProcess(List.of(sources.peers().toString()), libraries());
        unread = TestFile.prepare(settings.directory().resolve("hot-gpu-unread"), bytes());
        written = settings.directory().resolve("written-gpu");
        // Puts both sides in the same context; a backend has loaded the driver that the options name.
        try (Backend backend = device.open(Options.none())) {
            GpuMemoryCheck.open(sources.attendant());
            devices = GpuMemoryCheck.devices();
        }
        if (devices < 2) {
            System.out.println("one GPU: the rows of several are left out");
        }
    }

    /** Compiles the peers and creates the files. */
    static GpuBench of(Settings settings) throws IOException, InterruptedException {
        leaveRoomForMappings(settings.sizes().hotBytes());
        return new GpuBench(settings, CSources.compile(settings.directory().resolve("c")));
    }

    /** Two mapped files must fit; the setting is per process, so it applies to all rows. */
    private static void leaveRoomForMappings(long fileBytes) {
        String option = "penstock.cufile.mapped-bytes";
        long memory =
                ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class).getTotalMemorySize();
        if (memory / 4 < 2 * fileBytes && System.getProperty(option) == null) {
            System.setProperty(option, Long.toString(2 * fileBytes));
            System.out.println("in " + (memory >> 20) + " MiB of memory two files would not stay mapped: " + option
                    + " is " + 2 * fileBytes + " in all rows");
        }
    }

    /** Returns the environment that passes the options to the peers. */
    static Map<String, String> libraries() {
        Options options = Options.none().resolve(Backends.options());
        Map<String, String> environment = new HashMap<>();
        for (Option<?> option : Backends.options()) {
            String value = String.valueOf(options.get(option));
            if (LIBRARIES.contains(option.name()) && !value.isEmpty()) {
                environment.put(option.variable(), value);
            }
        }
        return environment;
    }

    @Override
    public Map<String, String> values() {
        Map<String, Object> values = Map.of(
                "hot", hot,
                "unread", unread,
                "written", written,
                "bytes", bytes(),
                "some", Math.min(bytes(), 1L << 30), // queueing all at once would take long
                "disk", settings.sizes().diskBytes(),
                "blocks", settings.sizes().blocks(),
                "small", smallReads(),
                "devices", devices);
        Map<String, String> texts = new HashMap<>();
        values.forEach((name, value) -> texts.put(name, value.toString()));
        return texts;
    }

    @Override
    public boolean holds(String condition) {
        return switch (condition) {
            case "several" -> devices > 1;
            case "tmpfs" -> Files.isDirectory(settings.directory().resolve("tmpfs"));
            default -> bytes() >= Order.of("file " + condition).number("at-least");
        };
    }

    /** Returns the process of the C peers. */
    PeerProcess peers() {
        return peers;
    }

    @Override
    public Contender open(Order order) throws Exception {
        return switch (order.verb()) {
            case "read", "small" -> super.open(order);
            case "write" ->
                new GpuTransfer.Write(options(order), written, settings.sizes().diskBytes());
            case "gather" -> new GpuTransfer.Gather(options(order), hot, settings.sizes(), order.opened());
            case "start" -> start(order);
            case "several" -> new SeveralGpus(order, options(order), files(order), bytes());
            case "load" -> new ModelLoad(model(order), order);
            case "python" -> python(order);
            default -> peer(order);
        };
    }

    private PeerContender python(Order order) throws IOException {
        Path file = order.has("numpy")
                ? ArraysFile.numpy(settings.directory(), bytes())
                : model(order).path();
        return new PeerContender(python, (order.has("numpy") ? "numpy " : "load_file ") + file.toAbsolutePath(), "");
    }

    private ArraysFile model(Order order) throws IOException {
        return ArraysFile.of(
                order.has("tmpfs") ? settings.directory().resolve("tmpfs") : settings.directory(),
                order.get("arrays"),
                bytes());
    }

    private List<Path> files(Order order) {
        List<Path> files = new ArrayList<>();
        for (int number = 0; number < order.count("devices"); number++) {
            files.add(order.has("different") && number % 2 == 1 ? unread : hot);
        }
        return files;
    }

    /** Returns a C peer, which reads or writes by an order of {@code peers.c}. */
    private PeerContender peer(Order order) {
        String check = switch (order.verb()) {
            case "disk" -> order.has("write") ? "disk" : "";
            case "calls", "batch", "streams", "loop" -> order.has("write") ? "disk" : "same";
            case "gather-calls", "gather-batch" -> "gather";
            default -> "";
        };
        return new PeerContender(peers, order.text(), check, true);
    }

    private Contender start(Order order) throws IOException, InterruptedException {
        boolean arrays = order.has("arrays") && !order.has("bytes");
        String file = (arrays ? model(order).path() : hot).toString();
        String bytes = arrays ? FirstByte.ARRAYS : order.get("bytes", "4096");
        if (order.has("python")) {
            List<String> command = new ArrayList<>(PYTHON);
            command.addAll(List.of("load_file", file));
            return StartContender.program(command, Map.of(), order);
        }
        if (order.has("c")) {
            return peers.starting(order, "first", order.get("c"), file, bytes);
        }
        List<String> arguments = new ArrayList<>(List.of(file, bytes, order.get("files", "1")));
        if (order.has("files")) {
            arguments.set(
                    0,
                    ArraysFile.shards(settings.directory(), Integer.parseInt(order.get("files")), bytes())
                            .toString());
        }
        if (order.has("direct")) {
            arguments.add("direct");
        }
        return StartContender.jvm(arguments, settings.directory(), order);
    }

    @Override
    public void close() {
        peers.close();
        super.close();
    }

    /** The C peers, distributed as source and compiled by {@code cc} where they run. */
    private static final class CSources {

        private static final List<String> SHARED = List.of("gpu.c", "check.c", "gate.c");
        private static final List<String> PEERS = List.of("peers.c", "gang.c", "own.c", "cufile.c", "small.c");
        private static final List<String> HEADERS = List.of("gpu.h", "peers.h");

        private final Path directory;

        private CSources(Path directory) {
            this.directory = directory;
        }

        /** Copies the sources from the class path and compiles them. */
        static CSources compile(Path directory) throws IOException, InterruptedException {
            Files.createDirectories(directory);
            for (String name : Stream.of(SHARED, PEERS, HEADERS, List.of("attend.c"))
                    .flatMap(List::stream)
                    .toList()) {
                try (InputStream source = CSources.class.getResourceAsStream("/c/" + name)) {
                    if (source == null) {
                        throw new IOException("no c/" + name + " on the class path");
                    }
                    Files.copy(source, directory.resolve(name), StandardCopyOption.REPLACE_EXISTING);
                }
            }
            CSources sources = new CSources(directory);
            sources.cc(sources.peers(), PEERS, List.of("-pthread"));
            sources.cc(sources.attendant(), List.of("attend.c"), List.of("-shared", "-fPIC"));
            return sources;
        }

        private void cc(Path output, List<String> sources, List<String> flags)
                throws IOException, InterruptedException {
            List<String> command =
                    new ArrayList<>(List.of("cc", "-std=gnu11", "-O2", "-Wall", "-o", output.toString()));
            command.addAll(flags);
            command.addAll(sources);
            command.addAll(SHARED);
            command.add("-ldl");
            Process cc = new ProcessBuilder(command)
                    .directory(directory.toFile())
                    .redirectErrorStream(true)
                    .start();
            String log = new String(cc.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            if (cc.waitFor() != 0) {
                throw new IOException("cc failed: " + log);
            }
        }

        /** Returns the program of the peers. */
        Path peers() {
            return directory.resolve("peers").toAbsolutePath();
        }

        /** Returns the library that checks GPU memory. */
        Path attendant() {
            return directory.resolve("libattend.so").toAbsolutePath();
        }
    }
}
