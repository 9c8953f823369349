// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine;

import static io.penstock.engine.testing.BackendFixture.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Backend;
import io.penstock.ClosedException;
import io.penstock.CommonOptions;
import io.penstock.DeviceBuffer;
import io.penstock.DeviceFence;
import io.penstock.DeviceQueue;
import io.penstock.FileOption;
import io.penstock.ImageRegion;
import io.penstock.Options;
import io.penstock.PermanentStorageException;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.engine.spi.Limits;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.Disposable;

/**
 * What a backend does beside transfers: memory of the caller's, copies, imported fences; and what it refuses at once.
 */
class BackendCallsTest {

    private static final Duration LONG = Duration.ofSeconds(10);
    private static final Path PATH = Path.of("model.bin");

    private final FakeDevice device = new FakeDevice(Limits.none(1 << 20));
    private final Backend backend = open(CommonOptions.Delivery.PARALLEL);

    private Backend open(CommonOptions.Delivery delivery) {
        Options options = Options.none()
                .with(CommonOptions.CLOSE_TIMEOUT, Duration.ofSeconds(5))
                .with(CommonOptions.DELIVERY, delivery);
        return Engine.open("fake", device, List.of(device), options.resolve(CommonOptions.all()));
    }

    @AfterEach
    void nothingLeaks() {
        backend.close();
        assertThat(device.freed).hasValue(device.allocated.get());
    }

    private StorageFile file(FileOption... options) {
        device.files.put(PATH, device.new MemoryFile(new byte[100]));
        return Objects.requireNonNull(backend.openFile(PATH, options).block(LONG));
    }

    private DeviceBuffer buffer(long bytes) {
        return Objects.requireNonNull(backend.allocate(bytes).block(LONG));
    }

    private static byte[] random(int bytes) {
        byte[] content = new byte[bytes];
        new Random(bytes).nextBytes(content);
        return content;
    }

    @Test
    void memoryThatTheProcessorDoesNotReachIsCopiedThroughABounceBufferPartByPart() {
        device.opaque = true;
        DeviceBuffer buffer = buffer(3 << 20);
        byte[] bytes = random((2 << 20) + 77);
        assertThat(buffer.upload(5, ByteBuffer.wrap(bytes)).block(LONG)).isEqualTo(bytes.length);
        byte[] back = new byte[bytes.length + 10];
        assertThat(buffer.download(0, ByteBuffer.wrap(back)).block(LONG)).isEqualTo(back.length);
        assertThat(Arrays.copyOfRange(back, 5, 5 + bytes.length)).isEqualTo(bytes);
        assertThat(back).startsWith(0, 0, 0, 0, 0).endsWith(0, 0, 0, 0, 0);
        assertThat(buffer.upload(7, ByteBuffer.allocate(0)).block(LONG)).isZero();
    }

    @Test
    void aFailedCopyReportsItsBytes() {
        device.opaque = true;
        DeviceBuffer buffer = buffer(3 << 20);
        ByteBuffer source = ByteBuffer.allocate(3 << 20);
        device.queue.copiesBeforeFailure = 1;
        assertThatThrownBy(() -> buffer.upload(0, source).block(LONG))
                .isInstanceOfSatisfying(PermanentStorageException.class, failed -> {
                    assertThat(failed.bytes()).isPositive().isLessThan(3 << 20);
                    assertThat(failed).hasMessageContainingAll("upload of 3145728 bytes at 0 of", "EFAKE");
                });
        assertThat(buffer.upload(0, source).block(LONG)).isEqualTo(3 << 20);
    }

    @Test
    void aCopyWithoutABounceBufferFailsAndLeavesNothingPinned() {
        device.opaque = true;
        DeviceBuffer buffer = buffer(4096);
        device.bufferRefusal = new IllegalStateException("no bounce buffer");
        assertThatThrownBy(() -> buffer.download(0, ByteBuffer.allocate(10)).block(LONG))
                .hasMessageContaining("no bounce buffer");
        buffer.close();
        assertThat(device.freed).hasValue(device.allocated.get());
        assertThatThrownBy(() -> buffer.upload(0, ByteBuffer.allocate(10)).block(LONG))
                .isInstanceOf(ClosedException.class)
                .hasMessageContaining("upload of 10 bytes");
    }

