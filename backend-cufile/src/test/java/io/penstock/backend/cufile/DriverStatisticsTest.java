// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile;

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
    void theThirdLevelTellsWhichWayEachGpuWent() {
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
        DriverStatistics statistics = DriverStatistics.of(3, bytes);
        assertThat(statistics.gpus()).hasSize(2);
        DriverStatistics.Gpu gpu = statistics.gpus().get(1);
        assertThat(gpu).isEqualTo(new DriverStatistics.Gpu(11, 12, 13, 14, 21, 22, 23, 24, 99));
        assertThat(gpu.direct()).isEqualTo(11 + 12 + 21 + 22);
        assertThat(gpu.posix()).isEqualTo(13 + 23);
        assertThat(statistics.posix()).isGreaterThan(gpu.posix());
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
