// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.cli.testing.CommandLineRun;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import java.util.zip.CRC32C;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code penstock ls} and {@code penstock load} on host memory. */
class LoadCommandTest {

    private static final String HEADER = "{\"__metadata__\":{\"made\":\"by\\u001b hand\"},"
            + "\"first\":{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[0,24]},"
            + "\"second\":{\"dtype\":\"BF16\",\"shape\":[4,1000],\"data_offsets\":[24,8024]}}";

    @TempDir
    Path folder;

    private Path model;
    private byte[] data;

    @BeforeEach
    void write() throws IOException {
        data = new byte[8024];
        new Random(1).nextBytes(data);
        writeModel();
    }

    private void writeModel() throws IOException {
        byte[] header = HEADER.getBytes(StandardCharsets.UTF_8);
        model = Files.write(
                folder.resolve("model.safetensors"),
                ByteBuffer.allocate(8 + header.length + data.length)
                        .order(ByteOrder.LITTLE_ENDIAN)
                        .putLong(header.length)
                        .put(header)
                        .put(data)
                        .array());
    }

    private String crc(int offset, int length) {
        CRC32C crc = new CRC32C();
        crc.update(data, offset, length);
        return String.format("%08x", crc.getValue());
    }

    @Test
    void lsListsTheArrays() {
        CommandLineRun run = CommandLineRun.of("ls", model);
        assertThat(run.code()).as(run.err()).isZero();
        assertThat(run.out().lines().toList())
                .satisfiesExactly(
                        line -> assertThat(line).isEqualTo("made = by? hand"),
                        line -> assertThat(line).matches("name +type +shape +bytes +file offset +layout"),
                        line -> assertThat(line).matches("first +F32 +\\[2, 3] +24 +" + (8 + HEADER.length())),
                        line -> assertThat(line).matches("second +BF16 +\\[4, 1000] +8000 +" + (32 + HEADER.length())),
                        line -> assertThat(line).isEqualTo("2 arrays, 8024 bytes, safetensors"));
        assertThat(CommandLineRun.of("ls", "--json", model).out())
                .contains("\"format\": \"safetensors\"", "\"made\": \"by\\u001b hand\"")
                .contains("{\"name\": \"second\", \"type\": \"BF16\", \"shape\": [4, 1000], \"bytes\": 8000, ");
    }

