// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl;

import static io.penstock.backend.gl.GlFixture.content;
import static io.penstock.backend.gl.GlFixture.get;
import static io.penstock.backend.gl.GlFixture.move;
import static io.penstock.backend.gl.GlFixture.random;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Backend;
import io.penstock.BackendUnavailableException;
import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.Evidence;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.PermanentStorageException;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.TransferPath;
import io.penstock.backend.gl.fakes.FreshSsg;
import io.penstock.backend.gl.fakes.SsgFake;
import io.penstock.backend.gl.ffi.Gl;
import io.penstock.backend.gl.options.GlOptions;
import io.penstock.engine.testing.FakeControl;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What becomes of transfers by AMD's extension: which calls, and what lands where. */
@ExtendWith(FreshSsg.class)
class SsgPathTest {

    private static final int BLOCK = 512;
    private static final int SEGMENT = 256 << 10;
    private static final String READ = "glReadFileAMD";
    private static final String WRITE = "glWriteFileAMD";

    @TempDir
    Path folder;

    private final FakeControl control = SsgFake.control();
    private GlFixture fixture;

    @BeforeEach
    void start() {
        fixture = new GlFixture(folder);
    }

    @AfterEach
    void nothingIsLeft() {
        fixture.close();
    }

    private Backend open(Options options) {
        return fixture.keep(SsgSubject.opened(options));
    }

    private StorageFile writable(Backend backend, String name, byte[] content) {
        return fixture.keep(get(backend.openFile(fixture.file(name, content), FileOption.READ, FileOption.WRITE)));
    }

    private DeviceBuffer filled(Backend backend, byte[] content) {
        DeviceBuffer buffer = fixture.buffer(backend, content.length);
        get(buffer.upload(0, ByteBuffer.wrap(content)));
        return buffer;
    }