    /** Its source may be gone: a publisher that is cancelled with a write frees the memory of its ByteBuffers. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aCopyThatIsCancelledTakesNoFurtherStep(boolean up) {
        device.opaque = true;
        DeviceBuffer buffer = buffer(3 << 20);
        device.queue.keepsCopies = true;
        ByteBuffer bytes = ByteBuffer.allocate(3 << 20);
        Disposable copy = (up ? buffer.upload(0, bytes) : buffer.download(0, bytes)).subscribe();
        await(() -> device.queue.keptCopies.get() == 1);
        copy.dispose();
        device.queue.endCopies();
        backend.close(); // waits for it
        assertThat(Integer.MAX_VALUE - device.queue.copiesBeforeFailure)
                .as("copies that were started")
                .isEqualTo(1);
    }

    /** As where a driver's library lacks a function: Reactor throws such an error instead of signalling it. */
    @Test
    void anErrorOfTheBounceBufferIsSignalledAndLeavesNothingPinned() {
        device.opaque = true;
        DeviceBuffer buffer = buffer(4096);
        device.bufferError = new UnsatisfiedLinkError("no such function");
        List<Throwable> signalled = new CopyOnWriteArrayList<>();
        buffer.download(0, ByteBuffer.allocate(10))
                .onErrorComplete(e -> signalled.add(e))
                .block(LONG);
        assertThat(signalled).hasOnlyElementsOfType(UnsatisfiedLinkError.class).hasSize(1);
        buffer.close();
        assertThat(device.freed).hasValue(device.allocated.get());
    }

