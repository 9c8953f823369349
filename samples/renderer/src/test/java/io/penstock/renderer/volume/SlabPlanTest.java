// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.volume;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteOrder;
import org.junit.jupiter.api.Test;

class SlabPlanTest {

    private final NiftiHeader header = header();

    private static NiftiHeader header() {
        try {
            return Phantom.ball(VoxelType.UINT8, ByteOrder.LITTLE_ENDIAN, 10, 10, 23)
                    .header();
        } catch (BadVolumeException e) {
            throw new AssertionError(e);
        }
    }

    private record Visitor(boolean descending, long heldBytesPerSlice) implements SlabVisitor {
        @Override
        public long heldBytes(int slices) {
            return heldBytesPerSlice * slices;
        }

        @Override
        public void visit(Slab slab) {
            throw new AssertionError();
        }
    }

    @Test
    void leasedAndHeldSlabsFitTheBudget() throws Exception {
        for (long budget = 300; budget < 20_000; budget += 50) {
            SlabPlan plan = SlabPlan.within(Budget.of(budget), header, new Visitor(false, 100));
            int thickest = (int) (plan.chunkBytes() / 100);
            assertThat(plan.depth() * plan.chunkBytes() + 100L * thickest).isLessThanOrEqualTo(budget);
        }
    }

    @Test
    void depthAndChunkAreThoseOfTheBudgetIfTheyFit() throws Exception {
        SlabPlan plan = SlabPlan.within(new Budget(100_000, 250, 7), header, new Visitor(false, 0));
        assertThat(plan.depth()).isEqualTo(7);
        assertThat(plan.chunkBytes()).as("whole slices of 100 bytes").isEqualTo(200);
        assertThat(SlabPlan.within(new Budget(100_000, 1, 2), header, new Visitor(false, 0))
                        .chunkBytes())
                .as("one slice is the least")
                .isEqualTo(100);
        assertThat(SlabPlan.within(new Budget(350, 250, 7), header, new Visitor(false, 0))
                        .depth())
                .as("as many as fit")
                .isEqualTo(3);
    }

    @Test
    void everySliceIsReadOnceInTheRequestedOrder() throws Exception {
        for (boolean descending : new boolean[] {false, true}) {
            SlabPlan plan = SlabPlan.within(Budget.of(2000), header, new Visitor(descending, 0));
            int next = descending ? 23 : 0;
            for (SlabPlan.Range range : plan.slabs()) {
                assertThat(descending ? range.to() : range.from()).isEqualTo(next);
                assertThat(range.fileOffset()).isEqualTo(352 + 100L * range.from());
                assertThat(range.bytes()).isEqualTo(100L * (range.to() - range.from()));
                next = descending ? range.from() : range.to();
            }
            assertThat(next).isEqualTo(descending ? 0 : 23);
            assertThat(plan.slabs().get(0).bytes()).isEqualTo(plan.chunkBytes());
        }
    }

    @Test
    void slabsAreNoLargerThanAByteBufferHoweverLargeTheBudget() throws Exception {
        NiftiHeader large = Phantom.ball(VoxelType.INT16, ByteOrder.LITTLE_ENDIAN, 1, 1, 1)
                .dim(1, 20_000)
                .dim(2, 20_000)
                .dim(3, 100)
                .header();
        SlabPlan plan = SlabPlan.within(Budget.of(1L << 40), large, new Visitor(false, 0));
        assertThat(plan.chunkBytes()).isEqualTo(2 * 800_000_000);
        assertThat(plan.slabs()).hasSize(50);
        assertThat(plan.slabs().get(49).fileOffset()).isEqualTo(352 + 98 * 800_000_000L);
    }

    @Test
    void aSliceMayBeLargerThanAnInt() throws Exception {
        NiftiHeader large = Phantom.ball(VoxelType.FLOAT32, ByteOrder.LITTLE_ENDIAN, 1, 1, 1)
                .dim(1, 30_000)
                .dim(2, 30_000)
                .dim(3, 2)
                .header();
        assertThat(large.sliceBytes()).isEqualTo(3_600_000_000L);
        assertThat(large.end()).isEqualTo(352 + 7_200_000_000L);
        assertThatThrownBy(() -> SlabPlan.within(Budget.of(1L << 40), large, new Visitor(false, 0)))
                .as("no ByteBuffer holds one")
                .isInstanceOf(BadVolumeException.class);
    }

    @Test
    void aSliceThatDoesNotFitIsNamed() {
        assertThatThrownBy(() -> SlabPlan.within(Budget.of(199), header, new Visitor(false, 0)))
                .isInstanceOf(BadVolumeException.class)
                .hasMessage("a budget of 199 bytes is too small: a slice of this volume has 100 bytes, and this view "
                        + "needs at least 200");
    }
}
