// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import io.penstock.Backend;
import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.benchmarks.Comparison.Kind;
import io.penstock.benchmarks.ffi.GpuMemoryCheck;
import io.penstock.formats.Loader;
import io.penstock.formats.SharedLoad;
import io.penstock.formats.Slice;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Files of arrays into memory of GPUs, by {@link Loader}; against what Python programs use. */
final class ModelRows {

    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final long ROW = 8192; // bytes of 4096 numbers of BF16
    private static final int LAYERS = 20;
    private static final long MIB = 1 << 20;
    private static final String OURS = "Penstock Loader";
    private static final String SAME = "Penstock, as many bytes in one transfer";
    private static final String NEW = "Penstock, as many bytes in one transfer into a new buffer";
    private static final String TORCH = "safetensors.torch.load_file";
    private static final List<String> PYTHON = List.of("python3", "benchmarks/src/main/python/torch_peers.py");

    /** The shares of a layer of a model of eight billion parameters, in percent of its rows. */
    private static final Map<String, Integer> SHARES = Map.of(
            "self_attn.q_proj", 8,
            "self_attn.k_proj", 2,
            "self_attn.v_proj", 2,
            "self_attn.o_proj", 8,
            "mlp.gate_proj", 26,
            "mlp.up_proj", 26,
            "mlp.down_proj", 26);

    private ModelRows() {}

    /** A file of arrays, whose content is that of the test file. */
    private record ArraysFile(Path path, Map<String, Long> places, long bytes) {

        static ArraysFile prepare(Path path, Map<String, Long> arrays, long bytes) throws IOException {
            TestFile.prepare(path, safetensorsHeader(arrays), bytes);
            Map<String, Long> places = new LinkedHashMap<>();
            long at = 0;
            for (Map.Entry<String, Long> array : arrays.entrySet()) {
                places.put(array.getKey(), at);
                at += array.getValue();
            }
            return new ArraysFile(path, places, bytes);
        }
    }

    /** Returns the rows: only if {@code --rows} names them, since they need torch. */
    static List<Row> rows(GpuBench bench) {
        List<Row> rows = new ArrayList<>();
        rows.add(new OfPython("arrays of a model", (row, python) -> hot(bench, row, python)));
        rows.add(new OfPython("arrays of a model, O_DIRECT", (row, python) -> direct(bench, row, python)));
        rows.add(new OfPython("arrays of a model, process start to last byte", (row, python) -> start(bench, row)));
        rows.add(new OfPython("arrays of 4 KiB", (row, python) -> small(bench, row, python)));
        if (SeveralGpus.devices() > 1) {
            rows.add(new OfPython("arrays of a model to several GPUs", (row, python) -> several(bench, row, python)));
        }
        return rows;
    }

    /** A row whose files and whose Python process exist while it runs. */
    private record OfPython(String name, Maker maker) implements Row {

        interface Maker {
            Row make(String name, PeerProcess python) throws IOException;
        }

        @Override
        public boolean isOnlyByName() {
            return true;
        }

        @Override
        public Report run(Settings settings, boolean busy) throws Exception {
            try (PeerProcess python = new PeerProcess(PYTHON, Map.of())) {
                return maker.make(name, python).run(settings, busy);
            }
        }
    }

    private static ArraysFile model(GpuBench bench) throws IOException {
        long bytes = bench.sizes().hotBytes();
        return ArraysFile.prepare(bench.directory().resolve("model.safetensors"), layers(bytes), bytes);
    }

    private static Row hot(GpuBench bench, String row, PeerProcess python) throws IOException {
        ArraysFile model = model(bench);
        Path numpy = TestFile.prepare(bench.directory().resolve("model.npy"), npyHeader(model.bytes), model.bytes);
        List<Rounds.Factory> contenders = contenders(bench, model, python);
        contenders.add(peer(python, "numpy.load and a copy", "numpy", numpy));
        return row(row, contenders, 0.95);
    }

    private static Row small(GpuBench bench, String row, PeerProcess python) throws IOException {
        long bytes = 40 * MIB;
        Map<String, Long> arrays = new LinkedHashMap<>();
        for (long at = 0; at < bytes; at += 4096) {
            arrays.put("array." + at / 4096, 4096L);
        }
        Path path = bench.directory().resolve("small.safetensors");
        return row(row, contenders(bench, ArraysFile.prepare(path, arrays, bytes), python), 0.5);
    }

    private static List<Rounds.Factory> contenders(GpuBench bench, ArraysFile file, PeerProcess python) {
        List<Rounds.Factory> contenders = new ArrayList<>();
        contenders.add(() -> new ModelLoad(OURS, ModelLoad.Plan.of(file.path, file.places)));
        contenders.add(transfer(SAME, bench, file.bytes, FileOption.READ));
        contenders.add(() -> new NewBuffers(NEW, bench.hot(), file.bytes, 1));
        contenders.add(peer(python, TORCH, "load_file", file.path));
        return contenders;
    }