    @Test
    void aCopyOutsideTheBufferIsTheCallersBug() {
        DeviceBuffer buffer = buffer(100);
        assertThatThrownBy(() -> buffer.upload(91, ByteBuffer.allocate(10)))
                .isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> buffer.download(-1, ByteBuffer.allocate(10)))
                .isInstanceOf(IndexOutOfBoundsException.class);
    }

    @Test
    void memoryOfTheCallersIsWrappedFromItsPositionToItsLimit() {
        ByteBuffer memory = ByteBuffer.allocateDirect(32).position(8).limit(24);
        DeviceBuffer buffer = backend.wrap(memory);
        assertThat(buffer.length()).isEqualTo(16);
        buffer.hostView().orElseThrow().put(0, (byte) 5);
        assertThat(memory.get(8)).isEqualTo((byte) 5);
        assertThatIllegalArgumentException().isThrownBy(() -> backend.wrap(ByteBuffer.allocate(8)));
        assertThatIllegalArgumentException().isThrownBy(() -> backend.wrap(memory.asReadOnlyBuffer()));
        assertThatIllegalArgumentException().isThrownBy(() -> backend.wrap(4096, -1));
        assertThatIllegalArgumentException().isThrownBy(() -> backend.allocate(-1));
    }

    @Test
    void theDriverRecognizesItsAddresses() {
        assertThat(backend.isDeviceAddress(FakeDevice.ADDRESS)).isTrue();
        assertThat(backend.isDeviceAddress(FakeDevice.ADDRESS + 1)).isFalse();
        assertThat(backend.name()).isEqualTo("fake");
        assertThat(backend).hasToString("backend fake");
        assertThat(backend.capabilities().images()).isFalse();
    }

    @Test
    void anImportedFenceSignalsWhereTheBackendDelivers() throws Exception {
        DeviceFence fence = backend.fence(77);
        FakeFence native77 = device.imported.get(0);
        assertThat(fence.nativeHandle()).isEqualTo(77);
        assertThat(fence.isSignalled()).isFalse();
        CompletableFuture<String> where = new CompletableFuture<>();
        fence.signalled()
                .doFinally(end -> where.complete(Thread.currentThread().getName()))
                .subscribe();
        native77.pass();
        assertThat(where.get(10, TimeUnit.SECONDS)).startsWith("parallel-");
        assertThat(fence.isSignalled()).isTrue();
        assertThat(fence.outcome().blockOptional(LONG)).isEmpty();
        fence.close();
        assertThat(native77.closed).isTrue();
    }

    @Test
    void anImportedFenceSignalsOnTheDriversThreadWithDirectDelivery() {
        try (Backend direct = open(CommonOptions.Delivery.DIRECT)) {
            DeviceFence fence = direct.fence(1);
            Thread[] where = new Thread[1];
            fence.signalled()
                    .doFinally(end -> where[0] = Thread.currentThread())
                    .subscribe();
            device.imported.get(0).pass();
            assertThat(where[0]).isSameAs(Thread.currentThread());
        }
    }

    @Test
    void transfersOfAnotherBackendsFilesAndBuffersAreRefusedAtOnce() {
        StorageFile file = file(FileOption.READ);
        DeviceBuffer buffer = buffer(100);
        FakeDevice another = new FakeDevice(Limits.none(1 << 20));
        try (Backend other =
                Engine.open("other", another, List.of(another), Options.none().resolve(CommonOptions.all()))) {
            DeviceBuffer theirs = Objects.requireNonNull(other.allocate(100).block(LONG));
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> backend.submit(Transfer.read(file.all(), theirs.all())))
                    .withMessageContaining("the buffer was not allocated by backend fake");
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> other.submit(Transfer.read(file.all(), theirs.all())))
                    .withMessageContaining("the file was not opened by backend other");
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> backend.submit(Transfer.read(file.region(0, 50), buffer.region(0, 50))
                            .and(file.region(50, 50), theirs.region(0, 50))));
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> backend.enqueue(Transfer.read(file.all(), theirs.all())));
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> backend.explain(Transfer.read(file.all(), theirs.all())));
        }
    }

    @Test
    void unsupportedRequestsAreRefusedAtOnce() {
        StorageFile file = file(FileOption.READ);
        DeviceBuffer buffer = buffer(100);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> backend.submit(Transfer.write(buffer.all(), file.all())))
                .withMessageContaining("must be opened with WRITE, was opened with [READ]");
        DeviceQueue queue = () -> 5;
        assertThatIllegalArgumentException()
                .isThrownBy(() ->
                        backend.submit(Transfer.read(file.all(), buffer.all()).on(queue)))
                .withMessageContaining("is not a queue of backend fake");
        ImageRegion image = new ImageRegion(
                1,
                0,
                new ImageRegion.Texels(0, 0, 0),
                new ImageRegion.Texels(5, 5, 4),
                new ImageRegion.Layout(0, 1, 5, 25));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> backend.submit(Transfer.read(file.all(), image)))
                .withMessageContaining("has no images");
    }

    @Test
    void optionsOfAFileThatExcludeEachOtherAreRefusedAtOnce() {
        for (FileOption makes : List.of(FileOption.CREATE, FileOption.CREATE_NEW, FileOption.TRUNCATE)) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> backend.openFile(PATH, FileOption.READ, makes))
                    .withMessageContaining("require WRITE");
        }
        assertThatIllegalArgumentException()
                .isThrownBy(() -> backend.openFile(PATH, FileOption.IMMUTABLE, FileOption.WRITE))
                .withMessageContaining("WRITE and IMMUTABLE exclude each other");
        StorageFile made = Objects.requireNonNull(
                backend.openFile(PATH, FileOption.WRITE, FileOption.CREATE).block(LONG));
        assertThat(made.options()).isEqualTo(Set.of(FileOption.WRITE, FileOption.CREATE));
        assertThatIllegalArgumentException().isThrownBy(() -> made.truncate(-1));
        assertThatIllegalArgumentException().isThrownBy(() -> made.preallocate(-1));
        made.preallocate(5000).block(LONG);
        assertThat(made.size()).isEqualTo(5000);
        assertThat(made.blockSize()).isEqualTo(1);
    }
}
