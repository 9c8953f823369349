// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.order;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class BlockLocksTest {

    private record Inode(long device, long number) {}

    private final BlockLocks locks = BlockLocks.open(new Inode(1, 2));
    private final List<String> granted = new ArrayList<>();

    private BlockClaim shared(String name, long offset, long bytes) {
        return new BlockClaim(claim -> granted.add(name)).shared(offset, bytes);
    }

    private BlockClaim exclusive(String name, long offset, long bytes) {
        return new BlockClaim(claim -> granted.add(name)).exclusive(offset, bytes);
    }

    @AfterEach
    void forget() {
        locks.close();
    }

    @Test
    void equalIdentitiesShareLocksUntilTheLastOneCloses() {
        BlockLocks second = BlockLocks.open(new Inode(1, 2));
        assertThat(second).isSameAs(locks);
        second.close();
        BlockLocks third = BlockLocks.open(new Inode(1, 2));
        assertThat(third).isSameAs(locks);
        third.close();
        int before = BlockLocks.files();
        BlockLocks another = BlockLocks.open(new Inode(1, 3));
        assertThat(another).isNotSameAs(locks);
        another.close();
        assertThat(BlockLocks.files()).as("files left").isEqualTo(before);
    }

    @Test
    void sharedClaimsNeverWaitForEachOther() {
        assertThat(locks.lock(shared("a", 0, 4096))).isTrue();
        assertThat(locks.lock(shared("b", 0, 4096))).isTrue();
        assertThat(locks.isNeeded()).as("before the first exclusive claim").isFalse();
    }

    @Test
    void theFirstExclusiveClaimWaitsForAllLightOnes() {
        BlockClaim far = shared("far", 1 << 30, 10);
        BlockClaim near = shared("near", 0, 10);
        locks.lock(far);
        locks.lock(near);
        BlockClaim merge = exclusive("merge", 0, 512);
        assertThat(locks.lock(merge)).isFalse();
        assertThat(locks.isNeeded()).isTrue();
        locks.unlock(near);
        assertThat(granted).as("one light claim left, who knows where").isEmpty();
        locks.unlock(far);
        assertThat(granted).containsExactly("merge");
        assertThat(locks.lock(exclusive("next", 512, 512)))
                .as("drained for good")
                .isTrue();
    }

    @Test
    void aMergeKeepsOverlappingWritesOut() {
        BlockClaim merge = exclusive("merge", 4096, 4096);
        assertThat(locks.lock(merge)).isTrue();
        assertThat(locks.lock(shared("beside", 8192, 4096))).isTrue();
        assertThat(locks.lock(shared("inside", 5000, 1))).isFalse();
        assertThat(locks.lock(exclusive("same", 4096, 4096))).isFalse();
        locks.unlock(merge);
        assertThat(granted).as("same waits for inside too").containsExactly("inside");
    }

    @Test
    void noClaimOvertakesAConflictingWaitingClaim() {
        locks.lock(exclusive("e", 100, 1)); // from here on claims are listed
        BlockClaim writer = shared("writer", 0, 10);
        BlockClaim merge = exclusive("merge", 0, 20);
        BlockClaim late = shared("late", 10, 10);
        assertThat(locks.lock(writer)).isTrue();
        assertThat(locks.lock(merge)).isFalse();
        assertThat(locks.lock(late)).as("free, but merge came first").isFalse();
        assertThat(locks.lock(shared("elsewhere", 20, 10))).isTrue();
        locks.unlock(writer);
        assertThat(granted).containsExactly("merge");
        locks.unlock(merge);
        assertThat(granted).containsExactly("merge", "late");
    }

    @Test
    void aCancelledClaimResumesTheClaimsBehindIt() {
        BlockClaim first = exclusive("first", 0, 10);
        BlockClaim second = exclusive("second", 5, 10);
        BlockClaim third = exclusive("third", 12, 10);
        locks.lock(first);
        locks.lock(second);
        locks.lock(third);
        locks.unlock(second);
        assertThat(granted).containsExactly("third");
        locks.unlock(first);
        locks.unlock(second);
        assertThat(granted).as("who gave up is not called").containsExactly("third");
    }

    @Test
    void aCancelledClaimDoesNotResumeEarlierClaims() {
        BlockClaim first = exclusive("first", 0, 10);
        BlockClaim third = exclusive("third", 0, 10);
        locks.lock(first);
        locks.lock(exclusive("second", 0, 10));
        locks.lock(third);
        locks.unlock(third);
        assertThat(granted).as("first still holds it").isEmpty();
        locks.unlock(first);
        assertThat(granted).containsExactly("second");
    }

    @Test
    void aClaimIsSetAnewOnlyWhenItIsFree() {
        BlockClaim claim = exclusive("e", 0, 10);
        locks.lock(claim);
        assertThatThrownBy(() -> claim.shared(0, 1)).isInstanceOf(IllegalStateException.class);
        locks.unlock(claim);
        assertThat(locks.lock(claim.shared(5, 5))).isTrue();
    }

    @Test
    void coversMayEndBeyondTheLongestFile() {
        BlockClaim last = exclusive("last", Long.MAX_VALUE - 4095, 8192);
        assertThat(locks.lock(last)).isTrue();
        assertThat(locks.lock(shared("zero", 0, 4096))).isTrue();
        assertThat(locks.lock(shared("end", Long.MAX_VALUE - 1, 1))).isFalse();
    }

    @Test
    void underThreadsNoMergeSeesAnotherWriterAndEveryClaimIsGranted() throws InterruptedException {
        for (int round = 0; round < 40; round++) {
            BlockLocks shared = BlockLocks.open(new Inode(9, round));
            AtomicIntegerArray users = new AtomicIntegerArray(64); // per byte: writers, or -1 while merged
            ConcurrentLinkedQueue<String> faults = new ConcurrentLinkedQueue<>();
            CountDownLatch start = new CountDownLatch(1);
            List<Thread> threads = new ArrayList<>();
            for (int t = 0; t < 3; t++) {
                Random random = new Random(round * 10 + t);
                threads.add(new Thread(() -> hammer(shared, users, faults, start, random)));
            }
            threads.forEach(Thread::start);
            start.countDown();
            for (Thread thread : threads) {
                thread.join();
            }
            shared.close();
            assertThat(faults).isEmpty();
        }
    }

    private static void hammer(
            BlockLocks locks,
            AtomicIntegerArray users,
            ConcurrentLinkedQueue<String> faults,
            CountDownLatch start,
            Random random) {
        PinsTest.await(start);
        for (int i = 0; i < 300; i++) {
            Semaphore called = new Semaphore(0);
            BlockClaim claim = new BlockClaim(granted -> called.release());
            int offset = random.nextInt(60);
            int bytes = 1 + random.nextInt(4);
            boolean merge = i > 50 && random.nextInt(4) == 0; // light claims first
            boolean now = locks.lock(merge ? claim.exclusive(offset, bytes) : claim.shared(offset, bytes));
            try {
                if (!now && !called.tryAcquire(20, TimeUnit.SECONDS)) {
                    faults.add("never granted: " + offset + " + " + bytes);
                    return;
                }
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
            for (int at = offset; at < offset + bytes; at++) {
                boolean free = merge ? users.compareAndSet(at, 0, -1000) : users.incrementAndGet(at) > 0;
                if (!free) {
                    faults.add("merge and write met at " + at);
                }
            }
            for (int at = offset; at < offset + bytes; at++) {
                users.addAndGet(at, merge ? 1000 : -1);
            }
            locks.unlock(claim);
        }
    }

    @Test
    void whatWaitsForALostClaimIsRefusedAndSoIsWhatComesLater() {
        BlockClaim lost = exclusive("lost", 0, 512);
        assertThat(locks.lock(lost)).isTrue();
        BlockClaim waiting = exclusive("waiting", 256, 512);
        BlockClaim behind = exclusive("behind", 512, 512);
        assertThat(locks.lock(waiting)).isFalse();
        assertThat(locks.lock(behind)).isFalse();
        locks.lose(lost);
        assertThat(granted).containsExactlyInAnyOrder("waiting", "behind");
        assertThat(waiting.isRefused()).isTrue();
        assertThat(behind.isRefused())
                .as("it waited for the one that is refused")
                .isFalse();
        BlockClaim later = shared("later", 0, 1);
        assertThat(locks.lock(later)).isTrue();
        assertThat(later.isRefused()).isTrue();
        assertThat(locks.lock(later.shared(600, 1))).as("held by another").isFalse();
        assertThat(later.isRefused()).isFalse();
        locks.unlock(later);
        locks.unlock(behind);
    }

    @Test
    void aLostLightClaimRefusesWhatOverlapsItAndLetsTheOthersIn() {
        BlockClaim lost = shared("lost", 0, 512);
        assertThat(locks.lock(lost)).isTrue();
        BlockClaim same = exclusive("same", 0, 512);
        BlockClaim other = exclusive("other", 4096, 512);
        assertThat(locks.lock(same)).isFalse();
        assertThat(locks.lock(other)).isFalse();
        locks.lose(lost);
        assertThat(granted).containsExactlyInAnyOrder("same", "other");
        assertThat(same.isRefused()).isTrue();
        assertThat(other.isRefused()).isFalse();
        assertThat(locks.lock(shared("beside", 0, 512)))
                .as("two writes without a merge")
                .isTrue();
    }
}
