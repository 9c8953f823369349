// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.host.blocking;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.FileOption;
import io.penstock.engine.ffi.IoUring;
import io.penstock.engine.host.file.LinuxFile;
import io.penstock.engine.host.kernel.Kernel;
import io.penstock.engine.host.kernel.LinuxKernel;
import io.penstock.engine.host.kernel.RingAvailability;
import io.penstock.engine.host.kernel.ScriptedKernel;
import io.penstock.engine.host.uring.RingFixture;
import io.penstock.engine.kit.ffi.Errno;
import io.penstock.engine.kit.memory.Slab;
import io.penstock.engine.kit.memory.Slabs;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.opentest4j.TestAbortedException;

@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RegisteredBufferTest {
    private static final int BYTES = 1 << 20;
    private static final int SEGMENT = 1 << 18;
    private static final int UPDATE = IoUring.IORING_REGISTER_BUFFERS_UPDATE;

    private final ScriptedKernel kernel = new ScriptedKernel();
    private final BlockingBytes bytes = new BlockingBytes(kernel);
    private final Slabs slabs = new Slabs(true);
    private final Slab slab = slabs.allocate(BYTES);
    private final byte[] content = new byte[BYTES];
    private final Path path =
            Path.of("target", "registered-staging buffer-" + System.nanoTime()); // a tmpfs has no O_DIRECT
    private BufferBytes staging = bytes;
    private LinuxFile file;

    @BeforeEach
    void makeFile() throws IOException {
        RingFixture.assumeRing();
        new Random(1).nextBytes(content);
        Files.write(path, content);
        file = open(path);
        staging = bytes.of(slab);
    }

    @AfterEach
    void nothingIsLeft() throws IOException {
        staging.close();
        if (file != null) {
            file.close();
        }
        slab.free();
        slabs.close();
        Files.deleteIfExists(path);
        assertThat(kernel.closed).as("rings that are closed").isEqualTo(kernel.opened);
        assertThat(kernel.unmapped).as("their memory").isEqualTo(kernel.mapped);
    }

    private static LinuxFile open(Path path) throws IOException {
        try {
            return LinuxFile.open(path, Set.of(FileOption.READ, FileOption.WRITE, FileOption.DIRECT), BYTES);
        } catch (FileSystemException none) {
            throw new TestAbortedException("no file past the page cache: " + none.getMessage());
        }
    }

    /** Reads four segments, to all of the staging buffer, and checks them. */
    private void readAll(LinuxFile file) throws IOException {
        for (int at = 0; at < BYTES; at += SEGMENT) {
            assertThat(staging.read(file, at, slab.hostAddress() + at, SEGMENT)).isEqualTo(SEGMENT);
        }
        assertBuffer();
    }

    private void assertBuffer() {
        byte[] got = new byte[BYTES];
        slab.buffer(0, BYTES).get(got);
        assertThat(got).isEqualTo(content);
    }

    private List<Integer> submitted() {
        return kernel.submitted.stream().map(ScriptedKernel.Sqe::opcode).toList();
    }

    @Test
    void largeSegmentsPastThePageCacheUseTheRingWhichRegistersTheStagingBufferAfterAFew() throws IOException {
        readAll(file);
        assertThat(kernel.opened).as("rings for the first few").isZero();
        readAll(file);
        assertThat(submitted()).containsOnly((int) IoUring.IORING_OP_READ_FIXED).hasSize(4);
        assertThat(kernel.registered)
                .as("a table, and the staging buffer once")
                .containsOnlyOnce(UPDATE)
                .hasSize(2);
        assertThat(staging.read(file, BYTES, slab.hostAddress(), SEGMENT))
                .as("the end")
                .isZero();
        assertThat(staging.read(file, BYTES - SEGMENT / 4, slab.hostAddress(), SEGMENT))
                .as("up to the end")
                .isEqualTo(SEGMENT / 4);
        assertThat(bytes.bufferFact()).isEqualTo("staging buffers, past the page cache: registered with io_uring");
    }

    @Test
    void theyAreWrittenByItToo() throws IOException {
        readAll(file);
        new Random(2).nextBytes(content);
        slab.buffer(0, BYTES).put(content);
        assertThat(staging.write(file, 0, slab.hostAddress(), BYTES)).isEqualTo(BYTES);
        assertThat(submitted()).containsExactly((int) IoUring.IORING_OP_WRITE_FIXED);
        assertThat(Files.readAllBytes(path)).isEqualTo(content);
    }

    @Test
    void smallSegmentsAndCachedFilesNeedNoRing() throws IOException {
        LinuxFile cached = LinuxFile.open(path, Set.of(FileOption.READ), BYTES);
        for (int i = 0; i < 3; i++) {
            readAll(cached);
            for (int at = 0; at < BYTES; at += SEGMENT / 2) {
                staging.read(file, at, slab.hostAddress() + at, SEGMENT / 2);
            }
            assertBuffer();
        }
        cached.close();
        assertThat(kernel.opened).isZero();
    }

    @Test
    void aStagingBufferIsUnregisteredBeforeItsMemoryIsFreed() throws IOException {
        readAll(file);
        readAll(file);
        staging.close();
        assertThat(kernel.registered).endsWith(UPDATE, UPDATE).hasSize(3);
        staging.close();
        assertThat(kernel.registered).hasSize(3);
    }

    @Test
    void aKernelThatDoesNotRegisterIsTriedOnceAndAllIsReadWithoutRegistration() throws IOException {
        kernel.registerAnswer = -Errno.ENOMEM;
        readAll(file);
        readAll(file);
        readAll(file);
        assertThat(kernel.opened).isEqualTo(1);
        assertThat(submitted()).isEmpty();
        kernel.registerAnswer = 0; // what is said does not come from the question whether there is io_uring
        assertThat(bytes.bufferFact())
                .startsWith("staging buffers, past the page cache: pread and pwrite where io_uring has refused them (")
                .contains("io_uring_register -> ENOMEM (12)", "ulimit -l");
    }

    @Test
    void aKernelWithoutIoUringIsReportedWithItsReason() throws IOException {
        kernel.setupAnswer = -Errno.EPERM;
        readAll(file);
        readAll(file);
        assertThat(bytes.bufferFact())
                .startsWith(
                        "staging buffers, past the page cache: pread and pwrite, since io_uring cannot be used (FORBIDDEN_BY_SECCOMP");
        kernel.platform = new RingAvailability(RingAvailability.Reason.NOT_LINUX, "plan 9");
        assertThat(bytes.of(slab)).isSameAs(bytes);
    }

    @Test
    void requestsThatAFullKernelRefusesUseBlockingCalls() throws IOException {
        readAll(file);
        for (int i = 0; i < 2000; i++) {
            kernel.enterAnswers.add(-Errno.EAGAIN);
        }
        readAll(file);
        assertThat(submitted()).isEmpty();
        assertThat(kernel.closed).as("the ring that takes nothing").isEqualTo(1);
    }

    @Test
    void aBrokenRingIsAbandoned() throws IOException {
        readAll(file);
        readAll(file);
        kernel.enterAnswers.add(-Errno.EBADF);
        readAll(file);
        assertThat(submitted()).as("before").hasSize(4);
        assertThat(kernel.closed).isEqualTo(1);
    }

    @Test
    void aFailureIsThatOfTheRepeatedCall() throws IOException {
        readAll(file);
        assertThat(staging.read(file, 1, slab.hostAddress(), SEGMENT)).isEqualTo(-Errno.EINVAL);
        assertThat(kernel.closed)
                .as("rings that are given up for what was no fault of theirs")
                .isZero();
        readAll(file);
        assertThat(submitted()).hasSize(5);
    }

    /** Takes an operation without waiting, and fails from then on. */
    private static final class BreaksOnceItIsBusy implements Kernel {
        private final Kernel real;
        final List<Integer> answers = new ArrayList<>();
        final CompletableFuture<Integer> failedTwice = new CompletableFuture<>();

        BreaksOnceItIsBusy(Kernel real) {
            this.real = real;
        }

        @Override
        public int ioUringEnter(int fd, int submit, int minComplete, int flags, long argument, long argumentBytes) {
            int answer = answers.isEmpty() ? real.ioUringEnter(fd, submit, 0, 0, 0, 0) : -Errno.EBADF;
            answers.add(answer);
            if (answers.size() > 2) {
                failedTwice.complete(answer); // it has looked after the first, and has not left
            }
            return answer;
        }

        @Override
        public RingAvailability platform() {
            return real.platform();
        }

        @Override
        public int ioUringSetup(int entries, long params) {
            return real.ioUringSetup(entries, params);
        }

        @Override
        public int ioUringRegister(int fd, int opcode, long argument, int count) {
            return real.ioUringRegister(fd, opcode, argument, count);
        }

        @Override
        public int ioUringDisabled() {
            return real.ioUringDisabled();
        }

        @Override
        public long map(int fd, long length, long offset) {
            return real.map(fd, length, offset);
        }

        @Override
        public int unmap(long address, long length) {
            return real.unmap(address, length);
        }

        @Override
        public int poll(long pollfd, int timeoutMillis) {
            return real.poll(pollfd, timeoutMillis);
        }

        @Override
        public int eventfd() {
            return real.eventfd();
        }

        @Override
        public int eventfdSignal(int eventfd) {
            return real.eventfdSignal(eventfd);
        }

        @Override
        public int close(int fd) {
            return real.close(fd);
        }
    }

    @Test
    void required_201_aRingThatBreaksUnderAReadIsNotLeftBeforeTheReadHasEnded() throws IOException {
        BreaksOnceItIsBusy breaking = new BreaksOnceItIsBusy(kernel);
        staging = new BlockingBytes(breaking).of(slab);
        readAll(file);
        ByteBuffer whole = slab.buffer(0, BYTES);
        for (int i = 0; i < BYTES; i++) {
            whole.put(i, (byte) 0);
        }
        assertThat(staging.read(file, 0, slab.hostAddress(), BYTES)).isEqualTo(BYTES);
        assertBuffer();
        assertThat(breaking.answers).as("taken").first().isEqualTo(1);
        readAll(file);
    }

    @Test
    void required_201_aBrokenRingIsWaitedForWhileItsReadIsInFlight() throws Exception {
        BreaksOnceItIsBusy breaking = new BreaksOnceItIsBusy(kernel);
        LinuxFile counter = LinuxFile.adopt(Path.of("eventfd"), LinuxKernel.INSTANCE.eventfd());
        try (BufferRing ring = BufferRing.open(breaking, slab)) {
            CompletableFuture<Long> read = new CompletableFuture<>();
            Thread holder = new Thread(() -> {
                try {
                    read.complete(ring.read(counter, 0, slab.hostAddress(), Long.BYTES));
                } catch (RuntimeException | Error e) {
                    read.completeExceptionally(e);
                }
            });
            holder.start();
            CompletableFuture.anyOf(read, breaking.failedTwice).get(60, TimeUnit.SECONDS);
            assertThat(read).as("the kernel has it, and still writes").isNotDone();
            kernel.eventfdSignal(counter.fd());
            assertThat(read.get(60, TimeUnit.SECONDS)).isEqualTo(Long.BYTES);
            assertThat(slab.buffer(0, 8).order(ByteOrder.nativeOrder()).getLong())
                    .isEqualTo(1);
            holder.join();
        }
        counter.close();
    }
}
