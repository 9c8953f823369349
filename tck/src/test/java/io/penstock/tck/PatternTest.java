// SPDX-License-Identifier: Apache-2.0
package io.penstock.tck;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class PatternTest {

    @Test
    void filledBytesAreFoundAtTheirOffsetOnly() {
        Pattern pattern = Pattern.of(Path.of("some", "file"));
        ByteBuffer bytes = ByteBuffer.allocate(1000);
        pattern.fill(bytes, (1L << 32) - 500);
        bytes.flip();
        assertThat(pattern.difference(bytes, (1L << 32) - 500)).isEqualTo(-1);
        for (long wrong : new long[] {0, -500, (1L << 32) - 499, (1L << 32) - 492, (1L << 33) - 500}) {
            assertThat(pattern.difference(bytes, wrong))
                    .as("as if from %d", wrong)
                    .isBetween(0, 8);
        }
        assertThat(new Pattern(pattern.seed() + 1).difference(bytes, (1L << 32) - 500))
                .isBetween(0, 8);
    }

    @Test
    void theFirstWrongByteIsNamed() {
        Pattern pattern = new Pattern(1);
        for (int offset = 0; offset < 9; offset++) {
            for (int length = 1; length < 27; length++) {
                ByteBuffer bytes = ByteBuffer.allocate(length + 2).position(1).limit(length + 1);
                pattern.fill(bytes, offset);
                assertThat(bytes.position()).isEqualTo(length + 1);
                for (int i = 0; i < length; i++) {
                    bytes.position(1);
                    assertThat(bytes.get(1 + i)).isEqualTo(pattern.at(offset + i));
                    bytes.put(1 + i, (byte) ~bytes.get(1 + i));
                    assertThat(pattern.difference(bytes, offset))
                            .as("byte %d of %d from %d", i, length, offset)
                            .isEqualTo(i);
                    bytes.put(1 + i, (byte) ~bytes.get(1 + i));
                }
            }
        }
    }
}
