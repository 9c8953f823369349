// SPDX-License-Identifier: Apache-2.0
package io.penstock.integration.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.codahale.metrics.Gauge;
import com.codahale.metrics.MetricRegistry;
import io.penstock.Backend;
import io.penstock.BackendUnavailableException;
import io.penstock.StreamPlan;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.spark.SparkConf;
import org.apache.spark.api.plugin.ExecutorPlugin;
import org.apache.spark.api.plugin.PluginContext;
import org.apache.spark.resource.ResourceInformation;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.Disposable;

/** The lifetime of an executor's backends, and the bound of its bytes in flight, without a cluster. */
class ExecutorBackendTest {

    private final SparkConf conf = new SparkConf(false).set("spark.penstock.backend", "host");

    private static boolean isOpen(Backend backend) {
        try {
            backend.allocate(1).blockOptional().orElseThrow().close();
            return true;
        } catch (RuntimeException closed) {
            return false;
        }
    }

    @Test
    void theLastUserClosesTheBackend() {
        ExecutorBackend.Lease first = ExecutorBackend.lease("", conf);
        ExecutorBackend.Lease second = ExecutorBackend.lease("", conf);
        Backend backend = first.device();
        assertThat(second.device()).isSameAs(backend);
        first.close();
        first.close();
        assertThat(isOpen(backend)).isTrue();
        second.close();
        assertThat(isOpen(backend)).isFalse();
        try (ExecutorBackend.Lease third = ExecutorBackend.lease("", conf)) {
            assertThat(third.device()).isNotSameAs(backend);
            assertThat(isOpen(third.device())).isTrue();
        }
    }

    @Test
    void everyGpuHasABackendOfItsOwn() {
        try (ExecutorBackend.Lease first = ExecutorBackend.lease("0", conf);
                ExecutorBackend.Lease second = ExecutorBackend.lease("1", conf)) {
            assertThat(first.device()).isNotSameAs(second.device());
        }
    }

    @Test
    void settingsAreOptionsOfTheBackend() {
        assertThatThrownBy(() -> ExecutorBackend.lease("", conf.clone().set("spark.penstock.queue.depth", "0")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("penstock.queue.depth");
        assertThatThrownBy(() -> ExecutorBackend.lease("", conf.clone().set("spark.penstock.backend", "absent")))
                .isInstanceOf(BackendUnavailableException.class)
                .hasMessageContaining("there is no backend 'absent'");
        assertThatThrownBy(() -> ExecutorBackend.lease("", conf.clone().set("spark.penstock.in-flight-bytes", "1k")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("bytes in flight must be at least 4096");
    }

    @Test
    void thePluginOpensTheBackendBeforeTheFirstTaskAndClosesItAfterTheLast(@TempDir Path folder) throws IOException {
        MetricRegistry registry = new MetricRegistry();
        ExecutorPlugin plugin = new PenstockPlugin().executorPlugin();
        plugin.init(context(registry), Map.of());
        Backend backend;
        try (ExecutorBackend.Lease task = ExecutorBackend.lease("3", conf)) {
            backend = task.device();
            Path file = Files.write(folder.resolve("x"), new byte[5000]);
            assertThat(backend.read(StreamPlan.of(file)).collectList().block()).hasSize(1);
        }
        assertThat(isOpen(backend)).isTrue();
        assertThat(gauge(registry, "bytes.host")).isEqualTo(5000L);
        assertThat(gauge(registry, "bytes.direct")).isEqualTo(0L);
        assertThat(gauge(registry, "failures")).isEqualTo(0L);
        assertThat(gauge(registry, "pins")).isEqualTo(0L);
        assertThat(gauge(registry, "transfers.in.flight")).isEqualTo(0);
        assertThat(gauge(registry, "wait.budget.millis")).isInstanceOf(Long.class);
        assertThat(gauge(registry, "wait.functions.millis")).isEqualTo(0L);
        assertThat(gauge(registry, "budget.available")).isEqualTo(256L << 20);
        plugin.shutdown();
        assertThat(isOpen(backend)).isFalse();
    }

    /** {@code spark.executor.resource.gpu.amount} may be set without {@code spark.task.resource.gpu.amount}. */
    @Test
    void aTaskWithoutAGpuOfItsOwnTakesThatOfItsExecutor() {
        ExecutorPlugin plugin = new PenstockPlugin().executorPlugin();
        plugin.init(context(new MetricRegistry()), Map.of());
        assertThat(ExecutorBackend.address(null)).isEqualTo("3");
        assertThat(ExecutorBackend.address(new ResourceInformation("gpu", new String[] {"4"})))
                .isEqualTo("4");
        plugin.shutdown();
        assertThat(ExecutorBackend.address(null)).isEmpty();
    }

    private static Object gauge(MetricRegistry registry, String name) {
        return ((Gauge<?>) registry.getMetrics().get(name)).getValue();
    }

    private PluginContext context(MetricRegistry registry) {
        Map<String, Object> answers = Map.of(
                "resources", Map.of("gpu", new ResourceInformation("gpu", new String[] {"3"})),
                "conf", conf,
                "metricRegistry", registry);
        return (PluginContext) Proxy.newProxyInstance(
                PluginContext.class.getClassLoader(),
                new Class<?>[] {PluginContext.class},
                (proxy, method, arguments) -> answers.get(method.getName()));
    }

    @Test
    void aTaskWaitsUntilEnoughBytesAreFree() throws InterruptedException {
        ByteBudget budget = new ByteBudget(64 << 10);
        Disposable first = budget.acquire(40 << 10);
        CountDownLatch acquired = new CountDownLatch(1);
        AtomicBoolean tooEarly = new AtomicBoolean();
        Thread second = new Thread(() -> {
            try {
                Disposable permit = budget.acquire(30 << 10);
                tooEarly.set(!first.isDisposed());
                acquired.countDown();
                permit.dispose();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        second.start();
        while (second.getState() != Thread.State.WAITING) {
            Thread.onSpinWait();
        }
        long waiting = System.nanoTime();
        assertThat(acquired.getCount()).isOne();
        long waited = System.nanoTime() - waiting;
        first.dispose();
        first.dispose();
        assertThat(acquired.await(10, TimeUnit.SECONDS)).isTrue();
        second.join();
        assertThat(tooEarly).isFalse();
        assertThat(budget.available()).isEqualTo(64 << 10);
        assertThat(budget.waited()).isGreaterThan(waited);
    }

    /** It would wait for itself without end. */
    @Test
    void aTaskThatWouldWaitForItsOwnBytesIsRefused() throws InterruptedException {
        ByteBudget budget = new ByteBudget(64 << 10);
        Disposable first = budget.acquire(40 << 10, "task");
        assertThatThrownBy(() -> budget.acquire(30 << 10, "task"))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage(
                        "a task must have at most 65536 bytes in flight, the value of spark.penstock.in-flight-bytes,"
                                + " had 40960 of rows or chunks that it has not taken to their end, and wanted 30720 more");
        first.dispose();
        budget.acquire(30 << 10, "task").dispose();
        assertThat(budget.available()).isEqualTo(64 << 10);
    }

    @Test
    void moreThanTheWholeBudgetIsRefused() {
        assertThatThrownBy(() -> new ByteBudget(8192).acquire(8193))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("chunks of a task must have at most 8192 bytes together, the value of"
                        + " spark.penstock.in-flight-bytes, had 8193");
    }
}
