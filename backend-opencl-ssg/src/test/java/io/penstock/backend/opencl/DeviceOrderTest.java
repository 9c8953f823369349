// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl;

import static io.penstock.backend.opencl.OpenClFixture.LONG;
import static io.penstock.backend.opencl.OpenClFixture.await;
import static io.penstock.backend.opencl.OpenClFixture.content;
import static io.penstock.backend.opencl.OpenClFixture.get;
import static io.penstock.backend.opencl.OpenClFixture.random;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Backend;
import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.DeviceFence;
import io.penstock.FenceSupport;
import io.penstock.FileOption;
import io.penstock.PermanentStorageException;
import io.penstock.StorageFile;
import io.penstock.StreamPlan;
import io.penstock.Transfer;
import io.penstock.TransferPath;
import io.penstock.backend.opencl.ffi.OpenCl;
import io.penstock.engine.spi.staging.StagingOptions;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.publisher.Mono;
import reactor.test.StepVerifier;

/** Transfers and commands of the application in one order. */
class DeviceOrderTest {

    private static final int BYTES = 5 << 20; // several staging buffers

    @TempDir
    Path folder;

    private OpenClFixture device;
    private Application application;

    @BeforeAll
    static void require() {
        OpenCls.require();
    }

    @BeforeEach
    void start() {
        device = new OpenClFixture(folder);
        application = new Application();
    }

    @AfterEach
    void nothingLeaks() {
        application.openGate();
        device.close();
        await(() -> application.references() == 3); // itself, its queue, its user event
        application.close();
    }

    private Backend backend(OpenClPath path) {
        return device.backend(application.options().with(OpenClOptions.PATH, path));
    }

    private StorageFile file(Backend backend, byte[] bytes) {
        return device.open(backend, device.file("data", bytes), FileOption.READ);
    }

    @ParameterizedTest
    @EnumSource(names = {"STAGED", "MAP"})
    void commandsWaitOnTheDeviceForATransferThatIsEnqueued(OpenClPath path) {
        byte[] bytes = random(BYTES, 1);
        Backend backend = backend(path);
        StorageFile file = file(backend, bytes);
        OpenClQueue queue = OpenClQueue.of(application.queue());
        assertThat(backend.capabilities().fences()).isEqualTo(FenceSupport.AFTER_STAGING);
        for (int round = 0; round < 20; round++) {
            DeviceBuffer target = device.buffer(backend, BYTES);
            DeviceBuffer copy = device.buffer(backend, BYTES);
            DeviceFence fence = get(backend.enqueue(Transfer.read(file.all(), target.all())));
            assertThat(fence.nativeHandle()).isNotZero();
            queue.await(fence);
            application.copy(copy.nativeHandle(), 0, target.nativeHandle(), BYTES);
            application.finish();
            assertThat(get(fence.outcome()).path())
                    .isEqualTo(path == OpenClPath.MAP ? TransferPath.HOST : TransferPath.STAGED);
            fence.close();
            assertThat(content(copy)).isEqualTo(bytes);
            target.close();
            copy.close();
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"STAGED", "MAP"})
    void aTransferWaitsForAnEventOfTheApplicationsAndNothingElseDoes(OpenClPath path) {
        byte[] bytes = random(BYTES, 2);
        Backend backend = backend(path);
        StorageFile file = file(backend, bytes);
        DeviceBuffer target = device.buffer(backend, BYTES);
        byte[] old = content(target);
        long event = application.markLate();
        DeviceFence late = device.keep(backend.fence(event));
        OpenCl.clReleaseEvent(event);
        Mono<Completion> read = backend.submit(
                        Transfer.read(file.all(), target.all()).after(late))
                .cache();
        read.subscribe();
        device.letOthersRun(backend);
        assertThat(late.isSignalled()).isFalse();
        StepVerifier.create(read.timeout(Duration.ZERO, Mono.empty())).verifyComplete();
        assertThat(content(target)).isEqualTo(old);

        application.openGate();
        assertThat(get(read).bytes()).isEqualTo(BYTES);
        assertThat(late.isSignalled()).isTrue();
        StepVerifier.create(late.signalled()).expectComplete().verify(LONG);
        StepVerifier.create(late.outcome()).expectComplete().verify(LONG);
        assertThat(content(target)).isEqualTo(bytes);
    }

