// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Availability;
import io.penstock.Backends;
import io.penstock.cli.testing.CommandLineRun;
import io.penstock.renderer.dx11.TextureProjection;
import io.penstock.renderer.dx11.ffi.Method;
import io.penstock.renderer.volume.Phantom;
import io.penstock.renderer.volume.VoxelType;
import io.penstock.tck.Require;
import java.io.IOException;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** {@code render} on Windows, where there is Direct3D 11. */
class Dx11RenderTest {

    @TempDir
    Path folder;

    @BeforeAll
    static void whereThereIsDirect3d() {
        Availability dx11 = Backends.list().stream()
                .filter(listing -> listing.name().equals("dx11"))
                .findFirst()
                .orElseThrow()
                .availability();
        Require.backend("dx11", dx11);
    }

    @ParameterizedTest
    @CsvSource({"x, 8MiB", "y, 1MiB", "z, 1MiB", "shaded, 8MiB", "mip, 8MiB"})
    void theScanIsDrawnAsByHost(String view, String budget) throws IOException {
        assertSame("--view", view, "--budget", budget);
    }

    @ParameterizedTest
    @CsvSource({
        "UINT8, little, 1, 41, 33, 37, 8KiB",
        "INT8, little, 1, 15, 16, 1, 1KiB",
        "INT8, big, -1, 15, 16, 7, 1MiB",
        "INT16, big, -1, 20, 31, 60, 3KiB",
        "INT16, little, 1, 20, 31, 60, 1MiB",
        "UINT16, little, 1, 20, 31, 60, 1MiB",
        "UINT16, big, 1, 7, 300, 3, 1MiB",
        "FLOAT32, little, -1, 9, 13, 50, 5KiB"
    })
    void projectionsOfEveryKindOfVoxelAreThoseOfTheHost(
            VoxelType type, String order, int slope, int columns, int rows, int slices, String budget)
            throws IOException {
        ByteOrder bytes = order.equals("big") ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN;
        Phantom phantom = Phantom.ball(type, bytes, columns, rows, slices)
                .spacing(1, 1.5, 0.75)
                .slope(slope);
        Path volume = Files.write(folder.resolve("volume.nii"), phantom.bytes());
        for (String view : List.of("x", "y", "z")) {
            assertSame(volume, "--view", view, "--budget", budget);
        }
        assertThat(TextureProjection.takes(phantom.header())).isEqualTo(type != VoxelType.FLOAT32);
    }

    private void assertSame(Object... arguments) throws IOException {
        assertThat(drawn("dx11", arguments)).isEqualTo(drawn("host", arguments));
    }

    private byte[] drawn(String backend, Object... arguments) throws IOException {
        Path picture = folder.resolve(backend + ".png");
        List<Object> all = new ArrayList<>(List.of("render", "--backend", backend, "--out", picture));
        all.addAll(List.of(arguments));
        CommandLineRun run = CommandLineRun.of(all.toArray());
        assertThat(run.code()).as(run.err()).isZero();
        return Files.readAllBytes(picture);
    }

    /** Against what the headers of Windows say, as {@code vtables.c} of the backend prints it. */
    @Test
    void everyMethodThatDrawsIsWhereTheHeadersHaveIt() throws IOException, InterruptedException {
        Path program = Path.of("..", "..", "backend-dx11", "target", "wine", "vtables.exe");
        Process headers = new ProcessBuilder(program.toAbsolutePath().toString())
                .redirectErrorStream(true)
                .start();
        String said = new String(headers.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(headers.waitFor()).as(said).isZero();
        List<String> ours = Arrays.stream(Method.values()).map(Method::line).toList();
        assertThat(said.lines().map(String::strip)).containsAll(ours);
    }
}
