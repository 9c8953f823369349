// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.staging;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Options;
import io.penstock.engine.kit.staging.ExecutorPump;
import io.penstock.engine.spi.Request;
import io.penstock.engine.spi.staging.StagingOptions;
import io.penstock.engine.spi.staging.ThreadRule;
import io.penstock.engine.testing.Requests;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

class StagingWorkersTest {

    private final FakeHost host = new FakeHost(4 << 20, 1);

    private StagedQueue queue(StagingWorkers pool) {
        FakeDevice device = new FakeDevice(ThreadRule.MANY, host, 1);
        return new StagedQueue(device, host, StagingSettings.of(Stage.STAGING, 2, 16), pool.enter(), null, null);
    }

    @Test
    void queuesOfAProcessShareWorkersWhichStopWithTheLast() throws InterruptedException {
        StagingWorkers pool = StagingWorkers.join(3);
        assertThat(StagingWorkers.join(0)).isSameAs(pool);
        assertThat(pool.threads()).hasSize(3).allMatch(Thread::isDaemon);
        assertThat(pool.threads().get(2).getName()).isEqualTo("penstock-staging-3");
        assertThatThrownBy(() -> StagingWorkers.join(4))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(
                        "penstock.staging.workers=4, but this process already has 3 staging workers, started with its first staged"
                                + " backend");
        pool.leave();
        assertThat(pool.isStopped()).isFalse();
        pool.leave();
        for (Thread thread : pool.threads()) {
            thread.join();
        }
        StagingWorkers next = StagingWorkers.join(2);
        assertThat(next).isNotSameAs(pool);
        next.leave();
    }

    @Test
    void workerTakesFromOneQueueAfterAnother() {
        StagingWorkers pool = StagingWorkers.stepped(1);
        List<StagedQueue> queues = List.of(queue(pool), queue(pool), queue(pool));
        List<Requests> requests = List.of(new Requests(), new Requests(), new Requests());
        for (int i = 0; i < 3; i++) {
            for (int tag = 0; tag < 4; tag++) {
                queues.get(i).enqueue(requests.get(i).next(tag).sync(new FakeFile(0, 1, 1)));
            }
            queues.get(i).turn(0);
        }
        StagingWorker worker = new StagingWorker(pool, 0);
        List<Integer> order = new ArrayList<>();
        for (int i = 0; i < 12; i++) {
            worker.turn(false);
            for (int queue = 0; queue < 3; queue++) {
                int before = requests.get(queue).ended();
                queues.get(queue).turn(0);
                order.addAll(Collections.nCopies(requests.get(queue).ended() - before, queue));
            }
        }
        assertThat(order).containsExactly(0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2);
        queues.forEach(StagedQueue::close);
        assertThat(pool.isStopped()).isFalse();
        pool.leave();
        assertThat(pool.isStopped()).isTrue();
        assertThat(host.allFreed()).isTrue();
    }