    @Test
    void lsShowsValues() throws IOException {
        ByteBuffer bytes = ByteBuffer.wrap(data).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < 6; i++) {
            bytes.putFloat(4 * i, i - 0.5f);
        }
        writeModel();
        CommandLineRun run = CommandLineRun.of("ls", "--values", "first", model);
        assertThat(run.code()).as(run.err()).isZero();
        assertThat(run.out().strip())
                .isEqualTo(
                        "first F32 [2, 3]: -0.5, 0.5, 1.5, 2.5, 3.5, 4.5; min -0.5000000, max 4.500000, mean 2.000000");
        assertThat(CommandLineRun.of("ls", "--values", "*", model).out().lines())
                .hasSize(2);
        assertThat(CommandLineRun.of("ls", "--values", "third", model).err()).contains("third");
        assertThat(CommandLineRun.of("ls", "--values", "first", "--json", model).code())
                .isEqualTo(2);
    }

    @Test
    void noArraysAreVerifiedToo() throws IOException {
        Path empty = Files.write(folder.resolve("empty.safetensors"), new byte[] {2, 0, 0, 0, 0, 0, 0, 0, '{', '}'});
        CommandLineRun run = CommandLineRun.of("load", empty.toString(), "--backend", "host", "--verify");
        assertThat(run.code()).as(run.err()).isZero();
        assertThat(run.out()).contains("loaded 0 arrays, 0 bytes").contains("; verified");
        run = CommandLineRun.of("load", empty.toString(), "--backend", "host", "--verify", "--json");
        assertThat(run.out()).contains("\"verified\": true");
    }

    /** An array of a type that the format got later, and bytes behind the last one. */
    @Test
    void whatCannotBeReadIsListedAndLeftOut() throws IOException {
        byte[] header = HEADER.replace("\"BF16\"", "\"BF17\"").getBytes(StandardCharsets.UTF_8);
        Files.write(
                model,
                ByteBuffer.allocate(8 + header.length + data.length + 2)
                        .order(ByteOrder.LITTLE_ENDIAN)
                        .putLong(header.length)
                        .put(header)
                        .put(data)
                        .array());
        assertThat(CommandLineRun.of("ls", model).err()).contains("8024, but has 8026 bytes", "--lenient");
        CommandLineRun run = CommandLineRun.of("ls", "--lenient", model);
        assertThat(run.code()).as(run.err()).isZero();
        assertThat(run.out().lines())
                .contains("trailing bytes = 2")
                .anyMatch(line -> line.matches("second +- +- +- +- +cannot be read: not supported: the dtype BF17.*"));
        assertThat(CommandLineRun.of("ls", "--lenient", "--json", model).out())
                .contains("\"leftOut\": {\"second\": \"not supported: the dtype BF17");
        run = CommandLineRun.of("load", "--lenient", model, "--backend", "host", "--verify");
        assertThat(run.code()).as(run.err()).isZero();
        assertThat(run.out()).contains("left out: second: not supported: the dtype BF17", "loaded 1 array, 24 bytes");
        run = CommandLineRun.of("load", "--lenient", model, "--backend", "host", "--arrays", "second");
        assertThat(run.code()).isEqualTo(1);
        assertThat(run.err()).contains("array second of " + model + " cannot be read: not supported: the dtype BF17");
        run = CommandLineRun.of("load", "--lenient", model, "--backend", "host", "--arrays", "first");
        assertThat(run.out()).doesNotContain("left out");
    }

    @Test
    void whatIsDamagedIsListedAndNotLoaded() throws IOException {
        Path index = Files.writeString(
                folder.resolve("m.safetensors.index.json"),
                "{\"weight_map\":{\"first\":\"" + model.getFileName() + "\",\"gone\":\"" + model.getFileName()
                        + "\"}}");
        CommandLineRun run = CommandLineRun.of("ls", index.toString());
        assertThat(run.code()).as(run.err()).isZero();
        assertThat(run.out()).contains("cannot be read: not there: the index names");
        assertThat(CommandLineRun.of("ls", "--values", "*", index.toString())
                        .out()
                        .lines())
                .hasSize(2);
        run = CommandLineRun.of("load", index.toString(), "--backend", "host");
        assertThat(run.code()).isEqualTo(1);
        assertThat(run.err()).contains("array gone cannot be read: not there", "or --lenient, leaves it out");
        run = CommandLineRun.of("load", "--lenient", index.toString(), "--backend", "host");
        assertThat(run.code()).as(run.err()).isZero();
        assertThat(run.out()).contains("left out: gone: not there", "loaded 2 arrays");
    }

    @Test
    void aPointerInPlaceOfAModelIsNamed() throws IOException {
        Files.writeString(model, "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 4976698672\n");
        for (String command : List.of("ls", "load")) {
            CommandLineRun run = CommandLineRun.of(command, model);
            assertThat(run.code()).isEqualTo(1);
            assertThat(run.err())
                    .contains(model + ": ", "Git LFS pointer to a file of 4976698672 bytes", "git lfs pull");
        }
    }

    @Test
    void oneArrayIsCountedInTheSingular() throws IOException {
        CommandLineRun run = CommandLineRun.of("load", model, "--arrays", "first");
        assertThat(run.out()).contains("loaded 1 array, 24 bytes");
        byte[] header =
                "{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}".getBytes(StandardCharsets.UTF_8);
        Path one = Files.write(
                folder.resolve("one.safetensors"),
                ByteBuffer.allocate(8 + header.length + 1)
                        .order(ByteOrder.LITTLE_ENDIAN)
                        .putLong(header.length)
                        .put(header)
                        .array());
        assertThat(CommandLineRun.of("ls", one).out()).endsWith("1 array, 1 byte, safetensors\n");
    }

    @Test
    void loadSaysHowFastAndVerifies() {
        CommandLineRun run = CommandLineRun.of("load", model, "--backend", "host", "--verify");
        assertThat(run.code()).as(run.err()).isZero();
        assertThat(run.out().lines().toList())
                .satisfiesExactly(
                        line -> assertThat(line).matches("name +type +shape +bytes +device offset +CRC-32C"),
                        line -> assertThat(line).matches("first +F32 +\\[2, 3] +24 +0 +" + crc(0, 24)),
                        line -> assertThat(line).matches("second +BF16 +\\[4, 1000] +8000 +256 +" + crc(24, 8000)),
                        line -> assertThat(line)
                                .matches("loaded 2 arrays, 8024 bytes, in [0-9.]+ s, path HOST, backend host;"
                                        + " verified"));
    }

    @Test
    void loadTakesPartsAndPrintsJson() {
        CommandLineRun run = CommandLineRun.of(
                "load",
                model,
                "--backend",
                "host",
                "--arrays",
                "sec*",
                "--shard",
                "columns",
                "--part",
                "1/4",
                "--verify",
                "--json");
        assertThat(run.code()).as(run.err()).isZero();
        assertThat(run.out())
                .contains("\"backend\": \"host\"", "\"path\": \"HOST\"", "\"bytes\": 2000", "\"verified\": true")
                .contains("\"name\": \"second\", \"type\": \"BF16\", \"shape\": [4, 250], \"bytes\": 2000,"
                        + " \"deviceOffset\": 0")
                .doesNotContain("first");
        CommandLineRun rows = CommandLineRun.of("load", model, "--shard", "rows", "--part", "1/2", "--json");
        assertThat(rows.out()).contains("\"shape\": [1, 3]", "\"shape\": [2, 1000]", "\"verified\": false");
    }

    @Test
    void aModelArrivesWholeAndInParts() throws IOException {
        ModelFile.assertLoads(ModelFile.write(model), "host");
    }

    @Test
    void compressedArraysPassThroughTheHostAndThatIsSaid() throws IOException {
        Path npz = folder.resolve("a.npz");
        byte[] dictionary =
                "{'descr': '>u2', 'fortran_order': False, 'shape': (2, 500), }\n".getBytes(StandardCharsets.US_ASCII);
        try (ZipOutputStream zip = new ZipOutputStream(Files.newOutputStream(npz))) {
            zip.putNextEntry(new ZipEntry("big.npy"));
            zip.write(new byte[] {(byte) 0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, (byte) dictionary.length, 0});
            zip.write(dictionary);
            zip.write(data, 0, 2000);
        }
        CommandLineRun list = CommandLineRun.of("ls", npz);
        assertThat(list.out()).contains("big-endian 1 chunk of [2, 500] by npy, deflate");
        CommandLineRun kept = CommandLineRun.of("load", npz, "--verify");
        assertThat(kept.code()).as(kept.err()).isZero();
        assertThat(kept.out())
                .contains(crc(0, 2000), "path host memory (assembled, deflate, npy), backend host; verified");
        byte[] swapped = new byte[2000];
        for (int i = 0; i < swapped.length; i++) {
            swapped[i] = data[i ^ 1];
        }
        System.arraycopy(swapped, 0, data, 0, swapped.length);
        CommandLineRun run = CommandLineRun.of("load", npz, "--verify", "--little-endian", "--host-memory", "1MiB");
        assertThat(run.code()).as(run.err()).isZero();
        assertThat(run.out()).contains(crc(0, 2000), "(assembled, byte swap, deflate, npy)");
    }

    @Test
    void floatsAreRoundedOnRequest() {
        CommandLineRun run = CommandLineRun.of("load", model, "--bf16", "--verify");
        assertThat(run.code()).as(run.err()).isZero();
        assertThat(run.out()).containsPattern("first +BF16 +\\[2, 3] +12").contains("HOST+host memory (F32 to BF16)");
    }

    @Test
    void mistakesAreComplaints() throws IOException {
        assertComplaint("no array has the name none", "load", model, "--arrays", "none");
        assertComplaint("more than the budget of 100", "load", model, "--budget", "100");
        assertComplaint("there is no file ", "load", folder.resolve("none.safetensors"));
        assertComplaint("there is no file ", "ls", folder.resolve("none.safetensors"));
        Path bad = Files.write(folder.resolve("bad.safetensors"), new byte[20]);
        assertComplaint(bad + ": not a valid safetensors file: it has zeros in place of a header", "ls", bad);
        assertComplaint(
                "neither its name nor its first bytes", "ls", Files.writeString(folder.resolve("text"), "text"));
    }

    @Test
    void misuseGetsCodeTwo() {
        assertMisuse("--part needs --shard", "--part", "0/2");
        assertMisuse("--part must be I/N", "--part", "x");
        assertMisuse("--part must be I/N", "--shard", "rows", "--part", "2");
        assertMisuse("a slice of 2 parts must be part 0 to 1, was 2", "--shard", "rows", "--part", "2/2");
        assertMisuse("memory of the host must be 1 MiB", "--host-memory", "1");
        assertMisuse("--gpus needs a backend that numbers its devices", "--gpus", "0,1");
        assertMisuse("each device gets its own", "--gpus", "0,1", "--shard", "rows", "--part", "1/2");
    }

    private void assertMisuse(String complaint, Object... arguments) {
        CommandLineRun run = CommandLineRun.of(
                Stream.concat(Stream.of("load", model), Stream.of(arguments)).toArray());
        assertThat(run.code()).as(run.err()).isEqualTo(2);
        assertThat(run.err()).startsWith("penstock: ").contains(complaint);
        assertThat(run.out()).isEmpty();
    }

    private static void assertComplaint(String complaint, Object... arguments) {
        CommandLineRun run = CommandLineRun.of(arguments);
        assertThat(run.code()).isEqualTo(1);
        assertThat(run.complaints()).hasSize(1);
        assertThat(run.err()).startsWith("penstock: ").contains(complaint);
        assertThat(run.out()).isEmpty();
    }
}