    @Test
    void aFenceOfAFailedCommandIsSignalledAndReportsTheFailure() {
        Backend backend = backend(OpenClPath.STAGED);
        StorageFile file = file(backend, random(4096, 3));
        DeviceBuffer target = device.buffer(backend, 4096);
        DeviceFence failing = device.keep(backend.fence(application.gate()));
        Mono<Completion> read = backend.submit(
                        Transfer.read(file.all(), target.all()).after(failing))
                .cache();
        read.subscribe();
        application.gate(-1234);
        StepVerifier.create(failing.signalled()).expectComplete().verify(LONG);
        StepVerifier.create(failing.outcome())
                .expectErrorSatisfies(error -> assertThat(error)
                        .isInstanceOf(PermanentStorageException.class)
                        .hasMessageContaining("-1234"))
                .verify(LONG);
        assertThat(get(read).bytes()).as("waiting transfers continue").isEqualTo(4096);
    }

    @Test
    void aFenceHoldsOneReferenceOnTheApplicationsEvent() {
        Backend backend = backend(OpenClPath.STAGED);
        int before = Application.eventReferences(application.gate());
        DeviceFence fence = backend.fence(application.gate());
        assertThat(Application.eventReferences(application.gate())).isEqualTo(before + 1);
        fence.signalled().subscribe();
        fence.close();
        fence.close();
        assertThat(Application.eventReferences(application.gate()))
                .as("while it is watched")
                .isEqualTo(before + 1);
        application.openGate();
        await(() -> Application.eventReferences(application.gate()) == before);
        assertThat(fence.isSignalled()).isTrue();
    }

    @Test
    void aFenceThatIsClosedEarlyKeepsItsReferenceForLaterWaitsUntilItIsSignalled() {
        Backend backend = backend(OpenClPath.STAGED);
        int before = Application.eventReferences(application.gate());
        DeviceFence fence = backend.fence(application.gate());
        fence.close();
        fence.close();
        assertThat(Application.eventReferences(application.gate())).isEqualTo(before + 1);
        Mono<Void> late = fence.signalled().cache();
        late.subscribe();
        application.openGate();
        StepVerifier.create(late).expectComplete().verify(LONG);
        await(() -> Application.eventReferences(application.gate()) == before);
    }

    @Test
    void moreEventsAreReportedThanThereAreWaitingThreads() {
        Backend backend = backend(OpenClPath.STAGED);
        List<CompletableFuture<Void>> all = new ArrayList<>();
        for (int i = 0; i < 9; i++) {
            long event = application.markLate();
            DeviceFence late = device.keep(backend.fence(event));
            OpenCl.clReleaseEvent(event);
            all.add(late.signalled().toFuture());
        }
        assertThat(all).allSatisfy(signalled -> assertThat(signalled).isNotDone());
        application.openGate();
        assertThat(all).allSatisfy(signalled -> assertThat(signalled).succeedsWithin(LONG));
    }

    @ParameterizedTest
    @EnumSource(names = {"STAGED", "MAP"})
    void aSlowCommandReadsItsChunkWhileTheRingContinuesAndNeverReadsTheNextData(OpenClPath path) {
        int chunk = 1 << 20;
        byte[] bytes = random(6 * chunk, 4);
        Backend backend = backend(path);
        DeviceBuffer seen = device.buffer(backend, bytes.length);
        OpenClQueue queue = OpenClQueue.of(application.queue());
        List<Long> lent = new CopyOnWriteArrayList<>();
        StreamPlan plan =
                StreamPlan.of(device.file("data", bytes)).chunkBytes(chunk).depth(3);
        Mono<List<Long>> all = backend.stream(plan, c -> {
                    lent.add(c.index());
                    assertThat(c.region().offset()).isZero();
                    long from = c.region().buffer().nativeHandle();
                    application.copyLate(seen.nativeHandle(), c.fileOffset(), from, c.length());
                    return c.releaseAfter(queue.fence()).thenReturn(c.index());
                })
                .collectList()
                .cache();
        all.subscribe();
        await(() -> lent.size() == 3);
        device.letOthersRun(backend);
        assertThat(lent).as("chunks lent while commands read them").containsExactly(0L, 1L, 2L);

        application.openGate();
        assertThat(get(all)).containsExactly(0L, 1L, 2L, 3L, 4L, 5L);
        application.finish();
        assertThat(content(seen)).isEqualTo(bytes);
    }

    @Test
    void aTransferInACommandQueueIsOrderedWithItsCommands() {
        byte[] bytes = random(BYTES, 5);
        Backend backend = backend(OpenClPath.AUTO);
        StorageFile file = file(backend, bytes);
        DeviceBuffer target = device.buffer(backend, BYTES);
        DeviceBuffer before = device.buffer(backend, BYTES);
        DeviceBuffer behind = device.buffer(backend, BYTES);
        byte[] old = content(target);
        OpenClQueue queue = OpenClQueue.of(application.queue());
        application.copyLate(before.nativeHandle(), 0, target.nativeHandle(), BYTES);
        DeviceFence fence = device.keep(
                get(backend.enqueue(Transfer.read(file.all(), target.all()).on(queue))));
        application.copy(behind.nativeHandle(), 0, target.nativeHandle(), BYTES);
        assertThat(fence.isSignalled()).as("the command before has not run").isFalse();

        application.openGate();
        Completion carried = get(fence.outcome());
        assertThat(carried.bytes()).isEqualTo(BYTES);
        assertThat(carried.path()).isEqualTo(TransferPath.STAGED);
        application.finish();
        assertThat(content(before)).as("what the command before has seen").isEqualTo(old);
        assertThat(content(behind)).as("what the command behind has seen").isEqualTo(bytes);
    }

