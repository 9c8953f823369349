// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.penstock.Backends;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.backend.cufile.fakes.FreshFakes;
import io.penstock.backend.cufile.paths.ContextChoice;
import io.penstock.backend.cufile.paths.CuFileSettings;
import io.penstock.backend.cufile.report.CuFileLibrary;
import io.penstock.backend.gpu.context.GpuContext;
import io.penstock.backend.gpu.file.FileMode;
import io.penstock.backend.gpu.file.FileSession;
import io.penstock.backend.gpu.file.GpuFile;
import io.penstock.backend.gpu.paths.FileIoPath;
import io.penstock.backend.gpu.paths.QueueSizes;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The queries of a file for single transfers. */
@ExtendWith(FreshFakes.class)
class CuFileFileTest {

    private static final int BLOCK = 4096;
    private static final int BYTES = 100_000;

    private GpuContext context;
    private FileSession session;
    private Path path;
    private GpuFile file;

    @BeforeEach
    void open() throws IOException {
        Options options = CuFileFake.options(CufilePath.SYNC).resolve(Backends.options());
        assertThat(CuFileLibrary.find(options).whyNot(FileMode.SYNC)).isEmpty();
        context = ContextChoice.open(options);
        session = new FileSession(context, options, CuFileSettings.of(options), CuFileFake::nvme);
        path = Files.createTempFile(Files.createDirectories(Path.of("target", "cufile")), "file", "");
        try (FileChannel channel = FileChannel.open(path, StandardOpenOption.WRITE)) {
            channel.write(ByteBuffer.allocate(1), BYTES - 1); // a hole before it
        }
        FileIoPath ioPath = new FileIoPath.Compat(session, FileMode.SYNC, QueueSizes.of(context.options(), options));
        file = (GpuFile) ioPath.open(path, Set.of(FileOption.READ));
    }

    @AfterEach
    void close() throws IOException {
        file.close();
        session.close();
        context.leave();
        Files.delete(path);
        CuFileLeft.assertNothing();
    }

    @Test
    void required_206_aReadThatBeginsWithinABlockStaysWithinTheFile() throws IOException {
        assertThat(file.askedBytes(1, BYTES)).isEqualTo(BYTES - 1);
        assertThat(file.askedBytes(1, 10)).isEqualTo(10);
        assertThat(file.askedBytes(BYTES + 1, 10)).as("the read will say so").isEqualTo(10);
        assertThat(file.askedBytes(BLOCK, BYTES))
                .as("whole blocks are as they are")
                .isEqualTo(BYTES);
        try (FileChannel another = FileChannel.open(path, StandardOpenOption.WRITE)) {
            another.truncate(50_000);
        }
        assertThat(file.askedBytes(1, BYTES)).as("as it is now").isEqualTo(49_999);
    }

    @Test
    void holesEndWithTheFile() {
        assertThat(file.sparseBytes(0, 2 * BYTES)).isEqualTo(BYTES);
        assertThat(file.sparseBytes(BYTES - 1, BYTES))
                .as("the last byte is there")
                .isZero();
    }

    @Test
    void nothingIsAllocatedForATransfer() {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        pollOften(20_000); // compiled
        long before = threads.getCurrentThreadAllocatedBytes();
        pollOften(10_000);
        assertThat(threads.getCurrentThreadAllocatedBytes() - before).isLessThan(10_000);
    }

    private void pollOften(int times) {
        long sum = 0;
        for (int i = 0; i < times; i++) {
            sum += file.askedBytes(1, BYTES) + file.sparseBytes(0, BLOCK);
        }
        assertThat(sum).isEqualTo((long) times * (BYTES - 1 + BLOCK));
    }
}
