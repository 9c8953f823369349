// SPDX-License-Identifier: Apache-2.0
package io.penstock.lucene;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.abort;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.Options;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.InterruptedIOException;
import java.io.Reader;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.FloatVectorValues;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.FSLockFactory;
import org.apache.lucene.store.IOContext;
import org.apache.lucene.store.IndexOutput;
import org.apache.lucene.store.MMapDirectory;
import org.apache.lucene.store.MergeInfo;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Vectors on a file system that fails as ordered, through the kernel; {@code fault-fs.c} says which orders there are. */
class FaultyDiskTest {

    private static final int[] ORDINALS = {5, 7, 100};
    private static final int DOCUMENTS = 300;
    private static final String SOURCE = "../../backend-host/src/test/c/fault-fs.c";
    private static final int FOOTER = 16; // bytes behind the last vector

    @TempDir(factory = OnDisk.class)
    Path folder;

    private @Nullable Process server;
    private Writer orders = Writer.nullWriter();
    private BufferedReader answers = new BufferedReader(Reader.nullReader());
    private long vector; // where the vector of ordinal 7 begins

    /** Leaves the index where it is, but for the file of its vectors. */
    @BeforeEach
    void mount() throws IOException, InterruptedException {
        Path program = folder.resolve("fault-fs");
        Path mounted = Files.createDirectory(folder.resolve("mounted"));
        try {
            run("cc", "-O1", "-D_FILE_OFFSET_BITS=64", "-o", program.toString(), SOURCE, "-lfuse3", "-lpthread");
            ProcessBuilder start =
                    new ProcessBuilder(program.toString(), "-f", "-o", "default_permissions", mounted.toString());
            start.environment().put("CACHED", "1"); // MMapDirectory maps it
            server = start.redirectError(folder.resolve("log").toFile()).start();
            orders = server.outputWriter(StandardCharsets.US_ASCII);
            answers = new BufferedReader(new InputStreamReader(server.getInputStream(), StandardCharsets.US_ASCII));
            if (!"mounted".equals(answers.readLine())) {
                throw new IOException(Files.readString(folder.resolve("log")));
            }
        } catch (IOException e) {
            if (List.of(System.getenv().getOrDefault("PENSTOCK_REQUIRE", "").split(","))
                    .contains("faults")) {
                throw e;
            }
            abort("no FUSE: " + e.getMessage());
        }
        try (Directory plain = new MMapDirectory(index())) {
            VectorIndex.write(plain, VectorIndex.Format.FULL, 1, DOCUMENTS, false, false);
        }
        Path vectors = vectors();
        Path moved = mounted.resolve("vectors");
        Files.write(moved, Files.readAllBytes(vectors));
        Files.delete(vectors);
        Files.createSymbolicLink(vectors, moved);
        int bytes = VectorIndex.DIMENSION * Float.BYTES;
        vector = Files.size(moved) - FOOTER - (long) (DOCUMENTS - 7) * bytes;
    }

    private Path index() {
        return folder.resolve("index");
    }

    private Path vectors() throws IOException {
        try (Stream<Path> files = Files.list(index())) {
            return files.filter(file -> file.toString().endsWith(".vec"))
                    .findAny()
                    .orElseThrow();
        }
    }

    private static void run(String... command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (process.waitFor() != 0) {
            throw new IOException(said);
        }
    }

    private void order(String line) throws IOException {
        orders.write(line + "\n");
        orders.flush();
        assertThat(answers.readLine()).isEqualTo("ok");
    }

    @AfterEach
    void unmount() throws Exception {
        if (server != null) {
            orders.close(); // it unmounts, and ends
            if (!server.waitFor(20, TimeUnit.SECONDS)) {
                server.destroyForcibly().waitFor();
                run("umount", "-l", folder.resolve("mounted").toString());
            }
        }
    }

    private PenstockDirectory directory(Backend backend) throws IOException {
        Options options = Options.none()
                .with(LuceneOptions.ANNOUNCED, "*.vec")
                .with(LuceneOptions.FALLBACK, LuceneOptions.Fallback.THREADS);
        return PenstockDirectory.open(index(), backend, options, FSLockFactory.getDefault());
    }

    private static FloatVectorValues values(DirectoryReader reader) throws IOException {
        return reader.leaves().get(0).reader().getFloatVectorValues(VectorIndex.FIELD);
    }

    @Test
    void aDiskErrorFailsItsQueryAndNotTheNext() throws IOException {
        try (Backend backend = Backends.open("host")) {
            try (PenstockDirectory served = directory(backend);
                    DirectoryReader reader = DirectoryReader.open(served)) {
                FloatVectorValues values = values(reader);
                float[] right = values.copy().vectorValue(7).clone(); // mapped
                order("fail r " + vector + " 5 -1");
                served.announce(values, ORDINALS, 3);
                assertThatThrownBy(() -> values.copy().vectorValue(5))
                        .isInstanceOf(IOException.class)
                        .hasMessageContainingAll(".vec", "EIO (5)");
                assertThat(backend.counters().buffers()).as("buffers").isZero();
                order("clear");
                served.announce(values, ORDINALS, 3);
                assertThat(values.copy().vectorValue(7)).isEqualTo(right);
                assertThat(served.counters().gathered()).isEqualTo(6);
            }
            Left.awaitNothing(backend);
        }
    }

    /** Lucene deletes the segments that were merged. */
    @Test
    void aDiskThatCannotKeepWhatAMergeHasWrittenSaysSo() throws IOException {
        try (Backend backend = Backends.open("host")) {
            Options options = Options.none().with(LuceneOptions.FALLBACK, LuceneOptions.Fallback.THREADS);
            try (PenstockDirectory served =
                    PenstockDirectory.open(folder.resolve("mounted"), backend, options, FSLockFactory.getDefault())) {
                IndexOutput output =
                        served.createOutput("_9.vec", IOContext.merge(new MergeInfo(1, 1 << 20, false, 1)));
                output.writeBytes(new byte[300_000], 300_000);
                order("fail s 0 5 1");
                assertThatThrownBy(output::close)
                        .isInstanceOf(IOException.class)
                        .hasMessageContainingAll("_9.vec", "EIO (5)");
            }
            Left.awaitNothing(backend);
        }
    }

    @Test
    void aDiskThatHangsLetsAQueryBeInterruptedAndKeepsNothing() throws Exception {
        try (Backend backend = Backends.open("host")) {
            try (PenstockDirectory served = directory(backend);
                    DirectoryReader reader = DirectoryReader.open(served)) {
                FloatVectorValues values = values(reader);
                float[] right = values.copy().vectorValue(7).clone(); // mapped
                order("hold r " + vector);
                AtomicReference<Throwable> ended = new AtomicReference<>();
                Thread query = new Thread(() -> {
                    try {
                        served.announce(values, ORDINALS, 3);
                        values.copy().vectorValue(5);
                    } catch (IOException e) {
                        ended.set(e);
                    }
                });
                query.start();
                order("held 1");
                query.interrupt();
                query.join(20_000);
                assertThat(ended.get()).isInstanceOf(InterruptedIOException.class);
                order("clear");
                served.announce(values, ORDINALS, 3);
                assertThat(values.copy().vectorValue(7)).isEqualTo(right);
            }
            Left.awaitNothing(backend);
        }
    }
}
