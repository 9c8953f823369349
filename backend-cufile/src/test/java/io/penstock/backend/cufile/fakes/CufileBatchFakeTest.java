// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile.fakes;

import static io.penstock.backend.cufile.fakes.Gpu.ok;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

@ExtendWith(FreshFakes.class)
class CufileBatchFakeTest {

    private static final int SEGMENT = 4096;
    private static final int SEGMENTS = 16;
    private static final String SUBMIT = "cuFileBatchIOSubmit";

    @TempDir
    Path folder;

    private final byte[] content = new byte[SEGMENT * SEGMENTS];
    private Gpu gpu;
    private long memory;
    private int fd;
    private long handle;
    private long batch;
    private BatchArrays arrays;

    @BeforeEach
    void begin() throws IOException {
        new Random(4).nextBytes(content);
        Path file = Files.write(folder.resolve("file"), content);
        gpu = new Gpu();
        memory = gpu.allocate(content.length);
        ok(CufileAbi.cuFileDriverOpen());
        fd = OpenFiles.open(file, OpenFiles.READ);
        handle = OpenFiles.register(fd);
        batch = setUp(SEGMENTS);
        arrays = new BatchArrays(SEGMENTS);
        for (int i = 0; i < SEGMENTS; i++) {
            arrays.read(i, handle, memory, SEGMENT, (long) SEGMENT * i, (long) SEGMENT * i);
        }
    }

    @AfterEach
    void end() {
        CufileAbi.cuFileBatchIODestroy(batch);
        CufileAbi.cuFileHandleDeregister(handle);
        ok(CufileAbi.cuFileDriverClose_v2());
        OpenFiles.close(fd);
        arrays.close();
        ok(CudaAbi.cuMemFree_v2(memory));
        gpu.close();
    }

    private static long setUp(int capacity) {
        long[] cell = new long[1];
        ok(CufileAbi.cuFileBatchIOSetUp(cell, capacity));
        return cell[0];
    }

    @Test
    void eachEntryHasItsEvent() {
        ok(arrays.submit(batch, 0, SEGMENTS));
        assertThat(arrays.await(batch, SEGMENTS, -1)).isEqualTo(SEGMENTS);
        long cookies = 0;
        for (int i = 0; i < SEGMENTS; i++) {
            assertThat(arrays.status(i)).isEqualTo(BatchArrays.COMPLETE);
            assertThat(arrays.result(i)).isEqualTo(SEGMENT);
            cookies |= 1L << arrays.cookieOf(i);
        }
        assertThat(cookies).isEqualTo((1L << SEGMENTS) - 1);
        assertThat(gpu.read(memory, content.length)).isEqualTo(content);
    }

    @Test
    void entriesAreSubmittedAgainWhenTheirEventsWereRead() {
        ok(arrays.submit(batch, 0, SEGMENTS));
        assertThat(arrays.await(batch, SEGMENTS, -1)).isEqualTo(SEGMENTS);
        ok(arrays.submit(batch, 0, SEGMENTS));
        assertThat(arrays.await(batch, SEGMENTS, -1)).isEqualTo(SEGMENTS);
    }

    @Test
    void aFileWithoutANameIsRefusedAndNothingOfTheSubmissionBegins() throws IOException {
        Path other = Files.write(folder.resolve("other"), content);
        int nameless = OpenFiles.open(other, OpenFiles.READ);
        long refused = OpenFiles.register(nameless);
        Files.delete(other);
        arrays.read(1, refused, memory, SEGMENT, SEGMENT, SEGMENT);
        assertThat(arrays.submit(batch, 0, 2)).isEqualTo(5040);
        assertThat(arrays.await(batch, 0, -1)).isZero();
        assertThat(Fakes.cufile().live("entries")).isZero();
        CufileAbi.cuFileHandleDeregister(refused);
        OpenFiles.close(nameless);
    }

    @Test
    void theFirstEntryOfAFileOpensItAgainUntilItsHandleIsClosed() throws IOException {
        long before = opened();
        ok(arrays.submit(batch, 0, 2));
        assertThat(arrays.await(batch, 2, -1)).isEqualTo(2);
        ok(arrays.submit(batch, 0, 2));
        assertThat(arrays.await(batch, 2, -1)).isEqualTo(2);
        assertThat(opened()).isEqualTo(before + 1);
        CufileAbi.cuFileHandleDeregister(handle);
        assertThat(opened()).as("the application's own").isEqualTo(1);
        handle = OpenFiles.register(fd);
    }

    /** Returns how many descriptors of the file this process has. */
    private long opened() throws IOException {
        try (Stream<Path> all = Files.list(Path.of("/proc/self/fd"))) {
            return all.filter(fd -> {
                        try {
                            return Files.readSymbolicLink(fd).equals(folder.resolve("file"));
                        } catch (IOException gone) {
                            return false;
                        }
                    })
                    .count();
        }
    }

    @Test
    void moreEntriesThanTheBatchHoldsAreRefused() {
        Fakes.cufile().hold(SUBMIT);
        ok(arrays.submit(batch, 0, SEGMENTS - 1));
        assertThat(arrays.submit(batch, 0, 2)).isEqualTo(5037);
        complains("2 entries where 1 are unused");
        Fakes.cufile().release(SUBMIT);
        assertThat(arrays.await(batch, SEGMENTS - 1, -1)).isEqualTo(SEGMENTS - 1);
    }

    @Test
    void aBatchBeyondTheDriversLimitIsRefused() {
        assertThat((int) CufileAbi.cuFileBatchIOSetUp(new long[1], 129)).isEqualTo(5030);
        complains("a batch of 129, where 128 is the limit");
    }

