// SPDX-License-Identifier: Apache-2.0
package io.penstock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The plans of streams, writes and submissions; their paths do not exist, since a plan opens nothing. */
class PlansTest {

    private static final Path NOWHERE = Path.of("/nowhere/at/all");
    private static final long FOUR_MIB = 4L << 20;

    private final StorageFile file = Untouched.file("data", 1000);

    @Test
    void aStreamOfAPathReadsItInFourChunksOfFourMebibytes() {
        StreamPlan plan = StreamPlan.of(NOWHERE);
        assertThat(plan.path()).contains(NOWHERE);
        assertThat(plan.options()).containsExactly(FileOption.READ);
        assertThat(plan.regions()).isEmpty();
        assertThat(plan.chunkBytes()).isEqualTo(FOUR_MIB);
        assertThat(plan.depth()).isEqualTo(4);
    }

    @Test
    void aStreamPlanIsChangedByMakingAnother() {
        StreamPlan plan = StreamPlan.of(NOWHERE, FileOption.READ, FileOption.DIRECT);
        StreamPlan changed = plan.directDelivery().chunkBytes(7).depth(1);
        assertThat(changed.isDirectDelivery()).isTrue();
        assertThat(plan.isDirectDelivery()).isFalse();
        assertThat(changed.chunkBytes()).isEqualTo(7);
        assertThat(changed.depth()).isOne();
        assertThat(changed.path()).contains(NOWHERE);
        assertThat(changed.options()).containsExactlyInAnyOrder(FileOption.READ, FileOption.DIRECT);
        assertThat(plan.chunkBytes()).isEqualTo(FOUR_MIB);
        assertThat(plan.depth()).isEqualTo(4);
    }

    @Test
    void aStreamOfRegionsKeepsTheirOrderWhateverBecomesOfTheList() {
        List<FileRegion> regions = new ArrayList<>(List.of(file.region(500, 10), file.region(0, 10)));
        StreamPlan plan = StreamPlan.of(regions);
        regions.clear();
        assertThat(plan.regions()).containsExactly(file.region(500, 10), file.region(0, 10));
        assertThat(plan.path()).isEmpty();
        assertThat(StreamPlan.of(file.all()).depth(2).regions()).containsExactly(file.all());
    }

    @Test
    void aWritePlanToAPathMakesOrCutsTheFile() {
        WritePlan plan = WritePlan.to(NOWHERE);
        assertThat(plan.path()).contains(NOWHERE);
        assertThat(plan.options()).containsExactlyInAnyOrder(FileOption.WRITE, FileOption.CREATE, FileOption.TRUNCATE);
        assertThat(plan.region()).isEmpty();
        assertThat(plan.syncs()).isFalse();
        assertThat(plan.chunkBytes()).isEqualTo(FOUR_MIB);
        assertThat(plan.depth()).isEqualTo(4);
        assertThat(WritePlan.to(NOWHERE, FileOption.WRITE).options()).containsExactly(FileOption.WRITE);
    }

    @Test
    void aWritePlanIsChangedByMakingAnother() {
        WritePlan plan = WritePlan.to(file.region(5, 10));
        WritePlan changed = plan.sync().chunkBytes(9).depth(3);
        assertThat(changed.syncs()).isTrue();
        assertThat(changed.chunkBytes()).isEqualTo(9);
        assertThat(changed.depth()).isEqualTo(3);
        assertThat(changed.region()).contains(file.region(5, 10));
        assertThat(plan.syncs()).isFalse();
        assertThat(plan.path()).isEmpty();
    }

    @Test
    void chunksHaveBytesAndThereIsOneAtLeast() {
        for (int bad : new int[] {0, -1}) {
            String bytes = "chunk size must be at least 1 byte, was " + bad;
            String depth = "depth must be at least 1 chunk, was " + bad;
            StreamPlan stream = StreamPlan.of(NOWHERE);
            WritePlan write = WritePlan.to(NOWHERE);
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> stream.chunkBytes(bad))
                    .withMessage(bytes);
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> stream.depth(bad))
                    .withMessage(depth);
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> write.chunkBytes(bad))
                    .withMessage(bytes);
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> write.depth(bad))
                    .withMessage(depth);
        }
    }

    @Test
    void plansTellWhatTheyDo() {
        assertThat(StreamPlan.of(NOWHERE)).hasToString("stream of " + NOWHERE + " in chunks of 4MiB, depth 4");
        assertThat(StreamPlan.of(file.region(5, 10), file.region(0, 1)).chunkBytes(100))
                .hasToString("stream of data[5, 15) and 1 more in chunks of 100, depth 4");
        assertThat(WritePlan.to(file.region(0, 8)).depth(2).sync())
                .hasToString("write to data[0, 8) in chunks of 4MiB, depth 2, then sync");
        assertThat(StreamPlan.of(List.of())).hasToString("stream of no region in chunks of 4MiB, depth 4");
    }

    @Test
    void submitOptionsChangeOneThingAtATime() {
        SubmitOptions options = SubmitOptions.DEFAULT;
        assertThat(options).isEqualTo(new SubmitOptions(128, false, SubmitOptions.Errors.STOP, false));
        assertThat(options.ordered()).isEqualTo(new SubmitOptions(128, true, SubmitOptions.Errors.STOP, false));
        assertThat(options.direct().inFlight(3))
                .isEqualTo(new SubmitOptions(3, false, SubmitOptions.Errors.STOP, true));
        assertThat(options.errors(SubmitOptions.Errors.DELAY).ordered())
                .isEqualTo(new SubmitOptions(128, true, SubmitOptions.Errors.DELAY, false));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> options.inFlight(0))
                .withMessage("inFlight must be at least 1, was 0");
    }
}
