// SPDX-License-Identifier: Apache-2.0
package io.penstock.micrometer;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import io.penstock.Backend;
import io.penstock.Backend.Counters;
import io.penstock.ClosedException;
import io.penstock.Completion;
import io.penstock.DeviceLostException;
import io.penstock.FailedCompletion;
import io.penstock.PermanentStorageException;
import io.penstock.Transfer;
import io.penstock.TransferListener;
import io.penstock.TransferPath;
import io.penstock.TransientStorageException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.WeakHashMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.ToLongFunction;
import java.util.stream.Stream;
import reactor.core.Disposable;
import reactor.core.Disposables;

/**
 * Meters of one backend and its transfers. Meters are looked up once and kept: a transfer costs two timers and two
 * counters, and allocates nothing.
 *
 * <table>
 * <caption>Meters; each has the tag {@code backend}</caption>
 * <tr><th>name</th><th>type</th><th>tags</th><th>what</th></tr>
 * <tr><td>{@code penstock.transfers}</td><td>timer</td><td>operation, path, outcome</td>
 * <td>transfers that ended, from the subscription to the last native completion</td></tr>
 * <tr><td>{@code penstock.transfers.wait}</td><td>timer</td><td>operation, path</td>
 * <td>from the subscription to the first native command</td></tr>
 * <tr><td>{@code penstock.transfers.moved}</td><td>counter, bytes</td><td>operation, path</td><td>bytes moved</td></tr>
 * <tr><td>{@code penstock.transfers.cancelled}</td><td>counter</td><td>operation</td>
 * <td>transfers whose subscriber cancelled</td></tr>
 * <tr><td>{@code penstock.transfers.active}</td><td>gauge</td><td></td>
 * <td>transfers that have begun and not ended</td></tr>
 * <tr><td>{@code penstock.transfers.inflight}</td><td>gauge</td><td></td>
 * <td>transfers whose native operations have not all ended, cancelled ones included</td></tr>
 * <tr><td>{@code penstock.transfers.fallbacks}</td><td>counter</td><td></td>
 * <td>transfers that did not take the path that the backend prefers</td></tr>
 * <tr><td>{@code penstock.fallback}</td><td>gauge</td><td></td>
 * <td>backends for which the system has refused the means that they prefer, such as io_uring</td></tr>
 * <tr><td>{@code penstock.files}, {@code penstock.buffers}</td><td>gauges</td><td></td>
 * <td>files and buffers that are open or in use</td></tr>
 * <tr><td>{@code penstock.pins}</td><td>gauge</td><td></td>
 * <td>how many times transfers, leases and views use them</td></tr>
 * <tr><td>{@code penstock.staging.buffers}</td><td>gauge</td><td></td><td>staging buffers</td></tr>
 * <tr><td>{@code penstock.staging.buffers.used}</td><td>gauge</td><td></td>
 * <td>staging buffers that requests hold or have reserved</td></tr>
 * </table>
 *
 * <p>{@code operation} is read or write; {@code path} a {@link TransferPath} in lower case; {@code outcome} is success,
 * transient, permanent, lost, closed or error. No tag has a name of a file. The values without these tags come from
 * {@link Backend#counters}; staging buffers that several backends of one name share are counted for each.
 *
 * <p><b>Threading:</b> thread-safe. A transfer's meters are updated on the threads of {@link TransferListener}.
 */
public final class TransferMeters implements TransferListener {

    private static final String NAME = "penstock.transfers";

    /** By registry and name of a backend: a registry has one gauge for each id, and ignores a second one. */
    private static final Map<MeterRegistry, Map<String, Gauges>> GAUGES = new WeakHashMap<>(); // guarded by itself

    private final MeterRegistry registry;
    private final Tags tags;
    private final Gauges gauges;
    private final Map<TransferPath, PathMeters> reads = new ConcurrentHashMap<>();
    private final Map<TransferPath, PathMeters> writes = new ConcurrentHashMap<>();
    private final Counter[] cancelled;

    private enum Outcome {
        SUCCESS,
        TRANSIENT,
        PERMANENT,
        LOST,
        CLOSED,
        ERROR
    }

    /** The meters of one operation by one path. */
    private final class PathMeters {
        final Timer waits;
        final Counter bytes;
        private final Tags tags;
        private final Map<Outcome, Timer> ends = new ConcurrentHashMap<>();

        PathMeters(boolean read, TransferPath path) {
            tags = TransferMeters.this.tags.and("operation", read ? "read" : "write", "path", lowerCase(path));
            waits = Timer.builder(NAME + ".wait")
                    .description("From the subscription to the first native command")
                    .tags(tags)
                    .register(registry);
            bytes = Counter.builder(NAME + ".moved")
                    .description("Bytes moved")
                    .baseUnit("bytes")
                    .tags(tags)
                    .register(registry);
        }

        Timer ended(Outcome outcome) {
            Timer known = ends.get(outcome);
            return known != null ? known : ends.computeIfAbsent(outcome, this::create);
        }

        private Timer create(Outcome outcome) {
            return Timer.builder(NAME)
                    .description("Transfers that ended, from the subscription to the last native completion")
                    .tags(tags.and("outcome", lowerCase(outcome)))
                    .register(registry);
        }
    }

    /** The gauges of all backends of one name. */
    private static final class Gauges {
        final LongAdder active = new LongAdder();
        private final List<Backend> backends = new CopyOnWriteArrayList<>();
        private final AtomicLong earlierFallbacks = new AtomicLong(); // of removed backends
        private final List<Meter> meters = new ArrayList<>(); // none refers to the registry, whose key is weak

