// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.queue;

import static io.penstock.engine.testing.BackendFixture.await;
import static io.penstock.engine.testing.BackendFixture.content;
import static io.penstock.engine.testing.BackendFixture.random;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Backend;
import io.penstock.CommonOptions;
import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.PermanentStorageException;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.engine.Engine;
import io.penstock.engine.FakeDevice;
import io.penstock.engine.spi.Limits;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A device that demands more of memory than of files: what a short count leaves need not be a command as it is. */
class MisalignedRestTest {

    private static final Duration LONG = Duration.ofSeconds(10);
    private static final Path PATH = Path.of("model.bin");
    private static final int BLOCK = 512;
    private static final int PAGE = 4096;

    private final FakeDevice device = new FakeDevice(new Limits(BLOCK, PAGE, 1 << 20, 64 << 10, false));
    private final Backend backend =
            Engine.open("fake", device, List.of(device), Options.none().resolve(CommonOptions.all()));
    private final Set<String> askers = ConcurrentHashMap.newKeySet(); // threads that asked for a length

    private final CountDownLatch answered = new CountDownLatch(1); // by a server that waits

    @AfterEach
    void nothingLeaks() {
        answered.countDown(); // also where a test has failed before
        backend.close();
        assertThat(device.freed).hasValue(device.allocated.get());
    }

    private StorageFile file(byte[] bytes) {
        device.files.put(PATH, device.new MemoryFile(bytes));
        return Objects.requireNonNull(
                backend.openFile(PATH, FileOption.READ, FileOption.WRITE).block(LONG));
    }

    private DeviceBuffer buffer(byte[] bytes) {
        DeviceBuffer buffer =
                Objects.requireNonNull(backend.allocate(bytes.length).block(LONG));
        buffer.hostView().orElseThrow().write(0, ByteBuffer.wrap(bytes));
        return buffer;
    }

    private long run(Transfer transfer) {
        return Objects.requireNonNull(backend.submit(transfer).block(LONG)).bytes();
    }

    /** Also if it is cut amid a block of the file, as file systems in user space and signals do. */
    @ParameterizedTest
    @ValueSource(ints = {BLOCK, 100})
    void aShortReadIsContinuedWhereMemoryIsAligned(int behindThePage) {
        byte[] bytes = random(5 * PAGE, 1);
        StorageFile file = file(bytes);
        DeviceBuffer straight = buffer(new byte[bytes.length]);
        DeviceBuffer bounced = buffer(new byte[4 * PAGE]);
        device.queue.shortBy = PAGE + behindThePage;
        assertThat(run(Transfer.read(file.all(), straight.all()))).isEqualTo(bytes.length);
        assertThat(content(straight)).isEqualTo(bytes);
        assertThat(run(Transfer.read(file.region(100, 4 * PAGE), bounced.all())))
                .isEqualTo(4 * PAGE);
        assertThat(content(bounced)).isEqualTo(Arrays.copyOfRange(bytes, 100, 100 + 4 * PAGE));
    }

    @Test
    void aWriteKeepsWhatAnInterruptedReadOfItsBlocksHasNotImported() {
        byte[] expected = random(6 * PAGE, 7);
        byte[] news = random(2 * PAGE, 8);
        StorageFile file = file(expected.clone());
        device.queue.shortBy = PAGE + 100;
        run(Transfer.write(buffer(news).all(), file.region(777, news.length)));
        System.arraycopy(news, 0, expected, 777, news.length);
        assertThat(device.files.get(PATH).bytes).isEqualTo(expected);
    }

    @Test
    void aReadEndsWhereTheFileEndsThoughMemoryIsNotAlignedThere() {
        byte[] bytes = random(PAGE + BLOCK, 2);
        StorageFile file = file(bytes);
        DeviceBuffer straight = buffer(new byte[3 * PAGE]);
        DeviceBuffer bounced = buffer(new byte[3 * PAGE]);
        assertThat(run(Transfer.read(file.region(0, 3 * PAGE), straight.all()))).isEqualTo(bytes.length);
        assertThat(content(straight)).startsWith(bytes);
        assertThat(run(Transfer.read(file.region(100, 2 * PAGE), bounced.region(7, 2 * PAGE))))
                .isEqualTo(bytes.length - 100);
        assertThat(Arrays.copyOfRange(content(bounced), 7, 7 + bytes.length - 100))
                .isEqualTo(Arrays.copyOfRange(bytes, 100, bytes.length));
    }

