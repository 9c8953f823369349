// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.host.faults;

import static io.penstock.backend.host.faults.FuseMount.EAGAIN;
import static io.penstock.backend.host.faults.FuseMount.EINTR;
import static io.penstock.backend.host.faults.FuseMount.EIO;
import static io.penstock.backend.host.faults.FuseMount.EVER;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.FileOption;
import io.penstock.Outcome;
import io.penstock.PenstockException;
import io.penstock.PermanentStorageException;
import io.penstock.StorageFile;
import io.penstock.StreamPlan;
import io.penstock.Transfer;
import io.penstock.backend.host.faults.FuseMount.On;
import io.penstock.tck.Bench;
import io.penstock.tck.Content;
import io.penstock.tck.Pattern;
import io.penstock.tck.Rules;
import io.penstock.tck.StreamRules;
import io.penstock.tck.Witness;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** Faults of a file system, through the kernel, on every way that host memory is filled. */
@Tag(Tool.FAULTS)
interface FuseFaults extends Rules {

    int MIB = 1 << 20;

    private static Witness<Completion> read(Bench bench, FuseMount fuse, DeviceBuffer buffer) {
        StorageFile file = bench.openPlain(fuse.file(), FileOption.READ);
        return Witness.of(bench.backend().submit(Transfer.read(file.region(0, buffer.length()), buffer.all())));
    }

    @Test
    default void anErrorInTheMiddleOfAReadIsPermanentAndReportsItsBytes(Bench bench) {
        FuseMount fuse = FuseMount.of(bench);
        fuse.fail(On.READ, MIB + 5000, EIO, EVER);
        DeviceBuffer buffer = bench.poisoned(4 * MIB);

        PenstockException failure = Signal.failure(read(bench, fuse, buffer));

        assertThat(failure).isInstanceOf(PermanentStorageException.class);
        Signal.assertAnswer(failure, "read of 4194304 bytes at 0 of " + fuse.file() + " failed", "EIO", EIO);
        assertThat(failure.outcome()).isEqualTo(Outcome.PARTIAL);
        assertThat(failure.bytes()).isEqualTo(failure.bytes(0)).isBetween(1L * MIB, MIB + 5000L);
        Content.assertHolds(
                Content.bytes(buffer.region(0, failure.bytes())), Pattern.of(fuse.file()), 0, failure.bytes());
        fuse.clear();
        Signal.assertWorks(bench, fuse.file(), 4 * MIB);
    }

    @Test
    default void anErrorAtTheStartOfAReadLeavesNothingThatCountsAsRead(Bench bench) {
        FuseMount fuse = FuseMount.of(bench);
        fuse.fail(On.READ, 0, EIO, EVER);

        PenstockException failure = Signal.failure(read(bench, fuse, bench.poisoned(4 * MIB)));

        assertThat(failure).isInstanceOf(PermanentStorageException.class);
        assertThat(failure.bytes()).isZero();
        assertThat(failure.outcome()).isEqualTo(Outcome.UNKNOWN);
        fuse.clear();
        Signal.assertWorks(bench, fuse.file(), MIB);
    }

    @Test
    default void anErrorOfAWriteIsPermanentAndItsOutcomeUnknown(Bench bench) {
        FuseMount fuse = FuseMount.of(bench);
        fuse.fail(On.WRITE, 2000, EIO, EVER);
        StorageFile file = bench.openPlain(fuse.file(), FileOption.READ, FileOption.WRITE);
        DeviceBuffer buffer = bench.filled(8192, new Pattern(7), 0);
        Transfer write = Transfer.write(buffer.all(), file.region(0, 8192));

        PenstockException failure = Signal.failure(bench.backend().submit(write));

        assertThat(failure).isInstanceOf(PermanentStorageException.class);
        Signal.assertAnswer(failure, write + " failed", "EIO", EIO);
        assertThat(failure.outcome()).isEqualTo(Outcome.UNKNOWN);
        fuse.clear();
        Signal.value(Witness.of(bench.backend().submit(write)));
        Content.assertHolds(fuse.file(), new Pattern(7), 0, 8192);
    }

    @Test
    default void interruptionsAndRefusalsThatPassAreNotSeen(Bench bench) {
        FuseMount fuse = FuseMount.of(bench);
        fuse.fail(On.READ, 100, EINTR, 3);
        fuse.fail(On.READ, 2 * MIB + 100, EAGAIN, 3);
        DeviceBuffer buffer = bench.poisoned(4 * MIB);

        Completion completion = Signal.value(read(bench, fuse, buffer));

        assertThat(completion.bytes()).isEqualTo(4 * MIB);
        Content.assertHolds(buffer.all(), completion.transfer().fileRegion(0));
    }

