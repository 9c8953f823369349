// SPDX-License-Identifier: Apache-2.0
package com.example.spark;

import io.penstock.integration.spark.Region;
import java.io.Serializable;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** What the elements of a tensor are like: of a part of it, or of all. */
public record Statistics(String name, long count, float least, float greatest, double sum, double squares)
        implements Serializable {

    /** Returns the statistics of some of the bytes of a tensor of floats. */
    static Statistics of(Region region, ByteBuffer bytes) {
        boolean brain = region.elements().dtype().equals("BF16");
        bytes.order(ByteOrder.LITTLE_ENDIAN);
        float least = Float.POSITIVE_INFINITY;
        float greatest = Float.NEGATIVE_INFINITY;
        double sum = 0;
        double squares = 0;
        int size = brain ? 2 : 4;
        for (int at = 0; at < bytes.limit(); at += size) {
            float value = brain ? Float.intBitsToFloat(bytes.getShort(at) << 16) : bytes.getFloat(at);
            least = Math.min(least, value);
            greatest = Math.max(greatest, value);
            sum += value;
            squares += (double) value * value;
        }
        return new Statistics(region.name(), bytes.limit() / size, least, greatest, sum, squares);
    }

    /** Returns the statistics of both parts together. */
    Statistics and(Statistics other) {
        return new Statistics(
                name,
                count + other.count,
                Math.min(least, other.least),
                Math.max(greatest, other.greatest),
                sum + other.sum,
                squares + other.squares);
    }

    double mean() {
        return sum / count;
    }

    double deviation() {
        return Math.sqrt(Math.max(0, squares / count - mean() * mean()));
    }
}
