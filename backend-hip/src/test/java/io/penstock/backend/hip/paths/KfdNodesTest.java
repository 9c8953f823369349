// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.hip.paths;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the kernel shows of GPUs, as it writes it. */
class KfdNodesTest {

    @TempDir
    Path topology;

    private void node(int number, String properties, String bank) throws IOException {
        Path node = Files.createDirectories(topology.resolve(String.valueOf(number)));
        Files.writeString(node.resolve("properties"), properties);
        Path memory = Files.createDirectories(node.resolve("mem_banks/0"));
        Files.writeString(memory.resolve("properties"), bank);
    }

    @Test
    void gpusAreDescribedAndProcessorsAreNot() throws IOException {
        node(0, "cpu_cores_count 64\nsimd_count 0\n", "heap_type 0\nsize_in_bytes 135000000000\n");
        node(
                1,
                "simd_count 1216\nsimd_per_cu 4\ngfx_target_version 90402\nlocation_id 49920\ndomain 1\n",
                "heap_type 1\nsize_in_bytes 206141652992\n");
        node(
                2,
                "simd_count 192\nsimd_per_cu 2\ngfx_target_version 110000\nlocation_id 768\n",
                "heap_type 2\nsize_in_bytes 25753026560\n");
        assertThat(KfdNodes.describe(topology))
                .containsExactly(
                        "KFD node 1: gfx942, 304 compute units, 196592 MiB visible to peers, PCI 0001:c3:00.0",
                        "KFD node 2: gfx1100, 96 compute units, 0 MiB visible to peers, PCI 0000:03:00.0");
    }

    @Test
    void aMachineWithoutTheDriverIsTold() {
        assertThat(KfdNodes.describe(topology.resolve("none")))
                .containsExactly("KFD: " + topology.resolve("none")
                        + " cannot be read; the amdgpu driver is not loaded, or hidden here");
        assertThat(KfdNodes.describe(topology)).containsExactly("KFD: the kernel shows no GPU");
    }
}
