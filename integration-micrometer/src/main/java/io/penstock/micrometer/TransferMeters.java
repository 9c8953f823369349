// SPDX-License-Identifier: Apache-2.0
package io.penstock.micrometer;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import io.penstock.Backend;
import io.penstock.ClosedException;
import io.penstock.Completion;
import io.penstock.DeviceLostException;
import io.penstock.FailedCompletion;
import io.penstock.PermanentStorageException;
import io.penstock.Transfer;
import io.penstock.TransferListener;
import io.penstock.TransferPath;
import io.penstock.TransientStorageException;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.WeakHashMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import reactor.core.Disposable;
import reactor.core.Disposables;

/**
 * Meters of the transfers of one backend. Meters are looked up once and kept: a transfer costs two timers and a counter.
 *
 * <table>
 * <caption>Meters; each has the tag {@code backend}</caption>
 * <tr><th>name</th><th>type</th><th>tags</th><th>what</th></tr>
 * <tr><td>{@code penstock.transfers}</td><td>timer</td><td>operation, path, outcome</td>
 *     <td>transfers that ended, from the subscription to the last native completion</td></tr>
 * <tr><td>{@code penstock.transfers.wait}</td><td>timer</td><td>operation, path</td>
 *     <td>from the subscription to the first native command</td></tr>
 * <tr><td>{@code penstock.transfers.moved}</td><td>counter, bytes</td><td>operation, path</td><td>bytes moved</td></tr>
 * <tr><td>{@code penstock.transfers.cancelled}</td><td>counter</td><td>operation</td>
 *     <td>transfers whose subscriber cancelled</td></tr>
 * <tr><td>{@code penstock.transfers.active}</td><td>gauge</td><td></td>
 *     <td>transfers that have begun and not ended</td></tr>
 * </table>
 *
 * <p>{@code operation} is read or write; {@code path} a {@link TransferPath} in lower case; {@code outcome} is success,
 * transient, permanent, lost, closed or error. No tag has a name of a file.
 *
 * <p><b>Threading:</b> thread-safe. A transfer's meters are updated on the threads of {@link TransferListener}.
 */
public final class TransferMeters implements TransferListener {

    private static final String NAME = "penstock.transfers";

    /** By registry and name of a backend: a registry has one gauge of an id, and ignores the value of a second one. */
    private static final Map<MeterRegistry, Map<String, Active>> ACTIVE = new WeakHashMap<>(); // guarded by itself

    private final MeterRegistry registry;
    private final Tags tags;
    private final LongAdder active;
    private final Map<Ending, Timer> timers = new ConcurrentHashMap<>();
    private final Map<Route, Moved> moved = new ConcurrentHashMap<>();
    private final Counter[] cancelled;

    private record Route(boolean read, TransferPath path) {}

    private record Ending(Route route, String outcome) {}

    private record Moved(Timer waits, Counter bytes) {}

    /** The gauge of all backends of one name. */
    private static final class Active {
        final LongAdder transfers = new LongAdder();
        final Gauge gauge;
        int bindings; // guarded by ACTIVE

        Active(Tags tags, MeterRegistry registry) {
            gauge = Gauge.builder(NAME + ".active", transfers, LongAdder::sum)
                    .description("Transfers that have begun and not ended")
                    .tags(tags)
                    .register(registry);
        }
    }

    private TransferMeters(Backend backend, MeterRegistry registry) {
        this.registry = registry;
        this.tags = Tags.of("backend", backend.name());
        this.cancelled = new Counter[] {cancelled("write"), cancelled("read")};
        this.active = join(backend.name());
    }

    private LongAdder join(String backend) {
        synchronized (ACTIVE) {
            Active shared = ACTIVE.computeIfAbsent(registry, first -> new HashMap<>())
                    .computeIfAbsent(backend, first -> new Active(tags, registry));
            shared.bindings++;
            return shared.transfers;
        }
    }

    private void leave(String backend) {
        synchronized (ACTIVE) {
            Map<String, Active> byName = Objects.requireNonNull(ACTIVE.get(registry));
            Active shared = Objects.requireNonNull(byName.get(backend));
            if (--shared.bindings == 0) {
                byName.remove(backend);
                registry.remove((Meter) shared.gauge);
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
     * @return to be disposed of when the backend is closed: removes the listener, and with the last backend of a name the
     *     gauge, which would keep its last value; a second call does nothing
     */
    public static Disposable bind(Backend backend, MeterRegistry registry) {
        Objects.requireNonNull(registry, "registry");
        TransferMeters meters = new TransferMeters(backend, registry);
        return Disposables.composite(backend.listen(meters), () -> meters.leave(backend.name()));
    }

    @Override
    public void started(Transfer transfer) {
        active.increment();
    }

    @Override
    public void cancelled(Transfer transfer) {
        active.decrement();
        cancelled[transfer.isRead() ? 1 : 0].increment();
    }

    @Override
    public void ended(Completion completion) {
        active.decrement();
        Route route = new Route(completion.transfer().isRead(), completion.path());
        timers.computeIfAbsent(new Ending(route, outcome(completion)), this::timer)
                .record(completion.endedNanos() - completion.subscribedNanos(), TimeUnit.NANOSECONDS);
        Moved meters = moved.computeIfAbsent(route, this::moved);
        meters.bytes.increment((double) completion.bytes());
        if (completion.startedNanos() != 0) { // else it was refused
            meters.waits.record(completion.startedNanos() - completion.subscribedNanos(), TimeUnit.NANOSECONDS);
        }
    }

    private static String outcome(Completion completion) {
        if (!(completion instanceof FailedCompletion failed)) {
            return "success";
        }
        Throwable error = failed.error();
        if (error instanceof TransientStorageException) {
            return "transient";
        }
        if (error instanceof PermanentStorageException) {
            return "permanent";
        }
        if (error instanceof DeviceLostException) {
            return "lost";
        }
        return error instanceof ClosedException ? "closed" : "error";
    }

    private Tags tags(Route route) {
        return tags.and(
                "operation",
                route.read ? "read" : "write",
                "path",
                route.path.name().toLowerCase(Locale.ROOT));
    }

    private Timer timer(Ending ending) {
        return Timer.builder(NAME)
                .description("Transfers that ended, from the subscription to the last native completion")
                .tags(tags(ending.route).and("outcome", ending.outcome))
                .register(registry);
    }

    private Moved moved(Route route) {
        Timer waits = Timer.builder(NAME + ".wait")
                .description("From the subscription to the first native command")
                .tags(tags(route))
                .register(registry);
        Counter bytes = Counter.builder(NAME + ".moved")
                .description("Bytes moved")
                .baseUnit("bytes")
                .tags(tags(route))
                .register(registry);
        return new Moved(waits, bytes);
    }
}
