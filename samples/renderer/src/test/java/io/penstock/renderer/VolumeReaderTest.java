// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.renderer.volume.BadVolumeException;
import io.penstock.renderer.volume.Budget;
import io.penstock.renderer.volume.InflationProgress;
import io.penstock.renderer.volume.NiftiFile;
import io.penstock.renderer.volume.Phantom;
import io.penstock.renderer.volume.Slab;
import io.penstock.renderer.volume.SlabVisitor;
import io.penstock.renderer.volume.VoxelType;
import java.io.ByteArrayOutputStream;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What visitors and listeners get of a volume, and of one that changes while it is read. */
class VolumeReaderTest {

    private static final int SLICE_BYTES = 2 * 20 * 10;
    private static final int SLICES = 23;
    private static final int HEADER_BYTES = 352;

    @TempDir
    Path folder;

    private final Backend backend = Backends.open("host");
    private final byte[] bytes =
            Phantom.ball(VoxelType.INT16, ByteOrder.BIG_ENDIAN, 20, 10, SLICES).bytes();
    private Path path;

    /** Keeps what it was shown. */
    private static final class Keeping implements SlabVisitor {
        final ByteArrayOutputStream seen = new ByteArrayOutputStream();
        final List<ByteOrder> orders = new ArrayList<>();

        @Override
        public long heldBytes(int slices) {
            return 0;
        }

        @Override
        public void visit(Slab slab) {
            orders.add(slab.voxels().order());
            byte[] voxels = new byte[slab.voxels().remaining()];
            slab.voxels().get(voxels);
            seen.writeBytes(voxels);
        }
    }

    @BeforeEach
    void write() throws Exception {
        path = Files.write(folder.resolve("volume.nii"), bytes);
    }

    @AfterEach
    void close() {
        backend.close();
    }

    @Test
    void everyVoxelIsShownOnceAndProgressEndsWithAllBytes() throws Exception {
        Keeping visitor = new Keeping();
        List<Long> progress = new ArrayList<>();
        try (NiftiFile volume = NiftiFile.open(path, InflationProgress.SILENT)) {
            VolumeReader.Pass pass = new VolumeReader(backend, volume, Budget.of(12 * SLICE_BYTES))
                    .show(visitor, (done, taken) -> progress.add(done));
            assertThat(pass.bytes()).isEqualTo(SLICES * SLICE_BYTES);
        }
        assertThat(visitor.seen.toByteArray()).isEqualTo(Arrays.copyOfRange(bytes, HEADER_BYTES, bytes.length));
        assertThat(visitor.orders).containsOnly(ByteOrder.BIG_ENDIAN);
        assertThat(progress).hasSize(8).first().isEqualTo(3L * SLICE_BYTES);
        assertThat(progress).isSorted().doesNotHaveDuplicates().last().isEqualTo((long) SLICES * SLICE_BYTES);
    }

    @Test
    void aVolumeThatBecomesShorterIsNotShownAsIfItWereWhole() throws Exception {
        Keeping visitor = new Keeping();
        try (NiftiFile volume = NiftiFile.open(path, InflationProgress.SILENT)) {
            Files.write(path, Arrays.copyOf(bytes, bytes.length - 1));
            VolumeReader reader = new VolumeReader(backend, volume, Budget.of(12 * SLICE_BYTES));
            assertThatThrownBy(() -> reader.show(visitor, (done, taken) -> {}))
                    .hasRootCauseInstanceOf(BadVolumeException.class)
                    .hasMessageContaining("the volume was truncated while it was read: 799 of 800 bytes at ");
        }
    }
}
