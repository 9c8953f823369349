// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile.ffi;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.backend.gpu.api.DriverProperties;
import io.penstock.backend.gpu.api.DriverProperties.Storage;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.junit.jupiter.api.Test;

class DriverPropertiesTest {

    @Test
    void fieldsAreWhereTheHeaderHasThem() {
        ByteBuffer fields = ByteBuffer.allocate(56).order(ByteOrder.nativeOrder());
        fields.putInt(0, 2).putInt(4, 24).putLong(8, 4).putLong(16, 16_384);
        fields.putInt(24, 1 << 4 | 1 << 2).putInt(28, 1 << 1).putInt(32, 0b110);
        fields.putInt(36, 131_072)
                .putInt(40, 1024)
                .putInt(44, 33_554_432)
                .putInt(48, 128)
                .putInt(52, 5);
        DriverProperties properties = CuFile.properties(fields.array());
        assertThat(properties)
                .isEqualTo(new DriverProperties(
                        "nvidia-fs", 2, 24, 4, 16_384, 20, 2, 6, 131_072, 1024, 33_554_432, 128, 5));
        assertThat(properties.reached()).containsExactly(Storage.NFS, Storage.NVME);
        assertThat(properties.hasModule()).isTrue();
        assertThat(properties.allowsCompatibility()).isTrue();
        assertThat(properties.describe()).contains("nvidia-fs 2.24", "[NFS, NVME]", "POSIX mode allowed", "128");
        assertThat(properties.lines())
                .contains(
                        "batches end or time out within 5 ms",
                        "at most 16384 KiB per request to the storage, 33554432 KiB of GPU memory registered",
                        "does not poll",
                        "features: [batches, streams]");
        fields.putInt(28, 1 << 1 | 1);
        assertThat(CuFile.properties(fields.array()).lines()).contains("polls for operations of up to 4 KiB");
    }

    @Test
    void withoutTheModuleOnlyPeerToPeerDmaMayBeDirect() {
        DriverProperties nothing =
                new DriverProperties("nvidia-fs", 0, 0, 4, 16_384, 0, 2, 0, 131_072, 1024, 0, 128, 5);
        assertThat(nothing.mayBeDirect()).isFalse();
        assertThat(nothing.describe()).contains("no nvidia-fs", "direct from nothing");
        DriverProperties dma =
                new DriverProperties("nvidia-fs", 0, 0, 4, 16_384, 1 << 11, 0, 0, 131_072, 1024, 0, 128, 5);
        assertThat(dma.mayBeDirect()).isTrue();
        assertThat(dma.reached()).containsExactly(Storage.NVME_P2P);
        assertThat(dma.allowsCompatibility()).isFalse();
    }
}
