// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.kit.ffi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.BitSet;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The processors of a NUMA node, and threads that run there. */
class CpuSetTest {

    @BeforeAll
    static void onLinuxOnly() {
        assumeTrue(Machine.isSupported(), "64-bit Linux on a known architecture");
    }

    @TempDir
    Path devices;

    private static BitSet processors(int from, int to) {
        BitSet processors = new BitSet();
        processors.set(from, to + 1);
        return processors;
    }

    private CpuSet near(String list, BitSet allowed) throws IOException {
        Path device = Files.createDirectories(devices.resolve("0000:3b:00.0"));
        Files.writeString(device.resolve("local_cpulist"), list + "\n");
        return CpuSet.near(devices, "0000:3B:00.0", allowed);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {"0-3; 0 1 2 3", "0-1,4-5; 0 1 4 5", "7; 7", "6-11; 6 7", "0-6; 0 1 2 3 4 5 6"})
    void theProcessorsAreThoseOfTheListThatTheProcessMayUse(String list, String expected) throws IOException {
        assertThat(near(list, processors(0, 7)).processors().stream().map(String::valueOf))
                .containsExactly(expected.split(" "));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {"0-7", "0-63", "8-15", "''", "x", "-1", "3-1", "0-", "0,,2", "99999999999"})
    void aListOfAllOrNoneOrAnythingElseChangesNothing(String list) throws IOException {
        assertThat(near(list, processors(0, 7))).isSameAs(CpuSet.ANY);
    }

    @ParameterizedTest
    @ValueSource(strings = {"0000:3c:00.0", "", "\0"})
    void aDeviceThatTheSystemDoesNotKnowChangesNothing(String address) {
        assertThat(CpuSet.near(devices, address, processors(0, 7))).isSameAs(CpuSet.ANY);
        assertThat(CpuSet.near(address)).isSameAs(CpuSet.ANY);
    }

    @Test
    void aThreadRunsThereWhileItWorks() {
        List<Integer> all = CpuSets.ofProcess();
        CpuSet last = new CpuSet(all.subList(all.size() - 1, all.size()));
        BitSet before = CpuSet.allowed(0);
        assertThat(last.call(() -> CpuSet.allowed(0)).stream().boxed()).containsExactlyElementsOf(last.processors());
        assertThat(CpuSet.allowed(0)).isEqualTo(before);
        assertThatThrownBy(() -> last.call(() -> {
                    throw new IllegalStateException("failed");
                }))
                .hasMessage("failed");
        assertThat(CpuSet.allowed(0)).isEqualTo(before);
    }

    @Test
    void aThreadThatIsBoundToAnyProcessorMayUseThoseOfTheProcessAgain() throws InterruptedException {
        List<Integer> all = CpuSets.ofProcess();
        BitSet[] allowed = new BitSet[2];
        Thread thread = new Thread(() -> {
            new CpuSet(all.subList(0, 1)).bind();
            allowed[0] = CpuSet.allowed(0);
            CpuSet.ANY.bind();
            allowed[1] = CpuSet.allowed(0);
        });
        thread.start();
        thread.join();
        assertThat(allowed[0].stream().boxed()).containsExactly(all.get(0));
        assertThat(allowed[1].stream().boxed()).containsExactlyElementsOf(all);
    }
}
