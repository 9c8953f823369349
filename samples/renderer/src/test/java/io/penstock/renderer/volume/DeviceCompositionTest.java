// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.volume;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.renderer.picture.Picture;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The kernels draw what the processor draws, to the bit: here compiled for the processor, on a GPU by its own compiler.
 */
@Tag("slow")
class DeviceCompositionTest {

    @TempDir
    static Path folder;

    private static CpuKernels kernels;

    @BeforeAll
    static void compile() throws Exception {
        kernels = CpuKernels.compile(folder);
    }

    @AfterEach
    void nothingLeaks() {
        assertThat(kernels.leaks()).isZero();
    }

    static Stream<Arguments> volumes() {
        return Stream.of(
                Arguments.of(VoxelType.UINT8, ByteOrder.LITTLE_ENDIAN, 1, new int[] {41, 33, 37}),
                Arguments.of(VoxelType.INT16, ByteOrder.BIG_ENDIAN, -1, new int[] {20, 31, 60}),
                Arguments.of(VoxelType.UINT16, ByteOrder.LITTLE_ENDIAN, 1, new int[] {20, 31, 60}),
                Arguments.of(VoxelType.FLOAT32, ByteOrder.BIG_ENDIAN, 1, new int[] {110, 13, 9}),
                Arguments.of(VoxelType.FLOAT32, ByteOrder.LITTLE_ENDIAN, -1, new int[] {9, 13, 50}),
                Arguments.of(VoxelType.INT8, ByteOrder.LITTLE_ENDIAN, 1, new int[] {15, 16, 1}));
    }

    @ParameterizedTest
    @MethodSource("volumes")
    void projectionsAreTheSame(VoxelType type, ByteOrder order, int slope, int[] extents) throws Exception {
        Phantom phantom =
                Phantom.ball(type, order, extents[0], extents[1], extents[2]).slope(slope);
        Showing showing = new Showing(phantom);
        for (int world = 0; world < 3; world++) {
            Picture expected =
                    showing.picture(1 << 20, new MaximumProjection(showing.header(), world, Display.DEFAULT));
            for (long budget : new long[] {2L * extents[0] * extents[1] * type.bytes(), 60_000, 1 << 20}) {
                Picture picture =
                        drawn(phantom, budget, new DeviceProjection(showing.header(), world, Display.DEFAULT, kernels));
                assertThat(picture.rgb())
                        .as("from %d, budget %d", world, budget)
                        .isEqualTo(expected.rgb());
            }
        }
    }

    @ParameterizedTest
    @MethodSource("volumes")
    void picturesFromAnyAngleAreTheSame(VoxelType type, ByteOrder order, int slope, int[] extents) throws Exception {
        Phantom phantom = Phantom.ball(type, order, extents[0], extents[1], extents[2])
                .spacing(1, 1.5, 0.75)
                .slope(slope);
        Showing showing = new Showing(phantom);
        Scene scene = showing.scene(1 << 20).displayed(new Display(extents[0] < 16 ? 128 : 512, 1.25, 0.45, 0.9));
        int least = (extents[0] + 4) * (extents[1] + 4) * (8 + 2 * type.bytes());
        for (Camera camera : new Camera[] {new Camera(0, 90), new Camera(33, 20), new Camera(215, -40)}) {
            Picture shaded = showing.picture(1 << 20, RayView.shaded(scene, camera));
            Picture maximum = showing.picture(1 << 20, RayView.maximum(scene, camera));
            for (long budget : new long[] {least, 3L * least, 1 << 20}) {
                String as = camera + ", budget " + budget;
                Picture picture = drawn(phantom, budget, DeviceRayView.shaded(scene, camera, kernels));
                assertThat(picture.rgb()).as(as).isEqualTo(shaded.rgb());
                picture = drawn(phantom, budget, DeviceRayView.maximum(scene, camera, kernels));
                assertThat(picture.rgb()).as("maximum, " + as).isEqualTo(maximum.rgb());
            }
        }
    }

    private static Picture drawn(Phantom phantom, long budgetBytes, DeviceComposition composition) throws Exception {
        try (composition) {
            for (SlabPlan.Range slab : SlabPlan.within(Budget.of(budgetBytes), phantom.header(), composition)
                    .slabs()) {
                long memory = kernels.allocate(slab.bytes() + 1);
                kernels.put(
                        phantom.file
                                .duplicate()
                                .limit((int) (slab.fileOffset() + slab.bytes()))
                                .position((int) slab.fileOffset()),
                        memory + 1);
                composition.visit(slab, new DevicePlace(memory, 1)); // no alignment is promised
                kernels.free(memory);
            }
            return composition.finish();
        }
    }
}
