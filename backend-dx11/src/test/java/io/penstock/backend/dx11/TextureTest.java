// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Backend;
import io.penstock.Completion;
import io.penstock.FileOption;
import io.penstock.ImageRegion;
import io.penstock.ImageRegion.Layout;
import io.penstock.ImageRegion.Texels;
import io.penstock.Options;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.TransferPath;
import io.penstock.backend.dx11.ffi.Com;
import io.penstock.backend.dx11.memory.Dx11Image;
import io.penstock.backend.dx11.memory.TextureShape;
import io.penstock.backend.dx11.paths.Dx11Provider;
import io.penstock.engine.kit.LiveObjects;
import io.penstock.engine.spi.staging.StagingOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Textures of the application's are filled from files, through the ring of staging buffers. */
class TextureTest {

    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final Texels CORNER = new Texels(0, 0, 0);

    @TempDir
    Path folder;

    private long device;
    private Backend backend;

    @BeforeAll
    static void whereThereIsDirect3d() {
        Dx11s.require();
    }

    @BeforeEach
    void device() {
        device = Dx11s.device();
        open(Options.none());
    }

    private void open(Options more) {
        if (backend != null) {
            backend.close();
        }
        backend =
                new Dx11Provider().open(Dx11s.resolved(more.with(Dx11Options.DEVICE, "0x" + Long.toHexString(device))));
    }

    @AfterEach
    void everyReferenceIsGivenBack() {
        backend.close();
        assertThat(LiveObjects.count(Dx11Image.class)).isZero();
        assertThat(Com.Release(device)).as("references that are left").isZero();
    }

    private static byte[] random(int bytes) {
        byte[] content = new byte[bytes];
        new Random(bytes).nextBytes(content);
        return content;
    }

    private static Layout tight(int format, Texels extent) {
        int texel = TextureShape.texelBytes(format);
        long row = (long) extent.x() * texel;
        return new Layout(format, texel, row, row * extent.y());
    }

    private static ImageRegion all(Texture texture) {
        return new ImageRegion(texture.handle(), 0, CORNER, texture.size(), tight(texture.format(), texture.size()));
    }

    /** Reads the region's bytes, from {@code offset} on, and fails where they are not there. */
    private Completion read(byte[] content, long offset, ImageRegion region, FileOption... options) throws IOException {
        Path path = Files.write(folder.resolve("file"), content);
        try (StorageFile file = backend.openFile(path, options).block(PATIENCE)) {
            return backend.submit(Transfer.read(file.region(offset, region.length()), region))
                    .block(PATIENCE);
        }
    }

    private void read(byte[] content, ImageRegion region) throws IOException {
        assertThat(read(content, 0, region, FileOption.READ).bytes()).isEqualTo(content.length);
    }

    @ParameterizedTest
    @EnumSource
    void aTextureIsFilledFromTheRowsOfAFile(TextureShape.Kind kind) throws IOException {
        assertThat(backend.capabilities().images()).isTrue();
        Texels size = new Texels(65, kind == TextureShape.Kind.ONE ? 1 : 33, 3);
        try (Texture texture = Texture.of(device, kind, size, 1, Texture.R8G8B8A8_UNORM)) {
            byte[] rows = random(65 * size.y() * 3 * 4);
            Completion done = read(rows, 0, all(texture), FileOption.READ);
            assertThat(done.bytes()).isEqualTo(rows.length);
            assertThat(done.path()).isEqualTo(TransferPath.STAGED);
            assertThat(texture.texels(0)).isEqualTo(rows);
        }
    }

