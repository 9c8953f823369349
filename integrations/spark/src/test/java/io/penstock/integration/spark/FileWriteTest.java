// SPDX-License-Identifier: Apache-2.0
package io.penstock.integration.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.connector.write.DataWriter;
import org.apache.spark.sql.connector.write.DataWriterFactory;
import org.apache.spark.sql.connector.write.LogicalWriteInfo;
import org.apache.spark.sql.connector.write.WriterCommitMessage;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;
import org.apache.spark.unsafe.types.UTF8String;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.publisher.Mono;
import scala.Tuple2;

/** Rows that become files, on executors of their own. */
@Tag("once")
@ExtendWith(Cluster.class)
class FileWriteTest {

    private static final int NAMES = 200;

    @TempDir
    Path folder;

    private Dataset<Row> arrays(int length, String splitBytes) throws IOException {
        Map<String, byte[]> all = new LinkedHashMap<>();
        for (int i = 0; i < 3; i++) {
            all.put("a" + i, Samples.bytes(i, length + i));
        }
        Samples.safetensors(folder.resolve("model.safetensors"), all);
        return SparkSession.active()
                .read()
                .format("penstock")
                .option("splitBytes", splitBytes)
                .load(folder.toString());
    }

    private static void save(Dataset<Row> rows, Path target) {
        rows.write().format("penstock").mode("append").save(target.toString());
    }

    private static List<Path> files(Path directory) throws IOException {
        try (Stream<Path> found = Files.walk(directory)) {
            return found.filter(Files::isRegularFile).toList();
        }
    }

    @Test
    void rowsBecomeFilesOnceAllTasksHaveCommitted() throws IOException {
        Dataset<Row> rows = arrays(1_000_000, "1m");
        Path target = folder.resolve("out");
        save(rows.selectExpr("concat('sub/', name) as name", "bytes"), target);
        for (int i = 0; i < 3; i++) {
            assertThat(target.resolve("sub/a" + i)).hasBinaryContent(Samples.bytes(i, 1_000_000 + i));
        }
        assertThat(files(target)).hasSize(3);
        assertThat(target.resolve("_temporary")).doesNotExist();
    }

    @Test
    void aFileThatExistsIsKeptAndFailsTheWrite() throws IOException {
        Dataset<Row> rows = arrays(1000, "1k");
        Path target = Files.createDirectory(folder.resolve("out"));
        Files.write(target.resolve("a1"), new byte[] {1});
        assertThatThrownBy(() -> save(rows.select("name", "bytes"), target))
                .hasStackTraceContaining("FileAlreadyExistsException: " + target.resolve("a1"));
        assertThat(files(target)).containsExactly(target.resolve("a1"));
        assertThat(target.resolve("a1")).hasBinaryContent(new byte[] {1});
    }

    @Test
    void aFailedTaskLeavesNoFile() throws IOException {
        Dataset<Row> rows = arrays(1000, "1k");
        Path target = Files.createDirectory(folder.resolve("out"));
        assertThatThrownBy(() -> save(rows.selectExpr("name", "if(name = 'a2', null, bytes) as bytes"), target))
                .hasStackTraceContaining("columns name and bytes of a row to be written must not be null");
        assertThat(files(target)).isEmpty();
    }

    @Test
    void whatIsNoFileBelowTheDirectoryIsRefused() throws IOException {
        Dataset<Row> rows = arrays(1000, "1g");
        Path target = Files.createDirectory(folder.resolve("out"));
        assertThatThrownBy(() -> save(rows.selectExpr("'../x' as name", "bytes"), target))
                .hasStackTraceContaining("name must be the name of a file below the directory, was ../x");
        assertThat(folder.resolve("x")).doesNotExist();
        assertThatThrownBy(() -> save(rows.selectExpr("'y/../_temporary/x' as name", "bytes"), target))
                .hasStackTraceContaining(
                        "name must not be in _temporary, the folder of the tasks, was y/../_temporary/x");
        assertThatThrownBy(() -> save(rows.select("name", "length"), target))
                .hasStackTraceContaining(
                        "rows to be written must have either a column bytes of type binary or a column handle of type bigint, had");
        assertThat(files(target)).isEmpty();
    }

    /** A write that waited for bytes in flight would wait for its own task, which has all of them. */
    @Tag("slow")
    @Test
    void aTaskWritesWhileItsChunksAreAllBytesInFlight() throws IOException {
        Path target = folder.resolve("out");
        Dataset<Tuple2<String, byte[]>> firsts = DeviceTasks.of(arrays(9 << 20, "10m"))
                .chunkBytes(8 << 20)
                .mapPartitionsOnDevice(
                        (region, chunk, backend) -> Mono.just(Tuple2.apply(
                                region.name() + "-" + chunk.index(),
                                new byte[] {chunk.view().get(0)})),
                        Encoders.tuple(Encoders.STRING(), Encoders.BINARY()));
        save(firsts.toDF("name", "bytes"), target);
        assertThat(files(target)).hasSize(6);
        assertThat(target.resolve("a1-0")).hasBinaryContent(new byte[] {Samples.bytes(1, 1)[0]});
    }

