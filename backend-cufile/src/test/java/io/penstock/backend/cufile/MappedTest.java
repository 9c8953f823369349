// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile;

import static io.penstock.backend.cufile.GpuFixture.LONG;
import static io.penstock.backend.cufile.GpuFixture.await;
import static io.penstock.backend.cufile.GpuFixture.content;
import static io.penstock.backend.cufile.GpuFixture.get;
import static io.penstock.backend.cufile.GpuFixture.move;
import static io.penstock.backend.cufile.GpuFixture.random;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Backend;
import io.penstock.BackendUnavailableException;
import io.penstock.Backends;
import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.PermanentStorageException;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.TransferPath;
import io.penstock.TransientStorageException;
import io.penstock.backend.cufile.fakes.Fakes;
import io.penstock.backend.cufile.fakes.FreshFakes;
import io.penstock.backend.cufile.paths.ContextChoice;
import io.penstock.backend.cufile.paths.CufileProvider;
import io.penstock.backend.gpu.context.GpuContext;
import io.penstock.backend.gpu.device.GpuDevice;
import io.penstock.backend.gpu.mapped.MappedPath;
import io.penstock.backend.gpu.mapped.Registrations;
import io.penstock.backend.gpu.staged.StagedPath;
import io.penstock.engine.Engine;
import io.penstock.engine.spi.IoPath;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.test.StepVerifier;

/** The GPU reads the page cache itself, and never what is there no more (rule 207). */
@ExtendWith(FreshFakes.class)
class MappedTest {

    private static final int SEGMENT = 64 << 10;

    /** What others do to a file. */
    enum Change {
        OVERWRITE,
        CUT,
        APPEND,
        TOUCH,
        LINK // no byte is another, but neither is there a sign that tells that from a write whose mtime was set back
    }

    @TempDir
    Path folder;

    private GpuFixture gpu;

    @BeforeEach
    void start() {
        gpu = new GpuFixture(folder);
    }

    @AfterEach
    void nothingLeaks() {
        Fakes.cuda().release("cuMemcpyHtoDAsync");
        gpu.close();
        for (String kind : List.of(
                "contexts", "streams", "events", "allocations", "host_registrations", "host_buffers", "pinned")) {
            await(() -> Fakes.cuda().live(kind) == 0);
        }
    }

    /** A backend that registers small segments, so that a small file has many. */
    private Backend small(long mostSegments) {
        Options options = GpuFixture.options(CufilePath.MAPPED).resolve(Backends.options());
        GpuContext context = ContextChoice.open(options);
        Registrations.Sizes sizes = new Registrations.Sizes(ContextChoice.MAPPED, SEGMENT, mostSegments * SEGMENT, 2);
        List<IoPath> ioPaths = List.of(
                new MappedPath(context, options, sizes, MappedPath.Takes.ALL), new StagedPath(context, options, ""));
        GpuDevice driver = new GpuDevice(context, null, Set.of(TransferPath.MAPPED, TransferPath.STAGED), 0);
        return gpu.keep(Engine.open("cufile", driver, ioPaths, options));
    }

    private static void change(Path path, Change how) throws IOException {
        try (FileChannel file = FileChannel.open(path, StandardOpenOption.WRITE)) {
            switch (how) {
                case OVERWRITE -> file.write(ByteBuffer.wrap(new byte[] {1, 2, 3}), 100);
                case CUT -> file.truncate(5);
                case APPEND -> file.write(ByteBuffer.wrap(new byte[] {1, 2, 3}), file.size());
                case LINK -> Files.createLink(path.resolveSibling("link"), path);
                case TOUCH -> Files.setLastModifiedTime(path, FileTime.fromMillis(1));
            }
        }
    }

