// SPDX-License-Identifier: Apache-2.0
package io.penstock.micrometer;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.penstock.Backend;
import io.penstock.Backend.Counters;
import io.penstock.Backends;
import io.penstock.ClosedException;
import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.DeviceLostException;
import io.penstock.Evidence;
import io.penstock.FailedCompletion;
import io.penstock.Failure;
import io.penstock.PermanentStorageException;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.TransferListener;
import io.penstock.TransferPath;
import io.penstock.TransientStorageException;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.Disposable;
import reactor.core.Disposables;

/**
 * The values that meters have after transfers whose times and ends are known: the values of a backend that does
 * nothing.
 */
class RecordedValuesTest {

    private static final int LENGTH = 1000;

    @TempDir
    Path folder;

    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
    private Backend host;
    private Transfer read;
    private Transfer write;

    private record Done(
            Transfer transfer, long bytes, TransferPath path, long subscribedNanos, long startedNanos, long endedNanos)
            implements Completion {

        /** A transfer that began at 1 us, reached the device at 3 us and ended at 10 us. */
        Done(Transfer transfer, long bytes, TransferPath path) {
            this(transfer, bytes, path, 1_000, 3_000, 10_000);
        }

        @Override
        public long bytes(int pair) {
            return bytes;
        }

        @Override
        public Evidence evidence() {
            return Evidence.OBSERVED;
        }

        @Override
        public String reason() {
            return "";
        }
    }

    private static FailedCompletion failed(Done done, Throwable error) {
        return (FailedCompletion) Proxy.newProxyInstance(
                FailedCompletion.class.getClassLoader(),
                new Class<?>[] {FailedCompletion.class},
                (proxy, method, arguments) ->
                        method.getName().equals("error") ? error : method.invoke(done, arguments));
    }

    @BeforeEach
    void open() throws IOException {
        host = Backends.open("host");
        Path path = Files.write(folder.resolve("data"), new byte[LENGTH]);
        StorageFile file = host.openFile(path).block();
        DeviceBuffer buffer = host.allocate(LENGTH).block();
        read = Transfer.read(file.all(), buffer.all());
        write = Transfer.write(buffer.all(), file.all());
    }

    @AfterEach
    void close() {
        host.close();
    }

    /** A backend that is only listened to. */
    private static final class Silent {
        final AtomicReference<TransferListener> listener = new AtomicReference<>();
        final Backend backend;
        volatile Counters counters = new Counters(1, 2, 3, 4, 5, 6, 7);

        Silent(String name) {
            backend = (Backend) Proxy.newProxyInstance(
                    Backend.class.getClassLoader(),
                    new Class<?>[] {Backend.class},
                    (proxy, method, arguments) -> switch (method.getName()) {
                        case "name" -> name;
                        case "counters" -> counters;
                        case "listen" -> {
                            listener.set((TransferListener) arguments[0]);
                            yield Disposables.single();
                        }
                        default -> throw new UnsupportedOperationException(method.getName());
                    });
        }

        TransferListener listener() {
            return Objects.requireNonNull(listener.get());
        }
    }

    private TransferListener bound() {
        Silent silent = new Silent("silent");
        TransferMeters.bind(silent.backend, registry);
        return silent.listener();
    }

    private double active(String backend) {
        return registry.get("penstock.transfers.active")
                .tag("backend", backend)
                .gauge()
                .value();
    }

    @Test
    void timesRunFromTheSubscriptionToTheFirstCommandAndToTheLastCompletion() {
        bound().ended(new Done(read, LENGTH, TransferPath.HOST));
        Timer whole = registry.get("penstock.transfers").timer();
        Timer wait = registry.get("penstock.transfers.wait").timer();
        assertThat(whole.totalTime(TimeUnit.NANOSECONDS)).isEqualTo(9_000);
        assertThat(wait.totalTime(TimeUnit.NANOSECONDS)).isEqualTo(2_000);
        assertThat(wait.count()).isOne();
    }

    /** The clock of a JVM may count up to 0. */
    @Test
    void aTransferThatWasRefusedHasNotWaited() {
        Done refused = new Done(read, 0, TransferPath.HOST, -9_000, 0, -5_000);
        bound().ended(failed(refused, new ClosedException("closed", Failure.NOT_STARTED, null)));
        assertThat(registry.get("penstock.transfers").timer().totalTime(TimeUnit.NANOSECONDS))
                .isEqualTo(4_000);
        assertThat(registry.get("penstock.transfers.wait").timer().count()).isZero();
    }

    @Test
    void bytesAreThoseThatWereMovedOnEachPath() {
        TransferListener listener = bound();
        listener.ended(new Done(read, 10, TransferPath.HOST)); // the file ended there
        listener.ended(new Done(read, 700, TransferPath.STAGED));
        listener.ended(failed(new Done(read, 3, TransferPath.HOST), new IllegalStateException()));
        listener.ended(new Done(write, LENGTH, TransferPath.HOST));
        assertThat(moved("read", "host")).isEqualTo(13);
        assertThat(moved("read", "staged")).isEqualTo(700);
        assertThat(moved("write", "host")).isEqualTo(LENGTH);
    }

