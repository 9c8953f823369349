// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11.ffi;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.tck.Require;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Our tables against what a C program reads out of the headers of Windows ({@code vtables.c}). */
class VtableTest {

    private static final Path PROGRAM = Path.of("target", "wine", "vtables.exe");

    @BeforeAll
    static void whereTheProgramIs() {
        boolean windows = System.getProperty("os.name").startsWith("Windows");
        Require.backend(
                "dx11",
                !windows
                        ? "tables of functions exist on Windows only"
                        : Files.exists(PROGRAM) ? null : "backend-dx11/wine/run compiles " + PROGRAM);
    }

    private static List<Vtable> tables() {
        return List.of(
                Com.UNKNOWN,
                D3d11.DEVICE,
                D3d11.DEVICE_5,
                D3d11.DEVICE_CHILD,
                D3d11.BUFFER,
                D3d11.TEXTURE_1D,
                D3d11.TEXTURE_2D,
                D3d11.TEXTURE_3D,
                TextureCalls.TABLE,
                D3d11.Query.TABLE,
                D3d11.CONTEXT,
                D3d11.CONTEXT_4,
                D3d11.FENCE,
                D3d11.MULTITHREAD,
                Dxgi.FACTORY_1,
                Dxgi.ADAPTER_1,
                Dxgi.DEVICE);
    }

    @Test
    void everyMethodIsWhereTheHeadersHaveIt() throws IOException, InterruptedException {
        Map<String, String> ours = new TreeMap<>();
        for (Vtable table : tables()) {
            ours.put(table.name() + " IID", HexFormat.of().formatHex(table.id()));
            table.slots().forEach((method, slot) -> ours.put(table.name() + " " + method, slot.toString()));
        }
        ours.put("DXGI_ADAPTER_DESC1 DedicatedVideoMemory", "272");
        ours.put("DXGI_ADAPTER_DESC1 Flags", "304");
        ours.put("DXGI_ADAPTER_DESC1 bytes", "312");
        assertThat(ofTheHeaders()).containsAllEntriesOf(ours);
    }

    private static Map<String, String> ofTheHeaders() throws IOException, InterruptedException {
        Process program = new ProcessBuilder(PROGRAM.toAbsolutePath().toString())
                .redirectErrorStream(true)
                .start();
        String said = new String(program.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(program.waitFor()).as(said).isZero();
        Map<String, String> places = new TreeMap<>();
        said.lines().map(line -> line.split(" ")).forEach(words -> places.put(words[0] + " " + words[1], words[2]));
        return places;
    }
}