    @Test
    void waitingEndsAtTheTimeoutWithWhatThereIs() {
        Fakes.cufile().hold(SUBMIT);
        ok(arrays.submit(batch, 0, 2));
        assertThat(Fakes.cufile().awaitHeld(SUBMIT, 2)).isEqualTo(2);
        assertThat(arrays.await(batch, 2, 1)).isZero();
        Fakes.cufile().release(SUBMIT);
        assertThat(arrays.await(batch, 2, -1)).isEqualTo(2);
    }

    @Test
    void cancelEndsWhatHasNotStartedAndTheRestCompletesLate() {
        CufileAbi.cuFileBatchIODestroy(batch);
        batch = setUp(64);
        try (BatchArrays many = new BatchArrays(64)) {
            for (int i = 0; i < 64; i++) {
                many.read(i, handle, memory, SEGMENT, 0, 0);
            }
            Fakes.cufile().hold(SUBMIT);
            ok(many.submit(batch, 0, 64));
            // 32 run at most: the others have not begun.
            assertThat(Fakes.cufile().awaitHeld(SUBMIT, 32)).isEqualTo(32);
            ok(CufileAbi.cuFileBatchIOCancel(batch));
            assertThat(many.await(batch, 0, 0)).isEqualTo(32);
            assertThat(many.status(0)).isEqualTo(BatchArrays.CANCELED);
            Fakes.cufile().release(SUBMIT);
            assertThat(many.await(batch, 32, -1)).isEqualTo(32);
            assertThat(many.status(31)).isEqualTo(BatchArrays.COMPLETE);
        }
    }

    @Test
    void aBatchThatNeedsMoreBounceBuffersThanThereAreHangs() {
        CufileAbi.cuFileBatchIODestroy(batch);
        batch = setUp(128);
        try (BatchArrays large = new BatchArrays(65)) {
            for (int i = 0; i < 65; i++) {
                large.read(i, handle, memory, 8192, 0, 0);
            }
            ok(large.submit(batch, 0, 65));
            complains("65 bounce buffers needed where there are 64: the batch hangs");
            assertThat(large.await(batch, 1, 1)).isZero();
            ok(CufileAbi.cuFileBatchIOCancel(batch));
            assertThat(large.await(batch, 65, -1)).isEqualTo(65);
            assertThat(large.status(64)).isEqualTo(BatchArrays.CANCELED);
            assertThat(Fakes.cufile().live("entries")).isZero();
        }
    }

    @Test
    void bounceBuffersComeBackWhenEventsWereRead() {
        CufileAbi.cuFileBatchIODestroy(batch);
        batch = setUp(128);
        try (BatchArrays large = new BatchArrays(64)) {
            for (int i = 0; i < 64; i++) {
                large.read(i, handle, memory, 8192, 0, 0);
            }
            for (int round = 0; round < 3; round++) {
                ok(large.submit(batch, 0, 64));
                assertThat(large.await(batch, 64, -1)).isEqualTo(64);
            }
        }
    }

    @Test
    void aFailureIsReportedByTheEvent() {
        Fakes.cufile().fail("late:" + SUBMIT, 1, -1, 5);
        arrays.read(1, handle, memory + content.length, SEGMENT, 0, 0);
        ok(arrays.submit(batch, 0, 1));
        assertThat(arrays.await(batch, 1, -1)).isEqualTo(1);
        assertThat(arrays.status(0)).isEqualTo(BatchArrays.FAILED);
        assertThat(arrays.result(0)).isEqualTo(-5);
        ok(arrays.submit(batch, 1, 1));
        assertThat(arrays.await(batch, 1, -1)).isEqualTo(1);
        assertThat(arrays.status(0)).isEqualTo(BatchArrays.FAILED);
        assertThat(arrays.result(0)).isEqualTo(-5012);
        complains("nothing is allocated");
    }

    @Test
    void theArrayOfParametersStaysUntilItsEntriesAreDone() {
        CufileAbi.cuFileBatchIODestroy(batch);
        batch = setUp(128);
        try (BatchArrays many = new BatchArrays(64)) {
            Fakes.cufile().hold(SUBMIT);
            for (int i = 0; i < 64; i++) {
                many.read(i, handle, memory, SEGMENT, 0, 0);
            }
            ok(many.submit(batch, 0, 64));
            assertThat(Fakes.cufile().awaitHeld(SUBMIT, 32)).isEqualTo(32);
            for (int i = 0; i < 64; i++) {
                many.cookie(i, 1000 + i);
            }
            Fakes.cufile().release(SUBMIT);
            assertThat(many.await(batch, 64, -1)).isEqualTo(64);
        }
        complains("the array of parameters changed");
    }

    @Test
    void aBatchIsNotDestroyedInFlight() {
        Fakes.cufile().hold(SUBMIT);
        ok(arrays.submit(batch, 0, 1));
        assertThat(Fakes.cufile().awaitHeld(SUBMIT, 1)).isEqualTo(1);
        CufileAbi.cuFileBatchIODestroy(batch);
        complains("1 entries are in flight");
        Fakes.cufile().release(SUBMIT);
        assertThat(Fakes.cufile().awaitLive("entries", 0)).isZero();
        batch = setUp(1);
    }

    private static void complains(String about) {
        assertThat(Fakes.complaint())
                .hasValueSatisfying(said -> assertThat(said).contains(about));
        Fakes.cufile().forgive();
        Fakes.cuda().forgive();
    }
}
