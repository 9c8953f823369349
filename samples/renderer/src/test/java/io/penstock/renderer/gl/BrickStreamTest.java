// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.gl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Backends;
import io.penstock.Completion;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.renderer.gl.ffi.GlReads;
import io.penstock.renderer.picture.Picture;
import io.penstock.renderer.volume.BadVolumeException;
import io.penstock.renderer.volume.Budget;
import io.penstock.renderer.volume.DeviceComposition;
import io.penstock.renderer.volume.DevicePlace;
import io.penstock.renderer.volume.NiftiHeader;
import io.penstock.renderer.volume.Phantom;
import io.penstock.renderer.volume.SlabPlan;
import io.penstock.renderer.volume.VoxelType;
import io.penstock.tck.Require;
import java.io.ByteArrayOutputStream;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Slabs come to shaders in a few textures, whole, in the requested order. */
class BrickStreamTest {

    private static final int COLUMNS = 37;
    private static final int ROWS = 23;
    private static final int SLICES = 50;
    private static final int BUDGET = 4 * 3 * COLUMNS * ROWS; // four textures of three slices

    @TempDir
    Path folder;

    private GlApplication application;
    private Phantom phantom;
    private NiftiHeader header;
    private Path file;

    @BeforeAll
    static void require() {
        Backends.list().stream()
                .filter(listing -> listing.name().equals("gl"))
                .forEach(listing -> Require.backend("gl", listing.availability()));
    }

    @BeforeEach
    void open() throws Exception {
        application = GlApplication.open(Options.none());
        phantom = Phantom.ball(VoxelType.UINT8, ByteOrder.LITTLE_ENDIAN, COLUMNS, ROWS, SLICES);
        header = phantom.header();
        file = Files.write(folder.resolve("volume.nii"), phantom.bytes());
    }

    @AfterEach
    void close() {
        application.close();
    }

    /** Looks at every texel of each slab. */
    private static class Looking implements DeviceComposition {

        private final ByteArrayOutputStream seen = new ByteArrayOutputStream();
        private final Set<Long> textures = new TreeSet<>();

        @Override
        public void visit(SlabPlan.Range slab, DevicePlace place) {
            textures.add(place.memory());
            byte[] texels = GlReads.texels((int) place.memory(), GlReads.GL_RED_INTEGER, 3 * COLUMNS * ROWS);
            GlApplication.check("glGetTextureImage");
            seen.write(texels, 0, (int) slab.bytes()); // the last slab is thinner
        }

        @Override
        public long heldBytes(int slices) {
            return 0;
        }

        @Override
        public Picture finish() {
            throw new UnsupportedOperationException();
        }

        @Override
        public void close() {}
    }

    private long show(BrickStream bricks, DeviceComposition composition) {
        return application
                .backend()
                .withFile(
                        file,
                        FileOption.READ,
                        opened -> bricks.show(opened, composition)
                                .map(Completion::bytes)
                                .reduce(0L, Long::sum))
                .blockOptional()
                .orElseThrow();
    }

    @Test
    void everySlabIsSeenOnceAndWholeInAsManyTexturesAsTheBudgetHasRoomFor() throws Exception {
        Looking looking = new Looking();
        SlabPlan plan = SlabPlan.within(Budget.of(BUDGET), header, looking);
        assertThat(plan.slabs()).hasSize(17);
        try (BrickStream bricks = new BrickStream(application, header, plan)) {
            assertThat(show(bricks, looking)).isEqualTo(COLUMNS * ROWS * SLICES);
            assertThat(looking.textures).hasSize(4);
            assertThat(looking.textures).allMatch(this::isTexture);
        }
        assertThat(looking.textures).noneMatch(this::isTexture);
        byte[] voxels = Arrays.copyOfRange(
                phantom.bytes(), (int) header.voxelOffset(), (int) header.voxelOffset() + COLUMNS * ROWS * SLICES);
        assertThat(looking.seen.toByteArray()).isEqualTo(voxels);
    }

    private boolean isTexture(long name) {
        return application.call(() -> GlReads.glIsTexture((int) name) != 0);
    }

    @Test
    void aFileThatBecomesShorterIsNamed() throws Exception {
        Looking looking = new Looking();
        SlabPlan plan = SlabPlan.within(Budget.of(BUDGET), header, looking);
        Files.write(file, Arrays.copyOf(phantom.bytes(), 20_000));
        try (BrickStream bricks = new BrickStream(application, header, plan)) {
            assertThatThrownBy(() -> show(bricks, looking))
                    .hasRootCauseInstanceOf(BadVolumeException.class)
                    .hasMessageContaining("the volume was truncated while it was read");
        }
    }

    @Test
    void aFailureInTheShadersEndsTheStream() throws Exception {
        Looking looking = new Looking() {
            @Override
            public void visit(SlabPlan.Range slab, DevicePlace place) {
                throw new IllegalStateException("glDispatchCompute -> 0x502");
            }
        };
        SlabPlan plan = SlabPlan.within(Budget.of(BUDGET), header, looking);
        try (BrickStream bricks = new BrickStream(application, header, plan)) {
            assertThatThrownBy(() -> show(bricks, looking))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessage("glDispatchCompute -> 0x502");
        }
    }
}
