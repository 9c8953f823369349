// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.host.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.BufferRegion;
import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.FileOption;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.backend.host.faults.FuseMount.On;
import io.penstock.backend.host.staged.StagedSubject;
import io.penstock.tck.Bench;
import io.penstock.tck.Content;
import io.penstock.tck.Pattern;
import io.penstock.tck.Rules;
import io.penstock.tck.TckSubject;
import io.penstock.tck.Witness;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** File systems that hang or are slow, with more reads and writes than there are threads and buffers for. */
class HangsTest {

    private static final int BYTES = 1 << 20;
    private static final int MANY = 40;
    private static final int SLOTS = 100;
    private static final long SLOT = 1 << 16;
    private static final long HALF = FuseMount.BYTES / 2;

    /** The same for each way. */
    @Tag(Tool.FAULTS)
    interface Hangs extends Rules {

        @ParameterizedTest
        @ValueSource(booleans = {false, true})
        default void twoFileSystemsThatHangHoldUpNoOther(boolean direct, Bench bench) throws IOException {
            List<FuseMount> mounts = new ArrayList<>();
            List<Witness<Completion>> delayed = new ArrayList<>();
            for (String name : List.of("one", "two")) {
                Path folder = Files.createDirectory(bench.path(name));
                FuseMount fuse = bench.keep(Tool.require(() -> FuseMount.in(folder, FuseMount.CURRENT, Map.of())));
                mounts.add(fuse);
                fuse.hold(On.READ, -1);
                fuse.hold(On.WRITE, -1);
                delayed.addAll(start(bench, fuse.file(), direct));
                fuse.awaitHeld(1);
            }

            Path other = bench.file("fast", 2 * BYTES);
            for (int i = 0; i < 10; i++) {
                try (StorageFile file = bench.openPlain(other, FileOption.READ);
                        DeviceBuffer buffer = Bench.get(bench.backend().allocate(2 * BYTES))) {
                    Transfer read = Transfer.read(file.region(0, 2 * BYTES), buffer.all());
                    Completion completion =
                            Signal.value(Witness.of(bench.backend().submit(read)));
                    assertThat(completion.bytes()).isEqualTo(2 * BYTES);
                    Content.assertHolds(Content.bytes(buffer.all()), Pattern.of(other), 0, 2 * BYTES);
                }
            }
            assertThat(delayed).noneMatch(Witness::hasEnded);

            mounts.forEach(FuseMount::clear);
            delayed.forEach(transfer -> assertThat(transfer.value().bytes()).isEqualTo(BYTES));
        }

        /** An overlay answers as the file systems below it do. */
        @Test
        default void anOverlayWhoseLowerLayerHangsHoldsUpNoOther(Bench bench) {
            FaultPlace overlay = bench.keep(
                    Tool.require(() -> new FaultPlace("overlay", bench.path("").toAbsolutePath())));
            StorageFile file = bench.openPlain(overlay.folder().resolve("data"), FileOption.READ);
            overlay.server().hold(On.READ, -1);
            List<Witness<Completion>> delayed = new ArrayList<>();
            for (int i = 0; i < MANY; i++) {
                DeviceBuffer buffer = bench.keep(Bench.get(bench.backend().allocate(BYTES)));
                delayed.add(Witness.of(bench.backend().submit(Transfer.read(file.region(0, BYTES), buffer.all()))));
            }
            overlay.server().awaitHeld(1);

            Signal.assertWorks(bench, bench.file("fast", 2 * BYTES), 2 * BYTES);
            assertThat(delayed).noneMatch(Witness::hasEnded);

            overlay.server().clear();
            delayed.forEach(read -> assertThat(read.value().bytes()).isEqualTo(BYTES));
        }