    /** An I/O queue that asked would wait for the server of the file, and all transfers with it. */
    @ParameterizedTest
    @ValueSource(ints = {0, 100})
    void theLengthOfAFileThatMayWaitIsAskedForOffTheQueue(int start) throws InterruptedException {
        byte[] bytes = random(PAGE + 100, 9);
        StorageFile file = file(bytes);
        CountDownLatch answered = theServerWaits();
        DeviceBuffer buffer = buffer(new byte[2 * PAGE]);
        CompletableFuture<Completion> read = backend.submit(
                        Transfer.read(file.region(start, 2 * PAGE - start), buffer.region(0, 2 * PAGE - start)))
                .toFuture();
        assertThat(anotherFileIsRead()).isEqualTo(BLOCK);
        assertThat(read).isNotDone();
        answered.countDown();
        assertThat(read.orTimeout(10, TimeUnit.SECONDS).join().bytes()).isEqualTo(bytes.length - start);
        assertThat(content(buffer)).startsWith(Arrays.copyOfRange(bytes, start, bytes.length));
        assertThat(askers).isNotEmpty().noneMatch(name -> name.startsWith("penstock-queue"));
    }

    @Test
    void aWriteAtTheEndOfAFileThatMayWaitAsksForItsLengthOffTheQueue() throws InterruptedException {
        byte[] bytes = random(PAGE + 100, 10);
        StorageFile file = file(bytes.clone());
        CountDownLatch answered = theServerWaits();
        byte[] news = random(200, 11);
        CompletableFuture<Completion> write = backend.submit(
                        Transfer.write(buffer(news).all(), file.region(PAGE + 50, news.length)))
                .toFuture();
        assertThat(anotherFileIsRead()).isEqualTo(BLOCK);
        assertThat(write).isNotDone();
        answered.countDown();
        write.orTimeout(10, TimeUnit.SECONDS).join();
        byte[] expected = Arrays.copyOf(bytes, PAGE + 250);
        System.arraycopy(news, 0, expected, PAGE + 50, news.length);
        assertThat(device.files.get(PATH).bytes).isEqualTo(expected);
        assertThat(askers).isNotEmpty().noneMatch(name -> name.startsWith("penstock-queue"));
    }

    private CountDownLatch theServerWaits() {
        FakeDevice.MemoryFile file = Objects.requireNonNull(device.files.get(PATH));
        file.mayWait = true;
        file.beforeSize = () -> {
            askers.add(Thread.currentThread().getName());
            try {
                answered.await();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        };
        return answered;
    }

    /** Reads another file while the length of the first is being asked for; returns the bytes that were read. */
    private long anotherFileIsRead() {
        await(() -> !askers.isEmpty());
        Path other = Path.of("other.bin");
        device.files.put(other, device.new MemoryFile(new byte[BLOCK]));
        StorageFile file = Objects.requireNonNull(backend.openFile(other).block(LONG));
        Transfer read = Transfer.read(file.all(), buffer(new byte[BLOCK]).all());
        return Objects.requireNonNull(backend.submit(read).block(LONG)).bytes();
    }

    @Test
    void aShortWriteIsContinuedWhereMemoryIsAligned() {
        byte[] before = random(6 * PAGE, 3);
        byte[] news = random(4 * PAGE, 4);
        StorageFile file = file(before.clone());
        DeviceBuffer buffer = buffer(news);
        device.queue.shortBy = PAGE + BLOCK;
        run(Transfer.write(buffer.all(), file.region(PAGE, news.length)));
        byte[] expected = before.clone();
        System.arraycopy(news, 0, expected, PAGE, news.length);
        assertThat(device.files.get(PATH).bytes).isEqualTo(expected);

        run(Transfer.write(buffer.region(1, 3 * PAGE), file.region(777, 3 * PAGE)));
        System.arraycopy(news, 1, expected, 777, 3 * PAGE);
        assertThat(device.files.get(PATH).bytes).isEqualTo(expected);
    }

    @Test
    void aDeviceThatNeverReachesAlignedMemoryFailsTheTransfer() {
        StorageFile file = file(random(2 * PAGE, 5));
        DeviceBuffer buffer = buffer(new byte[2 * PAGE]);
        device.queue.shortBy = BLOCK;
        assertThatThrownBy(() -> run(Transfer.read(file.all(), buffer.all())))
                .isInstanceOf(PermanentStorageException.class)
                .hasMessageContaining("transferred no bytes");
        assertThatThrownBy(() -> run(Transfer.write(buffer.all(), file.all())))
                .isInstanceOf(PermanentStorageException.class)
                .hasMessageContaining("transferred no bytes");
    }
}