    /** As a speculative copy may, which Spark kills once the other attempt has committed, and does not wait for. */
    @RepeatedTest(5)
    void anAttemptThatWritesWhileTheDriverCommitsLeavesNothing() throws Exception {
        Path target = folder.resolve("out");
        FileWrite write = write(target, "query");
        DataWriterFactory factory = write.createBatchWriterFactory(() -> 1);
        DataWriter<InternalRow> first = factory.createWriter(0, 1);
        DataWriter<InternalRow> copy = factory.createWriter(0, 2);
        first.write(row("a", (byte) 7));
        copy.write(row("a", (byte) 7));
        AtomicBoolean committed = new AtomicBoolean();
        CountDownLatch writing = new CountDownLatch(20);
        FutureTask<Integer> slow = new FutureTask<>(() -> {
            int rows = 0;
            for (int after = 0; after < 3; after += committed.get() ? 1 : 0) {
                try {
                    copy.write(row("slow/" + rows++, (byte) 7));
                } catch (IOException removed) {
                    continue; // in this moment
                }
                writing.countDown();
            }
            return rows;
        });
        new Thread(slow).start();
        writing.await();
        WriterCommitMessage[] messages = {first.commit()};
        first.close();
        write.commit(messages);
        committed.set(true);
        assertThat(slow.get()).isGreaterThan(20);
        copy.abort();
        copy.close();
        assertThat(target.resolve("_temporary")).doesNotExist();
        assertThat(files(target)).containsExactly(target.resolve("a"));
        assertThat(target.resolve("a")).hasBinaryContent(new byte[] {7});
    }

    /** One of them succeeds or none, whichever file the two name at the same moment. */
    @RepeatedTest(20)
    void ofTwoWritesOfTheSameNamesAtMostOneSucceedsAndTheFilesAreAllOfIt() throws Exception {
        Path target = folder.resolve("out");
        List<FutureTask<Boolean>> commits = new ArrayList<>();
        CountDownLatch ready = new CountDownLatch(2);
        for (byte content : new byte[] {0, 1}) {
            FileWrite write = write(target, "query-" + content);
            WriterCommitMessage[] messages = {task(target.resolve("_temporary/query-" + content + "/0-0"), content)};
            commits.add(new FutureTask<>(() -> {
                ready.countDown();
                ready.await();
                try {
                    write.commit(messages);
                    return true;
                } catch (UncheckedIOException taken) {
                    assertThat(taken).hasCauseInstanceOf(FileAlreadyExistsException.class);
                    write.abort(messages);
                    return false;
                }
            }));
        }
        commits.forEach(commit -> new Thread(commit).start());
        boolean first = commits.get(0).get();
        boolean second = commits.get(1).get();
        assertThat(first && second).as("both succeeded").isFalse();
        assertThat(files(target).size()).isEqualTo(first || second ? NAMES : 0);
        for (Path file : files(target)) {
            assertThat(file).hasBinaryContent(new byte[] {(byte) (first ? 0 : 1)});
        }
        assertThat(target.resolve("_temporary")).doesNotExist();
    }

    /** Returns what a task has written, which is written here without the syncs of a task. */
    private static WriterCommitMessage task(Path folder, byte content) throws IOException {
        Files.createDirectories(folder);
        List<String> names = new ArrayList<>();
        for (int i = 0; i < NAMES; i++) {
            names.add("f" + i);
            Files.write(folder.resolve("f" + i), new byte[] {content});
        }
        return new FileWriter.Written(folder.toString(), names);
    }

    private static InternalRow row(String name, byte content) {
        return new GenericInternalRow(new Object[] {UTF8String.fromString(name), new byte[] {content}});
    }

    private static FileWrite write(Path target, String query) {
        return new FileWrite(
                SourceOptions.of(new CaseInsensitiveStringMap(Map.of("path", target.toString()))), new Info(query));
    }

    private record Info(String queryId) implements LogicalWriteInfo {
        @Override
        public CaseInsensitiveStringMap options() {
            return CaseInsensitiveStringMap.empty();
        }

        @Override
        public StructType schema() {
            return new StructType().add("name", DataTypes.StringType).add("bytes", DataTypes.BinaryType);
        }
    }
}
