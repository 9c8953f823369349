// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.simulation;

import java.util.List;
import java.util.SplittableRandom;

/** The one source of decisions of a simulation: the same seed, the same story. */
final class Chance {
    private final SplittableRandom random;

    Chance(long seed) {
        random = new SplittableRandom(seed);
    }

    int below(int bound) {
        return random.nextInt(bound);
    }

    int between(int least, int most) {
        return least + random.nextInt(most - least + 1);
    }

    /** Returns true once in {@code n} times on average; never if {@code n} is 0. */
    boolean oneIn(int n) {
        return n > 0 && random.nextInt(n) == 0;
    }

    <T> T pick(List<T> list) {
        return list.get(random.nextInt(list.size()));
    }

    byte[] bytes(int count) {
        byte[] bytes = new byte[count];
        for (int i = 0; i < count; i += Long.BYTES) {
            long word = random.nextLong();
            for (int j = i; j < Math.min(count, i + Long.BYTES); j++) {
                bytes[j] = (byte) word;
                word >>= Byte.SIZE;
            }
        }
        return bytes;
    }
}
