// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.kit.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.penstock.engine.host.kernel.LinuxKernel;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Mappings as the kernel lists them. */
class MappingTest {

    private static final Path SMAPS = Path.of("/proc/self/smaps");

    @BeforeAll
    static void onLinux() {
        assumeTrue(LinuxKernel.INSTANCE.platform().isAvailable() && Files.isReadable(SMAPS), "Linux with /proc");
    }

    /**
     * Returns what the kernel reports of the pages at {@code address}: a head line and one for each fact; empty if
     * none.
     */
    private static List<String> pages(long address) throws IOException {
        List<String> found = new ArrayList<>();
        boolean inside = false;
        for (String line : Files.readAllLines(SMAPS)) {
            if (line.matches("[0-9a-f]+-[0-9a-f]+ .*")) {
                String[] range = line.split("[- ]", 3);
                inside = Long.compareUnsigned(Long.parseUnsignedLong(range[0], 16), address) <= 0
                        && Long.compareUnsigned(address, Long.parseUnsignedLong(range[1], 16)) < 0;
            }
            if (inside) {
                found.add(line);
            }
        }
        return found;
    }

    @Test
    void memoryIsUnmappedAndItsIndexIsReused() throws IOException {
        Mapping first = Mapping.map(4096);
        Mapping second = Mapping.map(64 << 10);
        assertThat(pages(second.address)).isNotEmpty();
        assertThat(pages(second.address + second.bytes - 1)).isNotEmpty();
        assertThat(second.range.index()).isNotEqualTo(first.range.index());
        assertThat(second.range.isRetired()).isFalse();
        int retired = MemoryMapping.retiredCount();
        second.retire();
        assertThat(second.range.isRetired()).isTrue();
        assertThat(MemoryMapping.retiredCount()).isEqualTo(retired + 1);
        assertThat(pages(second.address)).isEmpty();
        Mapping third = Mapping.map(4096);
        assertThat(third.range.index()).isEqualTo(second.range.index());
        third.retire();
        first.retire();
    }

    @Test
    void memoryOfTheSizeOfAHugePageMayHaveHugePages() throws IOException {
        assumeTrue(Files.exists(Path.of("/sys/kernel/mm/transparent_hugepage")), "a kernel with huge pages");
        Mapping huge = Mapping.map(2 << 20);
        Mapping small = Mapping.map((2 << 20) - 4096);
        assertThat(pages(huge.address)).anyMatch(line -> line.matches("VmFlags:.* hg\\b.*"));
        assertThat(pages(small.address)).noneMatch(line -> line.matches("VmFlags:.* hg\\b.*"));
        huge.retire();
        small.retire();
    }

    @Test
    void addressesThatAreInventedAreThoseOfMemoryThatDoesNotOverlap() {
        long first = Mapping.inventAddress(5000);
        long second = Mapping.inventAddress(1);
        long third = Mapping.inventAddress(4096);
        assertThat(List.of(first, second, third)).allMatch(address -> address > 0 && address % 4096 == 0);
        assertThat(second).isGreaterThanOrEqualTo(first + 5000 + 1).isLessThanOrEqualTo(first + 5000 + 8192);
        assertThat(third).isGreaterThanOrEqualTo(second + 1 + 1).isLessThanOrEqualTo(second + 1 + 8192);
    }

    @Test
    void aDriversMappingHasAnIndexOfItsOwnUntilItRetires() {
        MemoryMapping first = new MemoryMapping(4096, 8192);
        MemoryMapping second = new MemoryMapping(16384, 4096);
        assertThat(second.index()).isNotEqualTo(first.index());
        assertThat(first.address()).isEqualTo(4096);
        assertThat(first.bytes()).isEqualTo(8192);
        assertThat(first.isRetired()).isFalse();
        int retired = MemoryMapping.retiredCount();
        first.retire();
        assertThat(first.isRetired()).isTrue();
        assertThat(MemoryMapping.retiredCount()).isEqualTo(retired + 1);
        second.retire();
    }
}
