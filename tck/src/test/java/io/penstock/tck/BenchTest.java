// SPDX-License-Identifier: Apache-2.0
package io.penstock.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Backend;
import io.penstock.FileOption;
import io.penstock.Options;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opentest4j.AssertionFailedError;
import org.opentest4j.TestAbortedException;
import reactor.core.publisher.Mono;

/** What a bench does without a backend. */
class BenchTest {

    @TempDir
    Path folder;

    private final List<String> closed = new ArrayList<>();

    private final class Subject extends NoBackend {

        Subject() {
            super(folder);
        }

        @Override
        public Set<FileOption> fileOptions() {
            return Set.of(FileOption.DIRECT, FileOption.IMMUTABLE);
        }

        @Override
        public Optional<Gate> gate(Path place) {
            return Optional.empty();
        }
    }

    /** Holds nothing. */
    private final class NoGate implements Gate {
        @Override
        public Path path() {
            return folder;
        }

        @Override
        public void holdWrites() {}

        @Override
        public void letReadsEnd(int bytes) {}

        @Override
        public void letWritesEnd(int bytes) {}

        @Override
        public void close() {
            closed.add("gate");
        }
    }

    private Bench bench;

    @BeforeEach
    void open() {
        bench = new Bench(new Subject());
    }

    /**
     * Ten rules failed with "neither a regular file nor a block device" where the artifact with the gate was missing.
     */
    @Test
    void aGateThatTheBackendDoesNotOpenIsExplained() {
        IOException refusal = new IOException("neither a regular file nor a block device");
        Backend backend = (Backend) Proxy.newProxyInstance(
                getClass().getClassLoader(),
                new Class<?>[] {Backend.class},
                (proxy, method, arguments) -> method.getName().equals("openFile") ? Mono.error(refusal) : null);
        Bench refused = new Bench(new NoBackend(folder) {
            @Override
            public Backend open(Options options) {
                return backend;
            }
        });
        assertThatThrownBy(() -> refused.openGate(new NoGate(), FileOption.READ))
                .hasMessageContaining("penstock-engine with the classifier testing")
                .hasRootCause(refusal);
    }

    @Test
    void gatesAreClosedFirstAndThenWhatWasOpenedLast() {
        bench.keep(() -> closed.add("backend"));
        bench.keep(new NoGate());
        bench.keep(() -> closed.add("file"));
        bench.with(bench.options()).keep(() -> closed.add("file of another backend"));
        bench.clear();
        assertThat(closed).containsExactly("gate", "file of another backend", "file", "backend");
    }

    @Test
    void aResourceThatCannotBeClosedIsAFailureAndTheRestIsClosed() throws IOException {
        bench.keep(() -> closed.add("backend"));
        bench.keep(() -> {
            throw new IllegalStateException("stuck");
        });
        assertThatThrownBy(bench::clear).isInstanceOf(AssertionError.class).hasMessageContaining("stuck");
        assertThat(closed).containsExactly("backend");
        try (var left = Files.list(folder)) {
            assertThat(left).isEmpty();
        }
    }

    @Test
    void filesHaveTheirPatternWhereTheyHaveIslandsAndElseHoles() {
        Path path = bench.sparse("islands", 10_000, new long[] {0, 100}, new long[] {5000, 5100});
        Pattern pattern = Pattern.of(path);
        assertThat(path).hasSize(10_000);
        Content.assertHolds(path, pattern, 0, 100);
        Content.assertHolds(path, pattern, 5000, 100);
        Content.assertAll(Content.bytes(path, 100, 4900), (byte) 0);
        Content.assertAll(Content.bytes(path, 5100, 4900), (byte) 0);
        Path whole = bench.file("whole", (1 << 20) + 3);
        assertThat(whole).hasSize((1 << 20) + 3);
        Content.assertHolds(whole, Pattern.of(whole), 0, (1 << 20) + 3);
        bench.clear();
    }

    @Test
    void onlyFilesThatAreNotOpenForWritingAreImmutable() {
        assertThat(bench.withSubjects(FileOption.READ))
                .containsExactlyInAnyOrder(FileOption.READ, FileOption.DIRECT, FileOption.IMMUTABLE);
        assertThat(bench.withSubjects(FileOption.READ, FileOption.WRITE))
                .containsExactlyInAnyOrder(FileOption.READ, FileOption.WRITE, FileOption.DIRECT);
        bench.clear();
    }

    @Test
    void aSubjectWithoutAGateSkipsTheTest() {
        assertThatThrownBy(bench::gate)
                .isInstanceOf(Require.isRequired("gate") ? AssertionFailedError.class : TestAbortedException.class)
                .hasMessageContaining("gate");
        bench.clear();
    }
}
