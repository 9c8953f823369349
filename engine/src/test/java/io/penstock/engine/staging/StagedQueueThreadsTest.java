// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.staging;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.penstock.Options;
import io.penstock.engine.kit.ffi.CpuSet;
import io.penstock.engine.kit.ffi.CpuSets;
import io.penstock.engine.kit.ffi.Machine;
import io.penstock.engine.kit.staging.ExecutorPump;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.Request;
import io.penstock.engine.spi.staging.StagingOptions;
import io.penstock.engine.spi.staging.ThreadRule;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The same queue with the threads that it has in earnest. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class StagedQueueThreadsTest {

    private static final int SEGMENTS = 3000;
    private static final int SEGMENT = 256;
    private static final int DEPTH = 16;

    private final FakeHost host = new FakeHost(4 << 20, 1);
    private final Options options = StagingSettings.of(4096, 2, DEPTH).with(StagingOptions.WORKERS, 4);

    /** Drives a queue as an I/O queue does: moves a file in, and out into another; sometimes it changes its mind. */
    private static void drive(
            StagedQueue queue, Request.Kind kind, FakeFile file, FakeDevice.Memory memory, long seed) {
        Random random = new Random(seed);
        int[] segmentOf = new int[DEPTH];
        List<Integer> free = new ArrayList<>();
        List<Integer> todo = new ArrayList<>();
        for (int staged = SEGMENTS - 1; staged >= 0; staged--) {
            todo.add(staged);
        }
        for (int id = 0; id < DEPTH; id++) {
            free.add(id);
        }
        Request[] requests = new Request[DEPTH];
        Arrays.setAll(
                requests,
                tag -> new Request(tag, (request, bytes, failure) -> {
                    ended(request.tag(), free);
                    if (failure == null) {
                        assertThat(bytes).isEqualTo(SEGMENT);
                    } else {
                        assertThat(failure.kind()).isEqualTo(NativeFailure.Kind.CANCELLED);
                        todo.add(segmentOf[request.tag()]); // asked again
                    }
                }));
        while (!todo.isEmpty() || free.size() < DEPTH) {
            while (!todo.isEmpty() && !free.isEmpty()) {
                int id = free.remove(free.size() - 1);
                segmentOf[id] = todo.remove(todo.size() - 1);
                long at = (long) segmentOf[id] * SEGMENT;
                queue.enqueue(requests[id].file(kind, file, at, SEGMENT).memory(memory, at));
                if (random.nextInt(20) == 0) {
                    queue.turn(0);
                    if (!free.contains(id)) {
                        queue.cancel(requests[id]);
                    }
                }
            }
            queue.turn(-1);
        }
    }

    private static void ended(int id, List<Integer> free) {
        assertThat(free).doesNotContain(id);
        free.add(id);
    }

    private void moveThere(FakeDevice device, StagedQueue queue, long seed) {
        FakeFile source = new FakeFile(SEGMENTS * SEGMENT, 1, seed);
        FakeFile target = new FakeFile(SEGMENTS * SEGMENT, 1, seed + 1);
        FakeDevice.Memory memory = new FakeDevice.Memory(SEGMENTS * SEGMENT);
        drive(queue, Request.Kind.READ, source, memory, seed);
        assertThat(Arrays.equals(memory.bytes, source.bytes)).as("read").isTrue();
        drive(queue, Request.Kind.WRITE, target, memory, seed);
        assertThat(Arrays.equals(target.bytes, source.bytes)).as("written").isTrue();
        assertThat(queue.stagingBuffersInUse()).isZero();
        queue.close();
        assertThat(device.running()).isZero();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 50})
    void workersCopyWhatTheyFillForSeveralDevicesAtOnce(int spinMicros) throws InterruptedException {
        Options spinning = options.with(StagingOptions.SPIN_MICROS, spinMicros);
        List<Thread> ioQueues = new ArrayList<>();
        AtomicReference<Throwable> failure = new AtomicReference<>();
        for (int i = 0; i < 3; i++) {
            FakeDevice device = new FakeDevice(ThreadRule.MANY, host, i);
            device.permitted = () -> Thread.currentThread().getName().startsWith("penstock-staging-");
            StagedQueue queue = StagedQueue.open(device, host, spinning, null);
            long seed = i;
            Thread ioQueue = new Thread(() -> moveThere(device, queue, seed), "I/O queue-" + i);
            ioQueue.setUncaughtExceptionHandler((thread, e) -> failure.set(e));
            ioQueues.add(ioQueue);
        }
        ioQueues.forEach(Thread::start);
        for (Thread ioQueue : ioQueues) {
            ioQueue.join();
        }
        assertThat(failure.get()).isNull();
        assertThat(host.allFreed()).isTrue();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void workersServeEachDeviceOnTheProcessorsNearIt(boolean numa) throws Exception {
        assumeTrue(Machine.isSupported(), "64-bit Linux on a known architecture");
        List<Integer> processors = CpuSets.ofProcess();
        assumeThat(processors).as("processors").hasSizeGreaterThan(1);
        String before = FakeDevice.allowed();
        Options near = options.with(StagingOptions.NUMA, numa);
        List<FakeDevice> devices = new ArrayList<>();
        List<Thread> ioQueues = new ArrayList<>();
        for (int i = 0; i < 3; i++) { // the third one has no node, and its workers serve the others too
            FakeDevice device = new FakeDevice(ThreadRule.MANY, host, i);
            device.processors = i < 2 ? new CpuSet(List.of(processors.get(i))) : CpuSet.ANY;
            devices.add(device);
            StagedQueue queue = StagedQueue.open(device, host, near, null);
            long seed = i;
            ioQueues.add(new Thread(() -> moveThere(device, queue, seed), "I/O queue-" + i));
        }
        ioQueues.forEach(Thread::start);
        for (Thread ioQueue : ioQueues) {
            ioQueue.join();
        }
        for (int i = 0; i < 2; i++) {
            String own = String.valueOf(processors.get(i));
            assertThat(devices.get(i).ranOn).containsExactly(numa ? own : before);
            assertThat(devices.get(i).started).isPositive();
        }
        assertThat(FakeDevice.allowed())
                .as("of the thread that opened the queues")
                .isEqualTo(before);
    }

    @Test
    void aWakeEndsAPollForMore() {
        Options spinning = options.with(StagingOptions.SPIN_MICROS, 1_000_000);
        FakeDevice device = new FakeDevice(ThreadRule.MANY, host, 1);
        StagedQueue queue = StagedQueue.open(device, host, spinning, null);
        queue.wakeup().wake();
        queue.turn(-1);
        for (int i = 0; i < 100; i++) { // 100 seconds, longer than this class may run, if it polled to the end
            new Thread(queue.wakeup()::wake).start();
            queue.turn(-1);
        }
        queue.close();
    }

    @Test
    void deviceOfOneThreadIsCalledOnTheQueuesOwn() {
        FakeDevice device = new FakeDevice(ThreadRule.ONE, host, 1);
        device.permitted = () -> Thread.currentThread().getName().equals("penstock-executor");
        moveThere(device, StagedQueue.open(device, host, options, null), 1);
        assertThat(host.allFreed()).isTrue();
        assertThat(Thread.getAllStackTraces().keySet())
                .noneMatch(thread -> thread.getName().equals("penstock-executor"));
    }

    @Test
    void anApplicationThatPumpsOnNotificationMissesNothing() throws InterruptedException {
        FakeDevice device = new FakeDevice(ThreadRule.PUMP, host, 1);
        AtomicReference<Thread> application = new AtomicReference<>();
        ExecutorPump pump = new ExecutorPump(() -> LockSupport.unpark(application.get()));
        CountDownLatch started = new CountDownLatch(1);
        Thread renderer = new Thread(() -> {
            application.set(Thread.currentThread());
            started.countDown();
            while (!Thread.interrupted()) {
                if (!pump.run(100_000)) {
                    LockSupport.park(); // until the hook
                }
            }
        });
        device.permitted = () -> Thread.currentThread() == renderer;
        renderer.start();
        started.await();
        moveThere(device, StagedQueue.open(device, host, options, pump), 1);
        renderer.interrupt();
        renderer.join();
        assertThat(host.allFreed()).isTrue();
    }

    @ParameterizedTest
    @EnumSource(names = {"MANY", "ONE"})
    void wakeEndsAWaitingTurn(ThreadRule rule) throws InterruptedException {
        StagedQueue queue = StagedQueue.open(new FakeDevice(rule, host, 1), host, options, null);
        CountDownLatch returned = new CountDownLatch(1);
        Thread ioQueue = new Thread(() -> {
            queue.turn(-1);
            returned.countDown();
        });
        ioQueue.start();
        queue.wakeup().wake();
        returned.await();
        queue.wakeup().wake();
        queue.turn(-1);
        ioQueue.join();
        queue.close();
    }
}
