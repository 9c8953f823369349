// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.nvme.vfio;

import static io.penstock.backend.nvme.vfio.FakeKernel.words;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.penstock.engine.kit.ffi.ErrnoException;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The calls by which a device is opened and memory is mapped, on a kernel that has every device. */
class AddressSpaceTest {

    private static final PciDevice DEVICE = new PciDevice("0000:04:00.0", "vfio-pci", 12, "vfio3", List.of());
    private static final long ADDRESS = 0x7f12_3456_7000L;
    private static final long IOVA = 0x1_0000_2000L;
    private static final long BYTES = 0x1_8000_3000L;

    private final FakeKernel kernel = new FakeKernel();

    private enum Way {
        TYPE1 {
            @Override
            AddressSpace open(Kernel kernel) throws IOException {
                return Type1.open(kernel, DEVICE);
            }
        },
        IOMMUFD {
            @Override
            AddressSpace open(Kernel kernel) throws IOException {
                return Iommufd.open(kernel, DEVICE);
            }
        };

        abstract AddressSpace open(Kernel kernel) throws IOException;
    }

    /** Requests, lengths and places of fields are what a C program prints with the headers of Linux 7.0. */
    @Test
    void iommufdAttachesTheDeviceToAnAddressSpaceOfItsOwn() throws IOException {
        AddressSpace space = Way.IOMMUFD.open(kernel);
        assertThat(kernel.open.get(space.device())).isEqualTo("/dev/vfio/devices/vfio3");
        space.map(ADDRESS, IOVA, BYTES);
        space.mapDmaBuf(44, 8192, IOVA, BYTES);
        space.unmap(IOVA, BYTES);
        space.close();
        assertThat(kernel.calls)
                .containsExactly(
                        "open /dev/iommu",
                        "open /dev/vfio/devices/vfio3",
                        "/dev/vfio/devices/vfio3 3b76 [16, 0, 10, 0]",
                        "/dev/iommu 3b81 [12, 0, 0]",
                        "/dev/vfio/devices/vfio3 3b77 [12, 0, 7]",
                        "/dev/iommu 3b85 [40, 7, 7, 0, " + words(ADDRESS) + ", " + words(BYTES) + ", " + words(IOVA)
                                + "]",
                        "/dev/iommu 3b8f [40, 7, 7, 44, " + words(8192) + ", " + words(BYTES) + ", " + words(IOVA)
                                + "]",
                        "/dev/iommu 3b86 [24, 7, " + words(IOVA) + ", " + words(BYTES) + "]",
                        "close /dev/vfio/devices/vfio3",
                        "close /dev/iommu");
    }

    @Test
    void type1PutsTheGroupOfTheDeviceIntoAContainer() throws IOException {
        AddressSpace space = Way.TYPE1.open(kernel);
        assertThat(kernel.open.get(space.device())).isEqualTo("device");
        space.map(ADDRESS, IOVA, BYTES);
        space.unmap(IOVA, BYTES);
        space.close();
        assertThat(kernel.calls)
                .containsExactly(
                        "open /dev/vfio/vfio",
                        "open /dev/vfio/12",
                        "/dev/vfio/vfio 3b64 0",
                        "/dev/vfio/vfio 3b65 3",
                        "/dev/vfio/12 3b67 [8, 0]",
                        "/dev/vfio/12 3b68 [10]",
                        "/dev/vfio/vfio 3b66 3",
                        "/dev/vfio/12 3b6a 0000:04:00.0",
                        "/dev/vfio/vfio 3b71 [32, 3, " + words(ADDRESS) + ", " + words(IOVA) + ", " + words(BYTES)
                                + "]",
                        "/dev/vfio/vfio 3b72 [24, 0, " + words(IOVA) + ", " + words(BYTES) + "]",
                        "close device",
                        "close /dev/vfio/12",
                        "close /dev/vfio/vfio");
    }

    @Test
    void type1MapsNoDmaBuf() throws IOException {
        AddressSpace space = Way.TYPE1.open(kernel);
        assertThatExceptionOfType(IOException.class)
                .isThrownBy(() -> space.mapDmaBuf(44, 0, IOVA, BYTES))
                .withMessage("only iommufd maps a dma-buf, and the device was opened by its IOMMU group");
    }

    /** Whichever call is refused: the error names it, and the device or file, and every descriptor is closed once. */
    @ParameterizedTest
    @EnumSource
    void aCallThatIsRefusedLeavesNothingOpen(Way way) throws IOException {
        way.open(kernel).close();
        List<String> calls =
                kernel.calls.stream().filter(call -> !call.startsWith("close")).toList();
        for (int i = 0; i < calls.size(); i++) {
            FakeKernel refusing = new FakeKernel();
            refusing.refused = i;
            String call = calls.get(i);
            boolean isOpen = call.startsWith("open ");
            assertThatExceptionOfType(ErrnoException.class)
                    .as(call)
                    .isThrownBy(() -> way.open(refusing))
                    .withMessageStartingWith(
                            "opening of " + (isOpen ? call.substring(5) : DEVICE.address()) + " failed: ")
                    .withMessageEndingWith(isOpen ? "open -> EACCES (13)" : " -> EBUSY (16)");
            assertThat(refusing.open).as(call).isEmpty();
        }
    }

    @ParameterizedTest
    @EnumSource
    void aMappingThatIsRefusedNamesItsCall(Way way) throws IOException {
        AddressSpace space = way.open(kernel);
        String prefix = way == Way.TYPE1 ? "VFIO_IOMMU_" : "IOMMU_IOAS_";
        String suffix = way == Way.TYPE1 ? "_DMA" : "";
        kernel.refused = kernel.calls.size();
        assertThatExceptionOfType(ErrnoException.class)
                .isThrownBy(() -> space.map(ADDRESS, IOVA, BYTES))
                .withMessage(prefix + "MAP" + suffix + " -> EBUSY (16)");
        kernel.refused = kernel.calls.size();
        assertThatExceptionOfType(ErrnoException.class)
                .isThrownBy(() -> space.unmap(IOVA, BYTES))
                .withMessage(prefix + "UNMAP" + suffix + " -> EBUSY (16)");
    }

    @Test
    void aGroupWithADeviceOfTheKernelIsRefusedAndNothingStaysOpen() {
        kernel.groupStatus = 0;
        assertThatExceptionOfType(IOException.class)
                .isThrownBy(() -> Way.TYPE1.open(kernel))
                .withMessageContaining("other devices of the IOMMU group are bound to drivers of the kernel");
        assertThat(kernel.open).isEmpty();
    }
}