    @Test
    default void writesThatAreInterruptedAndRefusedLandWhole(Bench bench) {
        FuseMount fuse = FuseMount.of(bench);
        fuse.fail(On.WRITE, 100, EINTR, 3);
        fuse.fail(On.WRITE, 65_536, EAGAIN, 3);
        StorageFile file = bench.openPlain(fuse.file(), FileOption.WRITE);
        DeviceBuffer buffer = bench.filled(2 * MIB, new Pattern(9), 0);

        Completion completion =
                Signal.value(Witness.of(bench.backend().submit(Transfer.write(buffer.all(), file.region(0, 2 * MIB)))));

        assertThat(completion.bytes()).isEqualTo(2 * MIB);
        Content.assertHolds(fuse.file(), new Pattern(9), 0, 2 * MIB);
    }

    @Test
    default void shortReadsAreContinuedToTheEnd(Bench bench) {
        FuseMount fuse = FuseMount.of(bench);
        for (int mib = 0; mib < 4; mib++) {
            fuse.cutShort(On.READ, mib * MIB + 10_000, 1001, 7);
        }
        DeviceBuffer buffer = bench.poisoned(4 * MIB);

        Completion completion = Signal.value(read(bench, fuse, buffer));

        assertThat(completion.bytes()).as("rule 103").isEqualTo(4 * MIB);
        Content.assertHolds(buffer.all(), completion.transfer().fileRegion(0));
    }

    /** Past the page cache a count that ends amid a block comes through as it is. */
    @Test
    default void shortReadsPastThePageCacheAreContinuedToTheEnd(Bench bench) {
        FuseMount fuse = FuseMount.of(bench);
        for (int mib = 0; mib < 4; mib++) {
            fuse.cutShort(On.READ, mib * MIB + 10_000, 1001, 7);
        }
        StorageFile file = bench.openPlain(fuse.file(), FileOption.READ, FileOption.DIRECT);
        DeviceBuffer buffer = bench.poisoned(4 * MIB);

        Completion completion =
                Signal.value(Witness.of(bench.backend().submit(Transfer.read(file.region(0, 4 * MIB), buffer.all()))));

        assertThat(completion.bytes()).as("rule 103").isEqualTo(4 * MIB);
        Content.assertHolds(buffer.all(), completion.transfer().fileRegion(0));
    }

