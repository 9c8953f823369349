// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.DeviceBuffer;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.benchmarks.Comparison.Kind;
import io.penstock.benchmarks.ffi.GpuMemoryCheck;
import io.penstock.formats.DeviceArray;
import io.penstock.formats.LoadedArrays;
import io.penstock.formats.Loader;
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
import org.jspecify.annotations.Nullable;

/** Penstock: all arrays of a file into memory of the GPU, by {@link Loader}; against what Python programs use. */
final class ModelLoad implements Contender {

    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final long ROW = 8192; // bytes of 4096 numbers of BF16
    private static final int LAYERS = 20;
    private static final long MIB = 1 << 20;
    private static final String OURS = "Penstock Loader";
    private static final String SAME = "Penstock, as many bytes in one transfer";
    private static final String NEW = "Penstock, as many bytes in one transfer into a new buffer";
    private static final String TORCH = "safetensors.torch.load_file";

    /** The shares of a layer of a model of eight billion parameters, in percent of its rows. */
    private static final Map<String, Integer> SHARES = Map.of(
            "self_attn.q_proj", 8,
            "self_attn.k_proj", 2,
            "self_attn.v_proj", 2,
            "self_attn.o_proj", 8,
            "mlp.gate_proj", 26,
            "mlp.up_proj", 26,
            "mlp.down_proj", 26);

    private final Backend backend;
    private final Path file;
    private final Map<String, Long> places;
    private @Nullable LoadedArrays loaded;

    /** Creates it for a file whose arrays have the content of the test file from {@code places} on. */
    private ModelLoad(Path file, Map<String, Long> places) {
        this.backend = Backends.open("cufile");
        this.file = file;
        this.places = places;
    }