        Gauges(Tags tags, MeterRegistry registry) {
            meters.add(Gauge.builder(NAME + ".active", active, LongAdder::sum)
                    .description("Transfers that have begun and not ended")
                    .tags(tags)
                    .register(registry));
            meters.add(Gauge.builder("penstock.fallback", this, Gauges::fallenBack)
                    .description("Backends for which the system has refused the means that they prefer")
                    .tags(tags)
                    .register(registry));
            Stream.of(
                            gauge(
                                    NAME + ".inflight",
                                    Counters::inFlight,
                                    "Transfers whose native operations have not all ended, cancelled ones included"),
                            gauge("penstock.files", Counters::files, "Files that are open or in use"),
                            gauge("penstock.buffers", Counters::buffers, "Buffers that are open or in use"),
                            gauge(
                                    "penstock.pins",
                                    Counters::pins,
                                    "How many times transfers, leases and views use files and buffers"),
                            gauge("penstock.staging.buffers", Counters::stagingBuffers, "Staging buffers"),
                            gauge(
                                    "penstock.staging.buffers.used",
                                    Counters::stagingBuffersInUse,
                                    "Staging buffers that requests hold or have reserved"))
                    .map(gauge -> gauge.tags(tags).register(registry))
                    .forEach(meters::add);
            meters.add(FunctionCounter.builder(NAME + ".fallbacks", this, Gauges::fallbacks)
                    .description("Transfers that did not take the path that the backend prefers")
                    .tags(tags)
                    .register(registry));
        }

        private Gauge.Builder<Gauges> gauge(String name, ToLongFunction<Counters> value, String description) {
            return Gauge.builder(name, this, gauges -> gauges.sum(value)).description(description);
        }

        private long sum(ToLongFunction<Counters> value) {
            return backends.stream()
                    .mapToLong(backend -> value.applyAsLong(backend.counters()))
                    .sum();
        }

        private long fallenBack() {
            return backends.stream().filter(Backend::isFallback).count();
        }

        private long fallbacks() {
            return earlierFallbacks.get() + sum(Counters::fallbacks);
        }

        /** Removes a backend, once if it was bound twice; returns whether it was the last one. */
        boolean leave(Backend backend) {
            int index = 0;
            while (backends.get(index) != backend) {
                index++;
            }
            earlierFallbacks.addAndGet(backend.counters().fallbacks());
            backends.remove(index);
            return backends.isEmpty();
        }
    }

    private TransferMeters(Backend backend, MeterRegistry registry) {
        this.registry = registry;
        this.tags = Tags.of("backend", backend.name());
        this.cancelled = new Counter[] {cancelled("write"), cancelled("read")};
        this.gauges = join(backend);
    }

    private Gauges join(Backend backend) {
        synchronized (GAUGES) {
            Gauges shared = GAUGES.computeIfAbsent(registry, first -> new HashMap<>())
                    .computeIfAbsent(backend.name(), first -> new Gauges(tags, registry));
            shared.backends.add(backend);
            return shared;
        }
    }

    private void leave(Backend backend) {
        synchronized (GAUGES) {
            if (gauges.leave(backend)) {
                gauges.meters.forEach(registry::remove);
                Objects.requireNonNull(GAUGES.get(registry)).remove(backend.name());
            }
        }
    }

    private Counter cancelled(String operation) {
        return Counter.builder(NAME + ".cancelled")
                .description("Transfers whose subscriber cancelled")
                .tags(tags.and("operation", operation))
                .register(registry);
    }

    /**
     * Counts the transfers of a backend that begin from now on. Two backends of one name share their meters.
     *
     * @return to be disposed of when the backend is closed: removes the listener, and with the last backend of a name
     *     the gauges, which would keep their last values; a second call does nothing
     */
    public static Disposable bind(Backend backend, MeterRegistry registry) {
        Objects.requireNonNull(registry, "registry");
        TransferMeters meters = new TransferMeters(backend, registry);
        return Disposables.composite(backend.listen(meters), () -> meters.leave(backend));
    }

    @Override
    public void started(Transfer transfer) {
        gauges.active.increment();
    }

    @Override
    public void cancelled(Transfer transfer) {
        gauges.active.decrement();
        cancelled[transfer.isRead() ? 1 : 0].increment();
    }

    @Override
    public void ended(Completion completion) {
        gauges.active.decrement();
        PathMeters meters = meters(completion.transfer().isRead(), completion.path());
        meters.ended(outcome(completion))
                .record(completion.endedNanos() - completion.subscribedNanos(), TimeUnit.NANOSECONDS);
        meters.bytes.increment((double) completion.bytes());
        if (completion.startedNanos() != 0) { // else it was refused
            meters.waits.record(completion.startedNanos() - completion.subscribedNanos(), TimeUnit.NANOSECONDS);
        }
    }

    private static Outcome outcome(Completion completion) {
        if (!(completion instanceof FailedCompletion failed)) {
            return Outcome.SUCCESS;
        }
        Throwable error = failed.error();
        if (error instanceof TransientStorageException) {
            return Outcome.TRANSIENT;
        }
        if (error instanceof PermanentStorageException) {
            return Outcome.PERMANENT;
        }
        if (error instanceof DeviceLostException) {
            return Outcome.LOST;
        }
        return error instanceof ClosedException ? Outcome.CLOSED : Outcome.ERROR;
    }

    private PathMeters meters(boolean read, TransferPath path) {
        Map<TransferPath, PathMeters> all = read ? reads : writes;
        PathMeters known = all.get(path); // as most do: the function below is an object
        return known != null ? known : all.computeIfAbsent(path, added -> new PathMeters(read, added));
    }

    private static String lowerCase(Enum<?> value) {
        return value.name().toLowerCase(Locale.ROOT);
    }
}
