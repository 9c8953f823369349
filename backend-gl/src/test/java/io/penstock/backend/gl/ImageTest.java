// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl;

import static io.penstock.backend.gl.GlFixture.get;
import static io.penstock.backend.gl.GlFixture.move;
import static io.penstock.backend.gl.GlFixture.random;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Backend;
import io.penstock.Completion;
import io.penstock.FileOption;
import io.penstock.ImageRegion;
import io.penstock.ImageRegion.Layout;
import io.penstock.ImageRegion.Texels;
import io.penstock.Options;
import io.penstock.PermanentStorageException;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.TransferPath;
import io.penstock.backend.gl.ffi.Gl;
import io.penstock.backend.gl.ffi.GlDrawing;
import io.penstock.backend.gl.ffi.GlTextures;
import io.penstock.backend.gl.options.GlPath;
import io.penstock.engine.spi.staging.StagingOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Textures are filled from files, through the ring of staging buffers. */
class ImageTest {

    private static final int GL_RGB8 = 0x8051;
    private static final int GL_RGBA8 = 0x8058;
    private static final int FILLED = 77;

    @TempDir
    Path folder;

    private GlFixture fixture;
    private Application application;

    @BeforeAll
    static void require() {
        GlSubject.require();
    }

    @BeforeEach
    void start() {
        fixture = new GlFixture(folder);
        application = new Application();
    }

    @AfterEach
    void nothingIsLeft() {
        fixture.close();
        application.close();
    }

    private Backend backend(Options options) {
        return fixture.keep(GlBackends.sharing(application.display(), application.context(), options));
    }

    private static Layout tight(int format, int texelBytes, Texels extent) {
        long row = (long) extent.x() * texelBytes;
        return new Layout(format, texelBytes, row, row * extent.y());
    }

    @ParameterizedTest
    @EnumSource(names = {"HOST", "STAGED"})
    void aTextureIsFilledFromTheRowsOfAFile(GlPath path) {
        Backend backend = backend(GlFixture.options(path));
        assertThat(backend.capabilities().images()).isTrue();
        Texels size = new Texels(65, 33, 1);
        byte[] rows = random(65 * 33 * 4, 1);
        int texture = application.texture(GL_RGBA8, size, FILLED);
        ImageRegion all = new ImageRegion(texture, 0, new Texels(0, 0, 0), size, tight(GL_RGBA8, 4, size));
        StorageFile file = fixture.open(backend, "rows", rows);
        Completion done = move(backend, Transfer.read(file.all(), all));
        assertThat(done.bytes()).isEqualTo(rows.length);
        assertThat(done.path()).isEqualTo(TransferPath.STAGED);
        assertThat(application.texels(texture, GlDrawing.GL_RGBA, rows.length)).isEqualTo(rows);
    }

    /** Pitches that GL can step over by itself, and such as it cannot. */
    @ParameterizedTest
    @CsvSource({"40, 280", "40, 290", "40, 240"})
    void aBoxIsFilledFromPitchedRowsAndSlicesAndNothingBesideIt(int rowPitch, int slicePitch) {
        Backend backend = backend(GlFixture.options(GlPath.STAGED));
        Texels size = new Texels(50, 9, 5);
        Texels origin = new Texels(7, 2, 1);
        Texels extent = new Texels(31, 6, 3);
        byte[] content = random(slicePitch * 3, 2);
        int texture = application.texture(GlDrawing.GL_R8, size, FILLED);
        ImageRegion box =
                new ImageRegion(texture, 0, origin, extent, new Layout(GlDrawing.GL_R8, 1, rowPitch, slicePitch));
        move(backend, Transfer.read(fixture.open(backend, "box", content).all(), box));

        byte[] expected = new byte[50 * 9 * 5];
        Arrays.fill(expected, (byte) FILLED);
        for (int z = 0; z < extent.z(); z++) {
            for (int y = 0; y < extent.y(); y++) {
                int to = ((z + origin.z()) * 9 + y + origin.y()) * 50 + origin.x();
                System.arraycopy(content, z * slicePitch + y * rowPitch, expected, to, extent.x());
            }
        }
        assertThat(application.texels(texture, GlDrawing.GL_RED, expected.length))
                .isEqualTo(expected);
    }

