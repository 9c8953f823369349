// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl.fakes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(FreshSsg.class)
class PcieDeviceTest {

    @Test
    void itWritesInOrderAndNotBeforeItIsReleased() {
        long address = PcieDevice.memory(8192);
        SsgFake.control().hold("device");
        PcieDevice.write(address + 1, new byte[] {1, 2, 3});
        PcieDevice.signal(address + 4096, 9);
        assertThat(SsgFake.control().awaitHeld("device", 1)).isEqualTo(1);
        assertThat(PcieDevice.read(address, 4)).containsOnly(0);
        SsgFake.control().release("device");
        assertThat(PcieDevice.await()).isZero();
        assertThat(PcieDevice.read(address, 4)).containsExactly(0, 1, 2, 3);
        assertThat(PcieDevice.marker(address + 4096)).isEqualTo(9);
    }

    @Test
    void unmappedPlacesAreNeitherReadNorWritten() {
        assertThatThrownBy(() -> PcieDevice.read(4096, 1)).hasMessageContaining("nothing at bus address 0x1000");
        PcieDevice.write(4096, new byte[1]);
        assertThat(PcieDevice.await()).isZero();
        assertThat(SsgFake.complaint())
                .hasValueSatisfying(said -> assertThat(said).contains("where nothing is"));
        SsgFake.control().forgive();
    }
}
