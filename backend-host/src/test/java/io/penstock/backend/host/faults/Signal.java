// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.host.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import io.penstock.Completion;
import io.penstock.FileOption;
import io.penstock.NativeError;
import io.penstock.PenstockException;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.tck.Bench;
import io.penstock.tck.Content;
import io.penstock.tck.Pattern;
import io.penstock.tck.Witness;
import java.nio.file.Path;
import java.time.Duration;
import org.reactivestreams.Publisher;

/** The one terminal signal that a fault may end with. */
final class Signal {

    /** A fault that has not shown after so long hangs; no measure of speed. */
    private static final Duration BOUND = Duration.ofSeconds(30);

    private Signal() {}

    /** Returns the only failure of {@code publisher}, which must come within the bound. */
    static PenstockException failure(Publisher<?> publisher) {
        return failure(Witness.of(publisher));
    }

    /** Returns the only failure, which must come within the bound. */
    static PenstockException failure(Witness<?> witness) {
        await(witness);
        assertThat(witness.terminals()).as("terminal signals (rule 101)").isOne();
        assertThat(witness.error()).isInstanceOf(PenstockException.class);
        return (PenstockException) witness.error();
    }

    /** Returns the only value, which must come within the bound. */
    static <T> T value(Witness<T> witness) {
        await(witness);
        assertThat(witness.terminals()).as("terminal signals (rule 101)").isOne();
        return witness.value();
    }

    /** Waits for the end within the bound. */
    static void await(Witness<?> witness) {
        assertTimeoutPreemptively(BOUND, witness::awaitEnd);
    }

    /** Asserts that {@code failure} carries what the kernel answered, in its message too (rule 401). */
    static void assertAnswer(PenstockException failure, String asked, String symbol, int errno) {
        NativeError answer = failure.nativeError().orElseThrow();
        assertThat(answer.symbol()).isEqualTo(symbol);
        assertThat(answer.code()).isEqualTo(errno);
        assertThat(failure).hasMessageContaining(asked).hasMessageContaining(answer.call() + " -> " + symbol);
    }

    /** Moves bytes of {@code path} and compares them: the backend is as good as new. */
    static void assertWorks(Bench bench, Path path, long bytes) {
        try (StorageFile file = bench.openPlain(path, FileOption.READ);
                var buffer = Bench.get(bench.backend().allocate(bytes))) {
            Transfer read = Transfer.read(file.region(0, bytes), buffer.all());
            Completion completion = value(Witness.of(bench.backend().submit(read)));
            assertThat(completion.bytes()).isEqualTo(bytes);
            Content.assertHolds(Content.bytes(buffer.all()), Pattern.of(path), 0, bytes);
        }
    }
}
