// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl.doubles;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(FreshSsg.class)
class PcieDeviceTest {

    @Test
    void itWritesInOrderAndNotBeforeItIsReleased() {
        long address = PcieDevice.memory(8192);
        SsgDouble.control().hold("device");
        PcieDevice.write(address + 1, new byte[] {1, 2, 3});
        PcieDevice.signal(address + 4096, 9);
        assertThat(SsgDouble.control().awaitHeld("device", 1)).isEqualTo(1);
        assertThat(PcieDevice.look(address, 4)).containsOnly(0);
        SsgDouble.control().release("device");
        assertThat(PcieDevice.await()).isZero();
        assertThat(PcieDevice.look(address, 4)).containsExactly(0, 1, 2, 3);
        assertThat(PcieDevice.marker(address + 4096)).isEqualTo(9);
    }

    @Test
    void whereNothingIsNothingIsSeenOrWritten() {
        assertThatThrownBy(() -> PcieDevice.look(4096, 1)).hasMessageContaining("nothing at bus address 0x1000");
        PcieDevice.write(4096, new byte[1]);
        assertThat(PcieDevice.await()).isZero();
        assertThat(SsgDouble.complaint())
                .hasValueSatisfying(said -> assertThat(said).contains("where nothing is"));
        SsgDouble.control().forgive();
    }
}