    @Test
    void rowsOfTexelsThatNoPitchIsAMultipleOfAreFilledOneByOne() {
        Backend backend = backend(GlFixture.options(GlPath.STAGED));
        Texels size = new Texels(5, 4, 1);
        byte[] content = random(23 * 4, 3);
        int texture = application.texture(GL_RGBA8, size, FILLED);
        ImageRegion all = new ImageRegion(texture, 0, new Texels(0, 0, 0), size, new Layout(GL_RGBA8, 4, 23, 23 * 4));
        move(backend, Transfer.read(fixture.open(backend, "odd", content).all(), all));
        byte[] expected = new byte[5 * 4 * 4];
        for (int y = 0; y < 4; y++) {
            System.arraycopy(content, y * 23, expected, y * 20, 20);
        }
        assertThat(application.texels(texture, GlDrawing.GL_RGBA, expected.length))
                .isEqualTo(expected);
    }

    @Test
    void anImageLargerThanAStagingBufferIsCopiedInSlicesAndRows() {
        Backend backend = backend(GlFixture.options(GlPath.STAGED).with(StagingOptions.BUFFER_BYTES, 64L << 10));
        Texels size = new Texels(200, 500, 9); // slices of 100,000 bytes
        byte[] content = random(200 * 500 * 9, 4);
        int texture = application.texture(GlDrawing.GL_R8, size, FILLED);
        ImageRegion all = new ImageRegion(texture, 0, new Texels(0, 0, 0), size, tight(GlDrawing.GL_R8, 1, size));
        move(backend, Transfer.read(fixture.open(backend, "large", content).all(), all));
        assertThat(application.texels(texture, GlDrawing.GL_RED, content.length))
                .isEqualTo(content);
    }

    @Test
    void rowsThatAreLongerThanAStagingBufferAreCutBetweenTexels() {
        Backend backend = backend(GlFixture.options(GlPath.STAGED).with(StagingOptions.BUFFER_BYTES, 4096L));
        Texels size = new Texels(1501, 3, 1);
        byte[] content = random(1501 * 3 * 3, 7);
        int texture = application.texture(GL_RGB8, size, FILLED);
        ImageRegion all = new ImageRegion(texture, 0, new Texels(0, 0, 0), size, tight(GL_RGB8, 3, size));
        move(backend, Transfer.read(fixture.open(backend, "long", content).all(), all));
        assertThat(application.texels(texture, GlTextures.GL_RGB, content.length))
                .isEqualTo(content);
    }

    @Test
    void bytesBetweenBlocksOfAFileThatIsReadPastTheCacheArriveToo() throws IOException {
        Backend backend = backend(GlFixture.options(GlPath.STAGED));
        Path onDisk = Files.createTempFile(Files.createDirectories(Path.of("target")), "image", null);
        byte[] content = random(300_000, 5);
        Files.write(onDisk, content);
        Texels size = new Texels(300, 250, 3);
        int texture = application.texture(GlDrawing.GL_R8, size, FILLED);
        ImageRegion all = new ImageRegion(texture, 0, new Texels(0, 0, 0), size, tight(GlDrawing.GL_R8, 1, size));
        try (StorageFile file = get(backend.openFile(onDisk, FileOption.READ, FileOption.DIRECT))) {
            move(backend, Transfer.read(file.region(777, 225_000), all));
        } finally {
            Files.delete(onDisk);
        }
        assertThat(application.texels(texture, GlDrawing.GL_RED, 225_000))
                .isEqualTo(Arrays.copyOfRange(content, 777, 225_777));
    }

    @Test
    void required_103_whereTheFileEndsTheRestIsLeftAsItWas() {
        Backend backend = backend(GlFixture.options(GlPath.STAGED));
        Texels size = new Texels(10, 10, 1);
        byte[] content = random(34, 6);
        int texture = application.texture(GlDrawing.GL_R8, size, FILLED);
        ImageRegion all = new ImageRegion(texture, 0, new Texels(0, 0, 0), size, tight(GlDrawing.GL_R8, 1, size));
        StorageFile file = fixture.open(backend, "short", content);
        assertThat(move(backend, Transfer.read(file.region(0, 100), all)).bytes())
                .isEqualTo(34);
        byte[] expected = new byte[100];
        Arrays.fill(expected, (byte) FILLED);
        System.arraycopy(content, 0, expected, 0, 34);
        assertThat(application.texels(texture, GlDrawing.GL_RED, 100)).isEqualTo(expected);
    }

