// SPDX-License-Identifier: Apache-2.0
package io.penstock.integration.spark;

import com.codahale.metrics.Gauge;
import com.codahale.metrics.MetricRegistry;
import io.penstock.Completion;
import io.penstock.FailedCompletion;
import io.penstock.TransferListener;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.ToLongFunction;
import org.apache.spark.api.plugin.DriverPlugin;
import org.apache.spark.api.plugin.ExecutorPlugin;
import org.apache.spark.api.plugin.PluginContext;
import org.apache.spark.api.plugin.SparkPlugin;
import org.apache.spark.resource.ResourceInformation;

/**
 * Keeps the backend of each executor open as long as the executor lives:
 * {@code spark.plugins=io.penstock.integration.spark.PenstockPlugin}. Without it the source works too, but opens a
 * backend when a task starts to read, and closes it when no task is left.
 *
 * <p>{@code spark.penstock.backend} names the backend; {@code spark.penstock.NAME} sets its option
 * {@code penstock.NAME}. Where Spark schedules GPUs, the backend {@code cufile} opens the GPU that the executor was
 * given. {@code spark.penstock.in-flight-bytes} (default: 256m) bounds the memory of all tasks of an executor for bytes
 * that are being read.
 *
 * <p><b>Errors:</b> an executor whose backend cannot be opened does not start.
 *
 * <p><b>Metrics:</b> {@code bytes.PATH}, {@code failures}, {@code transfers.in.flight}, {@code pins},
 * {@code budget.available}, {@code wait.budget.millis}, for which tasks waited for bytes in flight, and
 * {@code wait.functions.millis}, for which functions of {@link DeviceTasks} had chunks, in the registry of the
 * executor, by the name of this class.
 */
public final class PenstockPlugin implements SparkPlugin {

    /** Called by Spark. */
    public PenstockPlugin() {}

    /** Returns null: the driver needs nothing. */
    @Override
    @SuppressWarnings("NullAway") // Spark's documentation: "may be null"
    public DriverPlugin driverPlugin() {
        return null;
    }

    @Override
    public ExecutorPlugin executorPlugin() {
        return new Executor();
    }

    private static final class Executor implements ExecutorPlugin {

        private final List<ExecutorBackend.Lease> leases = new ArrayList<>();

        @Override
        public void init(PluginContext context, Map<String, String> ignored) {
            ResourceInformation gpus = context.resources().get("gpu");
            String[] addresses = gpus == null || gpus.addresses().length == 0 ? new String[] {""} : gpus.addresses();
            try {
                for (String address : addresses) {
                    leases.add(ExecutorBackend.lease(address, context.conf()));
                }
            } catch (RuntimeException | Error e) {
                shutdown();
                throw e;
            }
            ExecutorBackend.executorHas(addresses[0]);
            register(context.metricRegistry());
        }

        private void register(MetricRegistry registry) {
            Moved moved = new Moved();
            leases.forEach(lease -> lease.backends().forEach(backend -> backend.listen(moved)));
            moved.values
                    .bytes()
                    .forEach((path, bytes) -> registry.register(
                            "bytes." + path.name().toLowerCase(Locale.ROOT), (Gauge<Long>) bytes::sum));
            registry.register("failures", (Gauge<Long>) moved.failures::sum);
            registry.register("transfers.in.flight", (Gauge<Integer>) () -> leases.stream()
                    .flatMap(lease -> lease.backends().stream())
                    .mapToInt(backend -> backend.counters().inFlight())
                    .sum());
            registry.register("pins", (Gauge<Long>) () -> leases.stream()
                    .flatMap(lease -> lease.backends().stream())
                    .mapToLong(backend -> backend.counters().pins())
                    .sum());
            registry.register("wait.budget.millis", (Gauge<Long>)
                    () -> millis(lease -> lease.budget().waited()));
            registry.register("wait.functions.millis", (Gauge<Long>)
                    () -> millis(lease -> lease.functions().sum()));
            registry.register("budget.available", (Gauge<Long>) () -> leases.stream()
                    .mapToLong(lease -> lease.budget().available())
                    .sum());
        }

        private long millis(ToLongFunction<ExecutorBackend.Lease> nanos) {
            return TimeUnit.NANOSECONDS.toMillis(
                    leases.stream().mapToLong(nanos).sum());
        }

        @Override
        public void shutdown() {
            ExecutorBackend.executorHas("");
            leases.forEach(ExecutorBackend.Lease::close);
        }
    }

    /** Counts the transfers of an executor. */
    private static final class Moved implements TransferListener {

        final TransferMetric.Values values = new TransferMetric.Values();
        final LongAdder failures = new LongAdder();

        @Override
        public void ended(Completion completion) {
            if (completion instanceof FailedCompletion) {
                failures.increment();
            } else {
                values.moved(completion.path(), completion.bytes());
            }
        }
    }
}
