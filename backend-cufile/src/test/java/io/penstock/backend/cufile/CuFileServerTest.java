// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.CommonOptions;
import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.FileOption;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.backend.cufile.fakes.FreshFakes;
import io.penstock.backend.cufile.report.CuFileLibrary;
import io.penstock.backend.gpu.file.StorageKind;
import io.penstock.engine.kit.file.HostFile;
import io.penstock.engine.testing.BackendFixture;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Arrays;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Files on a server: to ask where their end or their holes are takes as long as the server does. */
@ExtendWith(FreshFakes.class)
class CuFileServerTest {

    private static final int BYTES = 1 << 20;
    private static final Duration LONG = Duration.ofSeconds(20);

    private final CountDownLatch asked = new CountDownLatch(1);
    private final CountDownLatch answer = new CountDownLatch(1);
    private volatile boolean hangs;
    private volatile boolean fails;

    private final CuFileLibrary.Storages server = new CuFileLibrary.Storages() {
        @Override
        public StorageKind of(Path file) throws IOException {
            return CuFileFake.nvme(file);
        }

        @Override
        public HostFile open(Path file, Set<FileOption> options) throws IOException {
            HostFile local = CuFileLibrary.Storages.super.open(file, options);
            return file.getFileName().toString().startsWith("served") ? served(local) : local;
        }
    };

    /** Returns the same file, of which nobody learns anything while its server hangs. */
    private HostFile served(HostFile file) {
        return (HostFile) Proxy.newProxyInstance(
                HostFile.class.getClassLoader(), new Class<?>[] {HostFile.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals("lane")) {
                        return "server";
                    }
                    if (method.getName().equals("fd") && hangs) {
                        asked.countDown();
                        assertThat(answer.await(30, TimeUnit.SECONDS)).isTrue();
                    }
                    if (method.getName().equals("fd") && fails) {
                        throw new IllegalStateException("the server is gone");
                    }
                    try {
                        return method.invoke(file, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    @ParameterizedTest
    @EnumSource(names = {"SYNC", "BATCH", "STREAM"})
    void aServerThatHangsHoldsUpNoOtherFile(CufilePath path) throws Exception {
        byte[] content = CuFileBench.bytes(4096);
        try (CuFileBench bench = CuFileBench.open(CuFileFake.options(path), server)) {
            StorageFile local = bench.file(content);
            StorageFile served = bench.open(sparse(bench.path("served", new byte[0])));
            byte[] before = new byte[BYTES];
            Arrays.fill(before, (byte) 9);
            DeviceBuffer buffer = bench.buffer(before);
            DeviceBuffer other = bench.buffer(4096);

            hangs = true;
            // from within a block, and beyond the end: both must be asked for
            CompletableFuture<Completion> read = bench.backend()
                    .submit(Transfer.read(served.region(1, BYTES), buffer.all()))
                    .toFuture();
            assertThat(asked.await(20, TimeUnit.SECONDS)).isTrue();
            for (int i = 0; i < 3; i++) {
                bench.move(Transfer.read(local.all(), other.all()));
            }
            assertThat(BackendFixture.content(other)).isEqualTo(content);
            assertThat(read).isNotDone();
            hangs = false;
            answer.countDown();

            assertThat(read.get(20, TimeUnit.SECONDS).bytes()).isEqualTo(BYTES - 1);
            byte[] expected = new byte[BYTES];
            expected[BYTES - 2] = 7;
            expected[BYTES - 1] = 9;
            assertThat(BackendFixture.content(buffer)).isEqualTo(expected);
        }
    }

    /** All requests have one tag here, and with it one task. */
    private CuFileBench oneAtATime(CufilePath path) throws IOException {
        return CuFileBench.open(CuFileFake.options(path).with(CommonOptions.QUEUE_DEPTH, 2), server);
    }

    private static Transfer withinABlock(CuFileBench bench, StorageFile served) {
        return Transfer.read(
                served.region(1, BYTES), bench.buffer(new byte[BYTES]).all());
    }

    @ParameterizedTest
    @EnumSource(names = {"SYNC", "BATCH", "STREAM"})
    void aServerThatIsGoneFailsNoOtherRequest(CufilePath path) throws Exception {
        byte[] content = CuFileBench.bytes(4096);
        try (CuFileBench bench = oneAtATime(path)) {
            StorageFile served = bench.open(sparse(bench.path("served", new byte[0])));
            fails = true;
            assertThat(bench.backend().submit(withinABlock(bench, served)).toFuture())
                    .failsWithin(LONG)
                    .withThrowableThat()
                    .withMessageContaining("the server is gone");
            assertOthersWork(bench, bench.writable(content), content);
        }
    }

    /** Staged, since the file may change: a read and a copy, which have the tags of what came before. */
    private static void assertOthersWork(CuFileBench bench, StorageFile writable, byte[] content) {
        DeviceBuffer buffer = bench.buffer(new byte[BYTES]);
        for (int i = 0; i < 4; i++) {
            assertThat(bench.backend()
                            .submit(Transfer.read(writable.region(1, 4095), buffer.region(0, 4095)))
                            .toFuture())
                    .succeedsWithin(LONG);
            assertThat(Arrays.copyOf(BackendFixture.content(buffer), 4095))
                    .isEqualTo(Arrays.copyOfRange(content, 1, 4096));
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"SYNC", "BATCH", "STREAM"})
    void aReadThatIsCancelledWhileItsServerHangsCancelsNoOtherRequest(CufilePath path) throws Exception {
        byte[] content = CuFileBench.bytes(4096);
        try (CuFileBench bench = oneAtATime(path)) {
            StorageFile served = bench.open(sparse(bench.path("served", new byte[0])));
            StorageFile local = bench.writable(content);
            Transfer read = withinABlock(bench, served);
            hangs = true;
            CompletableFuture<Completion> cancelled =
                    bench.backend().submit(read).toFuture();
            assertThat(asked.await(20, TimeUnit.SECONDS)).isTrue();
            cancelled.cancel(false);
            hangs = false;
            answer.countDown();
            assertOthersWork(bench, local, content);
        }
    }

    /** Makes it a hole with a byte behind it. */
    private static Path sparse(Path path) throws IOException {
        try (FileChannel channel = FileChannel.open(path, StandardOpenOption.WRITE)) {
            channel.write(ByteBuffer.wrap(new byte[] {7}), BYTES - 1);
        }
        return path;
    }
}