    @Test
    void readsOfAnyPlaceAndLengthAreRightOnEverySegmentBoundary() {
        byte[] bytes = random(5 * SEGMENT + 777, 1);
        Backend backend = small(100);
        StorageFile file = gpu.immutable(backend, gpu.file("data", bytes));
        int[][] ranges = {
            {0, bytes.length},
            {1, SEGMENT},
            {SEGMENT - 1, 2},
            {SEGMENT, SEGMENT},
            {3 * SEGMENT - 5, 2 * SEGMENT + 9},
            {bytes.length - 1, 1},
            {bytes.length - 10, 100},
            {bytes.length, 10},
            {bytes.length + SEGMENT, 10}
        };
        for (int[] range : ranges) {
            DeviceBuffer target = gpu.buffer(backend, range[1]);
            byte[] old = content(target);
            Completion done = move(backend, Transfer.read(file.region(range[0], range[1]), target.all()));
            int got = Math.max(0, Math.min(range[1], bytes.length - range[0]));
            assertThat(done.path()).isEqualTo(TransferPath.MAPPED);
            assertThat(done.bytes()).isEqualTo(got);
            byte[] expected = old.clone();
            System.arraycopy(bytes, Math.min(range[0], bytes.length), expected, 0, got);
            assertThat(Arrays.equals(content(target), expected))
                    .as("bytes %d to %d", range[0], range[1])
                    .isTrue();
        }
        assertThat(Fakes.cuda().live("pageable_copies"))
                .as("copies from memory that is not registered")
                .isZero();
    }

    @ParameterizedTest
    @EnumSource
    void required_207_aChangedFileIsAnErrorAndTheNextOpenReadsWhatIsThere(Change how) throws IOException {
        byte[] bytes = random(3 * SEGMENT, 2);
        Backend backend = small(100);
        Path path = gpu.file("data", bytes);
        StorageFile file = gpu.immutable(backend, path);
        DeviceBuffer target = gpu.buffer(backend, bytes.length);
        move(backend, Transfer.read(file.all(), target.all()));
        change(path, how);
        StepVerifier.create(backend.submit(Transfer.read(file.region(0, bytes.length), target.all())))
                .expectErrorSatisfies(e -> assertThat(e)
                        .isInstanceOf(PermanentStorageException.class)
                        .hasMessageContaining("FILE_CHANGED_WHILE_OPENED_IMMUTABLE"))
                .verify(LONG);
        await(() -> Fakes.cuda().live("host_registrations") == 0);

        StorageFile again = gpu.immutable(backend, path);
        byte[] now = Files.readAllBytes(path);
        DeviceBuffer fresh = gpu.buffer(backend, now.length);
        assertThat(move(backend, Transfer.read(again.all(), fresh.all())).path())
                .isEqualTo(TransferPath.MAPPED);
        assertThat(content(fresh)).isEqualTo(now);
    }

    @Test
    void required_207_aChangeWhileTheGpuCopiesIsAnError() throws IOException {
        byte[] bytes = random(SEGMENT, 3);
        Backend backend = small(100);
        Path path = gpu.file("data", bytes);
        StorageFile file = gpu.immutable(backend, path);
        DeviceBuffer target = gpu.buffer(backend, bytes.length);
        Fakes.cuda().hold("cuMemcpyHtoDAsync");
        Mono<Completion> read =
                backend.submit(Transfer.read(file.all(), target.all())).cache();
        read.subscribe(done -> {}, e -> {});
        assertThat(Fakes.cuda().awaitHeld("cuMemcpyHtoDAsync", 1)).isEqualTo(1);
        change(path, Change.OVERWRITE);
        Fakes.cuda().release("cuMemcpyHtoDAsync");
        StepVerifier.create(read).expectError(PermanentStorageException.class).verify(LONG);
    }

    @Test
    void required_207_aFileThatIsReplacedIsNotMixedUpWithTheNew() throws IOException {
        byte[] old = random(SEGMENT, 4);
        byte[] news = random(SEGMENT, 5);
        Backend backend = small(100);
        Path path = gpu.file("data", old);
        try (StorageFile before = get(backend.openFile(path, FileOption.READ, FileOption.IMMUTABLE))) {
            move(
                    backend,
                    Transfer.read(before.all(), gpu.buffer(backend, SEGMENT).all()));
        }
        Files.move(gpu.file("next", news), path, StandardCopyOption.REPLACE_EXISTING);
        StorageFile file = gpu.immutable(backend, path);
        DeviceBuffer target = gpu.buffer(backend, SEGMENT);
        move(backend, Transfer.read(file.all(), target.all()));
        assertThat(content(target)).isEqualTo(news);
    }

