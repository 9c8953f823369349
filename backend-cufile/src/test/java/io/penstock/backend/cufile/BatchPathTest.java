// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.CommonOptions;
import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.PermanentStorageException;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.TransferPath;
import io.penstock.TransientStorageException;
import io.penstock.backend.cufile.fakes.FreshFakes;
import io.penstock.engine.testing.BackendFixture;
import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** cuFile's batches: what is in one, in which order it ends, and what may go wrong. */
@ExtendWith(FreshFakes.class)
class BatchPathTest {

    private static final String SUBMIT = "cuFileBatchIOSubmit";
    private static final String STATUS = "cuFileBatchIOGetStatus";

    private CuFileBench bench;

    @BeforeEach
    void open() throws IOException {
        bench = CuFileBench.open(CufilePath.BATCH);
    }

    @AfterEach
    void close() throws IOException {
        bench.close();
    }

    /** Reads blocks of 4096 bytes, last one first, all at once. */
    private List<Mono<Completion>> backwards(StorageFile file, DeviceBuffer buffer, int blocks) {
        return LongStream.range(0, blocks)
                .map(i -> (blocks - 1 - i) * 4096)
                .mapToObj(at -> bench.backend().submit(Transfer.read(file.region(at, 4096), buffer.region(at, 4096))))
                .toList();
    }

    private void run(List<Mono<Completion>> transfers) {
        BackendFixture.get(Flux.merge(Flux.fromIterable(transfers), 1000).then(Mono.just(true)));
    }

    @Test
    void manySmallReadsLandWhereTheyBelong() throws IOException {
        byte[] content = CuFileBench.bytes(500 * 4096);
        StorageFile file = bench.file(content);
        DeviceBuffer buffer = bench.buffer(content.length);
        run(backwards(file, buffer, 500));
        assertThat(BackendFixture.content(buffer)).isEqualTo(content);
        assertThat(bench.cufile.calls("cuFileBatchIOSetUp"))
                .as("one batch handle for the I/O queue")
                .isEqualTo(1);
        assertThat(bench.cufile.calls("cuFileRead")).isZero();
        Completion read = bench.move(Transfer.read(file.region(0, 4096), buffer.region(0, 4096)));
        assertThat(read.path()).isEqualTo(TransferPath.COMPAT);
    }

    @Test
    void writesGoThroughABatchTooAndUnalignedOnesChangeNothingBeside() throws IOException {
        byte[] before = CuFileBench.bytes(100_000);
        StorageFile file = bench.writable(before);
        byte[] written = CuFileBench.bytes(50_001);
        bench.move(Transfer.write(bench.buffer(written).all(), file.region(12_345, 50_001)));
        System.arraycopy(written, 0, before, 12_345, written.length);
        assertThat(file.path()).hasBinaryContent(before);
        assertThat(bench.cufile.calls(SUBMIT)).isPositive();
    }

    @Test
    void completedEntriesMakeRoomWhileOthersAreInFlight() throws IOException {
        bench.cufile.set("max_batch_io_size", 4);
        byte[] content = CuFileBench.bytes(40 * 4096);
        StorageFile file = bench.file(content);
        DeviceBuffer buffer = bench.buffer(content.length);
        run(backwards(file, buffer, 40));
        assertThat(BackendFixture.content(buffer)).isEqualTo(content);
    }

    @Test
    void noMoreIsInFlightThanThereAreBounceBuffers() throws IOException {
        // 64 slabs of 1 MiB there are: the fake complains of a batch that would hang.
        byte[] content = CuFileBench.bytes(100 << 20);
        StorageFile file = bench.file(content);
        DeviceBuffer buffer = bench.buffer(content.length);
        assertThat(bench.move(Transfer.read(file.all(), buffer.all())).bytes()).isEqualTo(content.length);
        assertThat(BackendFixture.content(buffer)).isEqualTo(content);
    }

    @Test
    void entriesEndOneByOneInAnyOrder() throws IOException {
        StorageFile file = bench.file(CuFileBench.bytes(8192));
        DeviceBuffer buffer = bench.buffer(8192);
        bench.cufile.hold(SUBMIT);
        CompletableFuture<Completion> held = bench.backend()
                .submit(Transfer.read(file.region(0, 4096), buffer.region(0, 4096)))
                .toFuture();
        assertThat(bench.cufile.awaitHeld(SUBMIT, 1)).isPositive();
        assertThat(held).isNotDone();
        bench.cufile.release(SUBMIT);
        assertThat(held.orTimeout(20, SECONDS).join().bytes()).isEqualTo(4096);
    }

