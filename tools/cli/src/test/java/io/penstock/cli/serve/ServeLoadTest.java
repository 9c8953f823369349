// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli.serve;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.penstock.engine.kit.memory.Slabs;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.scheduler.Schedulers;

/** What the server holds while clients are slow, and what it keeps when they are gone. */
@Tag("slow")
class ServeLoadTest {

    private static final int SLOW_READERS = 200;
    private static final int ABORTS = 10_000;
    private static final int FILE_BYTES = 32 << 20; // more than two sockets hold
    private static final int SMALL_WINDOW = 8 << 10;
    private static final long PER_RESPONSE = (long) Served.DEPTH * Served.CHUNK;

    /**
     * Pools start a thread when they first need one more, which load decides, and keep it: their own limits are the
     * bounds.
     */
    private static final Map<String, Integer> POOLS = Map.of(
            "boundedElastic-",
            Schedulers.DEFAULT_BOUNDED_ELASTIC_SIZE + 1, // and the thread that ends idle threads
            "parallel-",
            Schedulers.DEFAULT_POOL_SIZE,
            "penstock-host-io-",
            4 * 16); // I/O queues, and blocking calls of each, without io_uring

    private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(30);

    private Served served;
    private byte[] data;

    @BeforeEach
    void serve(@TempDir Path root) throws IOException {
        served = new Served(root);
        data = served.file("big", FILE_BYTES);
    }

    @AfterEach
    void close() {
        served.close();
    }

    @Test
    void slowReadersHoldTwoChunksEachAndDelayNoOther() throws Exception {
        long before = Slabs.shared().liveBytes();
        List<Connection> slow = new ArrayList<>();
        try {
            for (int i = 0; i < SLOW_READERS; i++) {
                Connection connection = new Connection(served.address(), SMALL_WINDOW);
                slow.add(connection);
                connection.send("GET", "/big");
            }
            for (Connection connection : slow) {
                assertThat(connection.readHead().status()).isEqualTo(200);
                assertThat((byte) connection.read()).isEqualTo(data[0]);
            }
            // Each of them is stuck by now or will be; a reader in no hurry to end is served meanwhile, several times,
            // and what they hold never passes the bound.
            for (int i = 0; i < 5; i++) {
                assertThat(Arrays.equals(served.ask("GET", "/big").body(), data))
                        .as("bytes of a fast reader")
                        .isTrue();
                assertThat(Slabs.shared().liveBytes() - before)
                        .as("memory held for %d slow readers and a fast one", SLOW_READERS)
                        .isLessThanOrEqualTo((SLOW_READERS + 1) * PER_RESPONSE);
            }
            for (Connection connection : slow) { // they go on where they stopped
                assertThat(connection.read(SMALL_WINDOW)).isEqualTo(Arrays.copyOfRange(data, 1, 1 + SMALL_WINDOW));
            }
            assertThat(Slabs.shared().liveBytes() - before).isLessThanOrEqualTo(SLOW_READERS * PER_RESPONSE);
        } finally {
            for (Connection connection : slow) {
                connection.close();
            }
        }
        await("memory is given back", () -> Slabs.shared().liveBytes() <= before);
    }

    @Test
    @Timeout(value = 5, unit = TimeUnit.MINUTES) // ten seconds on a machine of its own
    void abortedRequestsLeaveNothing() throws Exception {
        abort(200); // starts the threads that stay
        await("nothing is in use", () -> leases() == 0 && served.files.uses() == 0 && served.files.size() <= 1);
        Map<String, Long> before = counts();
        abort(ABORTS);
        await("all is given back; before: " + before, () -> noMoreThan(before));
        assertThat(Arrays.equals(served.ask("GET", "/big").body(), data)).isTrue();
    }

    /** Ends requests at every stage: before the answer, in its headers, in its first bytes, far in. */
    private void abort(int times) throws Exception {
        ExecutorService clients = Executors.newFixedThreadPool(4);
        AtomicInteger next = new AtomicInteger();
        try {
            Callable<Void> client = () -> {
                for (int i = next.getAndIncrement(); i < times; i = next.getAndIncrement()) {
                    abortOne(i);
                }
                return null;
            };
            for (Future<Void> done : clients.invokeAll(List.of(client, client, client, client))) {
                done.get();
            }
        } finally {
            clients.shutdown();
        }
    }