    /** Returns the rows: only if {@code --rows} names them, since they need torch. */
    static List<Row> rows(GpuBench bench) {
        return List.of(
                new OfPython("arrays of a model", (row, python) -> model(bench, row, python)),
                new OfPython("arrays of 4 KiB", (row, python) -> small(bench, row, python)));
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
            List<String> program = List.of("python3", "benchmarks/src/main/python/torch_peers.py");
            try (PeerProcess python = new PeerProcess(program, Map.of())) {
                return maker.make(name, python).run(settings, busy);
            }
        }
    }

    private static Row model(GpuBench bench, String row, PeerProcess python) throws IOException {
        long bytes = bench.sizes().hotBytes();
        Path numpy = TestFile.prepare(bench.directory().resolve("model.npy"), npyHeader(bytes), bytes);
        Rounds.Factory copied = peer(python, "numpy.load and a copy", "numpy", numpy);
        return row(bench, row, layers(bytes), bytes, 0.95, python, List.of(copied));
    }

    private static Row small(GpuBench bench, String row, PeerProcess python) throws IOException {
        long bytes = 40 * MIB;
        Map<String, Long> arrays = new LinkedHashMap<>();
        for (long at = 0; at < bytes; at += 4096) {
            arrays.put("array." + at / 4096, 4096L);
        }
        return row(bench, row, arrays, bytes, 0.5, python, List.of());
    }

    private static Row row(
            GpuBench bench,
            String name,
            Map<String, Long> arrays,
            long bytes,
            double share,
            PeerProcess python,
            List<Rounds.Factory> more)
            throws IOException {
        Path file = TestFile.prepare(
                bench.directory().resolve(name.replace(' ', '-') + ".safetensors"), safetensorsHeader(arrays), bytes);
        Map<String, Long> places = new LinkedHashMap<>();
        long at = 0;
        for (Map.Entry<String, Long> array : arrays.entrySet()) {
            places.put(array.getKey(), at);
            at += array.getValue();
        }
        List<Rounds.Factory> contenders = new ArrayList<>();
        contenders.add(() -> new ModelLoad(file, places));
        contenders.add(() -> new GpuRead(
                SAME, new GpuRead.Plan(bench.hot(), bytes, bytes, Options.none(), Set.of(FileOption.READ), false)));
        contenders.add(() -> new NewBuffer(bench.hot(), bytes));
        contenders.add(peer(python, TORCH, "load_file", file));
        contenders.addAll(more);
        return new Rounds(
                name,
                Unit.BYTES,
                contenders,
                List.of(
                        speed(name + " / as many bytes in one transfer", SAME, share),
                        speed(name + " / the same into a new buffer", NEW, share),
                        speed(name + " / load_file", TORCH, 8)));
    }

    private static Rounds.Factory peer(PeerProcess python, String name, String variant, Path file) {
        return () -> new PeerContender(name, python, variant + " " + file.toAbsolutePath(), "");
    }

    private static Comparison speed(String row, String peer, double goal) {
        return new Comparison(row, Mode.DEFAULT.toString(), OURS, peer, Kind.SPEED, goal);
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

    @Override
    public String name() {
        return OURS;
    }

    @Override
    public Measure run(long nanos) throws Exception {
        free();
        return Measure.of(
                () -> {
                    LoadedArrays arrays = Loader.of(backend).load(file).block(LIMIT);
                    loaded = arrays;
                    return arrays.arrays().stream()
                            .mapToLong(DeviceArray::bytes)
                            .sum();
                },
                GpuMemoryCheck::cpuNanos);
    }

    @Override
    public void verify() throws IOException {
        LoadedArrays arrays = loaded;
        if (arrays == null || arrays.arrays().size() != places.size()) {
            throw new IOException(OURS + ": not all arrays were loaded");
        }
        for (DeviceArray array : arrays.arrays()) {
            long address =
                    array.region().buffer().nativeHandle() + array.region().offset();
            long bad = GpuMemoryCheck.differences(address, array.bytes(), places.get(array.name()));
            if (bad != 0) {
                throw new IOException(array + ": " + bad + " wrong words");
            }
        }
    }

    /** Memory that is allocated again must not have the content that is expected of it. */
    private static void poison(DeviceBuffer buffer) throws IOException {
        GpuMemoryCheck.fill(buffer.nativeHandle(), buffer.length(), GpuBench.POISON);
    }

    /** The bytes of the test file by one transfer, memory for them included, which a load needs too. */
    private static final class NewBuffer implements Contender {

        private final Backend backend = Backends.open("cufile");
        private final StorageFile file;
        private final long bytes;
        private @Nullable DeviceBuffer buffer;

        NewBuffer(Path path, long bytes) {
            this.file = backend.openFile(path, FileOption.READ).block(LIMIT);
            this.bytes = bytes;
        }

        @Override
        public String name() {
            return NEW;
        }

        @Override
        public Measure run(long nanos) throws Exception {
            free();
            return Measure.of(
                    () -> {
                        DeviceBuffer target = backend.allocate(bytes).block(LIMIT);
                        buffer = target;
                        return backend.submit(Transfer.read(file.region(0, bytes), target.all()))
                                .block(LIMIT)
                                .bytes();
                    },
                    GpuMemoryCheck::cpuNanos);
        }

        @Override
        public void verify() throws IOException {
            if (buffer == null || GpuMemoryCheck.differences(buffer.nativeHandle(), bytes, 0) != 0) {
                throw new IOException(NEW + ": wrong words");
            }
        }

        private void free() throws IOException {
            if (buffer != null) {
                poison(buffer);
                buffer.close();
                buffer = null;
            }
        }

        @Override
        public void close() throws IOException {
            free();
            file.close();
            backend.close();
        }
    }

    private void free() throws IOException {
        if (loaded != null) {
            for (DeviceBuffer buffer : loaded.arrays().stream()
                    .map(array -> array.region().buffer())
                    .distinct()
                    .toList()) {
                poison(buffer);
            }
            loaded.close();
            loaded = null;
        }
    }

    @Override
    public void close() throws IOException {
        free();
        backend.close();
    }
}