    @Test
    void aFileThatIsOpenedAgainFindsItsRegistrations() {
        byte[] bytes = random(4 * SEGMENT, 6);
        Backend backend = small(100);
        Path path = gpu.file("data", bytes);
        DeviceBuffer target = gpu.buffer(backend, bytes.length);
        for (int round = 0; round < 3; round++) {
            try (StorageFile file = get(backend.openFile(path, FileOption.READ, FileOption.IMMUTABLE))) {
                move(backend, Transfer.read(file.all(), target.all()));
            }
        }
        // Each open tries a page, and the first read registers four segments.
        assertThat(GpuFixture.registrations()).isEqualTo(3 + 4);
        assertThat(Fakes.cuda().live("host_registrations")).isEqualTo(4);
        assertThat(content(target)).isEqualTo(bytes);
    }

    @Test
    void noMoreThanTheLimitIsPinnedAndEveryReadEnds() {
        byte[] bytes = random(16 * SEGMENT, 7);
        Backend backend = small(2);
        StorageFile file = gpu.immutable(backend, gpu.file("data", bytes));
        List<DeviceBuffer> targets = new ArrayList<>();
        List<Mono<Completion>> reads = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            DeviceBuffer target = gpu.buffer(backend, bytes.length);
            targets.add(target);
            reads.add(backend.submit(Transfer.read(file.all(), target.all())));
        }
        move(backend, Transfer.read(file.region(0, 1), targets.get(0).region(0, 1)));
        Fakes.cuda().set("max_pinned", Fakes.cuda().live("pinned") + SEGMENT); // one is there, one may come
        Flux.merge(reads).then().block(LONG);
        for (DeviceBuffer target : targets) {
            // A download goes through a staging buffer, which is pinned too.
            Fakes.cuda().set("max_pinned", -1);
            assertThat(Arrays.equals(content(target), bytes)).isTrue();
        }
        assertThat(Fakes.cuda().live("host_registrations")).isLessThanOrEqualTo(2);
    }

    @Test
    void required_201_aCancelledReadKeepsItsSegmentUntilTheGpuHasReadIt() {
        byte[] bytes = random(SEGMENT, 8);
        Backend backend = small(1);
        StorageFile file = gpu.immutable(backend, gpu.file("data", bytes));
        StorageFile other = gpu.immutable(backend, gpu.file("other", random(SEGMENT, 9)));
        DeviceBuffer target = gpu.buffer(backend, SEGMENT);
        DeviceBuffer second = gpu.buffer(backend, SEGMENT);
        Fakes.cuda().hold("cuMemcpyHtoDAsync");
        Disposable read =
                backend.submit(Transfer.read(file.all(), target.all())).subscribe();
        assertThat(Fakes.cuda().awaitHeld("cuMemcpyHtoDAsync", 1)).isEqualTo(1);
        read.dispose();
        file.close();
        // Wants the only place, which the cancelled one has.
        Mono<Completion> next =
                backend.submit(Transfer.read(other.all(), second.all())).cache();
        next.subscribe();
        assertThat(Fakes.cuda().live("host_registrations"))
                .as("unregistered while the GPU reads it")
                .isOne();
        Fakes.cuda().release("cuMemcpyHtoDAsync");
        assertThat(get(next).bytes()).isEqualTo(SEGMENT);
    }

    @Test
    void required_201_aCopyThatCannotBeQueriedIsWaitedFor() {
        byte[] bytes = random(SEGMENT, 14);
        Backend backend = small(1);
        StorageFile file = gpu.immutable(backend, gpu.file("data", bytes));
        DeviceBuffer target = gpu.buffer(backend, SEGMENT);
        Fakes.cuda().hold("cuMemcpyHtoDAsync");
        Fakes.cuda().fail("cuEventQuery", 1, 999);
        Mono<Completion> read =
                backend.submit(Transfer.read(file.all(), target.all())).cache();
        read.subscribe(done -> {}, e -> {});
        assertThat(Fakes.cuda().awaitCalls("cuEventSynchronize", 1)).isOne();
        StepVerifier.create(read.timeout(Duration.ZERO, Mono.empty())).verifyComplete();
        Fakes.cuda().release("cuMemcpyHtoDAsync");
        StepVerifier.create(read).expectError(PermanentStorageException.class).verify(LONG);
    }

    @Test
    void aFailedRegistrationIsReportedAndTheNextReadWorks() {
        byte[] bytes = random(SEGMENT, 10);
        Backend backend = small(100);
        StorageFile file = gpu.immutable(backend, gpu.file("data", bytes));
        DeviceBuffer target = gpu.buffer(backend, SEGMENT);
        Fakes.cuda().fail("cuMemHostRegister", 1, 2);
        StepVerifier.create(backend.submit(Transfer.read(file.all(), target.all())))
                .expectErrorSatisfies(e -> assertThat(e)
                        .isInstanceOf(TransientStorageException.class)
                        .hasMessageContaining("cuMemHostRegister -> CUDA_ERROR_OUT_OF_MEMORY (2)"))
                .verify(LONG);
        assertThat(move(backend, Transfer.read(file.all(), target.all())).bytes())
                .isEqualTo(SEGMENT);
        assertThat(content(target)).isEqualTo(bytes);
    }

    @Test
    void aFileWhosePagesTheDriverDoesNotTakeIsStaged() {
        byte[] bytes = random(SEGMENT, 11);
        Backend backend = gpu.backend(CufilePath.MAPPED);
        Fakes.cuda().fail("cuMemHostRegister", 1, 1);
        StorageFile file = gpu.immutable(backend, gpu.file("data", bytes));
        DeviceBuffer target = gpu.buffer(backend, SEGMENT);
        assertThat(move(backend, Transfer.read(file.all(), target.all())).path())
                .isEqualTo(TransferPath.STAGED);
        assertThat(content(target)).isEqualTo(bytes);
    }

    @Test
    void aFileThatIsNotImmutableIsStagedAndSoIsAWrite() {
        Backend backend = gpu.backend(CufilePath.MAPPED);
        StorageFile file = gpu.open(backend, gpu.file("data", random(SEGMENT, 12)), FileOption.READ, FileOption.WRITE);
        DeviceBuffer target = gpu.buffer(backend, SEGMENT);
        assertThat(move(backend, Transfer.read(file.all(), target.all())).path())
                .isEqualTo(TransferPath.STAGED);
        assertThat(move(backend, Transfer.write(target.all(), file.all())).path())
                .isEqualTo(TransferPath.STAGED);
    }

    /** The I/O queue reads the stamp of a file, and /proc states no length for what has bytes. */
    @Test
    void aFileOfAnotherFileSystemThanADisksIsStaged() throws IOException {
        Backend backend = gpu.backend(CufilePath.MAPPED);
        StorageFile file = gpu.immutable(backend, Path.of("/proc/version"));
        DeviceBuffer target = gpu.buffer(backend, SEGMENT);
        Transfer read = Transfer.read(file.region(0, SEGMENT), target.all());
        assertThat(move(backend, read).bytes()).isEqualTo(Files.readAllBytes(file.path()).length);
        assertThat(backend.explain(read).path()).isEqualTo(TransferPath.STAGED);
    }

    @Test
    void anEmptyFileIsReadToItsEnd() {
        Backend backend = gpu.backend(CufilePath.MAPPED);
        StorageFile file = gpu.immutable(backend, gpu.file("data", new byte[0]));
        DeviceBuffer target = gpu.buffer(backend, 100);
        assertThat(move(backend, Transfer.read(file.region(0, 100), target.all()))
                        .bytes())
                .isZero();
    }

    @Test
    void aGpuWithoutSupportIsRefusedWithTheReason() {
        Fakes.cuda().set("read_only_register", 0);
        assertThatThrownBy(() -> gpu.backend(CufilePath.MAPPED))
                .isInstanceOf(BackendUnavailableException.class)
                .hasMessageContaining("READ_ONLY_HOST_REGISTER_SUPPORTED");
        Backend backend = gpu.backend(CufilePath.AUTO);
        assertThat(backend.capabilities().paths()).containsExactly(TransferPath.STAGED);
    }

    /** As where the application has destroyed its context before it closed the backend. */
    @Test
    void aContextThatIsGoneAtTheCloseIsLeft() {
        Backend backend =
                new CufileProvider().open(GpuFixture.options(CufilePath.MAPPED).resolve(Backends.options()));
        try (StorageFile file = gpu.immutable(backend, gpu.file("gone", random(SEGMENT, 1)));
                DeviceBuffer target = gpu.buffer(backend, SEGMENT)) {
            move(backend, Transfer.read(file.all(), target.all()));
        }
        Fakes.cuda().fail("cuCtxPushCurrent", 0, 709);
        backend.close();
        Fakes.cuda().fail("cuCtxPushCurrent", -1, 0);
        assertThat(Fakes.cuda().awaitLive("contexts", 0)).isZero();
        Fakes.reset(); // what was pinned was not unpinned: the context was not gone for the fake
    }
}