    @Test
    void aDeletedTextureFailsTheTransfer() {
        Backend backend = backend(GlFixture.options(GlPath.STAGED));
        Texels size = new Texels(16, 16, 1);
        int texture = application.texture(GlDrawing.GL_R8, size, FILLED);
        application.deleteTexture(texture);
        ImageRegion all = new ImageRegion(texture, 0, new Texels(0, 0, 0), size, tight(GlDrawing.GL_R8, 1, size));
        StorageFile file = fixture.open(backend, "gone", new byte[256]);
        assertThatThrownBy(() -> move(backend, Transfer.read(file.all(), all)))
                .isInstanceOf(PermanentStorageException.class)
                .hasMessageContaining("glTextureSubImage -> GL_INVALID_");
    }

    @Test
    void aBoxBeyondTheTextureFailsTheTransfer() {
        Backend backend = backend(GlFixture.options(GlPath.STAGED));
        Texels size = new Texels(16, 16, 1);
        int texture = application.texture(GlDrawing.GL_R8, size, FILLED);
        ImageRegion beyond = new ImageRegion(texture, 0, new Texels(1, 0, 0), size, tight(GlDrawing.GL_R8, 1, size));
        StorageFile file = fixture.open(backend, "beyond", new byte[256]);
        assertThatThrownBy(() -> move(backend, Transfer.read(file.all(), beyond)))
                .isInstanceOf(PermanentStorageException.class)
                .hasMessageContaining("glTextureSubImage -> GL_INVALID_VALUE");
    }

    /** GL's calls for two dimensions take neither slice nor depth. */
    @ParameterizedTest
    @CsvSource({"0, 2", "1, 1"})
    void aBoxOfMoreDimensionsThanTheTextureFailsTheTransfer(int slice, int slices) {
        Backend backend = backend(GlFixture.options(GlPath.STAGED));
        Texels size = new Texels(16, 16, 1);
        int texture = application.texture(GlDrawing.GL_R8, size, FILLED);
        Texels extent = new Texels(16, 16, slices);
        ImageRegion beyond =
                new ImageRegion(texture, 0, new Texels(0, 0, slice), extent, tight(GlDrawing.GL_R8, 1, extent));
        StorageFile file = fixture.open(backend, "deep", random(256 * slices, 8));
        assertThatThrownBy(() -> move(backend, Transfer.read(file.all(), beyond)))
                .isInstanceOf(PermanentStorageException.class)
                .hasMessageContaining("glTextureSubImage -> GL_INVALID_");
        byte[] unchanged = new byte[256];
        Arrays.fill(unchanged, (byte) FILLED);
        assertThat(application.texels(texture, GlDrawing.GL_RED, 256)).isEqualTo(unchanged);
    }

