// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats.read;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.formats.ArrayFile;
import io.penstock.formats.Real;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What is read in one pass is what {@link StrictJson} reads. */
class SafetensorsHeaderTest {

    private static final Path FILE = Path.of("a.safetensors");

    private static final String HEADER = "{\"__metadata__\":{\"format\":\"pt\",\"by\":\"x\"},"
            + "\"a\":{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[0,24]},"
            + "\"b.weight\":{\"dtype\":\"BF16\",\"shape\":[],\"data_offsets\":[24,26]},"
            + "\"c\":{\"dtype\":\"U8\",\"shape\":[1000000],\"data_offsets\":[26,1000026]}}  ";

    private static final long START = 8L + HEADER.length();
    private static final long DATA = 1_000_026;
    private static final ExecutorService POOL = Executors.newFixedThreadPool(2);

    @AfterAll
    static void end() {
        POOL.shutdownNow();
    }

    private static @Nullable ArrayFile inOnePass(byte[] json, long data) {
        ArrayFile file = byParts(json, data, 1 << 20);
        for (int partBytes : new int[] {1, 70, 150}) { // an array has about 65
            assertThat(byParts(json, data, partBytes))
                    .as("by parts of %s bytes", partBytes)
                    .isEqualTo(file);
        }
        return file;
    }

    /** Reads a header that comes in pieces of any length. */
    private static @Nullable ArrayFile byParts(byte[] json, long data, int partBytes) {
        return byParts(json, data, partBytes, Runnable::run);
    }

    private static @Nullable ArrayFile byParts(byte[] json, long data, int partBytes, Executor executor) {
        SafetensorsHeader header = new SafetensorsHeader(FILE, json.length, START, partBytes, executor);
        Random random = new Random(partBytes);
        int count = 0;
        do {
            count = Math.min(json.length, count + random.nextInt(2 * partBytes + 2 + json.length / 100));
            // What has not been read yet must not be looked at.
            header.read(Arrays.copyOf(Arrays.copyOf(json, count), json.length), count);
        } while (count < json.length);
        return header.file(json, data);
    }

    private static ArrayFile strictly(byte[] json, long data) throws IOException {
        return SafetensorsReader.anyFile(FILE, json, START, data, Set.of());
    }

    private static byte[] bytes(String json) {
        return json.getBytes(StandardCharsets.UTF_8);
    }

    @ParameterizedTest
    @ValueSource(strings = {"small", "sharded-00001-of-00003", "sharded-00002-of-00003", "sharded-00003-of-00003"})
    void headersOfTheReferenceImplementationAreReadInOnePass(String name) throws IOException {
        ByteBuffer file = ByteBuffer.wrap(Files.readAllBytes(Real.file(name + ".safetensors")))
                .order(ByteOrder.LITTLE_ENDIAN);
        byte[] json = new byte[Math.toIntExact(file.getLong())];
        file.get(json);
        assertThat(inOnePass(json, file.remaining())).isNotNull().isEqualTo(strictly(json, file.remaining()));
    }

    @Test
    void aHeaderWithoutArraysIsReadInOnePass() throws IOException {
        for (String json : List.of("{}", "{}   ", "{\"__metadata__\":{}}")) {
            assertThat(inOnePass(bytes(json), 0)).as(json).isNotNull().isEqualTo(strictly(bytes(json), 0));
        }
    }