    @ParameterizedTest
    @CsvSource({"TWO, 40, 280", "TWO, 40, 290", "THREE, 40, 280", "THREE, 40, 290", "THREE, 31, 186"})
    void aBoxIsFilledFromPitchedRowsAndSlicesAndNothingBesideIt(TextureShape.Kind kind, int rowPitch, int slicePitch)
            throws IOException {
        Texels size = new Texels(50, 9, 5);
        Texels origin = new Texels(7, 2, 1);
        Texels extent = new Texels(31, 6, 3);
        try (Texture texture = Texture.of(device, kind, size, 1, Texture.R8_UNORM)) {
            byte[] content = random(slicePitch * 3);
            read(
                    content,
                    new ImageRegion(
                            texture.handle(),
                            0,
                            origin,
                            extent,
                            new Layout(Texture.R8_UNORM, 1, rowPitch, slicePitch)));
            byte[] expected = texture.before(0);
            for (int z = 0; z < 3; z++) {
                for (int y = 0; y < 6; y++) {
                    int to = ((z + 1) * 9 + y + 2) * 50 + 7;
                    System.arraycopy(content, z * slicePitch + y * rowPitch, expected, to, 31);
                }
            }
            assertThat(texture.texels(0)).isEqualTo(expected);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"TWO", "THREE"})
    void aLevelIsFilledAndTheOthersAreLeft(TextureShape.Kind kind) throws IOException {
        Texels size = new Texels(16, 8, 4);
        Texels there = new Texels(8, 4, kind == TextureShape.Kind.THREE ? 2 : 4);
        try (Texture texture = Texture.of(device, kind, size, 2, Texture.R8_UNORM)) {
            byte[] content = random(8 * 4 * there.z());
            read(content, new ImageRegion(texture.handle(), 1, CORNER, there, tight(Texture.R8_UNORM, there)));
            assertThat(texture.texels(1)).isEqualTo(content);
            assertThat(texture.texels(0)).isEqualTo(texture.before(0));
        }
    }

    @Test
    void rowsOfTexelsThatThePitchIsNoMultipleOfAreFilled() throws IOException {
        Texels size = new Texels(5, 4, 1);
        try (Texture texture = Texture.of(device, TextureShape.Kind.TWO, size, 1, Texture.R8G8B8A8_UNORM)) {
            byte[] content = random(23 * 4);
            Layout odd = new Layout(Texture.R8G8B8A8_UNORM, 4, 23, 23 * 4);
            read(content, new ImageRegion(texture.handle(), 0, CORNER, size, odd));
            byte[] expected = new byte[5 * 4 * 4];
            for (int y = 0; y < 4; y++) {
                System.arraycopy(content, y * 23, expected, y * 20, 20);
            }
            assertThat(texture.texels(0)).isEqualTo(expected);
        }
    }

    @ParameterizedTest
    @CsvSource({"TWO, 65536", "THREE, 65536", "THREE, 4096"})
    void anImageLargerThanAStagingBufferIsCopiedInSlicesAndRows(TextureShape.Kind kind, long bufferBytes)
            throws IOException {
        open(Options.none().with(StagingOptions.BUFFER_BYTES, bufferBytes));
        Texels size = new Texels(200, 250, 9);
        try (Texture texture = Texture.of(device, kind, size, 1, Texture.R8_UNORM)) {
            byte[] content = random(200 * 250 * 9);
            read(content, all(texture));
            assertThat(texture.texels(0)).isEqualTo(content);
        }
    }

    @Test
    void rowsThatAreLongerThanAStagingBufferAreCutBetweenTexels() throws IOException {
        open(Options.none().with(StagingOptions.BUFFER_BYTES, 4096L));
        Texels size = new Texels(500, 3, 1);
        try (Texture texture = Texture.of(device, TextureShape.Kind.TWO, size, 1, Texture.R32G32B32_FLOAT)) {
            byte[] content = random(500 * 12 * 3);
            read(content, all(texture));
            assertThat(texture.texels(0)).isEqualTo(content);
        }
    }

    @Test
    void aRegionOfAFileMayBeginAnywhere() throws IOException {
        Texels size = new Texels(300, 250, 3);
        try (Texture texture = Texture.of(device, TextureShape.Kind.THREE, size, 1, Texture.R8_UNORM)) {
            byte[] content = random(300_000);
            Completion done = read(content, 777, all(texture), FileOption.READ, FileOption.WRITE);
            assertThat(done.bytes()).isEqualTo(225_000);
            assertThat(texture.texels(0)).isEqualTo(Arrays.copyOfRange(content, 777, 225_777));
        }
    }

    @Test
    void required_103_whereTheFileEndsTheRestIsLeftAsItWas() throws IOException {
        Texels size = new Texels(10, 10, 1);
        try (Texture texture = Texture.of(device, TextureShape.Kind.TWO, size, 1, Texture.R8_UNORM)) {
            byte[] content = random(34);
            assertThat(read(content, 0, all(texture), FileOption.READ).bytes()).isEqualTo(34);
            byte[] expected = texture.before(0);
            System.arraycopy(content, 0, expected, 0, 34);
            assertThat(texture.texels(0)).isEqualTo(expected);
        }
    }
}
