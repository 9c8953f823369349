// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Backend;
import io.penstock.Backends;
import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Arrays;
import java.util.Objects;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Offsets, views, indices, run ends and unions of Arrow lead to what there is. */
class ArrowContentsTest {

    private static Backend backend;

    @TempDir
    Path folder;

    @BeforeAll
    static void open() {
        backend = Backends.open("host");
    }

    @AfterAll
    static void close() {
        backend.close();
    }

    private static ArrayFile read(Path file) {
        return Objects.requireNonNull(Formats.read(file).block());
    }

    private static void verify(Path file, String array) throws IOException {
        for (LoadPlan.Placement placement :
                Loader.of(backend).arrays(array).explain(read(file)).arrays()) {
            placement.contents(part -> {});
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"python-nested", "python-nested-lz4", "python-nested-zstd"})
    void everyTypeOfArrowAgrees(String name) throws IOException {
        Path file = Real.file("arrow/" + name + ".arrow");
        assertThat(read(file).arrays()).hasSizeGreaterThan(60);
        verify(file, "*");
        Objects.requireNonNull(Loader.of(backend).load(file).block()).close();
    }

    /** The messages of a stream are one behind the other: each would be passed again for each array. */
    @Test
    void theMessagesOfAStreamAreFoundOnceForAllItsArrays() throws IOException {
        long few = readsToVerify(250);
        long many = readsToVerify(2000);
        assertThat(few).isGreaterThan(250);
        assertThat(many)
                .as("reads of 8 times as many batches, by %d reads", few)
                .isLessThan(12 * few);
    }

    private long readsToVerify(int batches) throws IOException {
        byte[] one = Files.readAllBytes(CasesTest.path("stream.arrow"));
        int first = 184; // behind the schema
        int length = one.length - Long.BYTES - first; // before the mark of the end
        Path file = folder.resolve(batches + ".arrow");
        try (OutputStream out = Files.newOutputStream(file)) {
            out.write(one, 0, first);
            for (int i = 0; i < batches; i++) {
                out.write(one, first, length);
            }
        }
        LoadPlan plan = Objects.requireNonNull(
                Loader.of(backend).arrays("*/i/data").explain(file).block());
        assertThat(plan.arrays()).hasSize(batches);
        try (Recording recording = new Recording()) {
            recording.enable("jdk.FileRead").withoutThreshold().withoutStackTrace();
            recording.start();
            for (LoadPlan.Placement placement : plan.arrays()) {
                plan.contents(placement, part -> {});
            }
            recording.stop();
            Path events = folder.resolve(batches + ".jfr");
            recording.dump(events);
            return RecordingFile.readAllEvents(events).stream()
                    .filter(event -> file.toString().equals(event.getString("path")))
                    .count();
        }
    }

    /** A plan is of one state of its file; the next one finds the messages of the next state. */
    @Test
    void theMessagesOfAFileThatHasChangedAreFoundAgain() throws IOException {
        byte[] stream = Files.readAllBytes(CasesTest.path("stream.arrow"));
        Path file = Files.write(folder.resolve("a.arrow"), stream);
        Loader loader = Loader.of(backend);
        LoadPlan plan = Objects.requireNonNull(loader.explain(file).block());
        for (LoadPlan.Placement placement : plan.arrays()) {
            plan.contents(placement, part -> {});
        }
        Files.copy(Real.file("arrow/python-nested.arrow"), file, StandardCopyOption.REPLACE_EXISTING);
        LoadPlan next = Objects.requireNonNull(loader.explain(file).block());
        for (LoadPlan.Placement placement : next.arrays()) {
            next.contents(placement, part -> {});
        }
        LoadPlan.Placement gone = plan.arrays().get(0);
        assertThatThrownBy(() -> {
                    Files.write(file, Arrays.copyOf(stream, stream.length - 50));
                    plan.contents(gone, part -> {});
                })
                .isInstanceOfAny(MalformedFileException.class, EOFException.class);
    }

