// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.s3.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.BitSet;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Which bytes of a part have been written, against a set of them. */
class CoverageTest {

    private static final int BYTES = 40;

    @Test
    void rangesInAnyOrderAreTheBytesThatTheyCover() {
        Random random = new Random(32);
        int whole = 0;
        for (int round = 0; round < 2000; round++) {
            S3Upload.Coverage coverage = new S3Upload.Coverage();
            BitSet bytes = new BitSet();
            for (int i = 0; i < 12; i++) {
                int from = random.nextInt(BYTES);
                int to = from + 1 + random.nextInt(BYTES - from);
                coverage.add(from, to);
                bytes.set(from, to);
                for (int end = 1; end <= BYTES; end++) {
                    boolean upTo = bytes.nextClearBit(0) == end && bytes.length() == end;
                    assertThat(coverage.isUpTo(end)).isEqualTo(upTo);
                    whole += upTo ? 1 : 0;
                }
            }
        }
        assertThat(whole).isPositive();
    }
}
