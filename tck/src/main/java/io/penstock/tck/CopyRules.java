// SPDX-License-Identifier: Apache-2.0
package io.penstock.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Backend;
import io.penstock.BufferRegion;
import io.penstock.ClosedException;
import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.DeviceFence;
import io.penstock.FileOption;
import io.penstock.FileRegion;
import io.penstock.Outcome;
import io.penstock.PenstockException;
import io.penstock.SharedRead;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.TransferListener;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/** Copies from buffer to buffer, which follow the rules of reads from files (rules 103, 201, 202, 205, 402). */
public interface CopyRules extends Rules {

    /** The content of the sources. */
    Pattern SOURCE = new Pattern(77);

    /** The length of a read that is shared, and of its chunks. */
    int LARGE = (1 << 20) + 12_345;

    /** See {@link #LARGE}. */
    int CHUNK = 64 << 10;

    /** Rule 103: every byte and no other. If this fails, check the offsets on both sides. */
    @Test
    default void required_103_aCopyMovesTheBytesOfItsRegion(Bench bench) {
        DeviceBuffer from = bench.filled(300_000, SOURCE, 0);
        DeviceBuffer to = bench.poisoned(300_000);
        long[][] copies = {{0, 0, 1}, {1, 4097, 511}, {4096, 8192, 4096}, {100_003, 60_001, 100_001}};
        for (long[] copy : copies) {
            Transfer transfer = Transfer.copy(from.region(copy[0], copy[2]), to.region(copy[1], copy[2]));
            Completion completion = bench.move(transfer);
            assertThat(completion.bytes()).isEqualTo(copy[2]);
            assertThat(completion.path())
                    .isEqualTo(bench.backend().explain(transfer).path());
            assertCopied(to.region(copy[1], copy[2]), copy[0]);
        }
        Content.assertPoison(to.region(1, 4096));
        Content.assertPoison(to.region(4608, 8192 - 4608));
        Content.assertPoison(to.region(160_002, 300_000 - 160_002));
        assertCopied(from.all(), 0);
    }

    /**
     * Rule 103: more than one segment of host memory, and many bounce buffers. If this fails, check how a copy
     * continues.
     */
    @Test
    default void required_103_aLargeCopyArrivesWhole(Bench bench) {
        long length = (2 << 20) + 3;
        DeviceBuffer from = bench.filled(length, SOURCE, 0);
        DeviceBuffer to = bench.poisoned(length);
        assertThat(bench.move(Transfer.copy(from.all(), to.all())).bytes()).isEqualTo(length);
        assertCopied(to.all(), 0);
    }

    /** Rule 103: within one buffer, and none at all. If this fails, check what a copy takes for its memory. */
    @Test
    default void required_103_aCopyWithinABufferAndAnEmptyOneComplete(Bench bench) {
        DeviceBuffer buffer = bench.filled(20_000, SOURCE, 0);
        assertThat(bench.move(Transfer.copy(buffer.region(0, 5000), buffer.region(7000, 5000)))
                        .bytes())
                .isEqualTo(5000);
        assertThat(bench.move(Transfer.copy(buffer.region(10, 0), buffer.region(10, 0)))
                        .bytes())
                .isZero();
        assertCopied(buffer.region(0, 7000), 0);
        assertCopied(buffer.region(7000, 5000), 0);
        assertCopied(buffer.region(12_000, 8000), 12_000);
    }

    /** Rule 103: a buffer ends like a file. If this fails, memory behind the buffer is copied. */
    @Test
    default void required_103_aReadBeyondTheEndOfABufferIsShort(Bench bench) {
        DeviceBuffer from = bench.filled(10_000, SOURCE, 0);
        DeviceBuffer to = bench.poisoned(20_000);
        FileRegion beyond = from.asFile().region(6000, 8000);
        assertThat(bench.move(Transfer.read(beyond, to.region(0, 8000))).bytes())
                .isEqualTo(4000);
        FileRegion behind = from.asFile().region(10_000, 100);
        assertThat(bench.move(Transfer.read(behind, to.region(9000, 100))).bytes())
                .isZero();
        assertCopied(to.region(0, 4000), 6000);
        Content.assertPoison(to.region(4000, 16_000));
        assertThat(from.asFile().size()).isEqualTo(10_000);
    }

    /** Rule 206: blocks of a buffer, in the order of their offsets. If this fails, check the pairs of a copy. */
    @Test
    default void required_206_aGatherFromABufferPlacesItsBlocksOneAfterTheOther(Bench bench) {
        DeviceBuffer from = bench.filled(100_000, SOURCE, 0);
        long[] offsets = new Random(5).longs(200, 0, 100_000 - 300).toArray();
        DeviceBuffer to = bench.poisoned(200L * 300);
        assertThat(bench.move(Transfer.gather(from.asFile(), offsets, 300, to.all()))
                        .bytes())
                .isEqualTo(200L * 300);
        for (int i = 0; i < offsets.length; i++) {
            assertCopied(to.region(i * 300L, 300), offsets[i]);
        }
    }

