// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.kit.machine;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.engine.kit.machine.PciDevice.Distance;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PciDeviceTest {

    @TempDir
    Path root;

    private PciDevice device(String route) {
        List<String> names = List.of(route.split("/"));
        return new PciDevice(new KernelFiles(root, "amd64"), names.get(names.size() - 1), names);
    }

    /** Intel's volume management device (VMD) has a host bridge of its own, whose ports are the processor's. */
    @Test
    void theDomainOfAVolumeManagementDeviceIsNoSwitch() {
        String domain = "pci0000:00/0000:00:0e.0/pci10000:e0/";
        PciDevice first = device(domain + "10000:e0:1c.0/10000:e1:00.0");
        PciDevice second = device(domain + "10000:e0:1d.0/10000:e2:00.0");
        assertThat(first.to(second)).isEqualTo(Distance.ROOT_COMPLEX);
        assertThat(first.to(device("pci0000:00/0000:00:01.0/0000:01:00.0"))).isEqualTo(Distance.ROOT_COMPLEX);
        String below = domain + "10000:e0:1c.0/10000:e1:00.0/";
        assertThat(device(below + "10000:e2:00.0/10000:e3:00.0").to(device(below + "10000:e2:01.0/10000:e4:00.0")))
                .isEqualTo(Distance.SWITCH);
    }
}
