// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile;

import static io.penstock.backend.cufile.GpuFixture.await;
import static io.penstock.backend.cufile.GpuFixture.content;
import static io.penstock.backend.cufile.GpuFixture.get;
import static io.penstock.backend.cufile.GpuFixture.move;
import static io.penstock.backend.cufile.GpuFixture.random;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.DeviceBuffer;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.TransferPath;
import io.penstock.backend.cufile.fakes.Fakes;
import io.penstock.backend.cufile.fakes.FreshFakes;
import io.penstock.backend.cufile.paths.ContextChoice;
import io.penstock.backend.gpu.context.GpuContext;
import io.penstock.backend.gpu.device.GpuDevice;
import io.penstock.backend.gpu.mapped.MappedPath;
import io.penstock.backend.gpu.mapped.Registrations;
import io.penstock.backend.gpu.staged.StagedPath;
import io.penstock.engine.Engine;
import io.penstock.engine.spi.IoPath;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** Of itself the mapped way is for what is read again. */
@ExtendWith(FreshFakes.class)
class MappedReuseTest {

    private static final int SEGMENT = 1 << 20;
    private static final int BYTES = 3 * SEGMENT + 12345;

    @TempDir
    Path folder;

    private GpuFixture gpu;

    @BeforeEach
    void start() {
        gpu = new GpuFixture(folder);
    }

    @AfterEach
    void nothingLeaks() {
        gpu.close();
        for (String kind : List.of(
                "contexts", "streams", "events", "allocations", "host_registrations", "host_buffers", "pinned")) {
            await(() -> Fakes.cuda().live(kind) == 0);
        }
    }

    private Backend backend(long mostBytes) {
        Options options = GpuFixture.options(CufilePath.AUTO).resolve(Backends.options());
        GpuContext context = ContextChoice.open(options);
        Registrations.Sizes sizes = new Registrations.Sizes(ContextChoice.MAPPED, SEGMENT, mostBytes, 2);
        List<IoPath> ioPaths = List.of(
                new MappedPath(context, options, sizes, MappedPath.Takes.WORTHWHILE),
                new StagedPath(context, options, ""));
        GpuDevice driver = new GpuDevice(context, null, Set.of(TransferPath.MAPPED, TransferPath.STAGED), 0);
        return gpu.keep(Engine.open("cufile", driver, ioPaths, options));
    }

    private static void awaitRegistered(int segments) {
        await(() -> Fakes.cuda().live("host_registrations") == segments);
    }

    @Test
    void theFirstReadingPinsNothingTheSecondHasItRegisteredAndTheThirdIsMapped() {
        byte[] bytes = random(BYTES, 1);
        Backend backend = backend(1L << 30);
        StorageFile file = gpu.immutable(backend, gpu.file("data", bytes));
        DeviceBuffer target = gpu.buffer(backend, BYTES);
        Transfer read = Transfer.read(file.all(), target.all());
        long tried = GpuFixture.registrations();

        assertThat(move(backend, read).path()).isEqualTo(TransferPath.STAGED);
        assertThat(backend.explain(read).path()).as("asking is no reading").isEqualTo(TransferPath.STAGED);
        assertThat(backend.explain(read).path()).isEqualTo(TransferPath.STAGED);
        assertThat(GpuFixture.registrations()).isEqualTo(tried);

        Fakes.cuda().hold("cuMemHostRegister");
        assertThat(move(backend, read).path()).as("waits for no registration").isEqualTo(TransferPath.STAGED);
        Fakes.cuda().release("cuMemHostRegister");
        awaitRegistered(4);
        await(() -> backend.explain(read).path() == TransferPath.MAPPED);
        assertThat(move(backend, read).path()).isEqualTo(TransferPath.MAPPED);
        assertThat(content(target)).isEqualTo(bytes);
    }