    /** Files and buffers are sources of one transfer. If this fails, check the choice of its path. */
    @Test
    default void required_103_aTransferReadsAFileAndABuffer(Bench bench) {
        StorageFile file = bench.open(bench.file("data", 10_000), FileOption.READ);
        DeviceBuffer from = bench.filled(10_000, SOURCE, 0);
        DeviceBuffer to = bench.poisoned(20_000);
        Transfer both = Transfer.read(file.all(), to.region(0, 10_000))
                .and(Transfer.copy(from.all(), to.region(10_000, 10_000)).fileRegion(0), to.region(10_000, 10_000));
        assertThat(bench.move(both).bytes()).isEqualTo(20_000);
        Content.assertHolds(to.region(0, 10_000), file.all());
        assertCopied(to.region(10_000, 10_000), 0);
    }

    /** Rule 202: the source is in use. If this fails, check what pins it. */
    @Test
    default void required_202_aClosedSourceStaysUntilTheCopyHasEnded(Bench bench) {
        DeviceBuffer from = bench.filled(40_000, SOURCE, 0);
        DeviceBuffer to = bench.poisoned(40_000);
        ManualFence fence = new ManualFence();
        Witness<Completion> copy = Witness.of(
                bench.backend().submit(Transfer.copy(from.all(), to.all()).after(fence)));
        bench.letOthersRun();
        from.close();
        DeviceBuffer other = bench.poisoned(40_000); // where the source was, if it was freed
        assertThat(copy.hasEnded()).isFalse();
        fence.pass();
        assertThat(copy.value().bytes()).isEqualTo(40_000);
        assertCopied(to.all(), 0);
        Content.assertPoison(other.all());
    }

    /** Rule 601: the source's backend too. If this fails, check what keeps it open. */
    @Test
    default void required_601_theBackendOfTheSourceClosesAfterTheCopy(Bench bench) {
        Bench second = bench.with(bench.options());
        DeviceBuffer from = second.filled(1 << 20, SOURCE, 0);
        DeviceBuffer to = bench.poisoned(1 << 20);
        Backend source = second.backend();
        ManualFence fence = new ManualFence();
        Witness<Completion> copy = Witness.of(
                bench.backend().submit(Transfer.copy(from.all(), to.all()).after(fence)));
        bench.letOthersRun();
        Witness<Void> closing = Witness.of(source.closeLater());
        bench.letOthersRun();
        assertThat(closing.hasEnded()).as("closed under a copy").isFalse();
        fence.pass();
        assertThat(copy.value().bytes()).isEqualTo(1 << 20);
        assertThat(closing.all()).isEmpty();
        assertCopied(to.all(), 0);
    }

    /** From a buffer of another backend of this kind. If this fails, check what copies between two backends. */
    @Test
    default void required_103_aCopyFromABufferOfAnotherBackendArrives(Bench bench) {
        Bench second = bench.with(bench.options());
        DeviceBuffer from = second.filled(3_000_001, SOURCE, 0);
        DeviceBuffer to = bench.poisoned(3_000_001);
        assertThat(bench.move(Transfer.copy(from.all(), to.all())).bytes()).isEqualTo(3_000_001);
        assertCopied(to.all(), 0);
        assertThat(second.backend().counters().inFlight()).isZero();
    }