    private double moved(String operation, String path) {
        return registry.get("penstock.transfers.moved")
                .tags("backend", "silent", "operation", operation, "path", path)
                .counter()
                .count();
    }

    @Test
    void everyFailureIsCountedAsWhatTheCallerCanDoAboutIt() {
        Map<String, Throwable> errors = new LinkedHashMap<>();
        errors.put("transient", new TransientStorageException("busy", Failure.NOT_STARTED, null));
        errors.put("permanent", new PermanentStorageException("EIO", Failure.NOT_STARTED, null));
        errors.put("lost", new DeviceLostException("reset", Failure.NOT_STARTED, null));
        errors.put("closed", new ClosedException("closed", Failure.NOT_STARTED, null));
        errors.put("error", new IOException("other"));
        TransferListener listener = bound();
        Done done = new Done(read, 0, TransferPath.HOST);
        listener.ended(done);
        errors.values().forEach(error -> listener.ended(failed(done, error)));
        assertThat(count("success")).isOne();
        assertThat(errors.keySet())
                .allSatisfy(outcome -> assertThat(count(outcome)).isOne());
    }

    private long count(String outcome) {
        return registry.get("penstock.transfers")
                .tag("outcome", outcome)
                .timer()
                .count();
    }

    @Test
    void cancelsAreCountedByOperation() {
        TransferListener listener = bound();
        listener.started(read);
        listener.started(write);
        listener.started(write);
        listener.cancelled(write);
        assertThat(cancelled("write")).isOne();
        assertThat(cancelled("read")).isZero();
        assertThat(active("silent")).isEqualTo(2);
    }

    private double cancelled(String operation) {
        return registry.get("penstock.transfers.cancelled")
                .tags(Tags.of("operation", operation))
                .counter()
                .count();
    }

    @Test
    void backendsOfOneNameShareTheGaugeUntilTheLastIsUnbound() {
        Silent one = new Silent("same");
        Silent two = new Silent("same");
        Disposable first = TransferMeters.bind(one.backend, registry);
        Disposable second = TransferMeters.bind(two.backend, registry);
        one.listener().started(read);
        two.listener().started(read);
        two.listener().started(write);
        assertThat(active("same")).as("of both").isEqualTo(3);
        one.listener().ended(new Done(read, LENGTH, TransferPath.HOST));
        first.dispose();
        assertThat(active("same")).as("of the second").isEqualTo(2);
        second.dispose();
        assertThat(registry.find("penstock.transfers.active").gauge()).isNull();
    }

    @Test
    void countersAreThoseOfAllBackendsOfTheName() {
        Silent one = new Silent("same");
        Silent two = new Silent("same");
        Disposable first = TransferMeters.bind(one.backend, registry);
        Disposable second = TransferMeters.bind(two.backend, registry);
        two.counters = new Counters(10, 20, 30, 40, 50, 60, 70);
        assertThat(gauge("penstock.transfers.inflight")).isEqualTo(11);
        assertThat(gauge("penstock.files")).isEqualTo(22);
        assertThat(gauge("penstock.buffers")).isEqualTo(33);
        assertThat(gauge("penstock.pins")).isEqualTo(44);
        assertThat(gauge("penstock.staging.buffers")).isEqualTo(55);
        assertThat(gauge("penstock.staging.buffers.used")).isEqualTo(66);
        assertThat(fallbacks()).isEqualTo(77);

        first.dispose();
        assertThat(gauge("penstock.files")).as("of the second").isEqualTo(20);
        assertThat(fallbacks()).as("a counter does not fall").isEqualTo(77);
        second.dispose();
        assertThat(registry.getMeters())
                .extracting(meter -> meter.getId().getType())
                .containsOnly(Meter.Type.COUNTER);
        assertThat(registry.find("penstock.transfers.fallbacks").functionCounter())
                .isNull();
    }

    private double gauge(String name) {
        return registry.get(name).tag("backend", "same").gauge().value();
    }

    private double fallbacks() {
        return registry.get("penstock.transfers.fallbacks")
                .tag("backend", "same")
                .functionCounter()
                .count();
    }

    @Test
    void anEndThatIsRepeatedDoesNotRemoveALaterGauge() {
        Disposable binding = TransferMeters.bind(new Silent("again").backend, registry);
        binding.dispose();
        Silent later = new Silent("again");
        TransferMeters.bind(later.backend, registry);
        later.listener().started(read);
        binding.dispose();
        assertThat(active("again")).isOne();
    }

    @Test
    void backendsOfDifferentNamesAndRegistriesAreApart() {
        Silent one = new Silent("one");
        Silent two = new Silent("two");
        SimpleMeterRegistry other = new SimpleMeterRegistry();
        TransferMeters.bind(one.backend, registry);
        TransferMeters.bind(two.backend, registry);
        TransferMeters.bind(new Silent("one").backend, other);
        one.listener().started(read);
        assertThat(active("one")).isOne();
        assertThat(active("two")).isZero();
        assertThat(other.get("penstock.transfers.active").gauge().value()).isZero();
    }
}