    @Test
    void required_201_cancellingOneNeverCancelsItsSiblings() throws IOException {
        byte[] content = CuFileBench.bytes(16 * 4096);
        StorageFile file = bench.file(content);
        DeviceBuffer buffer = bench.buffer(content.length);
        bench.cufile.hold(SUBMIT);
        List<CompletableFuture<Completion>> kept = new ArrayList<>();
        List<Disposable> cancelled = new ArrayList<>();
        int block = 0;
        for (Mono<Completion> read : backwards(file, buffer, 16)) {
            if (block++ % 4 == 0) {
                cancelled.add(read.subscribe());
            } else {
                kept.add(read.toFuture());
            }
        }
        assertThat(bench.cufile.awaitHeld(SUBMIT, 1)).isPositive();
        cancelled.forEach(Disposable::dispose);
        bench.cufile.release(SUBMIT);
        for (CompletableFuture<Completion> read : kept) {
            assertThat(read.orTimeout(20, SECONDS).join().bytes()).isEqualTo(4096);
        }
        assertThat(bench.cufile.calls("cuFileBatchIOCancel")).isZero();
    }

    @Test
    void required_fence_transfersBehindAFenceStartWhenItIsSignalled() throws IOException {
        StorageFile file = bench.writable(new byte[8192]);
        byte[] first = CuFileBench.bytes(4096);
        DeviceBuffer from = bench.buffer(first);
        DeviceBuffer to = bench.buffer(4096);
        bench.cufile.hold(SUBMIT);
        Transfer write = Transfer.write(from.all(), file.region(0, 4096));
        CompletableFuture<Completion> behind = bench.behind(write, Transfer.read(file.region(0, 4096), to.all()));
        assertThat(bench.cufile.awaitHeld(SUBMIT, 1)).isPositive();
        assertThat(bench.cufile.held(SUBMIT)).as("the read waits").isEqualTo(1);
        assertThat(behind).isNotDone();
        bench.cufile.release(SUBMIT);
        behind.orTimeout(20, SECONDS).join();
        assertThat(BackendFixture.content(to)).isEqualTo(first);
    }

    @ParameterizedTest
    @CsvSource({
        "cuFileBatchIOSubmit, 5043, CU_FILE_NOMEM_ERROR (5043)",
        "cuFileBatchIOSetUp, 5039, CU_FILE_INTERNAL_BATCH_SETUP_ERROR (5039)"
    })
    void aBatchThatIsNotTakenIsATransientErrorAndTheNextOneWorks(String call, int code, String said)
            throws IOException {
        StorageFile file = bench.file(CuFileBench.bytes(4096));
        Transfer read = Transfer.read(file.all(), bench.buffer(4096).all());
        bench.cufile.fail(call, 1, code);
        assertThatThrownBy(() -> bench.move(read))
                .isInstanceOf(TransientStorageException.class)
                .hasMessageStartingWith("read of 4096 bytes at 0 of ")
                .hasMessageContaining("/file0 failed: " + call + " -> " + said);
        assertThat(bench.move(read).bytes()).isEqualTo(4096);
    }

    @Test
    void required_502_aFileWithoutANameGoesByCallsAndHarmsNoneThatIsSubmittedBesideIt() throws IOException {
        byte[] content = CuFileBench.bytes(16 * 4096);
        StorageFile file = bench.file(content);
        StorageFile nameless = bench.file(content);
        Files.delete(nameless.path());
        DeviceBuffer buffer = bench.buffer(content.length);
        DeviceBuffer other = bench.buffer(content.length);
        List<Mono<Completion>> both = new ArrayList<>(backwards(file, buffer, 16));
        both.addAll(backwards(nameless, other, 16));
        run(both);
        assertThat(BackendFixture.content(buffer)).isEqualTo(content);
        assertThat(BackendFixture.content(other)).isEqualTo(content);
        assertThat(bench.cufile.calls("cuFileRead")).isEqualTo(16);
        long submissions = bench.cufile.calls(SUBMIT);
        assertThat(bench.move(Transfer.read(nameless.all(), other.all())).path())
                .isEqualTo(TransferPath.COMPAT);
        assertThat(bench.cufile.calls(SUBMIT)).as("asked again").isEqualTo(submissions);
    }

