// SPDX-License-Identifier: Apache-2.0
package io.penstock.tck;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.Explanation;
import io.penstock.FileOption;
import io.penstock.Outcome;
import io.penstock.PenstockException;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.TransferPath;
import org.junit.jupiter.api.Test;

/** The path is explained before, required, and reported after a transfer (rule 502). */
public interface PathRules extends Rules {

    /**
     * Rule 502: a transfer takes the path that {@code explain} returned. If this fails, check that both choose the path
     * alike.
     */
    @Test
    default void required_502_explainReportsThePathThatTheTransferThenUses(Bench bench) {
        StorageFile file = bench.open(bench.file("data", 100_000), FileOption.READ);
        DeviceBuffer buffer = bench.poisoned(100_000);
        for (long offset : new long[] {0, 4096, 513}) {
            Transfer read = Transfer.read(file.region(offset, 50_000), buffer.region(8192, 50_000));
            Explanation explanation = bench.backend().explain(read);
            Completion completion = bench.move(read);
            assertThat(explanation.path()).isEqualTo(completion.path());
            assertThat(explanation.evidence()).isEqualTo(completion.evidence());
            assertThat(explanation.segments()).isPositive();
            assertThat(Long.bitCount(explanation.alignment())).isOne();
        }
    }

    /** Explaining moves nothing. If this fails, check that {@code explain} only plans. */
    @Test
    default void required_502_explainMovesNothing(Bench bench) {
        StorageFile file = bench.open(bench.file("data", 100_000), FileOption.READ, FileOption.WRITE);
        DeviceBuffer buffer = bench.poisoned(100_000);
        for (int i = 0; i < 100; i++) {
            bench.backend().explain(Transfer.read(file.all(), buffer.all()));
            bench.backend().explain(Transfer.write(buffer.all(), file.all()));
        }
        bench.letOthersRun();
        Content.assertPoison(buffer.all());
        Content.assertHolds(file.path(), Pattern.of(file.path()), 0, 100_000);
    }

    /**
     * Rule 502: every path that is not direct has a reason. If this fails, check {@code IoPath.reason} and
     * {@code remedy}.
     */
    @Test
    default void required_502_whyNotDirectIsReportedExactlyIfThePathIsNotDirect(Bench bench) {
        StorageFile file = bench.open(bench.file("data", 4096), FileOption.READ);
        Transfer read = Transfer.read(file.all(), bench.poisoned(4096).all());
        Explanation explanation = bench.backend().explain(read);
        assertThat(explanation.whyNotDirect().isEmpty()).isEqualTo(explanation.path() == TransferPath.DIRECT);
    }

    /**
     * Rule 502: more bytes, more segments; and a segment is no smaller than configured. If this fails, check the count.
     */
    @Test
    default void required_502_explainCountsSegments(Bench bench) {
        StorageFile file = bench.open(bench.file("data", 16 << 20), FileOption.READ);
        DeviceBuffer buffer = bench.poisoned(16 << 20);
        long one = bench.backend()
                .explain(Transfer.read(file.region(0, 4096), buffer.region(0, 4096)))
                .segments();
        long many =
                bench.backend().explain(Transfer.read(file.all(), buffer.all())).segments();
        assertThat(one).isOne();
        assertThat(many).isBetween(1L, (16L << 20) / 4096);
    }

    /**
     * Rule 502: {@code requireDirect} fails before any I/O. If this fails, check what is tested before the I/O queue.
     */
    @Test
    default void required_502_requireDirectIsHonouredOrRefusedBeforeAnyByteMoves(Bench bench) {
        StorageFile file = bench.open(bench.file("data", 4096), FileOption.READ);
        DeviceBuffer buffer = bench.poisoned(4096);
        Transfer read = Transfer.read(file.all(), buffer.all()).requireDirect();
        Explanation explanation = bench.backend().explain(read);
        Witness<Completion> direct = Witness.of(bench.backend().submit(read));
        if (bench.subject().path() == TransferPath.DIRECT) {
            assertThat(direct.value().path()).isEqualTo(TransferPath.DIRECT);
            return;
        }
        PenstockException refusal = (PenstockException) direct.error();
        assertThat(refusal.outcome()).isEqualTo(Outcome.NOT_STARTED);
        assertThat(refusal).hasMessageContaining(explanation.whyNotDirect());
        bench.letOthersRun();
        Content.assertPoison(buffer.all());
    }
}