    @Test
    void aWorkerPrefersItsOwnQueueAndHelpsOthers() {
        StagingWorkers pool = StagingWorkers.stepped(2);
        List<StagedQueue> queues = List.of(queue(pool), queue(pool));
        List<Requests> requests = List.of(new Requests(), new Requests());
        for (int i = 0; i < 2; i++) {
            for (int tag = 0; tag < 4; tag++) {
                queues.get(i).enqueue(requests.get(i).next(tag).sync(new FakeFile(0, 1, 1)));
            }
            queues.get(i).turn(0);
        }
        StagingWorker second = new StagingWorker(pool, 1);
        List<Integer> ended = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            second.turn(false);
            queues.forEach(queue -> queue.turn(0));
            ended.add(requests.get(1).ended() * 10 + requests.get(0).ended());
        }
        assertThat(ended).containsExactly(10, 20, 30, 40, 41, 42, 43, 44);
        queues.forEach(StagedQueue::close);
        pool.leave();
    }

    @Test
    void workersPreferTheQueuesThatHaveRequests() {
        StagingWorkers pool = StagingWorkers.stepped(4);
        List<StagedQueue> queues = List.of(queue(pool), queue(pool), queue(pool), queue(pool));
        List<Requests> requests = List.of(new Requests(), new Requests(), new Requests(), new Requests());
        for (int i : new int[] {0, 1}) {
            for (int tag = 0; tag < 4; tag++) {
                queues.get(i).enqueue(requests.get(i).next(tag).sync(new FakeFile(0, 1, 1)));
            }
            queues.get(i).turn(0);
        }
        for (int worker = 0; worker < 4; worker++) {
            new StagingWorker(pool, worker).turn(false);
        }
        queues.forEach(queue -> queue.turn(0));
        assertThat(requests).extracting(Requests::ended).containsExactly(2, 2, 0, 0);
        for (int i = 0; i < 4; i++) {
            new StagingWorker(pool, i).turn(false);
        }
        queues.forEach(queue -> queue.turn(0));
        queues.forEach(StagedQueue::close);
        pool.leave();
    }

    @Test
    void aSurplusWorkerSleepsUntilAnotherQueueIsBusy() throws InterruptedException {
        StagingWorkers pool = StagingWorkers.separate(1, 2);
        FakeHost slow = new FakeHost(4 << 20, 1);
        CountDownLatch reads = new CountDownLatch(1);
        CountDownLatch mayEnd = new CountDownLatch(1);
        slow.atCall = () -> {
            reads.countDown();
            awaitUninterruptibly(mayEnd);
        };
        StagedQueue held = reading(pool, slow);
        StagedQueue fast = reading(pool, host);
        FakeFile file = new FakeFile(Stage.STAGING, 1, 1);
        FakeDevice.Memory memory = new FakeDevice.Memory(Stage.STAGING);
        assertThat(pool.size()).isEqualTo(2);
        do {
            turnUntilEnded(fast, read(fast, file, memory));
        } while (pool.awake() > 1);

        Requests ofHeld = read(held, file, memory);
        reads.await(); // by the only worker that is awake
        turnUntilEnded(fast, read(fast, file, memory));
        assertThat(pool.awake()).isEqualTo(2);
        assertThat(ofHeld.hasEnded(0)).isFalse();

        mayEnd.countDown();
        turnUntilEnded(held, ofHeld);
        held.close();
        fast.close();
        pool.leave();
    }

    /** The next request often arrives before the copy of the last one has ended. */
    @Test
    void aWorkerThatWaitsForACopyLooksForRequestsMeanwhile() {
        StagingWorkers pool = StagingWorkers.stepped(1);
        FakeDevice device = new FakeDevice(ThreadRule.MANY, host, 1);
        device.held = true;
        StagedQueue queue =
                new StagedQueue(device, host, StagingSettings.of(Stage.STAGING, 3, 16), pool.enter(), null, null);
        FakeFile file = new FakeFile(Stage.STAGING, 1, 1);
        FakeDevice.Memory memory = new FakeDevice.Memory(Stage.STAGING);
        StagingWorker worker = new StagingWorker(pool, 0);
        List<Requests> reads = new ArrayList<>();
        for (int inFlight = 1; inFlight < 3; inFlight++) {
            reads.add(read(queue, file, memory));
            worker.turn(true);
            assertThat(device.started).isEqualTo(inFlight);
            device.waits.clear();
            for (int i = 0; i < 40; i++) {
                worker.turn(true);
            }
            assertThat(device.waits.subList(0, 25)).containsOnly(20_000L);
            assertThat(device.waits.subList(25, 40)).containsOnly(1_000_000L); // not for ever
        }
        device.held = false;
        device.prompt = true;
        worker.turn(false);
        queue.turn(0);
        assertThat(reads).allMatch(requests -> requests.hasEnded(0));
        queue.close();
        pool.leave();
    }

    private static StagedQueue reading(StagingWorkers pool, FakeHost host) {
        FakeDevice device = new FakeDevice(ThreadRule.MANY, host, 1);
        return new StagedQueue(device, host, StagingSettings.of(Stage.STAGING, 1, 4), pool.enter(), null, null);
    }

    private static void turnUntilEnded(StagedQueue queue, Requests requests) {
        while (!requests.hasEnded(0)) {
            assertThat(Thread.interrupted()).as("out of time").isFalse();
            queue.turn(10_000_000);
        }
    }

    private static void awaitUninterruptibly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void workersFollowTheProcessorsWithinBounds() {
        assertThat(StagingWorkers.suited(1)).isEqualTo(2);
        assertThat(StagingWorkers.suited(8)).isEqualTo(6);
        assertThat(StagingWorkers.suited(16)).isEqualTo(12);
        assertThat(StagingWorkers.suited(256)).isEqualTo(12);
        assertThat(StagingWorkers.most(1)).isEqualTo(2);
        assertThat(StagingWorkers.most(32)).isEqualTo(24);
        assertThat(StagingWorkers.most(256)).isEqualTo(192);
    }

    @Test
    void eachQueueAddsWorkersUpToThoseThatSuitTheProcessors() {
        StagingWorkers pool = StagingWorkers.separate(3, 6);
        List<StagedQueue> queues = new ArrayList<>();
        for (int size : new int[] {3, 5, 6, 6}) {
            queues.add(queue(pool));
            assertThat(pool.size()).isEqualTo(size);
            assertThat(pool.threads()).hasSize(size).allMatch(Thread::isAlive);
        }
        queues.forEach(StagedQueue::close);
        pool.leave();
        assertThat(pool.isStopped()).isTrue();
    }

    @Test
    void laterQueuesAddFewerWorkersThanTheFirst() {
        StagingWorkers pool = StagingWorkers.separate(12, 48);
        List<StagedQueue> queues = new ArrayList<>();
        for (int size : new int[] {12, 20, 26, 32}) {
            queues.add(queue(pool));
            assertThat(pool.size()).isEqualTo(size);
        }
        queues.forEach(StagedQueue::close);
        pool.leave();
    }

    @Test
    void aNumberThatIsSetDoesNotGrow() {
        StagingWorkers pool = StagingWorkers.join(3);
        List<StagedQueue> queues = List.of(queue(pool), queue(pool));
        assertThat(pool.size()).isEqualTo(3);
        queues.forEach(StagedQueue::close);
        pool.leave();
    }

    @Test
    void aQueueHasBuffersForTheWorkersThatServeIt() {
        Options options = StagingSettings.of(4096, 3, 4);
        assertThat(stagingBuffers(options, 3)).isEqualTo(9);
        assertThat(stagingBuffers(options.with(StagingOptions.WORKERS, 16), 16))
                .as("as asked")
                .isEqualTo(48);
        assertThat(stagingBuffers(options, 16))
                .as("more gain one device little")
                .isEqualTo(36);
    }

    private static int stagingBuffers(Options options, int workers) {
        FakeHost host = new FakeHost(4 << 20, 1);
        FakeDevice device = new FakeDevice(ThreadRule.MANY, host, 1);
        StagedQueue queue = new StagedQueue(device, host, options, StagingWorkers.stepped(workers), null, null);
        int total = queue.stagingStates().size();
        queue.close();
        return total;
    }

    @Test
    void aQueueExecutesAsManyRequestsAtATimeAsItHasWorkersWhileAllAreIdle() {
        StagingWorkers pool = StagingWorkers.stepped(3);
        FakeHost host = new FakeHost(4 << 20, 1);
        Options options = StagingSettings.of(Stage.STAGING, 1, 4);
        FakeDevice device = new FakeDevice(ThreadRule.MANY, host, 1);
        StagedQueue first = new StagedQueue(device, host, options, pool.enter(), null, null);
        StagedQueue second = new StagedQueue(device, host, options, pool.enter(), null, null);
        assertThat(first.idleParallelism()).isEqualTo(3);
        FakeFile file = new FakeFile(Stage.STAGING, 1, 1);
        Requests requests = read(first, file, new FakeDevice.Memory(Stage.STAGING));
        assertThat(first.idleParallelism()).as("it has a request").isEqualTo(1);
        assertThat(second.idleParallelism()).as("the other has a request").isEqualTo(1);
        StagingWorker worker = new StagingWorker(pool, 0);
        for (int i = 0; i < 20; i++) {
            first.turn(0);
            worker.turn(false);
        }
        assertThat(requests.result(0)).isEqualTo(Stage.STAGING);
        assertThat(first.idleParallelism()).isEqualTo(3);
        assertThat(second.idleParallelism()).isEqualTo(3);
        first.close();
        second.close();
        ExecutorPump pump = new ExecutorPump(() -> {});
        FakeDevice ofOneThread = new FakeDevice(ThreadRule.ONE, host, 1);
        StagedQueue single = new StagedQueue(ofOneThread, host, options, pool.enter(), pump, null);
        assertThat(single.idleParallelism())
                .as("one thread would make more calls")
                .isEqualTo(1);
        single.close();
    }

    @Test
    void aDeviceThatHangsDoesNotKeepWorkersFromAnother() {
        StagingWorkers pool = StagingWorkers.stepped(1);
        FakeHost host = new FakeHost(4 << 20, 1);
        FakeDevice hanging = new FakeDevice(ThreadRule.MANY, host, 2);
        FakeDevice sound = new FakeDevice(ThreadRule.MANY, host, 3);
        Options options = StagingSettings.of(Stage.STAGING, 1, 4);
        StagedQueue stuck = new StagedQueue(hanging, host, options, pool.enter(), null, null);
        StagedQueue well = new StagedQueue(sound, host, options, pool.enter(), null, null);
        FakeFile file = new FakeFile(Stage.STAGING, 1, 1);
        FakeDevice.Memory memory = new FakeDevice.Memory(Stage.STAGING);
        StagingWorker worker = new StagingWorker(pool, 0);
        hanging.held = true;
        Requests ofStuck = read(stuck, file, memory);
        worker.turn(true);
        Requests ofWell = read(well, file, memory);
        for (int i = 0; i < 20; i++) {
            worker.turn(true);
            well.turn(0);
            stuck.turn(0);
        }
        assertThat(ofWell.result(0)).isEqualTo(Stage.STAGING);
        assertThat(ofStuck.hasEnded(0)).isFalse();

        hanging.held = false;
        worker.turn(true);
        stuck.turn(0);
        assertThat(ofStuck.result(0)).isEqualTo(Stage.STAGING);
        stuck.close();
        well.close();
    }

    private static Requests read(StagedQueue queue, FakeFile file, FakeDevice.Memory memory) {
        Requests requests = new Requests();
        queue.enqueue(
                requests.next(0).file(Request.Kind.READ, file, 0, Stage.STAGING).memory(memory, 0));
        queue.turn(0);
        return requests;
    }
}