    @Test
    void arraysThatAreDescribedAsTheOneBeforeOrOtherwiseAreReadInOnePass() throws IOException {
        byte[] json = bytes(HEADER.strip().replaceFirst("}$", "")
                + ",\"d\":{\"dtype\":\"U8\",\"shape\":[1000000],\"data_offsets\":[1000026,2000026]}"
                + ",\"e\":{\"dtype\":\"U8\",\"shape\":[1000000],\"data_offsets\":[2000026,3000026]}"
                + ",\"f\":{\"dtype\":\"I8\",\"shape\":[1,3,2],\"data_offsets\":[3000026,3000032]}"
                + ",\"g\":{\"dtype\":\"I8\",\"shape\":[1,3],\"data_offsets\":[3000032,3000035]}}");
        assertThat(inOnePass(json, 3_000_035)).isNotNull().isEqualTo(strictly(json, 3_000_035));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                " {}",
                "{}\n",
                "{}}",
                "{\"a\":{\"dtype\": \"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}",
                "{\"a\":{\"shape\":[1],\"dtype\":\"U8\",\"data_offsets\":[0,1]}}",
                "{\"\u00e4\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}",
                "{\"\\u0061\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}",
                "{\"a\":{\"dtype\":\"U9\",\"shape\":[1],\"data_offsets\":[0,1]}}",
                "{\"a\":{\"dtype\":\"U8\",\"shape\":[01],\"data_offsets\":[0,1]}}",
                "{\"a\":{\"dtype\":\"U8\",\"shape\":[1,],\"data_offsets\":[0,1]}}",
                "{\"a\":{\"dtype\":\"U8\",\"shape\":[1.0],\"data_offsets\":[0,1]}}",
                "{\"a\":{\"dtype\":\"U8\",\"shape\":[-1],\"data_offsets\":[0,1]}}",
                "{\"a\":{\"dtype\":\"U8\",\"shape\":[1000000000000000000],\"data_offsets\":[0,1]}}",
                "{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1,2]}}",
                "{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1],\"b\":0}}",
                "{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]},}",
                "{\"__metadata__\":{\"a\":\"1\",\"a\":\"2\"}}",
                "{\"__metadata__\":{},\"__metadata__\":{}}",
                "{\"__metadata__\":{\"a\":\"1\"},}"
            })
    void anyOtherHeaderIsLeftToTheParser(String json) {
        assertThat(inOnePass(bytes(json), json.contains("dtype") ? 1 : 0)).isNull();
    }

    @Test
    void aNameThatIsThereTwiceIsLeftToTheParser() {
        String array = "\"a\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}";
        assertThat(inOnePass(bytes("{" + array + "}"), 0)).isNotNull();
        assertThat(inOnePass(bytes("{" + array + "," + array + "}"), 0)).isNull();
    }

    /**
     * Where it is cut there is a name, not the end of an array: by parts it is left to the parser, with the same
     * result.
     */
    @Test
    void aNameThatLooksLikeTheEndOfAnArrayIsNotCut() throws IOException {
        String array = "%s:{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[%s,%s]}";
        byte[] json = bytes("{" + array.formatted("\"a]},\"", 0, 1) + "," + array.formatted("\"b\"", 1, 2) + "}");
        assertThat(byParts(json, 2, 1 << 20)).isEqualTo(strictly(json, 2));
        assertThat(byParts(json, 2, 1)).isNull();
        assertThat(byParts(json, 2, 20)).isEqualTo(strictly(json, 2));
    }

    @Test
    void aLongHeaderIsReadByParts() throws IOException {
        StringBuilder header = new StringBuilder("{");
        for (int i = 0; i < 4000; i++) {
            header.append(i == 0 ? "" : ",")
                    .append("\"array.%s\":{\"dtype\":\"U8\",\"shape\":[7],\"data_offsets\":[%s,%s]}"
                            .formatted(i, 7 * i, 7 * i + 7));
        }
        byte[] json = bytes(header.append("}").toString());
        assertThat(inOnePass(json, 28_000)).isNotNull().isEqualTo(strictly(json, 28_000));
        for (int partBytes : new int[] {70, 1000, 30_000}) {
            assertThat(byParts(json, 28_000, partBytes, POOL))
                    .as("by threads, parts of %s bytes", partBytes)
                    .isEqualTo(strictly(json, 28_000));
        }
        assertThat(inOnePass(json, 28_001)).isNull();
    }

    @ParameterizedTest
    @CsvSource({"0,1,1,2,2", "1,2,0,1,2", "0,1,2,3,3", "0,1,0,1,1", "0,1,1,2,3", "0,1,1,2,1", "0,2,2,2,2", "0,2,2,1,2"})
    void dataThatAreNotReadFromFrontToBackAreLeftToTheParser(long begin, long end, long next, long last, long data) {
        String array = "\"%s\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[%s,%s]}";
        byte[] json = bytes("{" + array.formatted("a", begin, end) + "," + array.formatted("b", next, last) + "}");
        boolean inOrder = begin == 0 && end == 1 && next == 1 && last == 2 && data == 2;
        assertThat(inOnePass(json, data) != null).isEqualTo(inOrder);
    }

    @Test
    void theStartOfAHeaderIsLeftToTheParser() {
        byte[] json = bytes(HEADER.strip());
        for (int length = 0; length < json.length; length++) {
            assertThat(inOnePass(Arrays.copyOf(json, length), DATA))
                    .as("%s bytes", length)
                    .isNull();
        }
    }

    /** A mutant that is not valid must not be read in one pass: then {@link #strictly} throws. */
    @Test
    @Tag("once")
    void damagedHeadersAreReadInOnePassAsByTheParser() throws IOException {
        byte[] json = bytes(HEADER);
        Random random = new Random(17);
        int inOnePass = 0;
        for (int i = 0; i < 20_000; i++) {
            byte[] mutant = json.clone();
            for (int changes = 1 + random.nextInt(2); changes > 0; changes--) {
                mutant[random.nextInt(json.length)] = (byte) "0123456789[]{}\",:-e. abF".charAt(random.nextInt(24));
            }
            ArrayFile file = inOnePass(mutant, DATA);
            if (file != null) {
                inOnePass++;
                String text = new String(mutant, StandardCharsets.UTF_8);
                assertThat(file).as(text).isEqualTo(strictly(mutant, DATA));
            }
        }
        assertThat(inOnePass).as("of 20000 mutants").isBetween(1_000, 19_000);
    }
}