    private static CompletableFuture<Completion> started(Backend backend, Transfer transfer) {
        return backend.submit(transfer).toFuture().orTimeout(20, TimeUnit.SECONDS);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 511, 512, 513, 4096, 65_537, 300_001, 3_000_000})
    void everySizeIsReadToTheDeviceAndBackDirectlyAndThroughTheRing(int size) throws IOException {
        byte[] bytes = random(size, size);
        for (Options options : new Options[] {SsgSubject.said(), SsgSubject.ring()}) {
            Backend backend = open(options);
            DeviceBuffer buffer = fixture.buffer(backend, size);
            Completion read = move(
                    backend, Transfer.read(fixture.open(backend, "whole", bytes).all(), buffer.all()));
            assertThat(read.bytes()).isEqualTo(size);
            assertThat(read.path()).isEqualTo(TransferPath.DIRECT);
            assertThat(content(buffer)).isEqualTo(bytes);
            StorageFile copy = writable(backend, "copy", new byte[0]);
            assertThat(move(backend, Transfer.write(buffer.all(), copy.region(0, size)))
                            .bytes())
                    .isEqualTo(size);
            assertThat(Files.readAllBytes(folder.resolve("copy"))).isEqualTo(bytes);
        }
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void aFileWhoseNameIsNoTextInThisLocaleIsReadDirectly() throws Exception {
        assertThat(new ProcessBuilder("sh", "-c", "printf 1234 >\"$0/$(printf '\\344')\"", folder.toString())
                        .start()
                        .waitFor())
                .isZero();
        Backend backend = open(SsgSubject.said());
        DeviceBuffer buffer = fixture.buffer(backend, 4);
        try (Stream<Path> found = Files.list(folder)) {
            StorageFile file =
                    fixture.keep(get(backend.openFile(found.findFirst().orElseThrow())));
            Completion read = move(backend, Transfer.read(file.all(), buffer.all()));
            assertThat(read.path()).isEqualTo(TransferPath.DIRECT);
            assertThat(content(buffer)).asString(StandardCharsets.US_ASCII).isEqualTo("1234");
        }
    }

    @Test
    void theEndOfAFileIsReadAsAWholeBlockInsideTheMemoryOfTheBuffer() {
        byte[] bytes = random(3 * BLOCK + 100, 1);
        Backend backend = open(SsgSubject.said());
        DeviceBuffer buffer = fixture.buffer(backend, bytes.length);
        move(backend, Transfer.read(fixture.open(backend, "end", bytes).all(), buffer.all()));
        assertThat(control.calls(READ)).isEqualTo(1);
        assertThat(content(buffer)).isEqualTo(bytes);
    }

    @Test
    void otherEdgesGoByStagingBuffersAndTheRestByWholeBlocks() {
        byte[] bytes = random(10 * BLOCK, 2);
        Backend backend = open(SsgSubject.said());
        DeviceBuffer buffer = fixture.buffer(backend, bytes.length);
        StorageFile file = fixture.open(backend, "edges", bytes);
        move(backend, Transfer.read(file.region(100, 8 * BLOCK), buffer.region(100, 8 * BLOCK)));
        assertThat(control.calls(READ)).as("head, body, tail").isEqualTo(3);
        byte[] expected = new byte[bytes.length];
        System.arraycopy(bytes, 100, expected, 100, 8 * BLOCK);
        assertThat(Arrays.copyOfRange(content(buffer), 100, 100 + 8 * BLOCK))
                .isEqualTo(Arrays.copyOfRange(expected, 100, 100 + 8 * BLOCK));
    }

    @Test
    void throughTheRingAnyByteOfTheBufferIsReachedByOneCopyOnTheDevice() {
        byte[] bytes = random(4 * BLOCK, 4);
        Backend backend = open(SsgSubject.ring());
        DeviceBuffer buffer = fixture.buffer(backend, 8 * BLOCK);
        StorageFile file = fixture.open(backend, "shifted", bytes);
        move(backend, Transfer.read(file.all(), buffer.region(7, bytes.length)));
        assertThat(control.calls(READ)).isEqualTo(1);
        assertThat(Arrays.copyOfRange(content(buffer), 7, 7 + bytes.length)).isEqualTo(bytes);
    }

    @ParameterizedTest
    @CsvSource({"0", "1", "4"})
    void transfersThatShareASyncEndTogetherAndNotBefore(int sync) {
        control.set("sync", sync);
        control.hold(READ);
        Backend backend = open(SsgSubject.said());
        byte[] bytes = random(4 * SEGMENT, 3);
        DeviceBuffer buffer = fixture.buffer(backend, bytes.length);
        StorageFile file = fixture.open(backend, "group", bytes);
        CompletableFuture<Completion> read = started(backend, Transfer.read(file.all(), buffer.all()));
        assertThat(control.awaitHeld(READ, 4)).isEqualTo(4);
        fixture.letOthersAllocate(backend);
        assertThat(read).as("while the disk reads").isNotDone();
        control.release(READ);
        assertThat(read.join().bytes()).isEqualTo(bytes.length);
        assertThat(content(buffer)).isEqualTo(bytes);
    }

    @Test
    void aDriverThatIgnoresSyncsIsNotWaitedFor() {
        control.set("sync", 2);
        Backend backend = open(SsgSubject.said());
        byte[] bytes = random(4 * SEGMENT, 3);
        DeviceBuffer buffer = fixture.buffer(backend, bytes.length);
        move(backend, Transfer.read(fixture.open(backend, "ignored", bytes).all(), buffer.all()));
        assertThat(content(buffer)).isEqualTo(bytes);
        assertThat(control.live("syncs")).isZero();
    }

    /** A call with another buffer would have been refused its sync, and repeated: chapters 6.4 and 7 of the manual. */
    @ParameterizedTest
    @ValueSource(
            ints = {
                0,
                Gl.GL_MAP_READ_BIT | Gl.GL_MAP_WRITE_BIT,
                Gl.GL_MAP_READ_BIT | Gl.GL_MAP_PERSISTENT_BIT,
                Gl.GL_MAP_WRITE_BIT | Gl.GL_MAP_PERSISTENT_BIT,
                Gl.GL_MAP_READ_BIT | Gl.GL_MAP_WRITE_BIT | Gl.GL_MAP_PERSISTENT_BIT | Gl.GL_CLIENT_STORAGE_BIT
            })
    void theDriverOnlyGetsPersistentBuffersWithoutClientStorage(int flags) {
        Application application = fixture.keep(new Application());
        Backend backend = fixture.keep(SsgSubject.sharing(application, SsgSubject.said()));
        byte[] bytes = random(4 * BLOCK, 7);
        int name = application.buffer(bytes.length, flags);
        DeviceBuffer wrapped = fixture.keep(backend.wrap(name, bytes.length));
        Completion done = move(
                backend, Transfer.read(fixture.open(backend, "flags", bytes).all(), wrapped.all()));
        assertThat(done.bytes()).isEqualTo(bytes.length);
        assertThat(control.calls(READ)).isOne();
        assertThat(application.content(0, name, bytes.length)).isEqualTo(bytes);
    }

    @Test
    void whatTheBackendAllocatesIsPersistentWithoutClientStorage() {
        control.set("visible_bytes", 64 * SEGMENT); // more than there is need of, so that it is counted
        Backend backend = open(SsgSubject.said());
        byte[] bytes = random(4 * BLOCK, 8);
        long others = control.live("visible_bytes");
        DeviceBuffer buffer = fixture.buffer(backend, bytes.length);
        assertThat(control.live("visible_bytes") - others).isGreaterThanOrEqualTo(bytes.length);
        move(backend, Transfer.read(fixture.open(backend, "own", bytes).all(), buffer.all()));
        assertThat(control.calls(READ))
                .as("none was refused its sync, and repeated")
                .isOne();
        assertThat(content(buffer)).isEqualTo(bytes);
    }

    @Test
    void buffersThatDoNotFitIntoVisibleMemoryUseTheRing() {
        control.set("visible_bytes", 4 * SEGMENT);
        Backend backend = open(SsgSubject.said().with(GlOptions.SSG_RING_BYTES, (long) SEGMENT));
        byte[] bytes = random(8 * SEGMENT, 5);
        DeviceBuffer large = fixture.buffer(backend, bytes.length);
        Completion done = move(
                backend, Transfer.read(fixture.open(backend, "large", bytes).all(), large.all()));
        assertThat(done.path()).isEqualTo(TransferPath.DIRECT);
        assertThat(done.reason()).contains("through 256 KiB of visible memory");
        assertThat(content(large)).isEqualTo(bytes);
        assertThat(control.live("visible_bytes")).isLessThanOrEqualTo(4 * SEGMENT);
    }

    @Test
    void aCardWithoutVisibleMemoryIsRefusedWithTheReason() {
        control.set("visible_bytes", 4096);
        assertThatThrownBy(() -> open(SsgSubject.said()))
                .isInstanceOf(BackendUnavailableException.class)
                .hasMessageContaining("no local visible memory left");
    }

    @ParameterizedTest
    @ValueSource(strings = {"plain", "Müller & Söhne", "大きい", "\uD83D\uDCBE 4096"})
    void namesMayHaveAnyCharacters(String name) {
        byte[] bytes = random(BLOCK, 5);
        Backend backend = open(SsgSubject.said());
        DeviceBuffer buffer = fixture.buffer(backend, BLOCK);
        Completion done =
                move(backend, Transfer.read(fixture.open(backend, name, bytes).all(), buffer.all()));
        assertThat(done.path()).isEqualTo(TransferPath.DIRECT);
        assertThat(content(buffer)).isEqualTo(bytes);
    }

    @Test
    void aCompletionReportsWhatIsComputed() {
        Backend backend = open(SsgSubject.said());
        StorageFile file = fixture.open(backend, "said", new byte[100]);
        Completion done = move(
                backend,
                Transfer.read(
                        file.region(0, 4096), fixture.buffer(backend, 4096).all()));
        assertThat(done.bytes()).as("up to the end of the file").isEqualTo(100);
        assertThat(done.evidence()).isEqualTo(Evidence.INFERRED);
        assertThat(done.reason()).contains("counts are computed");
    }

    @Test
    void bytesWrittenBeyondTheEndAreReadThoughTheDriverKeepsTheOldSize() {
        control.set("growth_seen", 0);
        byte[] bytes = random(5000, 6);
        Backend backend = open(SsgSubject.said());
        StorageFile file = writable(backend, "grows", new byte[10]);
        move(backend, Transfer.write(filled(backend, bytes).all(), file.region(2000, 5000)));
        assertThat(file.size()).isEqualTo(7000);
        DeviceBuffer to = fixture.buffer(backend, 5000);
        assertThat(move(backend, Transfer.read(file.region(2000, 5000), to.all()))
                        .bytes())
                .isEqualTo(5000);
        assertThat(content(to)).isEqualTo(bytes);
    }

    @Test
    void aFileThatWasCutIsReadUpToItsEndThoughTheDriverKeepsToTheLengthAtOpening() throws IOException {
        control.set("growth_seen", 0);
        control.set("sync", 2); // calls wait, and so tell of what failed
        byte[] bytes = random(3 * BLOCK, 9);
        Backend backend = open(SsgSubject.said());
        StorageFile file = writable(backend, "cut", bytes);
        DeviceBuffer to = fixture.buffer(backend, 3 * BLOCK);
        file.truncate(BLOCK + 10).block(GlFixture.LONG);
        Completion done = move(backend, Transfer.read(file.region(BLOCK, 2 * BLOCK), to.region(0, 2 * BLOCK)));
        assertThat(done.bytes()).isEqualTo(10);
        assertThat(Arrays.copyOf(content(to), 10)).isEqualTo(Arrays.copyOfRange(bytes, BLOCK, BLOCK + 10));
    }

    /** The fake complains of a release while transfers run, and blocks. */
    @Test
    void required_201_aGlFileThatIsReplacedIsKeptUntilItsTransfersHaveEnded() throws IOException {
        control.set("growth_seen", 0);
        byte[] bytes = random(2 * BLOCK, 11);
        Backend backend = open(SsgSubject.said());
        StorageFile file = writable(backend, "replaced", Arrays.copyOf(bytes, BLOCK));
        DeviceBuffer to = fixture.buffer(backend, 2 * BLOCK);
        long files = control.live("files"); // one for each path
        control.hold(READ);
        try {
            CompletableFuture<Completion> first =
                    started(backend, Transfer.read(file.region(0, BLOCK), to.region(0, BLOCK)));
            assertThat(control.awaitHeld(READ, 1)).isEqualTo(1);
            Files.write(folder.resolve("replaced"), bytes);
            CompletableFuture<Completion> second =
                    started(backend, Transfer.read(file.region(BLOCK, BLOCK), to.region(BLOCK, BLOCK)));
            assertThat(control.awaitHeld(READ, 2)).isEqualTo(2);
            assertThat(control.live("files"))
                    .as("the one that is used, and its successor")
                    .isEqualTo(files + 1);
            control.release(READ);
            assertThat(first.join().bytes() + second.join().bytes()).isEqualTo(2 * BLOCK);
        } finally {
            control.release(READ);
        }
        assertThat(content(to)).isEqualTo(bytes);
        assertThat(control.awaitLive("files", files)).isEqualTo(files);
        assertThat(SsgFake.complaint()).isEmpty();
    }

    /** GL files are released by the thread of the context, which close() has to wait for where it is ours. */
    @Test
    void required_601_closeReturnsWhenGlFilesAreReleased() {
        control.delay("glReleaseFileAMD", Duration.ofMillis(300));
        Backend backend = open(SsgSubject.said());
        writable(backend, "open", random(BLOCK, 1));
        assertThat(control.live("files")).isPositive();
        backend.close();
        assertThat(control.live("files"))
                .as("GL files when close() has returned")
                .isZero();
    }

    @Test
    void aFileThatAnotherHasTheNameOfIsNotOpenedAnew() throws IOException {
        control.set("growth_seen", 0);
        Backend backend = open(SsgSubject.said());
        StorageFile file = writable(backend, "renamed", new byte[100]);
        file.truncate(BLOCK).block(GlFixture.LONG);
        Files.delete(folder.resolve("renamed"));
        fixture.file("renamed", random(BLOCK, 10));
        DeviceBuffer buffer = fixture.buffer(backend, BLOCK);
        assertThatThrownBy(() -> move(backend, Transfer.read(file.all(), buffer.all())))
                .isInstanceOf(PermanentStorageException.class)
                .hasMessageContaining("has been replaced by another file");
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void required_206_aFileKeepsItsExactLengthWhetherOrNotTheDriverLengthensIt(int grows) throws IOException {
        control.set("grows", grows);
        byte[] bytes = random(1000, 7);
        byte[] before = random(700, 8);
        byte[] expected = Arrays.copyOf(before, 1300);
        System.arraycopy(bytes, 0, expected, 300, 1000);
        Backend backend = open(SsgSubject.said());
        StorageFile file = writable(backend, "exact", before);
        move(backend, Transfer.write(filled(backend, bytes).all(), file.region(300, 1000)));
        assertThat(Files.readAllBytes(folder.resolve("exact"))).isEqualTo(expected);
    }

    @ParameterizedTest
    @ValueSource(strings = {READ, WRITE})
    void required_201_aGlFileIsKeptUntilTheTransferHasEnded(String function) {
        Backend backend = open(SsgSubject.said());
        StorageFile file = writable(backend, "kept", random(BLOCK, 1));
        DeviceBuffer buffer = filled(backend, random(BLOCK, 2));
        control.hold(function);
        CompletableFuture<Completion> moving = started(
                backend,
                function.equals(READ)
                        ? Transfer.read(file.all(), buffer.all())
                        : Transfer.write(buffer.all(), file.all()));
        assertThat(control.awaitHeld(function, 1)).isEqualTo(1);
        file.close();
        buffer.close();
        assertThat(control.live("files")).as("closed while the disk is at work").isPositive();
        assertThat(moving).isNotDone();
        control.release(function);
        assertThat(moving.join().bytes()).isEqualTo(BLOCK);
        assertThat(control.awaitLive("files", 0)).isZero();
    }

    @Test
    void theApplicationsOwnContextCarriesItToo() {
        byte[] bytes = random(700_001, 11);
        Path path = fixture.file("pumped", bytes);
        Application application = new Application();
        application.run(() -> {
            try (GlPump pump = GlPump.open(SsgSubject.said())) {
                Backend backend = pump.backend();
                byte[] seen = new byte[bytes.length];
                Completion done = pump.runUntil(backend.withFile(
                        path,
                        FileOption.READ,
                        file -> backend.withBuffer(
                                bytes.length,
                                buffer -> backend.submit(Transfer.read(file.all(), buffer.all()))
                                        .flatMap(read -> buffer.download(0, ByteBuffer.wrap(seen))
                                                .thenReturn(read)))));
                assertThat(done).isNotNull();
                assertThat(done.path()).isEqualTo(TransferPath.DIRECT);
                assertThat(seen).isEqualTo(bytes);
            }
        });
        application.close();
    }
}
