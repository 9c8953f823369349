// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine;

import static io.penstock.engine.testing.BackendFixture.await;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Backend;
import io.penstock.CommonOptions;
import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.DeviceLostException;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.PermanentStorageException;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.engine.spi.Limits;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** The loss of a device revokes the buffers of its backend, and of no other. */
class RevokedTest {

    private static final Duration LONG = Duration.ofSeconds(10);
    private static final Path PATH = Path.of("model.bin");
    private static final long LOST = -19;

    private final FakeDevice device = new FakeDevice(Limits.none(1 << 20));
    private final FakeDevice healthy = new FakeDevice(Limits.none(1 << 20));
    private final Backend backend = open(device);
    private final Backend other = open(healthy);

    private static Backend open(FakeDevice device) {
        device.files.put(PATH, device.new MemoryFile(new byte[100]));
        return Engine.open("fake", device, List.of(device), Options.none().resolve(CommonOptions.all()));
    }

    @AfterEach
    void nothingLeaks() {
        backend.close();
        other.close();
        assertThat(device.freed).hasValue(device.allocated.get());
    }

    private static DeviceBuffer buffer(Backend of) {
        return Objects.requireNonNull(of.allocate(100).block(LONG));
    }

    private static StorageFile file(Backend of) {
        return Objects.requireNonNull(
                of.openFile(PATH, FileOption.READ, FileOption.WRITE).block(LONG));
    }

    private Transfer read(DeviceBuffer to) {
        return Transfer.read(file(backend).all(), to.all());
    }

    @Test
    void theFirstTransferThatFindsTheDeviceLostRevokesAllBuffersAlsoLaterOnes() {
        DeviceBuffer used = buffer(backend);
        DeviceBuffer idle = buffer(backend);
        CompletableFuture<Void> stranger = buffer(other).revoked().toFuture();
        CompletableFuture<Boolean> onTheScheduler = idle.revoked()
                .thenReturn(true)
                .map(done -> Schedulers.isInNonBlockingThread())
                .toFuture();
        device.queue.failWith = LOST;
        assertThatThrownBy(() -> backend.submit(read(used)).block(LONG)).isInstanceOf(DeviceLostException.class);
        used.revoked().block(LONG);
        assertThat(onTheScheduler.orTimeout(10, SECONDS).join()).isTrue();
        buffer(backend).revoked().block(LONG);
        assertThat(stranger).as("a buffer of another backend").isNotDone();
    }

    @Test
    void aCancelledTransferFindsItToo() {
        DeviceBuffer buffer = buffer(backend);
        CompletableFuture<Void> revoked = buffer.revoked().toFuture();
        device.queue.hold = true;
        Disposable read = backend.submit(read(buffer)).subscribe();
        await(() -> !device.queue.held.isEmpty());
        read.dispose();
        assertThat(revoked).as("before the device has answered").isNotDone();
        device.queue.end(device.queue.held.keySet().iterator().next(), LOST);
        revoked.orTimeout(10, SECONDS).join();
    }

    /** Its transfers are told so: what they have left in the buffers is not known. */
    @Test
    void anIoQueueThatBreaksIsALostDevice() {
        FakeDevice brokenDevice = new FakeDevice(Limits.none(1 << 20));
        Backend broken = openToBreak(brokenDevice);
        DeviceBuffer used = buffer(broken);
        CompletableFuture<Void> idle = buffer(broken).revoked().toFuture();
        brokenDevice.queue.hold = true;
        CompletableFuture<Completion> read =
                broken.submit(Transfer.read(file(broken).all(), used.all())).toFuture();
        await(() -> !brokenDevice.queue.held.isEmpty());
        assertThat(idle).isNotDone();
        brokenDevice.queue.breakWith("a bug");
        assertThat(read).failsWithin(LONG).withThrowableThat().withCauseInstanceOf(DeviceLostException.class);
        idle.orTimeout(10, SECONDS).join();
        buffer(broken).revoked().block(LONG);
        broken.close();
    }

    /** By a request that comes later: a transfer, a copy, a sync. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2})
    void anIoQueueThatHasBrokenIsFoundByTheNextRequest(int request) throws InterruptedException {
        FakeDevice brokenDevice = new FakeDevice(Limits.none(1 << 20));
        brokenDevice.opaque = true;
        Backend broken = openToBreak(brokenDevice);
        DeviceBuffer buffer = buffer(broken);
        StorageFile file = file(broken);
        Transfer read = Transfer.read(file.all(), buffer.all());
        CompletableFuture<Void> revoked = buffer.revoked().toFuture();
        broken.submit(read).block(LONG);
        brokenDevice.queue.breakWith("a bug");
        brokenDevice.queue.awaitEnd();
        assertThat(revoked).as("nothing has asked for it").isNotDone();
        Mono<?> next = List.of(broken.submit(read), buffer.upload(0, ByteBuffer.allocateDirect(100)), file.sync())
                .get(request);
        assertThatThrownBy(() -> next.block(LONG)).isInstanceOf(DeviceLostException.class);
        revoked.orTimeout(10, SECONDS).join();
        broken.close();
    }

    private static Backend openToBreak(FakeDevice device) {
        device.files.put(PATH, device.new MemoryFile(new byte[100]));
        Options options = Options.none().with(CommonOptions.CLOSE_TIMEOUT, Duration.ofMillis(50));
        return Engine.open("broken", device, List.of(device), options.resolve(CommonOptions.all()));
    }

    @Test
    void neitherAnotherFailureNorTheCloseRevokes() {
        DeviceBuffer buffer = buffer(backend);
        CompletableFuture<Void> revoked = buffer.revoked().toFuture();
        device.queue.failWith = -5;
        assertThatThrownBy(() -> backend.submit(read(buffer)).block(LONG))
                .isInstanceOf(PermanentStorageException.class);
        buffer.close();
        backend.close();
        assertThat(revoked).isNotDone();
    }
}
