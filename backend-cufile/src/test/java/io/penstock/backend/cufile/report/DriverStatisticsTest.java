// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile.report;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.junit.jupiter.api.Test;

class DriverStatisticsTest {

    @Test
    void theFirstLevelFillsItsStructureExactly() {
        DriverStatistics statistics = DriverStatistics.of(1, numbered(512));
        assertThat(statistics.counters()).hasSize(64);
        assertThat(statistics.counters())
                .containsEntry("read_ops_ok", 0L)
                .containsEntry("read_ops_err", 1L)
                .containsEntry("read_bytes", 12L)
                .containsEntry("batch_submit_ops_ok", 22L)
                .containsEntry("last_batch_write_bytes", 63L);
        assertThat(statistics.readSizes()).isEmpty();
        assertThat(statistics.gpus()).isEmpty();
    }

    @Test
    void theSecondLevelAddsSizes() {
        DriverStatistics statistics = DriverStatistics.of(2, numbered(1024));
        assertThat(statistics.readSizes()).hasSize(32).startsWith(64L).endsWith(95L);
        assertThat(statistics.writeSizes()).hasSize(32).startsWith(96L).endsWith(127L);
    }

    @Test
    void theThirdLevelReportsThePathsOfEachGpu() {
        byte[] bytes = numbered(5000);
        ByteBuffer fields = view(bytes).putInt(1024, 2);
        int second = 1032 + 248 + 16;
        fields.putLong(second + 40, 11)
                .putLong(second + 48, 12)
                .putLong(second + 56, 13)
                .putLong(second + 64, 14);
        fields.putLong(second + 144, 21)
                .putLong(second + 152, 22)
                .putLong(second + 160, 23)
                .putLong(second + 168, 24);
        fields.putLong(second + 224, 99);
        fields.order(ByteOrder.BIG_ENDIAN)
                .putLong(second - 16, 0x0123456789abcdefL)
                .putLong(second - 8, 0xfedcba9876543210L);
        DriverStatistics statistics = DriverStatistics.of(3, bytes);
        assertThat(statistics.gpus()).hasSize(2);
        DriverStatistics.Gpu gpu = statistics.gpus().get(1);
        String uuid = "GPU-01234567-89ab-cdef-fedc-ba9876543210";
        assertThat(gpu).isEqualTo(new DriverStatistics.Gpu(uuid, 11, 12, 13, 14, 21, 22, 23, 24, 99));
        assertThat(gpu.direct()).isEqualTo(11 + 12 + 21 + 22);
        assertThat(gpu.posix()).isEqualTo(13 + 23);
        assertThat(statistics.posix()).isGreaterThan(gpu.posix());
        assertThat(statistics.describe())
                .contains(
                        uuid + ": reads 11 by peer-to-peer DMA, 12 by nvidia-fs, 13 through host memory, 14 unaligned;"
                                + " writes 21 by peer-to-peer DMA, 22 by nvidia-fs, 23 through host memory, 24 unaligned;"
                                + " 99 bytes registered")
                .contains("read_bytes = 12", "reads by size, 4 KiB = 66", "writes by size, 2 KiB = 97")
                .doesNotContain("read_ops_ok = 0");
    }

    @Test
    void moreGpusThanThereIsRoomForAreNotReadBeyondTheEnd() {
        byte[] bytes = numbered(5000);
        view(bytes).putInt(1024, 1000);
        assertThat(DriverStatistics.of(3, bytes).gpus()).hasSize(16);
    }

    /** Every eight bytes hold their own number. */
    private static byte[] numbered(int size) {
        byte[] bytes = new byte[size];
        for (int i = 0; i < size / 8; i++) {
            view(bytes).putLong(8 * i, i);
        }
        return bytes;
    }

    private static ByteBuffer view(byte[] bytes) {
        return ByteBuffer.wrap(bytes).order(ByteOrder.nativeOrder());
    }
}