    @Test
    void theDefaultOptionsChooseSo() {
        Backend backend = gpu.backend(CufilePath.AUTO);
        StorageFile file = gpu.immutable(backend, gpu.file("data", random(BYTES, 7)));
        DeviceBuffer target = gpu.buffer(backend, BYTES);
        Transfer read = Transfer.read(file.all(), target.all());
        assertThat(move(backend, read).path()).isEqualTo(TransferPath.STAGED);
        assertThat(move(backend, read).path()).isEqualTo(TransferPath.STAGED);
        await(() -> backend.explain(read).path() == TransferPath.MAPPED);
    }

    @Test
    void oneReadingInSegmentsIsOneReading() {
        Backend backend = backend(1L << 30);
        StorageFile file = gpu.immutable(backend, gpu.file("data", random(8 * SEGMENT, 2)));
        DeviceBuffer target = gpu.buffer(backend, 8 * SEGMENT);
        long tried = GpuFixture.registrations();
        int segment = SEGMENT + SEGMENT / 2;
        for (int at = 0; at + segment <= 8 * SEGMENT; at += segment) {
            assertThat(move(backend, Transfer.read(file.region(at, segment), target.region(at, segment)))
                            .path())
                    .isEqualTo(TransferPath.STAGED);
        }
        assertThat(GpuFixture.registrations()).isEqualTo(tried);
    }

    @Test
    void aPartThatIsReadAgainAndAgainIsMappedAndTheRestIsNot() {
        Backend backend = backend(1L << 30);
        StorageFile file = gpu.immutable(backend, gpu.file("data", random(4 * SEGMENT, 3)));
        DeviceBuffer target = gpu.buffer(backend, 4 * SEGMENT);
        Transfer part = Transfer.read(file.region(SEGMENT, SEGMENT), target.region(0, SEGMENT));
        move(backend, part);
        move(backend, part);
        awaitRegistered(1);
        await(() -> backend.explain(part).path() == TransferPath.MAPPED);
        assertThat(move(backend, Transfer.read(file.all(), target.all())).path())
                .isEqualTo(TransferPath.STAGED);
    }

    @Test
    void aFileThatIsLongerThanWhatMayBePinnedIsAlwaysStaged() {
        Backend backend = backend(2 * SEGMENT);
        StorageFile file = gpu.immutable(backend, gpu.file("data", random(4 * SEGMENT, 4)));
        DeviceBuffer target = gpu.buffer(backend, 4 * SEGMENT);
        long tried = GpuFixture.registrations();
        for (int round = 0; round < 4; round++) {
            assertThat(move(backend, Transfer.read(file.all(), target.all())).path())
                    .isEqualTo(TransferPath.STAGED);
        }
        assertThat(GpuFixture.registrations()).isEqualTo(tried);
    }

    @Test
    void shortReadsAndGathersAreStagedAndCountForNothing() {
        Backend backend = backend(1L << 30);
        StorageFile file = gpu.immutable(backend, gpu.file("data", random(SEGMENT, 5)));
        DeviceBuffer target = gpu.buffer(backend, SEGMENT);
        long tried = GpuFixture.registrations();
        for (int round = 0; round < 4; round++) {
            for (int at = 0; at < SEGMENT; at += SEGMENT / 2) {
                move(backend, Transfer.read(file.region(at, SEGMENT / 2), target.region(at, SEGMENT / 2)));
            }
            long[] blocks = new long[256];
            assertThat(move(backend, Transfer.gather(file, blocks, 4096, target.all()))
                            .path())
                    .isEqualTo(TransferPath.STAGED);
        }
        assertThat(GpuFixture.registrations()).isEqualTo(tried);
    }

    @Test
    void openingAChangedFileUnpinsItsOldContent() throws IOException {
        Backend backend = gpu.backend(CufilePath.MAPPED);
        Path path = gpu.file("data", random(SEGMENT, 6));
        DeviceBuffer target = gpu.buffer(backend, SEGMENT);
        try (StorageFile file = get(backend.openFile(path, FileOption.READ, FileOption.IMMUTABLE))) {
            move(backend, Transfer.read(file.all(), target.all()));
        }
        assertThat(Fakes.cuda().live("host_registrations")).isOne();
        Files.setLastModifiedTime(path, FileTime.fromMillis(1));
        gpu.immutable(backend, path);
        awaitRegistered(0);
    }
}