        /** A third is cancelled at once. */
        @ParameterizedTest
        @ValueSource(booleans = {false, true})
        default void aStormOnASlowFileSystemIsRightAndDelaysNoOther(boolean direct, Bench bench) {
            FuseMount fuse = FuseMount.of(bench, direct ? Map.of() : Map.of("CACHED", "1"));
            fuse.slow(3000);
            StorageFile file = open(bench, fuse.file(), direct);
            DeviceBuffer written = bench.filled(SLOTS * SLOT, new Pattern(9), HALF);
            List<Witness<Completion>> kept = new ArrayList<>();
            Random random = new Random(direct ? 1 : 2);
            for (int i = 0; i < 240; i++) {
                long at = random.nextInt(SLOTS) * SLOT;
                boolean cancels = random.nextInt(3) == 0;
                DeviceBuffer buffer = bench.keep(Bench.get(bench.backend().allocate(SLOT)));
                Transfer transfer = i % 2 == 0
                        ? Transfer.read(file.region(at, SLOT), buffer.all())
                        : Transfer.write(written.region(at, SLOT), file.region(HALF + at, SLOT));
                Witness<Completion> witness = Witness.of(bench.backend().submit(transfer));
                if (cancels) {
                    witness.cancel();
                } else {
                    kept.add(witness);
                }
                if (i % 24 == 0) {
                    Signal.assertWorks(bench, bench.file("fast", 2 * BYTES), 2 * BYTES);
                }
            }

            for (Witness<Completion> witness : kept) {
                Transfer done = witness.value().transfer();
                assertThat(witness.value().bytes()).isEqualTo(SLOT);
                if (done.isRead()) {
                    Content.assertHolds((BufferRegion) done.target(), done.fileRegion(0));
                } else {
                    Content.assertHolds(fuse.file(), new Pattern(9), done.fileOffset(0), SLOT);
                }
            }
        }

        private static StorageFile open(Bench bench, Path path, boolean direct) {
            return direct
                    ? bench.openPlain(path, FileOption.READ, FileOption.WRITE, FileOption.DIRECT)
                    : bench.openPlain(path, FileOption.READ, FileOption.WRITE);
        }

        private static List<Witness<Completion>> start(Bench bench, Path path, boolean direct) {
            StorageFile file = open(bench, path, direct);
            List<Witness<Completion>> all = new ArrayList<>();
            for (int i = 0; i < MANY; i++) {
                DeviceBuffer buffer = bench.keep(Bench.get(bench.backend().allocate(BYTES)));
                Transfer transfer = i % 2 == 0
                        ? Transfer.read(file.region(0, BYTES), buffer.all())
                        : Transfer.write(buffer.all(), file.region(2L * BYTES, BYTES));
                all.add(Witness.of(bench.backend().submit(transfer)));
            }
            return all;
        }
    }

    /** Over io_uring. */
    @Nested
    class Uring implements Hangs {
        @Override
        public TckSubject subject() {
            return FaultSubject.uring();
        }
    }

    /** Over threads that make blocking calls. */
    @Nested
    class Pool implements Hangs {
        @Override
        public TckSubject subject() {
            return FaultSubject.pool();
        }
    }

    /** Over staging buffers. */
    @Nested
    class Staged implements Hangs {
        @Override
        public TckSubject subject() {
            return new StagedSubject(FaultSubject.pool().folder());
        }

        /** It is believed to answer at once, so that staging workers call it. */
        @Test
        void aLocalDiskThatHangsHoldsUpNoOther(Bench bench) throws IOException {
            FaultPlace disk = bench.keep(
                    Tool.require(() -> new FaultPlace("loop4k", bench.path("").toAbsolutePath())));
            Path path = disk.create("hung");
            Path second = disk.create("second");
            Path other = bench.file("fast", 2 * BYTES);
            StorageFile file = bench.openPlain(path, FileOption.READ);
            StorageFile also = bench.openPlain(second, FileOption.READ);
            disk.server().hold(On.READ, -1);
            List<Witness<Completion>> delayed = new ArrayList<>();
            List<Witness<Completion>> cancelled = new ArrayList<>();
            for (int i = 0; i < MANY; i++) {
                DeviceBuffer buffer = bench.keep(Bench.get(bench.backend().allocate(BYTES)));
                Transfer read = Transfer.read((i % 4 == 0 ? also : file).region(0, BYTES), buffer.all());
                (i % 5 == 0 ? cancelled : delayed)
                        .add(Witness.of(bench.backend().submit(read)));
            }
            disk.server().awaitHeld(1);

            for (int i = 0; i < 10; i++) {
                Signal.assertWorks(bench, other, 2 * BYTES);
            }
            assertThat(delayed).noneMatch(Witness::hasEnded);
            cancelled.forEach(Witness::cancel);

            disk.server().clear();
            for (Witness<Completion> read : delayed) {
                assertThat(read.value().bytes()).isEqualTo(BYTES);
                Content.assertHolds(
                        (BufferRegion) read.value().transfer().target(),
                        read.value().transfer().fileRegion(0));
            }
        }
    }
}