    @Test
    void anEntryThatFailsFailsItsTransferAlone() throws IOException {
        byte[] content = CuFileBench.bytes(8 * 4096);
        StorageFile file = bench.file(content);
        DeviceBuffer buffer = bench.buffer(content.length);
        bench.cufile.fail("late:" + SUBMIT, 1, -5030, 0);
        List<String> failed = new ArrayList<>();
        run(backwards(file, buffer, 8).stream()
                .map(read -> read.onErrorResume(PermanentStorageException.class, e -> {
                    failed.add(e.getMessage());
                    return Mono.empty();
                }))
                .toList());
        assertThat(failed).hasSize(1);
        assertThat(failed.get(0)).contains("cuFileBatchIO -> CU_FILE_INTERNAL_ERROR (5030)");
    }

    @Test
    void aStatusThatCannotBeReadForAWhileLosesNothing() throws IOException {
        byte[] content = CuFileBench.bytes(4096);
        StorageFile file = bench.file(content);
        DeviceBuffer buffer = bench.buffer(4096);
        bench.cufile.fail("cuFileBatchIOGetStatus", 1, 5041);
        assertThat(bench.move(Transfer.read(file.all(), buffer.all())).bytes()).isEqualTo(4096);
        assertThat(BackendFixture.content(buffer)).isEqualTo(content);
    }

    @Test
    void anEventThatComesAgainEndsNoLaterEntry() throws IOException {
        bench.close();
        bench = CuFileBench.open(CuFileFake.options(CufilePath.BATCH).with(CommonOptions.QUEUE_DEPTH, 1));
        bench.cufile.set("batch_repeats", 1);
        bench.cufile.set("batch_pending", 1);
        byte[] content = CuFileBench.bytes(8192);
        StorageFile file = bench.file(content);
        DeviceBuffer buffer = bench.buffer(8192);
        bench.move(Transfer.read(file.region(0, 4096), buffer.region(0, 4096)));
        bench.cufile.hold(SUBMIT);
        CompletableFuture<Completion> second = bench.backend()
                .submit(Transfer.read(file.region(4096, 4096), buffer.region(4096, 4096)))
                .toFuture();
        assertThat(bench.cufile.awaitHeld(SUBMIT, 1)).isPositive();
        long polls = bench.cufile.calls(STATUS);
        assertThat(bench.cufile.awaitCalls(STATUS, polls + 2)).isGreaterThanOrEqualTo(polls + 2);
        assertThat(second).as("the first one's event came again").isNotDone();
        bench.cufile.release(SUBMIT);
        assertThat(second.orTimeout(20, SECONDS).join().bytes()).isEqualTo(4096);
        assertThat(BackendFixture.content(buffer)).isEqualTo(content);
    }

    @ParameterizedTest
    @CsvSource({
        "0x20, TransientStorageException, CUFILE_TIMEOUT (32)",
        "0x04, PermanentStorageException, CU_FILE_INVALID_VALUE (5022)",
        "0x40, PermanentStorageException, CU_FILE_INTERNAL_ERROR (5030)"
    })
    void anEntryMayEndWithAnyOfTheVendorsStatuses(String status, String type, String said) throws IOException {
        bench.cufile.set("batch_failure", Integer.decode(status));
        bench.cufile.set("batch_pending", 1);
        StorageFile file = bench.file(CuFileBench.bytes(4096));
        DeviceBuffer buffer = bench.buffer(4096);
        bench.cufile.fail("late:" + SUBMIT, 1, -5030, 0);
        assertThatThrownBy(() -> bench.move(Transfer.read(file.all(), buffer.all())))
                .satisfies(e -> assertThat(e.getClass().getSimpleName()).isEqualTo(type))
                .hasMessageContaining("cuFileBatchIO -> " + said);
    }

    @Test
    void shortCountsAreContinued() throws IOException {
        byte[] content = CuFileBench.bytes(40_000);
        StorageFile file = bench.writable(content);
        DeviceBuffer buffer = bench.buffer(40_000);
        bench.cufile.shorten(SUBMIT, 7000);
        assertThat(bench.move(Transfer.read(file.all(), buffer.all())).bytes()).isEqualTo(40_000);
        assertThat(BackendFixture.content(buffer)).isEqualTo(content);
    }
}
