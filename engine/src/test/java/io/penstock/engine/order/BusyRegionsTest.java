// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.order;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.DeviceBuffer;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.engine.order.BusyRegions.AbandonedTransfer;
import io.penstock.engine.plan.Extents;
import io.penstock.engine.plan.NamedBuffer;
import io.penstock.engine.plan.NamedFile;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class BusyRegionsTest {

    private final BusyRegions busy = new BusyRegions();
    private final StorageFile file = new NamedFile("a", 1);
    private final StorageFile other = new NamedFile("b", 1);
    private final DeviceBuffer buffer = new NamedBuffer("x", 0, 1 << 20);
    private final DeviceBuffer spare = new NamedBuffer("y", 0, 1 << 20);
    private final List<String> resumed = new ArrayList<>();

    private static Extents extents(Transfer transfer) {
        return Extents.of(transfer, new Extents.Identities() {
            @Override
            public Object of(StorageFile file) {
                return file;
            }

            @Override
            public Object of(DeviceBuffer buffer) {
                return buffer;
            }
        });
    }

    private AbandonedTransfer abandoned(Transfer transfer) {
        AbandonedTransfer abandoned = new AbandonedTransfer(extents(transfer));
        busy.add(abandoned);
        return abandoned;
    }

    private AbandonedTransfer found(Transfer transfer) {
        return busy.overlapping(extents(transfer));
    }

    private static Transfer read(StorageFile file, long from, DeviceBuffer buffer, long to, long bytes) {
        return Transfer.read(file.region(from, bytes), buffer.region(to, bytes));
    }

    private static Transfer write(StorageFile file, long to, DeviceBuffer buffer, long from, long bytes) {
        return Transfer.write(buffer.region(from, bytes), file.region(to, bytes));
    }

    @Test
    void anOverlapInTheBufferCountsWhateverTheDirection() {
        AbandonedTransfer abandoned = abandoned(read(file, 0, buffer, 100, 100));
        assertThat(found(read(other, 0, buffer, 199, 1))).isSameAs(abandoned);
        assertThat(found(write(other, 0, buffer, 0, 101))).isSameAs(abandoned);
        assertThat(found(read(other, 0, buffer, 200, 1))).as("the byte behind").isNull();
        assertThat(found(read(other, 0, buffer, 0, 100))).as("the byte before").isNull();
    }

    @Test
    void anOverlapInTheFileCountsWhenOneOfTheTwoWrites() {
        AbandonedTransfer reader = abandoned(read(file, 0, buffer, 0, 100));
        assertThat(found(read(file, 0, spare, 0, 100))).as("two reads").isNull();
        assertThat(found(write(file, 99, spare, 0, 1))).isSameAs(reader);
        busy.remove(reader);
        AbandonedTransfer writer = abandoned(write(file, 0, buffer, 0, 100));
        assertThat(found(read(file, 50, spare, 0, 100))).isSameAs(writer);
        assertThat(found(read(other, 50, spare, 0, 100))).as("another file").isNull();
    }

    @Test
    void theGapsBetweenTheBlocksOfAGatherAreFree() {
        AbandonedTransfer abandoned =
                abandoned(Transfer.gather(file, new long[] {9000, 0, 3000, 3100}, 100, buffer.region(0, 400)));
        assertThat(found(write(file, 100, spare, 0, 2900))).isNull();
        assertThat(found(write(file, 3199, spare, 0, 1))).isSameAs(abandoned);
        assertThat(found(write(file, 3200, spare, 0, 5800))).isNull();
        assertThat(found(write(file, 3200, spare, 0, 5801))).isSameAs(abandoned);
    }

    @Test
    void aTransferBehindAnAbandonedOneIsResumedWhenThatEnds() {
        Transfer read = read(file, 0, buffer, 0, 100);
        AbandonedTransfer abandoned = abandoned(read);
        assertThat(busy.waitsBehind(extents(read), () -> resumed.add("a"))).isTrue();
        assertThat(busy.waitsBehind(extents(read), () -> resumed.add("b"))).isTrue();
        assertThat(busy.isEmpty()).isFalse();
        assertThat(resumed).isEmpty();
        busy.remove(abandoned);
        assertThat(resumed).containsExactly("a", "b");
        assertThat(busy.isEmpty()).isTrue();
        assertThat(busy.waitsBehind(extents(read), () -> resumed.add("late")))
                .as("it has ended")
                .isFalse();
        busy.remove(abandoned);
        assertThat(resumed).hasSize(2);
    }

    @Test
    void aTransferThatOverlapsTwoAbandonedOnesWaitsForBoth() {
        AbandonedTransfer first = abandoned(read(file, 0, buffer, 0, 100));
        AbandonedTransfer second = abandoned(read(file, 0, buffer, 100, 100));
        Extents both = extents(read(other, 0, buffer, 50, 100));
        assertThat(busy.waitsBehind(both, () -> resumed.add("first"))).isTrue();
        busy.remove(first);
        assertThat(resumed).containsExactly("first");
        assertThat(busy.waitsBehind(both, () -> resumed.add("second")))
                .as("the second is still there")
                .isTrue();
        busy.remove(second);
        assertThat(resumed).containsExactly("first", "second");
        assertThat(busy.waitsBehind(both, () -> resumed.add("late"))).isFalse();
    }

    @Test
    void aTransferThatEndedBeforeItsCancelArrivedNeverBecomesAAbandoned() {
        AbandonedTransfer abandoned = new AbandonedTransfer(extents(read(file, 0, buffer, 0, 100)));
        busy.remove(abandoned);
        busy.add(abandoned);
        assertThat(busy.isEmpty()).isTrue();
    }

    @Test
    void transfersOfManyPairsOverlapExactlyWhereTheirBytesDo() {
        Random random = new Random(42);
        for (int round = 0; round < 3000; round++) {
            boolean[] mine = new boolean[2000];
            boolean[] theirs = new boolean[2000];
            Extents one = extents(scattered(random, mine));
            Extents two = extents(scattered(random, theirs));
            boolean meet = false;
            for (int i = 0; i < mine.length; i++) {
                meet |= mine[i] && theirs[i];
            }
            assertThat(one.conflicts(two)).as("round %s", round).isEqualTo(meet);
            assertThat(two.conflicts(one)).as("round %s", round).isEqualTo(meet);
        }
    }

    private Transfer scattered(Random random, boolean[] touched) {
        List<Transfer> pairs = new ArrayList<>();
        for (int i = 1 + random.nextInt(6); i > 0; i--) {
            int bytes = random.nextInt(random.nextBoolean() ? 60 : 4);
            int at = random.nextInt(touched.length - bytes);
            Arrays.fill(touched, at, at + bytes, true);
            pairs.add(read(file, 0, buffer, at, bytes));
        }
        return pairs.get(0).and(pairs.subList(1, pairs.size()));
    }
}