    @Test
    void aHandleThatIsNoNameOfGlIsTheCallersError() {
        Backend backend = backend(GlFixture.options(GlPath.STAGED));
        Texels size = new Texels(16, 16, 1);
        int texture = application.texture(GlDrawing.GL_R8, size, FILLED);
        long handle = texture + (1L << Integer.SIZE);
        ImageRegion wide = new ImageRegion(handle, 0, new Texels(0, 0, 0), size, tight(GlDrawing.GL_R8, 1, size));
        StorageFile file = fixture.open(backend, "wide", new byte[256]);
        assertThatThrownBy(() -> move(backend, Transfer.read(file.all(), wide)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(handle + " is not the name of a GL texture");
    }

    /** Textures of 32,768 texels a row exist. */
    @Test
    void rowsMayHaveHalfAMebibyteEach() {
        Backend backend = backend(GlFixture.options(GlPath.STAGED));
        Texels size = new Texels(16, 2, 1);
        int rowPitch = 32768 * 16;
        byte[] content = random(2 * rowPitch, 10);
        int texture = application.texture(GlDrawing.GL_R8, size, FILLED);
        ImageRegion all = new ImageRegion(
                texture, 0, new Texels(0, 0, 0), size, new Layout(GlDrawing.GL_R8, 1, rowPitch, 2L * rowPitch));
        move(backend, Transfer.read(fixture.open(backend, "rows", content).all(), all));
        byte[] expected = Arrays.copyOf(content, 32);
        System.arraycopy(content, rowPitch, expected, 16, 16);
        assertThat(application.texels(texture, GlDrawing.GL_RED, 32)).isEqualTo(expected);
    }

    /** GL counts the rows from one slice to the next with 31 bits. */
    @Test
    void slicesMayBeFarApart() {
        Backend backend = backend(GlFixture.options(GlPath.STAGED));
        Texels size = new Texels(1, 16, 2);
        byte[] content = random(16, 11);
        int texture = application.texture(GlDrawing.GL_R8, size, FILLED);
        ImageRegion all =
                new ImageRegion(texture, 0, new Texels(0, 0, 0), size, new Layout(GlDrawing.GL_R8, 1, 1, 1L << 31));
        StorageFile file = fixture.open(backend, "first-slice", content);
        assertThat(move(backend, Transfer.read(file.region(0, all.length()), all))
                        .bytes())
                .isEqualTo(16);
        byte[] expected = Arrays.copyOf(content, 32);
        Arrays.fill(expected, 16, 32, (byte) FILLED);
        assertThat(application.texels(texture, GlDrawing.GL_RED, 32)).isEqualTo(expected);
    }

    @Test
    void required_402_anInvalidLayoutIsTheCallersError() {
        Backend backend = backend(GlFixture.options(GlPath.STAGED));
        Texels size = new Texels(16, 16, 1);
        StorageFile file = fixture.keep(
                get(backend.openFile(fixture.file("wrong", new byte[1024]), FileOption.READ, FileOption.WRITE)));
        ImageRegion unsized = new ImageRegion(1, 0, new Texels(0, 0, 0), size, tight(GlDrawing.GL_RGBA, 4, size));
        assertThatThrownBy(() -> move(backend, Transfer.read(file.all(), unsized)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("0x1908 is not a supported sized internal format");
        ImageRegion narrow = new ImageRegion(1, 0, new Texels(0, 0, 0), size, tight(GlDrawing.GL_R8, 4, size));
        assertThatThrownBy(() -> move(backend, Transfer.read(file.all(), narrow)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("must have 1 bytes, had 4");
        ImageRegion right = new ImageRegion(1, 0, new Texels(0, 0, 0), size, tight(GL_RGBA8, 4, size));
        assertThatThrownBy(() -> move(backend, Transfer.write(right, file.all())))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("images can be read into");
    }

    @Test
    void theApplicationsContextKeepsItsPixelState() {
        Texels size = new Texels(31, 7, 1);
        byte[] rows = random(31 * 7, 9);
        int texture = application.texture(GlDrawing.GL_R8, size, FILLED);
        Path path = fixture.file("pumped", rows);
        application.run(() -> {
            GlDrawing.glPixelStorei(GlTextures.GL_UNPACK_ALIGNMENT, 8);
            GlDrawing.glPixelStorei(GlTextures.GL_UNPACK_ROW_LENGTH, 40);
            try (GlPump pump = GlPump.open(GlFixture.options(GlPath.STAGED))) {
                ImageRegion all =
                        new ImageRegion(texture, 0, new Texels(0, 0, 0), size, tight(GlDrawing.GL_R8, 1, size));
                Backend backend = pump.backend();
                pump.runUntil(backend.withFile(
                        path, FileOption.READ, file -> backend.submit(Transfer.read(file.all(), all))));
            }
            int[] value = new int[1];
            Gl.glGetIntegerv(GlTextures.GL_UNPACK_ALIGNMENT, value);
            assertThat(value[0]).isEqualTo(8);
            Gl.glGetIntegerv(GlTextures.GL_UNPACK_ROW_LENGTH, value);
            assertThat(value[0]).isEqualTo(40);
            Gl.glGetIntegerv(GlTextures.GL_PIXEL_UNPACK_BUFFER_BINDING, value);
            assertThat(value[0]).isZero();
        });
        assertThat(application.texels(texture, GlDrawing.GL_RED, rows.length)).isEqualTo(rows);
    }
}
