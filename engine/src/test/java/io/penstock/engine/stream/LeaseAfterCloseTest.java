// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.stream;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Backend;
import io.penstock.ClosedException;
import io.penstock.CommonOptions;
import io.penstock.HostLease;
import io.penstock.Options;
import io.penstock.StreamPlan;
import io.penstock.WritePlan;
import io.penstock.engine.Engine;
import io.penstock.engine.FakeDevice;
import io.penstock.engine.spi.Limits;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** What a backend that is closed does with memory that is still lent: nothing, until it comes back (rule 202). */
class LeaseAfterCloseTest {

    private static final Duration TEN_SECONDS = Duration.ofSeconds(10); // a bound, not a measure
    private static final Path FILE = Path.of("data");

    private final FakeDevice device = new FakeDevice(Limits.none(1 << 20));

    private Backend open(boolean poisons) {
        device.files.put(FILE, device.new MemoryFile(new byte[100]));
        Options options = Options.none().with(CommonOptions.POISON, poisons).resolve(CommonOptions.all());
        return Engine.open("fake", device, List.of(device), options);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void required_202_closingTheBackendFreesNoMemoryThatIsStillLent(boolean poisons) {
        Backend backend = open(poisons);
        HostLease lease = backend.stream(StreamPlan.of(FILE).depth(1), chunk -> Mono.just(chunk.retain()))
                .blockLast();
        backend.close();
        assertThat(device.freed).as("freed while it may be read").hasValue(0);
        lease.close();
        assertThat(device.freed).hasValue(device.allocated.get());
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void required_101_streamWhoseBackendIsClosedDuringALeaseEnds(boolean poisons) {
        Backend backend = open(poisons);
        Sinks.One<Long> used = Sinks.one();
        Sinks.Empty<Void> lent = Sinks.empty();
        CompletableFuture<Long> all = backend.stream(StreamPlan.of(FILE).chunkBytes(100), chunk -> {
                    lent.tryEmitEmpty();
                    return used.asMono();
                })
                .reduce(0L, Long::sum)
                .toFuture();
        lent.asMono().block(TEN_SECONDS);
        backend.close();
        used.tryEmitValue(100L);
        assertThat(all).succeedsWithin(TEN_SECONDS).isEqualTo(100L);
        assertThat(device.freed).hasValue(device.allocated.get());
    }

    /** A program that cancels an upload and ends: the JVM crashed in one of some thousand runs. */
    @Test
    void required_202_closingTheBackendFreesNoMemoryThatIsBeingPoisoned() {
        for (int number = 1; closesAmid(number); number++) {
            assertThat(device.freed).hasValue(device.allocated.get());
        }
    }

    /** Closes the backend amid a copy, by its number; returns false if there are fewer. */
    private boolean closesAmid(int number) {
        Backend backend = open(true);
        AtomicInteger copies = new AtomicInteger();
        AtomicInteger freed = new AtomicInteger();
        device.amidCopies = () -> {
            if (copies.incrementAndGet() == number) {
                int before = device.freed.get();
                CompletableFuture.runAsync(backend::close).join();
                freed.addAndGet(device.freed.get() - before);
            }
        };
        assertThat(backend.write(WritePlan.to(FILE).chunkBytes(100), chunk -> Mono.just(0L))
                        .block(TEN_SECONDS))
                .isZero();
        device.amidCopies = () -> {};
        backend.close();
        assertThat(freed).as("freed during copy %d", number).hasValue(0);
        return copies.get() >= number;
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void required_101_writePlanWhoseBackendIsClosedDuringALeaseEnds(boolean poisons) {
        Backend backend = open(poisons);
        Sinks.One<Long> filled = Sinks.one();
        Sinks.Empty<Void> lent = Sinks.empty();
        CompletableFuture<Long> all = backend.write(WritePlan.to(FILE).chunkBytes(100), chunk -> {
                    lent.tryEmitEmpty();
                    return filled.asMono();
                })
                .toFuture();
        lent.asMono().block(TEN_SECONDS);
        backend.close();
        filled.tryEmitValue(100L);
        assertThat(all).failsWithin(TEN_SECONDS).withThrowableThat().withCauseInstanceOf(ClosedException.class);
        assertThat(device.freed).hasValue(device.allocated.get());
    }
}