    /** Rule 402: errors of the caller. If this fails, check {@code Transfer.copy}. */
    @Test
    default void required_402_aCopyThatCannotBeIsRefusedAtOnce(Bench bench) {
        DeviceBuffer buffer = bench.poisoned(10_000);
        assertThatThrownBy(() -> Transfer.copy(buffer.region(0, 100), buffer.region(99, 100)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("overlap");
        assertThatThrownBy(() -> Transfer.copy(buffer.region(0, 100), buffer.region(200, 99)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("100 and 99");
        Transfer write = Transfer.write(buffer.region(0, 10), buffer.asFile().region(20, 10));
        assertThatThrownBy(() -> bench.backend().submit(write))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("WRITE");
        Content.assertPoison(buffer.all());
    }

    /** A closed source fails the copy, not the caller. If this fails, check what pins it. */
    @Test
    default void required_203_aCopyFromAClosedBufferFails(Bench bench) {
        DeviceBuffer from = bench.poisoned(4096);
        DeviceBuffer to = bench.poisoned(4096);
        from.close();
        Throwable refused = Witness.of(bench.backend().submit(Transfer.copy(from.all(), to.all())))
                .error();
        assertThat(refused).isInstanceOf(ClosedException.class);
        assertThat(((PenstockException) refused).outcome()).isEqualTo(Outcome.NOT_STARTED);
    }

    /** A fence behind a copy. If this fails, check what reports that its segments are stream-ordered. */
    @Test
    default void required_fence_aCopyHasAFenceAndWaitsForOne(Bench bench) {
        DeviceBuffer from = bench.filled(600_000, SOURCE, 0);
        DeviceBuffer middle = bench.poisoned(600_000);
        DeviceBuffer to = bench.poisoned(600_000);
        DeviceFence first = bench.keep(Bench.get(bench.backend().enqueue(Transfer.copy(from.all(), middle.all()))));
        DeviceFence second = bench.keep(Bench.get(
                bench.backend().enqueue(Transfer.copy(middle.all(), to.all()).after(first))));
        assertThat(Bench.get(second.outcome()).bytes()).isEqualTo(600_000);
        assertThat(first.isSignalled() && second.isSignalled()).isTrue();
        assertCopied(to.all(), 0);
    }

    /** Copies and reads share order keys. If this fails, check the admission of copies. */
    @Test
    default void required_order_aCopyKeepsTheOrderOfItsKey(Bench bench) {
        StorageFile file = bench.open(bench.file("data", 100_000), FileOption.READ);
        DeviceBuffer from = bench.poisoned(100_000);
        DeviceBuffer to = bench.poisoned(100_000);
        Witness<Completion> read = Witness.of(
                bench.backend().submit(Transfer.read(file.all(), from.all()).ordered("key")));
        Witness<Completion> copy = Witness.of(
                bench.backend().submit(Transfer.copy(from.all(), to.all()).ordered("key")));
        assertThat(read.value().bytes() + copy.value().bytes()).isEqualTo(200_000);
        Content.assertHolds(to.all(), file.all());
    }

    /** A cancelled copy leaves nothing. If this fails, check what releases the source. */
    @Test
    default void required_201_aCancelledCopyReleasesBothBuffers(Bench bench) {
        DeviceBuffer from = bench.filled(4096, SOURCE, 0);
        DeviceBuffer to = bench.poisoned(4096);
        ManualFence fence = new ManualFence();
        Disposable copy = bench.backend()
                .submit(Transfer.copy(from.all(), to.all()).after(fence))
                .subscribe();
        copy.dispose();
        bench.letOthersRun();
        fence.pass();
        bench.letOthersRun();
        Content.assertPoison(to.all());
        for (int i = 0; i < 50; i++) {
            bench.backend()
                    .submit(Transfer.copy(from.all(), to.all()))
                    .subscribe()
                    .dispose();
        }
        assertThat(bench.move(Transfer.copy(from.all(), to.all())).bytes()).isEqualTo(4096);
        assertCopied(to.all(), 0);
        from.close();
        to.close();
        long deadline = System.nanoTime() + Bench.patience().toNanos();
        while (bench.backend().counters().buffers() > 0 && System.nanoTime() < deadline) {
            bench.letOthersRun();
        }
        assertThat(bench.backend().counters().buffers()).as("buffers in use").isZero();
    }

    /** A shared read: each byte is read once. If this fails, check which member begins a chunk. */
    @Test
    default void required_103_aSharedReadReadsEachByteOnceForAllItsMembers(Bench bench) {
        Path path = bench.file("shared", LARGE);
        Bench second = bench.with(bench.options());
        DeviceBuffer here = bench.poisoned(LARGE);
        DeviceBuffer there = second.poisoned(LARGE);
        AtomicLong read = new AtomicLong();
        SharedRead shared = new SharedRead(CHUNK);
        Mono<Completion> first = shared.join(bench.backend(), shareOf(bench, path, here));
        Mono<Completion> other = shared.join(second.backend(), shareOf(second, path, there));
        // The second takes part from the moment at which the first begins: alone, the first may have read all before.
        AtomicReference<@Nullable Witness<Completion>> joined = new AtomicReference<>();
        Runnable join = () -> {
            if (joined.get() == null) {
                joined.set(Witness.of(other));
            }
        };
        bench.keep((AutoCloseable) counting(bench.backend(), path, read, join)::dispose);
        bench.keep((AutoCloseable) counting(second.backend(), path, read, () -> {})::dispose);
        Witness<Completion> one = Witness.of(first);
        Witness<Completion> two = Objects.requireNonNull(joined.get());
        assertThat(List.of(one.value().bytes(), two.value().bytes(0))).containsOnly((long) LARGE);
        assertThat(read.get()).as("bytes read from the file").isEqualTo(LARGE);
        assertRead(here, path, LARGE);
        assertRead(there, path, LARGE);
        assertThat(Witness.of(first).error()).isInstanceOf(IllegalStateException.class);
    }

    /** A shared read without one of its members. If this fails, check what its leaving takes back. */
    @Test
    default void required_201_aCancelledMemberOfASharedReadLeavesTheOthersRight(Bench bench) {
        Path path = bench.file("shared", LARGE);
        Bench second = bench.with(bench.options());
        DeviceBuffer source = second.filled(LARGE, SOURCE, 0);
        for (int round = 0; round < 5; round++) {
            DeviceBuffer here = bench.poisoned(LARGE);
            DeviceBuffer there = second.poisoned(LARGE);
            SharedRead shared = new SharedRead(CHUNK);
            Mono<Completion> first = shared.join(bench.backend(), shareOf(bench, path, here));
            Disposable cancelled =
                    shared.join(second.backend(), shareOf(second, path, there)).subscribe();
            Witness<Completion> stays = Witness.of(first);
            for (int i = 0; i < 3 * round * round; i++) {
                Thread.onSpinWait();
            }
            cancelled.dispose();
            Content.poison(there); // its owner may use it again, and others may copy from it no more
            // Waits for what the cancelled member had begun (rule 205); nothing lands behind it.
            second.move(Transfer.copy(source.all(), there.all()));
            assertThat(stays.value().bytes()).isEqualTo(LARGE);
            assertRead(here, path, LARGE);
            assertCopied(there.all(), 0);
            here.close();
            there.close();
        }
    }

    /** A member that fails. If this fails, check who reads what it had begun. */
    @Test
    default void required_201_aFailedMemberOfASharedReadLeavesTheOthersRight(Bench bench) {
        Path path = bench.file("shared", LARGE);
        Bench second = bench.with(bench.options());
        DeviceBuffer here = bench.poisoned(LARGE);
        DeviceBuffer there = second.poisoned(LARGE);
        SharedRead shared = new SharedRead(CHUNK);
        Mono<Completion> failing = shared.join(second.backend(), shareOf(second, path, there));
        Mono<Completion> first = shared.join(bench.backend(), shareOf(bench, path, here));
        there.close();
        Witness<Completion> failed = Witness.of(failing);
        Witness<Completion> stays = Witness.of(first);
        assertThat(failed.error()).isInstanceOf(ClosedException.class);
        assertThat(stays.value().bytes()).isEqualTo(LARGE);
        assertRead(here, path, LARGE);
    }

    /** Rule 103: the file ends first. If this fails, bytes of one buffer were copied that were never read. */
    @Test
    default void required_103_aSharedReadIsShortForEachMember(Bench bench) {
        Path path = bench.file("shared", LARGE);
        Bench second = bench.with(bench.options());
        DeviceBuffer here = bench.poisoned(LARGE + 100);
        DeviceBuffer there = bench.filled(LARGE + 100, SOURCE, 0);
        SharedRead shared = new SharedRead(CHUNK);
        StorageFile file = bench.open(path, FileOption.READ);
        Transfer read = Transfer.read(file.region(0, 100), here.region(0, 100))
                .and(file.region(50, LARGE), here.region(100, LARGE));
        Transfer again = Transfer.read(file.region(0, 100), there.region(0, 100))
                .and(file.region(50, LARGE), there.region(100, LARGE));
        Mono<Completion> first = shared.join(bench.backend(), read);
        Mono<Completion> other = shared.join(bench.backend(), again);
        for (Witness<Completion> each : List.of(Witness.of(first), Witness.of(other))) {
            assertThat(each.value().bytes(0)).isEqualTo(100);
            assertThat(each.value().bytes(1)).isEqualTo(LARGE - 50);
        }
        Content.assertPoison(here.region(LARGE + 50, 50));
        Content.assertHolds(Content.bytes(there.region(LARGE + 50, 50)), SOURCE, LARGE + 50, 50);
        assertThatThrownBy(() -> shared.join(second.backend(), shareOf(second, path, second.poisoned(LARGE))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("same regions");
    }

    private static Transfer shareOf(Bench bench, Path path, DeviceBuffer target) {
        StorageFile file = bench.open(path, FileOption.READ);
        return Transfer.read(file.region(0, target.length()), target.all());
    }

    private static Disposable counting(Backend backend, Path path, AtomicLong bytes, Runnable start) {
        return backend.listen(new TransferListener() {
            @Override
            public void started(Transfer transfer) {
                start.run();
            }

            @Override
            public void ended(Completion completion) {
                Path from = completion.transfer().fileRegion(0).file().path();
                bytes.addAndGet(from.equals(path) ? completion.bytes() : 0);
            }
        });
    }

    private static void assertRead(DeviceBuffer buffer, Path path, long length) {
        Content.assertHolds(Content.bytes(buffer.region(0, length)), Pattern.of(path), 0, length);
    }

    private static void assertCopied(BufferRegion to, long offset) {
        Content.assertHolds(Content.bytes(to), SOURCE, offset, to.length());
    }
}