    @Test
    void aWriteThatAQueueCarriesTakesWhatTheCommandsBeforeItMade() {
        byte[] bytes = random(BYTES, 6);
        Backend backend = backend(OpenClPath.STAGED);
        DeviceBuffer source = device.buffer(backend, BYTES);
        DeviceBuffer made = device.buffer(backend, BYTES);
        OpenClFixture.move(backend, Transfer.read(file(backend, bytes).all(), source.all()));
        StorageFile out = device.open(backend, folder.resolve("out"), FileOption.WRITE, FileOption.CREATE);
        application.copyLate(made.nativeHandle(), 0, source.nativeHandle(), BYTES);
        Mono<Completion> write = backend.submit(
                        Transfer.write(made.all(), out.region(0, BYTES)).on(OpenClQueue.of(application.queue())))
                .cache();
        write.subscribe();
        application.openGate();
        assertThat(get(write).bytes()).isEqualTo(BYTES);
        assertThat(folder.resolve("out")).hasBinaryContent(bytes);
    }

    @Test
    void aFenceIsSignalledOnFailureToo() {
        Backend backend = backend(OpenClPath.STAGED);
        StorageFile file = file(backend, random(BYTES, 7));
        long refusing = application.buffer(BYTES, OpenCl.CL_MEM_READ_WRITE | OpenCl.CL_MEM_HOST_READ_ONLY);
        DeviceBuffer target = device.keep(backend.wrap(refusing, BYTES));
        DeviceFence fence = device.keep(get(backend.enqueue(Transfer.read(file.all(), target.all()))));
        OpenClQueue.of(application.queue()).await(fence);
        application.finish();
        StepVerifier.create(fence.signalled()).expectComplete().verify(LONG);
        StepVerifier.create(fence.outcome())
                .expectError(PermanentStorageException.class)
                .verify(LONG);
        OpenCl.clReleaseMemObject(refusing);
    }

    @Test
    void aTransferOfManySegmentsHasOneEventAfterAllOfThem() {
        byte[] bytes = random(1 << 20, 8);
        Backend backend = device.backend(application
                .options()
                .with(OpenClOptions.PATH, OpenClPath.STAGED)
                .with(StagingOptions.BUFFER_BYTES, 4096L)); // 256 segments
        StorageFile file = file(backend, bytes);
        OpenClQueue queue = OpenClQueue.of(application.queue());
        DeviceBuffer copy = device.buffer(backend, bytes.length);
        for (int round = 0; round < 5; round++) {
            DeviceBuffer target = device.buffer(backend, bytes.length);
            DeviceFence fence = get(backend.enqueue(Transfer.read(file.all(), target.all())));
            queue.await(fence);
            application.copy(copy.nativeHandle(), 0, target.nativeHandle(), bytes.length);
            application.finish();
            assertThat(content(copy)).isEqualTo(bytes);
            get(fence.outcome());
            fence.close();
            target.close();
        }
    }

    @Test
    void queuesWithoutAnOrderAndStrangersAreRefused() {
        Backend backend = backend(OpenClPath.STAGED);
        try (Application other = new Application(OpenCl.CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE)) {
            StorageFile file = file(backend, random(4096, 9));
            DeviceBuffer target = device.buffer(backend, 4096);
            Transfer read = Transfer.read(file.all(), target.all());
            try (Application third = new Application()) {
                Transfer carried = read.on(OpenClQueue.of(third.queue()));
                assertThatThrownBy(() -> get(backend.submit(carried)))
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessageContaining("another cl_context");
            }
            Backend over = device.backend(other.options().with(OpenClOptions.PATH, OpenClPath.STAGED));
            StorageFile same = file(over, random(4096, 9));
            DeviceBuffer there = device.buffer(over, 4096);
            Transfer unordered = Transfer.read(same.all(), there.all()).on(OpenClQueue.of(other.queue()));
            assertThatThrownBy(() -> get(over.submit(unordered)))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("out of order");
            over.close();
        }
        assertThatThrownBy(() -> OpenClQueue.of(0)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> backend.fence(0)).isInstanceOf(IllegalArgumentException.class);
    }
}
