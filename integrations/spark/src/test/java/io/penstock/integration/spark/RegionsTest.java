// SPDX-License-Identifier: Apache-2.0
package io.penstock.integration.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.IntStream;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.publisher.Hooks;

/** What is found in files, without Spark. */
class RegionsTest {

    @TempDir
    Path folder;

    @AfterEach
    void reset() {
        Hooks.resetOnErrorDropped();
    }

    /** Reactor logs an error that comes behind the end with its stack trace. */
    @Test
    void ofSeveralFilesThatAreGoneTheFirstIsTold() {
        Queue<Throwable> dropped = new ConcurrentLinkedQueue<>();
        Hooks.onErrorDropped(dropped::add);
        SourceOptions raw =
                SourceOptions.of(new CaseInsensitiveStringMap(Map.of("path", folder.toString(), "raw", "true")));
        List<Path> gone =
                IntStream.range(0, 16).mapToObj(i -> folder.resolve(i + ".bin")).toList();
        for (int i = 0; i < 200; i++) {
            assertThatThrownBy(() -> Regions.of(gone, raw))
                    .hasRootCauseInstanceOf(NoSuchFileException.class)
                    .hasMessageContaining("0.bin");
        }
        assertThat(dropped).isEmpty();
    }

    @Test
    void aDamagedArrayIsNoMissingRow() throws IOException {
        String header = "{\"a\":{\"dtype\":\"I8\",\"shape\":[1],\"data_offsets\":[0,1]}}";
        byte[] start = {(byte) header.length(), 0, 0, 0, 0, 0, 0, 0};
        Path shard = Files.write(folder.resolve("a.safetensors"), start);
        Files.writeString(shard, header + "1", StandardOpenOption.APPEND);
        Path index = Files.writeString(
                folder.resolve("m.safetensors.index.json"),
                "{\"weight_map\":{\"a\":\"a.safetensors\",\"z\":\"a.safetensors\"}}");
        SourceOptions options = SourceOptions.of(new CaseInsensitiveStringMap(Map.of("path", folder.toString())));
        assertThat(Regions.of(List.of(shard), options)).hasSize(1);
        assertThatThrownBy(() -> Regions.of(List.of(index), options))
                .hasMessageContaining("array z cannot be read: not there");
    }
}