    private static Row row(String name, List<Rounds.Factory> contenders, double share) {
        return new Rounds(
                name,
                Unit.BYTES,
                contenders,
                List.of(
                        speed(name + " / as many bytes in one transfer", OURS, SAME, share),
                        speed(name + " / the same into a new buffer", OURS, NEW, share),
                        speed(name + " / load_file", OURS, TORCH, 8)));
    }

    /** From the disk. Python's loader has no such mode: it reads the same file, from the page cache. */
    private static Row direct(GpuBench bench, String row, PeerProcess python) throws IOException {
        ArraysFile model = model(bench);
        String ours = OURS + ", O_DIRECT";
        String same = SAME + ", O_DIRECT";
        ModelLoad.Settings settings = (loader, device) -> loader.fileOptions(FileOption.READ, FileOption.DIRECT);
        return new Rounds(
                row,
                Unit.BYTES,
                List.of(
                        () -> new ModelLoad(
                                ours, new ModelLoad.Plan(model.path, model.places, 1, false, () -> settings)),
                        transfer(same, bench, model.bytes, FileOption.READ, FileOption.DIRECT),
                        peer(python, TORCH, "load_file", model.path)),
                List.of(speed(row + " / as many bytes in one transfer", ours, same, 0.95)));
    }

    /** As a user sees it: the loads of a process that does nothing else. */
    private static Row start(GpuBench bench, String row) throws IOException {
        ArraysFile model = model(bench);
        String jvm = "JVM with an archive of classes, Loader";
        List<String> python = new ArrayList<>(PYTHON);
        python.addAll(List.of("load_file", model.path.toString()));
        return new Rounds(
                row,
                Unit.MILLISECONDS,
                List.of(
                        () -> StartContender.arrays("JVM, Loader", bench, model.path, false),
                        () -> StartContender.arrays(jvm, bench, model.path, true),
                        () -> StartContender.other("Python, " + TORCH, python),
                        () -> StartContender.wholeC("C, ring of 12 threads, as many bytes", bench)),
                List.of(new Comparison(
                        row + " / load_file", Mode.DEFAULT.toString(), jvm, "Python, " + TORCH, Kind.TIME, 0.3)));
    }

    private static Row several(GpuBench bench, String row, PeerProcess python) throws IOException {
        int devices = SeveralGpus.devices();
        ArraysFile model = model(bench);
        String rows = OURS + ", rows of each array to each GPU";
        String all = OURS + ", all arrays to each GPU, read once";
        String each = "Penstock, as many bytes in transfers to each GPU";
        String parts = "Penstock, as many bytes in a transfer to each GPU, into new buffers";
        ModelLoad.Settings sliced = (loader, device) -> loader.slice(Slice.rows(device, devices));
        return new Rounds(
                row,
                Unit.BYTES,
                List.of(
                        () -> new ModelLoad(OURS, ModelLoad.Plan.of(model.path, model.places)),
                        () -> new ModelLoad(
                                rows, new ModelLoad.Plan(model.path, model.places, devices, true, () -> sliced)),
                        () -> new ModelLoad(all, new ModelLoad.Plan(model.path, model.places, devices, false, () -> {
                            SharedLoad shared = new SharedLoad();
                            return (loader, device) -> loader.shared(shared);
                        })),
                        SeveralGpus.each(each, bench, devices),
                        () -> new NewBuffers(parts, bench.hot(), model.bytes, devices),
                        peer(python, TORCH, "load_file", model.path)),
                List.of(
                        speed(row + ": rows of each / as many bytes in transfers", rows, each, 0.95),
                        speed(row + ": rows of each / the same into new buffers", rows, parts, 0.95),
                        speed(row + ": rows of each / load_file to one", rows, TORCH, 8),
                        speed(row + ": all to each, read once / one GPU", all, OURS, 0.95 * devices)));
    }

    private static Rounds.Factory transfer(String name, GpuBench bench, long bytes, FileOption... opened) {
        return () ->
                new GpuRead(name, new GpuRead.Plan(bench.hot(), bytes, bytes, Options.none(), Set.of(opened), false));
    }

    private static Rounds.Factory peer(PeerProcess python, String name, String variant, Path file) {
        return () -> new PeerContender(name, python, variant + " " + file.toAbsolutePath(), "");
    }

    private static Comparison speed(String row, String ours, String peer, double goal) {
        return new Comparison(row, Mode.DEFAULT.toString(), ours, peer, Kind.SPEED, goal);
    }

