// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.kit.machine;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the kernel shows of AMD's GPUs, as it writes it. */
class KfdGpuTest {

    @TempDir
    Path root;

    private KernelFiles machine;

    @BeforeEach
    void name() {
        machine = new KernelFiles(root, "amd64");
    }

    private void write(String file, String properties) throws IOException {
        Path path = machine.path(KfdGpu.NODES + "/" + file + "/properties");
        Files.createDirectories(path.getParent());
        Files.writeString(path, properties);
    }

    @Test
    void gpusAreDescribedAndProcessorsAreNot() throws IOException {
        write("0", "cpu_cores_count 64\nsimd_count 0\n");
        write("0/mem_banks/0", "heap_type 0\nsize_in_bytes 135000000000\n");
        write("1", """
                simd_count 1216
                simd_per_cu 4
                wave_front_size 64
                gfx_target_version 90402
                location_id 49920
                domain 1
                hive_id 18446744073709551615
                """);
        write("1/mem_banks/0", "heap_type 1\nsize_in_bytes 206141652992\n");
        write("1/io_links/0", "type 2\nnode_from 1\nnode_to 0\n");
        write("1/io_links/1", "type 11\nnode_from 1\nnode_to 2\n");
        write("10", "simd_count 192\nsimd_per_cu 2\ngfx_target_version 110000\nlocation_id 768\n");
        write("10/mem_banks/0", "heap_type 2\nsize_in_bytes 25484591104\n");
        write("10/mem_banks/1", "heap_type 1\nsize_in_bytes 268435456\n");
        write("2", "simd_count 440\nsimd_per_cu 4\ngfx_target_version 90010\n");
        assertThat(KfdGpu.all(machine).stream().map(KfdGpu::toString))
                .containsExactly(
                        "KFD node 1: gfx942, 304 compute units, wavefronts of 64, 196592 MiB visible to peers,"
                                + " PCI 0001:c3:00.0, xGMI to node 2",
                        "KFD node 2: gfx90a, 110 compute units, 0 MiB visible to peers, PCI 0000:00:00.0",
                        "KFD node 10: gfx1100, 96 compute units, 256 MiB visible to peers and 24304 that are not,"
                                + " PCI 0000:03:00.0");
    }

    @Test
    void aMachineWithoutTheDriverHasNone() throws IOException {
        assertThat(KfdGpu.all(machine)).isEmpty();
        write("0", "cpu_cores_count 64\nsimd_count 0\n");
        write("nonsense", "simd_count 4\n");
        assertThat(KfdGpu.all(machine)).isEmpty();
    }
}
