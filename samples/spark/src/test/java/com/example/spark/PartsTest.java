// SPDX-License-Identifier: Apache-2.0
package com.example.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.penstock.integration.spark.Region;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Parts of arrays are together what the whole is, wherever a chunk ends. */
class PartsTest {

    private static Region region(String dtype, int bytes, Long... shape) {
        Region.Elements elements = new Region.Elements(dtype, List.of(shape), "LITTLE_ENDIAN", "ROW_MAJOR");
        return new Region("/scans/a.npy", "a", elements, 128, bytes);
    }

    @Test
    void aProjectionOfPartsIsThatOfTheWhole() {
        ByteBuffer bytes = ByteBuffer.allocate(2 * 5 * 7 * 11);
        new Random(3).nextBytes(bytes.array());
        Region region = region("U16", bytes.limit(), 5L, 7L, 11L);
        assertThat(Projection.isVolume(region)).isTrue();
        Projection whole = Projection.of(region, 0, bytes);
        Projection parts = Projection.of(region, 0, bytes.slice(0, 100))
                .and(Projection.of(region, 100, bytes.slice(100, 402)))
                .and(Projection.of(region, 502, bytes.slice(502, bytes.limit() - 502)));
        assertThat(parts.greatest).isEqualTo(whole.greatest);
        assertThat(parts.counts).isEqualTo(whole.counts);
        int expected = 0;
        for (int z = 0; z < 5; z++) {
            expected = Math.max(expected, bytes.order(ByteOrder.LITTLE_ENDIAN).getShort(2 * (z * 77 + 13)) & 0xffff);
        }
        assertThat(whole.greatest[13]).isEqualTo(expected);
    }

    @Test
    void statisticsOfPartsAreThoseOfTheWhole() {
        ByteBuffer bytes = ByteBuffer.allocate(4000).order(ByteOrder.LITTLE_ENDIAN);
        Random random = new Random(4);
        while (bytes.hasRemaining()) {
            bytes.putFloat((float) (5 + 2 * random.nextGaussian()));
        }
        bytes.flip();
        Region region = region("F32", 4000, 1000L);
        Statistics whole = Statistics.of(region, bytes);
        Statistics parts =
                Statistics.of(region, bytes.slice(0, 400)).and(Statistics.of(region, bytes.slice(400, 3600)));
        assertThat(parts.count()).isEqualTo(1000);
        assertThat(parts.least()).isEqualTo(whole.least());
        assertThat(parts.greatest()).isEqualTo(whole.greatest());
        assertThat(whole.mean()).isBetween(4.7, 5.3);
        assertThat(parts.deviation()).isBetween(1.8, 2.2).isCloseTo(whole.deviation(), within(1e-9));
    }
}