    private void abortOne(int i) throws IOException {
        Connection connection = new Connection(served.address(), i % 8 < 3 ? SMALL_WINDOW : 0);
        try {
            connection.send("GET", "/big", i % 7 == 0 ? "Range: bytes=5-100000,200000-300000" : "X: y");
            switch (i % 4) {
                case 0 -> {} // at once
                case 1 -> connection.read();
                case 2 -> connection.readHead();
                default -> connection.skip(100_000, new byte[8192]);
            }
        } finally {
            if (i % 3 == 0) {
                connection.close();
            } else {
                connection.abort();
            }
        }
    }

    @Test
    void bytesPassWithoutACopyIntoTheHeap() throws Exception {
        byte[] sink = new byte[1 << 16];
        fetch(sink); // classes, threads, the open file
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long before = allocated(threads);
        for (int i = 0; i < 4; i++) {
            fetch(sink);
        }
        assertThat(allocated(threads) - before)
                .as("bytes of garbage for %d bytes served", 4 * FILE_BYTES)
                .isLessThan(FILE_BYTES / 2);
    }

    private void fetch(byte[] sink) throws IOException {
        try (Connection connection = served.connect()) {
            connection.send("GET", "/big");
            connection.readHead();
            connection.skip(FILE_BYTES, sink);
        }
    }

    private static long allocated(ThreadMXBean threads) {
        return Arrays.stream(threads.getThreadAllocatedBytes(threads.getAllThreadIds()))
                .filter(bytes -> bytes > 0)
                .sum();
    }

    private Map<String, Long> counts() throws IOException {
        Map<String, Long> counts = new TreeMap<>();
        counts.put("slabs", Slabs.shared().liveSlabs());
        counts.put("bytes of slabs", Slabs.shared().liveBytes());
        counts.put("leases", leases());
        counts.put("uses of open files", (long) served.files.uses());
        Map<String, Long> threads = threads();
        POOLS.forEach((pool, most) ->
                counts.put("threads above the limit of " + pool, threads.getOrDefault(pool, 0L) - most));
        counts.put("threads of no pool", threads.getOrDefault("", 0L));
        try (Stream<Path> descriptors = Files.list(Path.of("/proc/self/fd"))) {
            counts.put("descriptors", descriptors.count());
        }
        return counts;
    }

    private boolean noMoreThan(Map<String, Long> before) throws IOException {
        return counts().entrySet().stream().allMatch(now -> now.getValue() <= Math.max(0, before.get(now.getKey())));
    }

    /** Returns how many threads there are, by pool; "" is for threads of no pool. */
    private static Map<String, Long> threads() {
        Thread[] all = new Thread[4096];
        int count = Thread.enumerate(all);
        return Arrays.stream(all, 0, count)
                .map(Thread::getName)
                .collect(Collectors.groupingBy(
                        name -> POOLS.keySet().stream()
                                .filter(name::startsWith)
                                .findFirst()
                                .orElse(""),
                        Collectors.counting()));
    }

    private static long leases() {
        try {
            var live = Class.forName("io.penstock.engine.stream.Leases").getDeclaredMethod("live");
            live.setAccessible(true);
            return (long) live.invoke(null);
        } catch (ReflectiveOperationException e) {
            throw new LinkageError(e.getMessage(), e);
        }
    }

    /** Polls, because connections end when they end. */
    private void await(String what, Callable<Boolean> condition) throws Exception {
        long deadline = System.nanoTime() + PATIENCE_NANOS;
        while (!condition.call()) {
            assertThat(deadline - System.nanoTime())
                    .as(what + "; now: " + counts() + ", "
                            + Thread.getAllStackTraces().keySet())
                    .isPositive();
            LockSupport.parkNanos(2_000_000);
        }
    }
}
