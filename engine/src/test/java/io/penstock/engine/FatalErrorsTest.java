// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Backend;
import io.penstock.CommonOptions;
import io.penstock.CommonOptions.Delivery;
import io.penstock.DeviceBuffer;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.StorageFile;
import io.penstock.StreamPlan;
import io.penstock.SubmitOptions;
import io.penstock.Transfer;
import io.penstock.WritePlan;
import io.penstock.engine.spi.Limits;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Errors that Reactor counts as fatal and throws through the thread that delivers, out of code of the application:
 * above all errors of linking, as where the library of a kernel is missing.
 */
class FatalErrorsTest {

    private static final Duration LONG = Duration.ofSeconds(10);
    private static final Path PATH = Path.of("model.bin");

    private final FakeDevice device = new FakeDevice(Limits.none(1 << 20));
    private Backend backend = open(Delivery.PARALLEL);

    private Backend open(Delivery delivery) {
        device.files.put(PATH, device.new MemoryFile(new byte[100]));
        Options options = Options.none().with(CommonOptions.DELIVERY, delivery);
        return Engine.open("fake", device, List.of(device), options.resolve(CommonOptions.all()));
    }

    @AfterEach
    void nothingIsHeld() {
        assertThat(backend.counters().buffers()).isZero();
        assertThat(backend.counters().files()).isZero();
        assertThat(backend.counters().inFlight()).isZero();
        backend.close();
    }

    private static long kernel() {
        throw new UnsatisfiedLinkError("kernel");
    }

    private static void fails(Supplier<Mono<?>> operation) {
        assertThatThrownBy(() -> operation.get().block(LONG))
                .isInstanceOf(UnsatisfiedLinkError.class)
                .hasMessage("kernel");
    }

    @Test
    void ofAFunctionOfAStreamFailTheStream() {
        fails(() -> backend.stream(StreamPlan.of(PATH), chunk -> Mono.just(kernel()))
                .then());
        fails(() -> backend.stream(StreamPlan.of(PATH), chunk -> Mono.fromCallable(FatalErrorsTest::kernel))
                .then());
        fails(() -> backend.stream(
                        StreamPlan.of(PATH), chunk -> Flux.range(0, 9).map(i -> kernel()))
                .then());
    }

    @Test
    void ofAFunctionOfAWriteFailTheWrite() {
        WritePlan plan = WritePlan.to(PATH);
        fails(() -> backend.write(plan, chunk -> Mono.just(kernel())));
        fails(() -> backend.write(plan, chunk -> Mono.fromCallable(FatalErrorsTest::kernel)));
    }

    @Test
    void ofAUseFailTheUse() {
        fails(() -> backend.withBuffer(10, buffer -> Mono.just(kernel())));
        fails(() -> backend.withBuffer(10, buffer -> Mono.fromCallable(FatalErrorsTest::kernel)));
        fails(() -> backend.withFile(PATH, FileOption.READ, file -> Mono.just(kernel())));
        fails(() -> backend.withFile(PATH, FileOption.READ, file -> Mono.fromCallable(FatalErrorsTest::kernel)));
    }

    @ParameterizedTest
    @EnumSource(Delivery.class)
    void ofASubscriberOrAListenerHarmNoOtherTransfer(Delivery delivery) throws IOException, InterruptedException {
        backend.close();
        backend = open(delivery);
        backend.listen(completion -> kernel());
        CountDownLatch thrown = new CountDownLatch(2);
        try (StorageFile file = backend.blocking().openFile(PATH, FileOption.READ);
                DeviceBuffer buffer = backend.allocate(100).block(LONG)) {
            Transfer transfer = Transfer.read(file.all(), buffer.all());
            backend.submit(transfer).subscribe(completion -> {
                thrown.countDown();
                kernel();
            });
            backend.submit(Flux.just(transfer), SubmitOptions.DEFAULT).subscribe(completion -> {
                thrown.countDown();
                kernel();
            });
            assertThat(thrown.await(LONG.toSeconds(), TimeUnit.SECONDS)).isTrue();
            assertThat(backend.submit(transfer).block(LONG).bytes()).isEqualTo(100);
        }
    }
}