    /** Returns names and bytes of the arrays of layers that are {@code bytes} long in all. */
    private static Map<String, Long> layers(long bytes) {
        Map<String, Long> arrays = new LinkedHashMap<>();
        long rows = bytes / ROW / LAYERS;
        long left = bytes;
        for (int layer = 0; layer < LAYERS; layer++) {
            String name = "model.layers." + layer + ".";
            left -= put(arrays, name + "input_layernorm.weight", ROW);
            left -= put(arrays, name + "post_attention_layernorm.weight", ROW);
            for (String part : SHARES.keySet().stream().sorted().toList()) {
                left -= put(arrays, name + part + ".weight", Math.max(1, rows * SHARES.get(part) / 100) * ROW);
            }
        }
        put(arrays, "lm_head.weight", left);
        return arrays;
    }

    private static long put(Map<String, Long> arrays, String name, long bytes) {
        arrays.put(name, bytes);
        return bytes;
    }

    private static byte[] safetensorsHeader(Map<String, Long> arrays) {
        StringBuilder json = new StringBuilder("{");
        long at = 0;
        for (Map.Entry<String, Long> array : arrays.entrySet()) {
            json.append(at == 0 ? "" : ",")
                    .append(String.format(
                            Locale.ROOT,
                            "\"%s\":{\"dtype\":\"BF16\",\"shape\":[%d],\"data_offsets\":[%d,%d]}",
                            array.getKey(),
                            array.getValue() / 2,
                            at,
                            at + array.getValue()));
            at += array.getValue();
        }
        json.append("}");
        json.append(" ".repeat(-json.length() & 7));
        byte[] text = json.toString().getBytes(StandardCharsets.US_ASCII);
        return ByteBuffer.allocate(Long.BYTES + text.length)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putLong(text.length)
                .put(text)
                .array();
    }

    /** Returns the header of a NumPy file of version 1 (numpy.lib.format): 128 bytes, for an array of bytes. */
    private static byte[] npyHeader(long bytes) {
        String text = String.format(
                Locale.ROOT, "%-117s%n", "{'descr': '|u1', 'fortran_order': False, 'shape': (" + bytes + ",), }");
        return ByteBuffer.allocate(10 + text.length())
                .order(ByteOrder.LITTLE_ENDIAN)
                .put(new byte[] {(byte) 0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0})
                .putShort((short) text.length())
                .put(text.getBytes(StandardCharsets.US_ASCII))
                .array();
    }

    /** The bytes of the test file by a transfer to each GPU, of its part, memory for them included, which a load needs too. */
    private static final class NewBuffers implements Contender {

        private final String name;
        private final long bytes; // to each GPU
        private final List<Backend> backends = new ArrayList<>();
        private final List<StorageFile> files = new ArrayList<>();
        private final Map<Integer, DeviceBuffer> buffers = new ConcurrentHashMap<>(); // by GPU

        NewBuffers(String name, Path path, long bytes, int devices) {
            this.name = name;
            this.bytes = bytes / devices;
            for (int device = 0; device < devices; device++) {
                Backend backend = SeveralGpus.backend(device);
                backends.add(backend);
                files.add(backend.openFile(path, FileOption.READ).block(LIMIT));
            }
        }

        @Override
        public String name() {
            return name;
        }

        @Override
        public Measure run(long nanos) throws Exception {
            free();
            return Measure.of(
                    () -> Flux.range(0, backends.size())
                            .flatMap(device -> backends.get(device)
                                    .allocate(bytes)
                                    .doOnNext(buffer -> buffers.put(device, buffer))
                                    .flatMap(buffer -> read(device, buffer)))
                            .reduce(0L, Long::sum)
                            .block(LIMIT),
                    GpuMemoryCheck::cpuNanos);
        }

        private Mono<Long> read(int device, DeviceBuffer target) {
            return backends.get(device)
                    .submit(Transfer.read(files.get(device).region(device * bytes, bytes), target.all()))
                    .map(Completion::bytes);
        }

        @Override
        public void verify() throws IOException {
            for (int device = 0; device < backends.size(); device++) {
                long address = buffers.get(device).nativeHandle();
                if (GpuMemoryCheck.differences(device, address, bytes, device * bytes) != 0) {
                    throw new IOException(name + ": wrong words on GPU " + device);
                }
            }
        }

        private void free() throws IOException {
            for (Map.Entry<Integer, DeviceBuffer> buffer : buffers.entrySet()) {
                // Memory that is allocated again must not have the content that is expected of it.
                GpuMemoryCheck.fill(buffer.getKey(), buffer.getValue().nativeHandle(), bytes, GpuBench.POISON);
                buffer.getValue().close();
            }
            buffers.clear();
        }

        @Override
        public void close() throws IOException {
            free();
            files.forEach(StorageFile::close);
            backends.forEach(Backend::close);
        }
    }
}
