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
                        ? "tables of functions are those of Windows"
                        : Files.exists(PROGRAM) ? null : "backend-dx11/wine/run compiles " + PROGRAM);
    }

    private static List<Vtable> tables() {
        return List.of(
                Unknown.TABLE,
                D3d11Device.TABLE,
                D3d11Device5.TABLE,
                D3d11DeviceChild.TABLE,
                D3d11Buffer.TABLE,
                D3d11Texture.ONE,
                D3d11Texture.TWO,
                D3d11Texture.THREE,
                TextureCalls.TABLE,
                D3d11Query.TABLE,
                D3d11Context.TABLE,
                D3d11Context4.TABLE,
                D3d11Fence.TABLE,
                D3d11Multithread.TABLE,
                DxgiFactory1.TABLE,
                DxgiAdapter1.TABLE,
                DxgiDevice.TABLE);
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
