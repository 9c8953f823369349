// SPDX-License-Identifier: Apache-2.0
package io.penstock.integration.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.apache.spark.api.java.function.VoidFunction2;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.streaming.StreamingQuery;
import org.apache.spark.sql.streaming.StreamingQueryException;
import org.apache.spark.sql.streaming.Trigger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** A directory that grows, read by micro-batches. */
@Tag("once")
@ExtendWith(Cluster.class)
@Tag("slow")
class RegionStreamTest {

    @TempDir
    Path scratch;

    private Path folder;
    private final List<List<String>> batches = new ArrayList<>();
    private Trigger trigger = Trigger.ProcessingTime(0);

    @BeforeEach
    void createFolder() throws Exception {
        folder = Files.createDirectory(scratch.resolve("in"));
    }

    /** Spark passes its path as a text, not as a URI. */
    private Path checkpoint() {
        return scratch.resolve("100% check%20point é");
    }

    private StreamingQuery start(int mostFiles) throws Exception {
        VoidFunction2<Dataset<Row>, Long> collect = (rows, id) -> {
            List<String> names = rows.collectAsList().stream()
                    .map(row -> row.getString(0) + " " + row.<byte[]>getAs(1).length)
                    .sorted()
                    .toList();
            batches.add(names);
        };
        return SparkSession.active()
                .readStream()
                .format("penstock")
                .option("raw", true)
                .option("maxFilesPerTrigger", mostFiles)
                .load(folder.toString())
                .where("name like '%.bin'")
                .select("name", "bytes")
                .writeStream()
                .option("checkpointLocation", checkpoint().toString())
                .trigger(trigger)
                .foreachBatch(collect)
                .start();
    }

    private void write(String name, int length) throws Exception {
        Path temporary = Files.write(folder.resolve("_" + name), new byte[length]);
        Files.move(temporary, folder.resolve(name));
    }

    @Test
    void aFileIsReadOnceAlsoAfterARestart() throws Exception {
        write("b.bin", 10);
        write("c.txt", 1);
        StreamingQuery query = start(100);
        query.processAllAvailable();
        assertThat(batches).containsExactly(List.of("b.bin 10"));
        write("a.bin", 20);
        query.processAllAvailable();
        query.stop();
        Files.write(folder.resolve("_unfinished.bin"), new byte[5]);
        write("d.bin", 30);
        StreamingQuery again = start(100);
        again.processAllAvailable();
        again.stop();
        assertThat(batches).containsExactly(List.of("b.bin 10"), List.of("a.bin 20"), List.of("d.bin 30"));
    }

    @Test
    void aBatchHasAtMostAsManyFiles() throws Exception {
        for (String name : List.of("1.bin", "2.bin", "3.bin")) {
            write(name, 1);
        }
        StreamingQuery query = start(2);
        query.processAllAvailable();
        query.stop();
        assertThat(batches).containsExactly(List.of("1.bin 1", "2.bin 1"), List.of("3.bin 1"));
        assertThat(checkpoint().resolve("sources/0/files")).isDirectoryContaining("glob:**/2");
    }

    @Test
    void whatIsAvailableNowIsReadInBatchesAndThenItEnds() throws Exception {
        trigger = Trigger.AvailableNow();
        for (String name : List.of("1.bin", "2.bin", "3.bin")) {
            write(name, 1);
        }
        assertThat(start(2).awaitTermination(60_000)).isTrue();
        assertThat(batches).containsExactly(List.of("1.bin 1", "2.bin 1"), List.of("3.bin 1"));
        write("4.bin", 1);
        assertThat(start(2).awaitTermination(60_000)).isTrue();
        assertThat(batches).last().isEqualTo(List.of("4.bin 1"));
    }

    @Test
    void aCheckpointWhoseListOfFilesIsGoneIsRefusedAndNotContinuedWithoutThem() throws Exception {
        trigger = Trigger.AvailableNow();
        write("a.bin", 1);
        assertThat(start(1).awaitTermination(60_000)).isTrue();
        try (Stream<Path> entries = Files.list(checkpoint().resolve("sources/0/files"))) {
            for (Path entry : entries.toList()) {
                Files.delete(entry);
            }
        }
        write("b.bin", 1);
        for (int attempt = 1; attempt <= 2; attempt++) {
            StreamingQuery query = start(1);
            assertThatThrownBy(() -> query.awaitTermination(60_000))
                    .as("attempt %d", attempt)
                    .isInstanceOf(StreamingQueryException.class)
                    .hasMessageContaining("files of the checkpoint were deleted");
        }
        assertThat(batches).containsExactly(List.of("a.bin 1"));
    }

    /** The driver was killed after it had listed a file, and before Spark had planned the batch. */
    @Test
    void aBatchAfterACrashHasAtMostAsManyFilesToo() throws Exception {
        for (String name : List.of("1.bin", "2.bin", "3.bin")) {
            write(name, 1);
        }
        Path log = Files.createDirectories(checkpoint().resolve("sources/0/files"));
        Files.writeString(log.resolve("1"), "[\"" + folder.resolve("1.bin") + "\"]");
        StreamingQuery query = start(1);
        query.processAllAvailable();
        query.stop();
        assertThat(batches).containsExactly(List.of("1.bin 1"), List.of("2.bin 1"), List.of("3.bin 1"));
    }

    /** A file was listed, and removed before its batch was planned. */
    @Test
    void aFileThatIsRemovedMeanwhileIsLeftOutIfSparkIsToldSo() throws Exception {
        trigger = Trigger.AvailableNow();
        write("2.bin", 1);
        Path log = Files.createDirectories(checkpoint().resolve("sources/0/files"));
        Files.writeString(log.resolve("1"), "[\"" + folder.resolve("1.bin") + "\"]");
        StreamingQuery failing = start(1);
        assertThatThrownBy(() -> failing.awaitTermination(60_000)).hasStackTraceContaining("1.bin");
        SparkSession.active().conf().set("spark.sql.files.ignoreMissingFiles", true);
        try {
            assertThat(start(1).awaitTermination(60_000)).isTrue();
        } finally {
            SparkSession.active().conf().unset("spark.sql.files.ignoreMissingFiles");
        }
        assertThat(batches).last().isEqualTo(List.of("2.bin 1"));
    }
}
