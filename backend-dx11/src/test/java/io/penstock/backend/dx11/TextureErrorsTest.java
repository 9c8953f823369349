// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Backend;
import io.penstock.Completion;
import io.penstock.FileOption;
import io.penstock.ImageRegion;
import io.penstock.ImageRegion.Layout;
import io.penstock.ImageRegion.Texels;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.backend.dx11.ffi.Com;
import io.penstock.backend.dx11.ffi.D3d11;
import io.penstock.backend.dx11.memory.Dx11Image;
import io.penstock.backend.dx11.memory.TextureShape;
import io.penstock.backend.dx11.paths.Dx11Provider;
import io.penstock.engine.kit.LiveObjects;
import io.penstock.engine.testing.GatedSubject;
import io.penstock.engine.testing.HeldCommands;
import io.penstock.tck.Gate;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import reactor.core.publisher.Mono;

/** Textures that are not what a transfer takes them for, and such as go meanwhile. */
class TextureErrorsTest {

    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final Texels CORNER = new Texels(0, 0, 0);
    private static final Texels SIZE = new Texels(16, 16, 1);
    private static final Layout TIGHT = new Layout(Texture.R8_UNORM, 1, 16, 256);

    @TempDir
    Path folder;

    private long device;
    private Backend backend;
    private StorageFile file;

    @BeforeAll
    static void whereThereIsDirect3d() {
        Dx11s.require();
    }

    @BeforeEach
    void open() throws IOException {
        device = Dx11s.device();
        backend = GatedSubject.gated(() -> new Dx11Provider().open(Dx11s.resolved(Dx11s.on(device))));
        Path path = Files.write(folder.resolve("file"), new byte[1024]);
        file = backend.openFile(path, FileOption.READ, FileOption.WRITE).block(PATIENCE);
    }

    @AfterEach
    void everyReferenceIsGivenBack() {
        file.close();
        backend.close();
        assertThat(LiveObjects.count(Dx11Image.class)).isZero();
        assertThat(Com.Release(device)).as("references that are left").isZero();
    }

    private ThrowingCallable reading(ImageRegion region) {
        return () -> backend.submit(Transfer.read(file.region(0, region.length()), region))
                .block(PATIENCE);
    }

    private static ImageRegion all(long texture) {
        return new ImageRegion(texture, 0, CORNER, SIZE, TIGHT);
    }

    @Test
    void required_402_whatCannotLieSoInAFileIsTheCallersErrorAtOnce() {
        ImageRegion depth = new ImageRegion(1, 0, CORNER, SIZE, new Layout(40, 4, 64, 1024));
        ImageRegion wide = new ImageRegion(1, 0, CORNER, SIZE, new Layout(Texture.R8_UNORM, 2, 32, 512));
        assertThatThrownBy(() -> backend.submit(Transfer.read(file.region(0, 1024), depth)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("DXGI format 40 is not supported");
        assertThatThrownBy(() -> backend.submit(Transfer.read(file.region(0, 512), wide)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("texels of 2 bytes, but texels of DXGI format 61 have 1");
        assertThatThrownBy(() -> backend.submit(Transfer.write(all(1), file.region(0, 256))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("not written");
    }

    @ParameterizedTest
    @CsvSource({"TWO, 1, 0, 0", "TWO, 0, 1, 0", "TWO, 0, 0, 1", "THREE, 0, 0, 1"})
    void required_402_aBoxBeyondTheTextureIsTheCallersError(TextureShape.Kind kind, int x, int y, int z) {
        try (Texture texture = Texture.of(device, kind, SIZE, 1, Texture.R8_UNORM)) {
            assertThatThrownBy(reading(new ImageRegion(texture.handle(), 0, new Texels(x, y, z), SIZE, TIGHT)))
                    .isInstanceOf(IndexOutOfBoundsException.class)
                    .hasMessageContaining("x=16, y=16, z=1");
            assertThatThrownBy(reading(new ImageRegion(texture.handle(), 1, CORNER, SIZE, TIGHT)))
                    .isInstanceOf(IndexOutOfBoundsException.class)
                    .hasMessageContaining("has 1 levels, none of number 1");
            assertThat(texture.texels(0)).isEqualTo(texture.before(0));
        }
    }

    @Test
    void required_402_anOriginAtTheEndOfAllNumbersIsBeyondTheTexture() {
        try (Texture texture = Texture.of(device, TextureShape.Kind.TWO, SIZE, 1, Texture.R8_UNORM)) {
            Texels far = new Texels(Integer.MAX_VALUE, 0, 0);
            assertThatThrownBy(reading(new ImageRegion(texture.handle(), 0, far, SIZE, TIGHT)))
                    .isInstanceOf(IndexOutOfBoundsException.class);
        }
    }

    @Test
    void required_402_aTextureOfAnotherFormatOrUsageOrDeviceIsTheCallersError() {
        try (Texture texture = Texture.of(device, TextureShape.Kind.TWO, SIZE, 1, Texture.R8_UNORM)) {
            Layout signed = new Layout(63, 1, 16, 256);
            assertThatThrownBy(reading(new ImageRegion(texture.handle(), 0, CORNER, SIZE, signed)))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("is of DXGI format 61, not 63");
        }
        for (int usage : new int[] {D3d11.USAGE_DYNAMIC, D3d11.USAGE_STAGING}) {
            long other = Texture.create(device, TextureShape.Kind.TWO, SIZE, 1, Texture.R8_UNORM, usage);
            assertThatThrownBy(reading(all(other)))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining(usage == D3d11.USAGE_STAGING ? "of usage STAGING" : "of usage DYNAMIC");
            assertThat(Com.Release(other)).isZero();
        }
        long other = Dx11s.device();
        try (Texture foreign = Texture.of(other, TextureShape.Kind.TWO, SIZE, 1, Texture.R8_UNORM)) {
            assertThatThrownBy(reading(all(foreign.handle())))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("belongs to another device");
        }
        assertThat(Com.Release(other)).isZero();
    }

    @Test
    void required_402_whatIsNoTextureIsTheCallersError() {
        long buffer = Dx11s.buffer(device, 4096, D3d11.USAGE_DEFAULT);
        for (long handle : new long[] {0, buffer}) {
            assertThatThrownBy(reading(all(handle)))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("is not a Direct3D 11 texture");
        }
        assertThat(Com.Release(buffer)).isZero();
    }

    /** If the device did not hold the texture, the copy would go to freed memory. */
    @Test
    void required_201_aTextureIsHeldFromTheSubscriptionToTheNativeEnd() throws IOException {
        Texture texture = Texture.of(device, TextureShape.Kind.TWO, SIZE, 1, Texture.R8_UNORM);
        try (Gate gate = HeldCommands.in(folder);
                StorageFile slow =
                        backend.openFile(gate.path(), FileOption.READ).block(PATIENCE)) {
            Mono<Completion> read = backend.submit(Transfer.read(slow.region(0, 256), all(texture.handle())))
                    .cache();
            assertThat(LiveObjects.count(Dx11Image.class))
                    .as("held before the subscription")
                    .isZero();
            read.subscribe();
            assertThat(LiveObjects.count(Dx11Image.class)).isEqualTo(1);
            assertThat(Com.Release(texture.handle()))
                    .as("references that are left")
                    .isEqualTo(1);
            gate.letReadsEnd(256);
            assertThat(read.block(PATIENCE).bytes()).isEqualTo(256);
        }
    }
}
