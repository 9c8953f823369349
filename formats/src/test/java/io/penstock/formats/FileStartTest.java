// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Backend;
import io.penstock.Backends;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What lies in the place of a file is named, with what to do, whatever its name ends in. */
class FileStartTest {

    private static final List<String> NAMES = List.of(
            "m.safetensors", "m.gguf", "m.npy", "m.npz", "m.nii", "m.safetensors.index.json", "m.arrow", "zarr.json");

    private static final String POINTER =
            "version https://git-lfs.github.com/spec/v1\noid sha256:" + "0".repeat(64) + "\nsize 4976698672\n";

    @TempDir
    Path folder;

    private static void assertRefused(Path path, String... complaint) {
        assertThatThrownBy(() -> Formats.read(path).block())
                .isInstanceOf(MalformedFileException.class)
                .hasMessageContaining(path.getFileName() + ": not ")
                .hasMessageContainingAll(complaint)
                .satisfies(e -> assertThat(e.getMessage().lines()).hasSize(1));
    }

    private Path write(String name, byte[] bytes) throws IOException {
        return Files.write(folder.resolve(name), bytes);
    }

    @Test
    void aPointerOfGitIsOne() throws IOException {
        for (String name : NAMES) {
            assertRefused(
                    write(name, POINTER.getBytes(StandardCharsets.US_ASCII)),
                    "it is a Git LFS pointer to a file of 4976698672 bytes",
                    "run `git lfs pull`");
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "<!DOCTYPE html>\\n<html><head><title>403</title>|a web page",
                "  \\n<HTML lang=\"en\"><body>Access denied|a web page",
                "\u00ef\u00bb\u00bf<html>|a web page",
                "<?xml version=\"1.0\"?><Error><Code>AccessDenied</Code></Error>|<Code>AccessDenied",
                "Entry not found|a text, such as the error of a server, not the file: Entry not found"
            })
    void aPageOrATextOfAServerIsShown(String text, String complaint) throws IOException {
        byte[] bytes = text.replace("\\n", "\n").getBytes(StandardCharsets.ISO_8859_1);
        for (String name : NAMES) {
            assertRefused(write(name, bytes), complaint);
        }
    }

    /** Where the format itself is JSON, the document lacks what it must have. */
    @Test
    void theErrorOfAServerInJsonIsShown() throws IOException {
        byte[] error = "{\"error\":\"Invalid username or password.\"}".getBytes(StandardCharsets.US_ASCII);
        for (String name : NAMES) {
            String shown =
                    name.equals("zarr.json") ? "zarr_format must be 3, was null" : "Invalid username or password.";
            assertRefused(write(name, error), shown);
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "1f8b0800000000000003|compressed by gzip as a whole",
                "425a683931415926|compressed by bzip2 as a whole",
                "fd377a585a000004|compressed by xz as a whole",
                "28b52ffd00|compressed by Zstandard as a whole",
                "894844460d0a1a0a|it is HDF5, which is not supported: convert it",
                "5041523115|it is Parquet",
                "80027d7100|it is a pickle of Python",
                "00000000000000000000000000000000|zeros in place of a header"
            })
    void anotherFormatIsNamed(String start, String complaint) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(4000).put(HexFormat.of().parseHex(start));
        for (String name : NAMES) {
            boolean other = name.equals("m.nii") && start.startsWith("1f8b");
            assertRefused(write(name, bytes.array()), other ? "gzip" : complaint);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"m.safetensors", "m.zip", "m.npz"})
    void aZipArchiveWithoutArraysIsNamed(String name) throws IOException {
        byte[] zip = HexFormat.of()
                .parseHex("504b0304140000000000000021008d0b34ac02000000020000000a0000006d2f646174612e706b6c800"
                        + "2504b01021400140000000000000021008d0b34ac02000000020000000a0000000000000000000000000000"
                        + "0000006d2f646174612e706b6c504b05060000000001000100380000002a0000000000");
        Path path = write(name, zip);
        assertRefused(path, name.endsWith(".zip") ? "it is a zip archive" : "m/data.pkl", "");
        if (!name.endsWith(".zip")) {
            assertRefused(path, "it is a checkpoint of PyTorch");
        }
    }

    @Test
    void theFilesThatAFileNamesAreLookedAt() throws IOException {
        write("m-00001-of-00002.safetensors", POINTER.getBytes(StandardCharsets.US_ASCII));
        Path index = Files.writeString(
                folder.resolve("model.safetensors.index.json"),
                "{\"weight_map\":{\"a\":\"m-00001-of-00002.safetensors\"}}");
        assertThatThrownBy(() -> Formats.read(index).block())
                .isInstanceOf(MalformedFileException.class)
                .hasMessageContainingAll("m-00001-of-00002.safetensors", "git lfs pull");
    }

    @ParameterizedTest
    @ValueSource(strings = {"null", "{\"id\":\"zlib\"}"})
    void aPointerInPlaceOfAChunkIsNamed(String compressor) throws IOException {
        Files.writeString(
                folder.resolve(".zarray"),
                "{\"zarr_format\":2,\"shape\":[400],\"chunks\":[400],\"dtype\":\"|u1\",\"fill_value\":0,"
                        + "\"order\":\"C\",\"filters\":null,\"compressor\":" + compressor + "}");
        write("0", POINTER.getBytes(StandardCharsets.US_ASCII));
        assertThatThrownBy(() -> {
                    try (Backend host = Backends.open("host")) {
                        LoadPlan plan = Loader.of(host).explain(folder).block();
                        plan.arrays().get(0).contents(bytes -> {});
                    }
                })
                .isInstanceOf(MalformedFileException.class)
                .hasMessageContainingAll("chunk [0]", "git lfs pull");
    }

    /** The length of a header may have the bytes of any magic number. */
    @Test
    void aHeaderAsLongAsAMagicNumberIsRead() throws IOException {
        String json = "{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}";
        int length = 0x088b1f; // of gzip
        ByteBuffer bytes = ByteBuffer.allocate(8 + length + 1).order(ByteOrder.LITTLE_ENDIAN);
        bytes.putLong(length).put((json + " ".repeat(length - json.length())).getBytes(StandardCharsets.US_ASCII));
        ArrayFile file = Formats.read(write("a.safetensors", bytes.array())).block();
        assertThat(file.arrays()).extracting(Array::name).containsExactly("a");
    }
}