    /** An element, at a byte of it, in a file that is not compressed. */
    @ParameterizedTest
    @CsvSource({
        "text/offsets, 4, 0, 1000, 'offset 4 is 1000, but must be between the one before it, 42, and the 47 that '",
        "text/offsets, 2, 0, 41, 'offset 2 is 41, but must be between the one before it, 42, and '",
        "text/offsets, 0, 0, -1, 'offset 0 is -1, but must be between '",
        "large/offsets, 4, 4, 1, 'offset 4 is 4294967343, but must be '",
        "list/offsets, 4, 0, 4, 'offset 4 is 4, but must be between the one before it, 2, and the 3 that there are'",
        "large list/offsets, 4, 0, 4, 'offset 4 is 4, but '",
        "map/offsets, 4, 0, 3, 'offset 4 is 3, but '",
        "list view/sizes, 0, 0, 4, 'row 0 has 4 elements from 0 on, of 3'",
        "list view/offsets, 3, 0, 3, 'row 3 has 1 elements from 3 on, of 3'",
        "large view/offsets, 3, 4, -1, 'row 3 has 1 elements from '",
        "view/views, 0, 0, 43, 'row 0 has 43 bytes from 0 on of data 0, which has 42; there are data 0 to 0'",
        "view/views, 0, 0, -1, 'row 0 has -1 bytes'",
        "view/views, 0, 8, 1, 'row 0 has 42 bytes from 0 on of data 1, which has 0'",
        "view/views, 0, 12, -1, 'row 0 has 42 bytes from -1 on of data 0'",
        "word/indices of dictionary 0, 3, -, 4, 'row 3 has the index 4 of 4 values'",
        "word/indices of dictionary 0, 3, -, -1, 'row 3 has the index -1 of 4 values'",
        "union/types, 1, -, 8, 'row 1 has the type 8, but there are [7, 9]'",
        "union/offsets, 3, 0, 3, 'row 3 is row 3 of 3 of its type'",
        "union/offsets, 1, 0, 2, 'row 1 is row 2 of 2 of its type'",
        "union/offsets, 0, 0, -1, 'row 0 is row -1 of 3 of its type'",
        "runs.run_ends/data, 0, 0, 0, 'run 0 ends at 0, but the one before it at 0'",
        "runs.run_ends/data, 1, 0, 1, 'run 1 ends at 1, but the one before it at 1'",
        "runs.run_ends/data, 1, 0, 3, 'the last run ends at 3 of 4 rows'"
    })
    void whatLeadsNowhereIsRefused(String name, int index, String at, int value, String complaint) throws IOException {
        Path original = Real.file("arrow/python-nested.arrow");
        Array array = read(original).array("0/" + name).orElseThrow();
        byte[] bytes = Files.readAllBytes(original);
        ByteBuffer all = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        int element =
                (int) ((Extent) array.data()).offset() + index * array.type().blockBytes();
        if (at.equals("-")) {
            all.put(element, (byte) value);
        } else {
            all.putInt(element + Integer.parseInt(at), value);
        }
        Path file = Files.write(folder.resolve("a.arrow"), bytes);
        assertThatThrownBy(() -> verify(file, array.name()))
                .isInstanceOf(MalformedFileException.class)
                .hasMessageContaining("buffer " + array.name() + " at byte ")
                .hasMessageContaining(complaint);
        Objects.requireNonNull(Loader.of(backend).load(file).block()).close(); // it goes straight to the device
    }

    /** A null leads nowhere. */
    @ParameterizedTest
    @CsvSource({"word/indices of dictionary 0, 1, 77", "list view/sizes, 1, 9", "view/views, 1, -1"})
    void aNullMayHaveAnything(String name, int index, int value) throws IOException {
        Path original = Real.file("arrow/python-nested.arrow");
        Array array = read(original).array("0/" + name).orElseThrow();
        byte[] bytes = Files.readAllBytes(original);
        bytes[(int) ((Extent) array.data()).offset() + index * array.type().blockBytes()] = (byte) value;
        verify(Files.write(folder.resolve("a.arrow"), bytes), array.name());
    }

    /** The data become shorter, by what the file says before them. */
    @ParameterizedTest
    @ValueSource(strings = {"text", "large"})
    void decodedOffsetsAreComparedByTheLoad(String name) throws IOException {
        for (String codec : new String[] {"lz4", "zstd"}) {
            Path original = Real.file("arrow/python-nested-" + codec + ".arrow");
            Array data = read(original).array("0/" + name + "/data").orElseThrow();
            Array.Data.Chunked chunks = (Array.Data.Chunked) data.data();
            int at = (int) chunks.chunks().get(0).extent().offset() - Long.BYTES;
            byte[] bytes = Files.readAllBytes(original);
            ByteBuffer all = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
            all.putLong(at, all.getLong(at) - 8);
            Path file = Files.write(folder.resolve(codec + ".arrow"), bytes);
            String offsets = "0/" + name + "/offsets";
            assertThatThrownBy(
                            () -> Loader.of(backend).arrays(offsets).load(file).block())
                    .isInstanceOf(MalformedFileException.class)
                    .hasMessageContaining("buffer " + offsets + ": offset 197 is 2345, but must be between ")
                    .hasMessageContaining("and the " + all.getLong(at) + " that there are");
        }
    }

    /** The children become fewer, in the node of the record batch. */
    @ParameterizedTest
    @CsvSource({"list/offsets, 0", "large list/offsets, 1", "list view/sizes, 2", "large view/offsets, 3"})
    void listsAreComparedWithTheRowsOfTheirChild(String name, int place) throws IOException {
        Path original = Real.file("arrow/python-nested-zstd.arrow");
        byte[] bytes = Files.readAllBytes(original);
        ByteBuffer all = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        int found = 0;
        int at = 0;
        for (; found <= place; at += 8) {
            found += all.getLong(at) == 150 && all.getLong(at + 8) == 0 ? 1 : 0;
        }
        all.putLong(at - 8, 149);
        Path file = Files.write(folder.resolve("a.arrow"), bytes);
        String array = read(original).arrays().stream()
                .map(Array::name)
                .filter(one -> one.endsWith("/" + name))
                .findFirst()
                .orElseThrow();
        assertThatThrownBy(() -> verify(file, array))
                .isInstanceOf(MalformedFileException.class)
                .hasMessageContaining("buffer " + array)
                .hasMessageContaining("149");
    }

    @Test
    void anArrayOfAnotherFormatMayHaveSuchAName() throws IOException {
        Path array = Files.createDirectories(folder.resolve("offsets"));
        Files.writeString(array.resolve(".zarray"), """
                {"zarr_format": 2, "shape": [4], "chunks": [2], "dtype": "|u1", "fill_value": 0, "order": "C",
                 "compressor": null, "filters": null}""");
        verify(array, "*");
        Files.write(array.resolve("0"), new byte[2]);
        verify(array, "*");
    }
}
