// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.penstock.Backend;
import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.DeviceFence;
import io.penstock.PermanentStorageException;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.TransferPath;
import io.penstock.backend.cufile.fakes.Application;
import io.penstock.backend.cufile.fakes.Fakes;
import io.penstock.backend.cufile.fakes.FreshFakes;
import io.penstock.backend.cufile.ffi.CuFile;
import io.penstock.backend.gpu.file.FileDriver;
import io.penstock.engine.kit.ffi.NativeMemory;
import io.penstock.engine.testing.BackendFixture;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** cuFile's calls in the order of streams: who owns the arguments, which stream carries what, and what may go wrong. */
@ExtendWith(FreshFakes.class)
class StreamPathTest {

    private static final String READ = "cuFileReadAsync";
    private static final String WRITE = "cuFileWriteAsync";

    private CuFileBench bench;

    @BeforeEach
    void open() throws IOException {
        bench = CuFileBench.open(CufilePath.STREAM);
    }

    @AfterEach
    void close() throws IOException {
        bench.close();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 4096, 100_001, (4 << 20) + 1})
    void everySizeIsReadToTheGpuAndBack(int size) throws IOException {
        // What is not whole blocks goes to streams that are not registered as aligned: the fake looks.
        byte[] content = CuFileBench.bytes(size);
        StorageFile from = bench.file(content);
        DeviceBuffer buffer = bench.buffer(size);
        Completion read = bench.move(Transfer.read(from.all(), buffer.all()));
        assertThat(read.bytes()).isEqualTo(size);
        assertThat(read.path()).isEqualTo(TransferPath.COMPAT);
        assertThat(BackendFixture.content(buffer)).isEqualTo(content);
        StorageFile to = bench.writable(new byte[0]);
        bench.move(Transfer.write(buffer.all(), to.region(0, size)));
        assertThat(to.path()).hasBinaryContent(content);
        assertThat(bench.cufile.calls(READ)).isPositive();
        assertThat(bench.cufile.calls("cuFileRead")).isZero();
        assertThat(bench.cuda.calls("cuLaunchHostFunc"))
                .as("host functions per operation")
                .isZero();
    }

    @Test
    void alignedAndUnalignedTransfersAtOnceEachHaveTheirStreams() throws IOException {
        byte[] content = CuFileBench.bytes(200 * 4096);
        StorageFile file = bench.file(content);
        DeviceBuffer buffer = bench.buffer(content.length);
        List<Mono<Completion>> reads = LongStream.range(0, 200)
                .mapToObj(i -> {
                    long bytes = i % 2 == 0 ? 4096 : 3000;
                    return bench.backend()
                            .submit(Transfer.read(file.region(i * 4096, bytes), buffer.region(i * 4096, bytes)));
                })
                .toList();
        BackendFixture.get(Flux.merge(Flux.fromIterable(reads), 1000).then(Mono.just(true)));
        byte[] seen = BackendFixture.content(buffer);
        for (int i = 0; i < 200; i++) {
            int bytes = i % 2 == 0 ? 4096 : 3000;
            assertThat(Arrays.copyOfRange(seen, i * 4096, i * 4096 + bytes))
                    .isEqualTo(Arrays.copyOfRange(content, i * 4096, i * 4096 + bytes));
        }
        assertThat(bench.cufile.calls("cuFileStreamRegister")).isBetween(2L, 16L);
    }

    @ParameterizedTest
    @CsvSource({"0, file, COMPAT", "1, file, DIRECT", "1, far, COMPAT"})
    void registeredMemoryIsFilledBySeveralStreamsWithoutMixingThemUp(int nvidiaFs, String name, TransferPath path)
            throws IOException {
        bench.close();
        bench = CuFileBench.open(
                CuFileFake.options(CufilePath.STREAM).with(CufileOptions.REGISTER, Registering.ALWAYS));
        bench.cufile.set("nvfs", nvidiaFs);
        int part = 64 << 10;
        byte[] content = CuFileBench.bytes(16 * part);
        StorageFile file = bench.open(bench.path(name, content));
        DeviceBuffer buffer = bench.buffer(content.length);
        List<Transfer> parts = IntStream.range(0, 16)
                .mapToObj(i -> Transfer.read(file.region((long) i * part, part), buffer.region((long) i * part, part)))
                .toList();
        assertThat(bench.backend().explain(parts.get(1)).path()).isEqualTo(path);
        bench.backend().submit(Flux.fromIterable(parts)).blockLast();
        assertThat(Arrays.mismatch(BackendFixture.content(buffer), content))
                .as("the first byte that differs")
                .isEqualTo(-1);
    }

    @Test
    void holesInAFileAreReadAsZeros() throws IOException {
        Path path = bench.path(new byte[0]);
        try (FileChannel sparse = FileChannel.open(path, StandardOpenOption.WRITE)) {
            sparse.write(ByteBuffer.wrap(new byte[] {7}), 1 << 20);
        }
        byte[] dirty = new byte[(1 << 20) + 1];
        Arrays.fill(dirty, (byte) 9);
        DeviceBuffer buffer = bench.buffer(dirty);
        bench.move(Transfer.read(bench.open(path).all(), buffer.all()));
        byte[] expected = new byte[dirty.length];
        expected[1 << 20] = 7;
        assertThat(BackendFixture.content(buffer)).isEqualTo(expected);
    }

    @Test
    void required_201_argumentsAndMemoryAreKeptUntilTheStreamHasExecutedACancelledRead() throws IOException {
        StorageFile file = bench.file(CuFileBench.bytes(4096));
        DeviceBuffer buffer = bench.buffer(4096);
        bench.cufile.hold(READ);
        var subscription =
                bench.backend().submit(Transfer.read(file.all(), buffer.all())).subscribe();
        assertThat(bench.cufile.awaitHeld(READ, 1)).isPositive();
        subscription.dispose();
        buffer.close();
        file.close();
        assertThat(bench.cufile.live("handles"))
                .as("closed while the stream reads it")
                .isPositive();
        bench.cufile.release(READ);
    }

    @Test
    void completionsComeAsTheStreamsPassThem() throws IOException {
        byte[] content = CuFileBench.bytes(4096);
        StorageFile file = bench.file(content);
        DeviceBuffer buffer = bench.buffer(4096);
        bench.cufile.hold(READ);
        CompletableFuture<Completion> read =
                bench.backend().submit(Transfer.read(file.all(), buffer.all())).toFuture();
        assertThat(bench.cufile.awaitHeld(READ, 1)).isPositive();
        assertThat(read).isNotDone();
        bench.cufile.release(READ);
        assertThat(read.orTimeout(20, SECONDS).join().bytes()).isEqualTo(4096);
        assertThat(BackendFixture.content(buffer)).isEqualTo(content);
    }

    @Test
    void aSizeMayBeSetUntilTheStreamReachesTheTransfer() throws IOException {
        byte[] content = CuFileBench.bytes(3 * 4096);
        StorageFile file = bench.file(content);
        DeviceBuffer buffer = bench.buffer(content.length);
        try (Application application = new Application(0)) {
            CudaStream stream = CudaStream.of(application.stream());
            LateSize size = stream.lateSize();
            application.spin();
            CompletableFuture<Completion> read = bench.backend()
                    .submit(Transfer.read(file.all(), buffer.all()).on(stream.sized(size)))
                    .toFuture();
            assertThat(bench.cufile.awaitCalls("cuFileReadAsync", 1)).isEqualTo(1);
            size.set(5000); // as a kernel before it would
            long pinned = bench.cuda.live("pinned");
            size.close();
            assertThat(bench.cuda.live("pinned"))
                    .as("while the stream is to read it")
                    .isEqualTo(pinned);
            application.letKernelsEnd();
            assertThat(bench.cuda.awaitLive("pinned", pinned - 8))
                    .as("the word")
                    .isLessThan(pinned);
            assertThat(read.orTimeout(20, SECONDS).join().bytes()).isEqualTo(5000);
            assertThat(Arrays.copyOf(BackendFixture.content(buffer), 5000)).isEqualTo(Arrays.copyOf(content, 5000));
            assertThat(bench.cufile.calls("cuFileReadAsync"))
                    .as("the rest is not asked for")
                    .isEqualTo(1);
            assertThatThrownBy(() ->
                            bench.move(Transfer.read(file.all(), buffer.all()).on(stream.sized(size))))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("is closed");
        }
    }

    @ParameterizedTest
    @CsvSource({"0, 0", "4096, 0", "5000, 0", "12288, 0", "9000, 4096", "12288, 4096"})
    void aWriteTakesASizeThatIsSetUntilTheStreamReachesIt(int size, int shorten) throws IOException {
        byte[] content = CuFileBench.bytes(3 * 4096);
        byte[] before = new byte[6000];
        Arrays.fill(before, (byte) 7);
        StorageFile file = bench.writable(before);
        DeviceBuffer buffer = bench.buffer(content);
        if (shorten > 0) {
            bench.cufile.shorten(WRITE, shorten);
        }
        try (Application application = new Application(0)) {
            CudaStream stream = CudaStream.of(application.stream());
            try (LateSize late = stream.lateSize()) {
                application.spin();
                CompletableFuture<Completion> write = bench.backend()
                        .submit(Transfer.write(buffer.all(), file.region(0, content.length))
                                .on(stream.sized(late)))
                        .toFuture();
                assertThat(bench.cufile.awaitCalls(WRITE, 1)).isEqualTo(1);
                late.set(size);
                application.letKernelsEnd();
                Completion completion = write.orTimeout(20, SECONDS).join();
                assertThat(List.of(completion.bytes(), completion.bytes(0))).containsOnly((long) size);
            }
        }
        byte[] after = Arrays.copyOf(content, Math.max(size, before.length));
        System.arraycopy(
                before,
                Math.min(size, before.length),
                after,
                Math.min(size, before.length),
                Math.max(before.length - size, 0));
        assertThat(file.path()).hasBinaryContent(after);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aSizeThatIsLargerThanTheTransferFailsItAndSaysBoth(boolean read) throws IOException {
        StorageFile file = bench.writable(CuFileBench.bytes(8192));
        DeviceBuffer buffer = bench.buffer(8192);
        try (Application application = new Application(0)) {
            CudaStream stream = CudaStream.of(application.stream());
            try (LateSize late = stream.lateSize()) {
                Transfer transfer = read
                        ? Transfer.read(file.region(0, 4096), buffer.region(0, 4096))
                        : Transfer.write(buffer.region(0, 4096), file.region(0, 4096));
                application.spin();
                CompletableFuture<Completion> end =
                        bench.backend().submit(transfer.on(stream.sized(late))).toFuture();
                assertThat(bench.cufile.awaitCalls(read ? READ : WRITE, 1)).isEqualTo(1);
                late.set(4097);
                application.letKernelsEnd();
                assertThatThrownBy(() -> end.orTimeout(20, SECONDS).join())
                        .hasCauseInstanceOf(PermanentStorageException.class)
                        .hasMessageContaining("at most 4096, was 4097");
                assertThat(file.path()).hasSize(8192);
            }
        }
        bench.backend().close();
        Fakes.reset(); // it complains, unless the size was there before the fake looked at the cell
    }

    /** As in registered memory on a disk that nvidia-fs reaches. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aLateSizeInWholeBlocksGoesDirectlyAndAnyOtherDoesNot(boolean read) throws IOException {
        bench.close();
        bench = CuFileBench.open(
                CuFileFake.options(CufilePath.STREAM).with(CufileOptions.REGISTER, Registering.ALWAYS));
        bench.cufile.set("nvfs", 1);
        byte[] content = CuFileBench.bytes(3 * 4096);
        StorageFile file = bench.writable(content);
        DeviceBuffer buffer = bench.buffer(CuFileBench.bytes(3 * 4096));
        try (Application application = new Application(0)) {
            CudaStream stream = CudaStream.of(application.stream());
            try (LateSize blocks = stream.lateBlocks();
                    LateSize bytes = stream.lateSize()) {
                blocks.set(8192);
                bytes.set(5000);
                Transfer transfer =
                        read ? Transfer.read(file.all(), buffer.all()) : Transfer.write(buffer.all(), file.all());
                Completion direct = bench.move(transfer.on(stream.sized(blocks)).requireDirect());
                assertThat(direct.path()).isEqualTo(TransferPath.DIRECT);
                assertThat(direct.bytes()).isEqualTo(8192);
                Completion other = bench.move(transfer.on(stream.sized(bytes)));
                assertThat(other.path()).isEqualTo(TransferPath.COMPAT);
                assertThat(other.bytes()).isEqualTo(5000);
                assertThatThrownBy(() ->
                                bench.move(transfer.on(stream.sized(bytes)).requireDirect()))
                        .hasMessageContaining("CudaStream.lateBlocks");
                assertThatThrownBy(() -> blocks.set(5000))
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessageContaining("multiple of 4096, was 5000");
            }
        }
    }

    /** A kernel writes what it will, which no setter checks. */
    @Test
    void aSizeInWholeBlocksThatIsNoneFailsTheTransferThatWasCalledDirect() throws IOException {
        StorageFile file = bench.file(CuFileBench.bytes(8192));
        DeviceBuffer buffer = bench.buffer(8192);
        try (Application application = new Application(0)) {
            CudaStream stream = CudaStream.of(application.stream());
            try (LateSize blocks = stream.lateBlocks()) {
                NativeMemory.view(blocks.word.address(), Long.BYTES).putLong(0, 5000);
                assertThatThrownBy(() -> bench.move(
                                Transfer.read(file.all(), buffer.all()).on(stream.sized(blocks))))
                        .isInstanceOf(PermanentStorageException.class)
                        .hasMessageContaining("must be a multiple of 4096 bytes, at most 8192, was 5000");
            }
        }
    }

    @Test
    void aLateBoundSizeIsRefusedOnPathsThatIgnoreIt() throws IOException {
        StorageFile file = bench.writable(CuFileBench.bytes(8 << 20));
        DeviceBuffer buffer = bench.buffer(8 << 20);
        try (Application application = new Application(0);
                Backend staged = CuFileBench.backend(CuFileFake.options(CufilePath.STAGED))) {
            CudaStream stream = CudaStream.of(application.stream());
            try (LateSize size = stream.lateSize()) {
                StorageFile other = BackendFixture.get(staged.openFile(file.path()));
                DeviceBuffer target = BackendFixture.get(staged.allocate(4096));
                for (Throwable refused : List.of(
                        catchThrowable(() ->
                                BackendFixture.get(staged.submit(Transfer.read(other.region(0, 4096), target.all())
                                        .on(stream.sized(size))))),
                        catchThrowable(() -> bench.move(
                                Transfer.read(file.all(), buffer.all()).on(stream.sized(size)))),
                        catchThrowable(() -> bench.move(
                                Transfer.write(buffer.all(), file.all()).on(stream.sized(size)))))) {
                    assertThat(refused)
                            .isInstanceOf(PermanentStorageException.class)
                            .hasMessageContaining("late-bound size");
                }
            }
        }
    }

    @Test
    void ifStreamsCannotWriteAWordEventsAreUsed() throws IOException {
        bench.cuda.fail("cuStreamWriteValue32", 0, 801);
        byte[] content = CuFileBench.bytes(100_000);
        StorageFile file = bench.file(content);
        DeviceBuffer buffer = bench.buffer(100_000);
        assertThat(bench.move(Transfer.read(file.all(), buffer.all())).bytes()).isEqualTo(100_000);
        assertThat(BackendFixture.content(buffer)).isEqualTo(content);
        assertThat(bench.cuda.calls("cuEventRecord")).isPositive();
    }

    @ParameterizedTest
    @ValueSource(strings = {"cuEventCreate", "cuEventRecord"})
    void required_201_whereNeitherWordNorEventIsToBeHadTheStreamIsWaitedFor(String call) throws IOException {
        bench.cuda.fail("cuStreamWriteValue32", 0, 801);
        bench.cuda.fail(call, 0, 2);
        byte[] content = CuFileBench.bytes(8192);
        StorageFile file = bench.file(content);
        DeviceBuffer buffer = bench.buffer(8192);
        bench.cufile.hold(READ);
        CompletableFuture<Completion> read =
                bench.backend().submit(Transfer.read(file.all(), buffer.all())).toFuture();
        assertThat(bench.cufile.awaitHeld(READ, 1)).isPositive();
        assertThat(bench.cuda.awaitCalls("cuStreamSynchronize", 1)).isPositive();
        assertThat(read).as("while the stream reads").isNotDone();
        bench.cufile.release(READ);
        assertThat(read.orTimeout(20, SECONDS).join().bytes()).isEqualTo(8192);
        bench.cuda.fail(call, -1, 0); // from here on there are some
        assertThat(BackendFixture.content(buffer)).isEqualTo(content);
    }

    @ParameterizedTest
    @CsvSource({
        "cuFileReadAsync, 5038, cuFileReadAsync -> CU_FILE_ASYNC_NOT_SUPPORTED (5038)",
        "late:cuFileReadAsync, -5030, cuFileReadAsync -> CU_FILE_INTERNAL_ERROR (5030)",
        "late:cuFileReadAsync, -1, cuFileReadAsync -> errno is libcufile's own (-1)"
    })
    void aFailureAtSubmissionOrInTheStreamFailsItsTransfer(String call, int code, String said) throws IOException {
        StorageFile file = bench.file(CuFileBench.bytes(4096));
        DeviceBuffer buffer = bench.buffer(4096);
        bench.cufile.fail(call, 1, code);
        assertThatThrownBy(() -> bench.move(Transfer.read(file.all(), buffer.all())))
                .isInstanceOf(PermanentStorageException.class)
                .hasMessageStartingWith("read of 4096 bytes at 0 of ")
                .hasMessageContaining("/file0 failed: " + said);
        StorageFile other = bench.file(CuFileBench.bytes(4096));
        assertThat(bench.move(Transfer.read(other.all(), buffer.all())).bytes()).isEqualTo(4096);
    }

    @Test
    void shortCountsAreContinuedInBothDirections() throws IOException {
        byte[] content = CuFileBench.bytes(50_000);
        StorageFile file = bench.writable(content);
        DeviceBuffer buffer = bench.buffer(50_000);
        bench.cufile.shorten(READ, 7000);
        bench.cufile.shorten(WRITE, 4096);
        assertThat(bench.move(Transfer.read(file.all(), buffer.all())).bytes()).isEqualTo(50_000);
        assertThat(BackendFixture.content(buffer)).isEqualTo(content);
        StorageFile to = bench.writable(new byte[0]);
        bench.move(Transfer.write(buffer.all(), to.region(0, 50_000)));
        assertThat(to.path()).hasBinaryContent(content);
    }

    /** The event behind the first part is not behind the second, which a kernel that waits for it does not see. */
    @ParameterizedTest
    @ValueSource(ints = {4096, 5000})
    void aShortCountFailsAReadThatKernelsMayAlreadyWaitFor(int shorten) throws IOException {
        StorageFile file = bench.writable(CuFileBench.bytes(16_384));
        DeviceBuffer buffer = bench.buffer(16_384);
        bench.cufile.shorten(READ, shorten);
        try (DeviceFence fence = BackendFixture.get(bench.backend().enqueue(Transfer.read(file.all(), buffer.all())))) {
            assertThatThrownBy(() -> BackendFixture.get(fence.outcome()))
                    .isInstanceOf(PermanentStorageException.class)
                    .hasMessageContaining("may have run before the last");
        }
        assertThat(bench.move(Transfer.read(file.all(), buffer.all())).bytes())
                .as("without a fence it is continued")
                .isEqualTo(16_384);
    }

    @Test
    void required_fence_transfersBehindAFenceSeeWhatWasWrittenBeforeIt() throws IOException {
        StorageFile file = bench.writable(new byte[4096]);
        byte[] written = CuFileBench.bytes(4096);
        DeviceBuffer to = bench.buffer(4096);
        bench.cufile.hold(WRITE);
        Transfer write = Transfer.write(bench.buffer(written).all(), file.region(0, 4096));
        Transfer read = Transfer.read(file.region(0, 4096), to.all());
        CompletableFuture<Completion> behind = bench.behind(write, read);
        assertThat(bench.cufile.awaitHeld(WRITE, 1)).isPositive();
        assertThat(bench.cufile.calls(READ)).as("the read waits").isZero();
        bench.cufile.release(WRITE);
        behind.orTimeout(20, SECONDS).join();
        assertThat(BackendFixture.content(to)).isEqualTo(written);
    }

    /** As where the application has destroyed its context before it closed the backend. */
    @Test
    void aContextThatIsGoneAtTheCloseIsLeft() throws IOException {
        try (StorageFile file = bench.file(CuFileBench.bytes(8192));
                DeviceBuffer buffer = bench.buffer(8192)) {
            bench.move(Transfer.read(file.all(), buffer.all()));
        }
        bench.cuda.fail("cuCtxPushCurrent", 0, 709);
        bench.backend().close();
        bench.cuda.fail("cuCtxPushCurrent", -1, 0);
        assertThat(bench.cuda.awaitLive("contexts", 0)).isZero();
        GpuFixture.await(() -> !FileDriver.isUsed(CuFile.API));
        Fakes.reset(); // what was pinned was not unpinned: the context was not gone for the fake
    }
}