    /** The kernel's io_uring repeats a short read of such a file at the old offset (Linux 6.18). */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    default void shortReadsWithoutAsynchronousDirectIoAreContinuedWhereTheyEnded(boolean direct, Bench bench) {
        FuseMount fuse = FuseMount.synchronous(bench);
        for (int mib = 0; mib < 4; mib++) {
            fuse.cutShort(On.READ, mib * MIB + 1, 4096, 1);
            fuse.cutShort(On.READ, mib * MIB + 50_000, 8192, 3);
        }
        StorageFile file = direct
                ? bench.openPlain(fuse.file(), FileOption.READ, FileOption.DIRECT)
                : bench.openPlain(fuse.file(), FileOption.READ);
        DeviceBuffer buffer = bench.poisoned(4 * MIB);
        Transfer transfer = Transfer.read(file.region(0, 4 * MIB), buffer.all());

        Completion completion = Signal.value(Witness.of(bench.backend().submit(transfer)));

        assertThat(completion.bytes()).isEqualTo(4 * MIB);
        Content.assertHolds(buffer.all(), completion.transfer().fileRegion(0));
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    default void shortWritesWithoutAsynchronousDirectIoLandWhole(boolean direct, Bench bench) {
        FuseMount fuse = FuseMount.synchronous(bench);
        for (int mib = 0; mib < 2; mib++) {
            fuse.cutShort(On.WRITE, mib * MIB + 1, 4096, 1);
            fuse.cutShort(On.WRITE, mib * MIB + 50_000, 8192, 3);
        }
        StorageFile file = direct
                ? bench.openPlain(fuse.file(), FileOption.WRITE, FileOption.DIRECT)
                : bench.openPlain(fuse.file(), FileOption.WRITE);
        DeviceBuffer buffer = bench.filled(2 * MIB, new Pattern(9), 0);

        Signal.value(Witness.of(bench.backend().submit(Transfer.write(buffer.all(), file.region(0, 2 * MIB)))));

        Content.assertHolds(fuse.file(), new Pattern(9), 0, 2 * MIB);
    }

    /** More reads, of more bytes, than an I/O queue has in flight at once. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    default void aFileSystemThatHangsHoldsUpNoOther(boolean direct, Bench bench) {
        FuseMount fuse = FuseMount.of(bench);
        fuse.hold(On.READ, 0);
        StorageFile file = direct
                ? bench.openPlain(fuse.file(), FileOption.READ, FileOption.DIRECT)
                : bench.openPlain(fuse.file(), FileOption.READ);
        List<Witness<Completion>> delayed = new ArrayList<>();
        for (int i = 0; i < 1000; i++) {
            DeviceBuffer buffer = bench.poisoned(4096);
            delayed.add(Witness.of(bench.backend().submit(Transfer.read(file.region(0, 4096), buffer.all()))));
        }
        fuse.awaitHeld(1);

        for (int i = 0; i < 100; i++) {
            Signal.assertWorks(bench, bench.file("fast" + i, 2 * MIB), 2 * MIB);
        }
        assertThat(delayed).noneMatch(Witness::hasEnded);

        fuse.clear();
        delayed.forEach(read -> assertThat(Signal.value(read).bytes()).isEqualTo(4096));
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    default void writesToAFileSystemThatHangsHoldUpNoOther(boolean direct, Bench bench) {
        FuseMount fuse = FuseMount.of(bench);
        fuse.hold(On.WRITE, 0);
        StorageFile file = direct
                ? bench.openPlain(fuse.file(), FileOption.WRITE, FileOption.DIRECT)
                : bench.openPlain(fuse.file(), FileOption.WRITE);
        DeviceBuffer buffer = bench.filled(4096, new Pattern(9), 0);
        List<Witness<Completion>> delayed = new ArrayList<>();
        for (int i = 0; i < 300; i++) {
            delayed.add(Witness.of(bench.backend().submit(Transfer.write(buffer.all(), file.region(0, 4096)))));
        }
        fuse.awaitHeld(1);

        Signal.assertWorks(bench, bench.file("fast", 2 * MIB), 2 * MIB);
        assertThat(delayed).noneMatch(Witness::hasEnded);

        fuse.clear();
        delayed.forEach(write -> assertThat(Signal.value(write).bytes()).isEqualTo(4096));
    }

    @Test
    default void syncsOfAFileSystemThatHangsHoldUpNoOther(Bench bench) {
        FuseMount fuse = FuseMount.of(bench);
        fuse.hold(On.SYNC, 0);
        StorageFile file = bench.openPlain(fuse.file(), FileOption.WRITE);
        List<Witness<Void>> delayed = new ArrayList<>();
        for (int i = 0; i < 1000; i++) {
            delayed.add(Witness.of(file.sync()));
        }
        fuse.awaitHeld(1);

        Signal.assertWorks(bench, bench.file("fast", 2 * MIB), 2 * MIB);
        assertThat(delayed).noneMatch(Witness::hasEnded);

        fuse.clear();
        delayed.forEach(Witness::awaitEnd);
    }

    @Test
    default void opensOnAFileSystemThatHangsHoldUpNoOther(Bench bench) {
        FuseMount fuse = FuseMount.of(bench);
        fuse.hold(On.OPEN, 0);
        List<Witness<StorageFile>> opens = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            opens.add(Witness.of(bench.backend().openFile(fuse.file(), FileOption.READ)));
        }
        fuse.awaitHeld(1);

        Signal.assertWorks(bench, bench.file("fast", MIB), MIB);
        assertThat(Mono.just(1).subscribeOn(Schedulers.boundedElastic()).block(Duration.ofSeconds(20)))
                .as("the scheduler that all share")
                .isEqualTo(1);
        opens.subList(0, 50).forEach(Witness::cancel);

        fuse.clear();
        opens.subList(50, 100).forEach(open -> Signal.value(open).close());
    }

    /**
     * Such a file has no other end than a read of 0 bytes, and asynchronous ones end at the stated length (Linux 6.18).
     */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    default void required_103_aFileThatStatesNoLengthIsReadToItsEnd(boolean direct, Bench bench) {
        FuseMount fuse = FuseMount.of(bench);
        fuse.stateNoLength();
        fuse.cutShort(On.READ, 10_000, 1001, 7);
        fuse.cutShort(On.READ, MIB + 10_000, 1001, 7);
        StorageFile file = direct
                ? bench.openPlain(fuse.file(), FileOption.READ, FileOption.DIRECT)
                : bench.openPlain(fuse.file(), FileOption.READ);
        assertThat(file.size()).isZero();
        DeviceBuffer buffer = bench.poisoned(4 * MIB);

        Completion completion =
                Signal.value(Witness.of(bench.backend().submit(Transfer.read(file.region(0, 4 * MIB), buffer.all()))));

        assertThat(completion.bytes()).isEqualTo(4 * MIB);
        Content.assertHolds(buffer.all(), completion.transfer().fileRegion(0));
    }

    @Test
    default void required_103_aFileThatStatesNoLengthIsStreamedToItsEnd(Bench bench) {
        FuseMount fuse = FuseMount.of(bench);
        fuse.stateNoLength();
        assertThat(bench.openPlain(fuse.file(), FileOption.READ).size()).isZero();
        StreamPlan plan = StreamPlan.of(fuse.file()).chunkBytes(3 * MIB).depth(2);

        List<Boolean> right = Witness.<Boolean>of(
                        bench.backend().stream(plan, chunk -> StreamRules.isRight(chunk, Pattern.of(fuse.file()))))
                .all();

        assertThat(right).hasSize(6).containsOnly(true);
    }

    @Test
    default void aDelayedReadDelaysNoOtherAndEndsWithTheDevice(Bench bench) {
        FuseMount fuse = FuseMount.of(bench);
        fuse.hold(On.READ, 2 * MIB);
        DeviceBuffer buffer = bench.poisoned(4 * MIB);

        Witness<Completion> delayed = read(bench, fuse, buffer);
        fuse.awaitHeld(1);
        Signal.assertWorks(bench, fuse.file(), MIB);
        assertThat(delayed.hasEnded()).as("ended before the device has").isFalse();

        fuse.clear();
        assertThat(Signal.value(delayed).bytes()).isEqualTo(4 * MIB);
        Content.assertHolds(buffer.all(), delayed.value().transfer().fileRegion(0));
    }

    @Test
    default void aFileCutUnderAReadIsShortAndWhatCountsAsReadIsThere(Bench bench) throws IOException {
        FuseMount fuse = FuseMount.of(bench);
        fuse.hold(On.READ, MIB);
        DeviceBuffer buffer = bench.poisoned(4 * MIB);

        Witness<Completion> read = read(bench, fuse, buffer);
        fuse.awaitHeld(1);
        try (FileChannel another = FileChannel.open(fuse.file(), StandardOpenOption.WRITE)) {
            another.truncate(MIB + 100);
        }
        fuse.clear();

        Completion completion = Signal.value(read);
        assertThat(completion.bytes())
                .as("what was behind the cut may have been read before it, but a hole does not count")
                .isEqualTo(MIB + 100)
                .isEqualTo(completion.bytes(0));
        Content.assertHolds(Content.bytes(buffer.region(0, MIB + 100)), Pattern.of(fuse.file()), 0, MIB + 100);
        Signal.assertWorks(bench, fuse.file(), MIB);
    }

    @Test
    default void aFailedSyncStaysFailedForItsHandle(Bench bench) {
        FuseMount fuse = FuseMount.of(bench);
        StorageFile file = bench.openPlain(fuse.file(), FileOption.READ, FileOption.WRITE);
        fuse.fail(On.SYNC, 0, EIO, 1);

        PenstockException failure = Signal.failure(file.sync());

        assertThat(failure).isInstanceOf(PermanentStorageException.class);
        Signal.assertAnswer(failure, "sync of " + fuse.file() + " failed", "EIO", EIO);
        assertThat(failure.outcome()).isEqualTo(Outcome.UNKNOWN);
        assertThat(Signal.failure(file.sync()))
                .as("rule 403: the kernel says OK by now")
                .isInstanceOf(PermanentStorageException.class)
                .hasMessageContaining("EIO");
        Bench.run(bench.openPlain(fuse.file(), FileOption.WRITE).sync());
        Signal.assertWorks(bench, fuse.file(), MIB);
    }

    @Test
    default void aFileSystemThatFailsEndsWhatIsInFlight(Bench bench) {
        FuseMount fuse = FuseMount.of(bench);
        fuse.hold(On.READ, MIB);

        Witness<Completion> read = read(bench, fuse, bench.poisoned(4 * MIB));
        fuse.awaitHeld(1);
        fuse.kill();

        PenstockException failure = Signal.failure(read);
        assertThat(failure).isInstanceOf(PermanentStorageException.class);
        assertThat(failure.nativeError().orElseThrow().symbol()).isIn("ECONNABORTED", "ENOTCONN");
        bench.letOthersRun();
    }
}
