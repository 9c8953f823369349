// SPDX-License-Identifier: Apache-2.0
package com.example.spark;

import io.penstock.integration.spark.Region;
import java.io.Serializable;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;

/** The greatest value along the first axis of a volume, and how often values occur: of a part of it, or of all. */
public final class Projection implements Serializable {

    static final int BINS = 16;

    private static final long serialVersionUID = 1L;

    final String name;
    final int width;
    final int height;
    final int[] greatest; // by pixel; Integer.MIN_VALUE where no voxel was
    final long[] counts = new long[BINS];

    private Projection(String name, int width, int height) {
        this.name = name;
        this.width = width;
        this.height = height;
        this.greatest = new int[Math.multiplyExact(width, height)];
        java.util.Arrays.fill(greatest, Integer.MIN_VALUE);
    }

    /** Returns whether an array is a volume that can be projected. */
    static boolean isVolume(Region region) {
        Region.Elements elements = region.elements();
        return elements != null
                && elements.shape().size() == 3
                && List.of("U8", "I16", "U16").contains(elements.dtype())
                && elements.order().equals("ROW_MAJOR");
    }

    /**
     * Projects some of the bytes of a volume.
     *
     * @param start where they start in the volume, in bytes
     */
    static Projection of(Region region, long start, ByteBuffer bytes) {
        Region.Elements elements = region.elements();
        int height = Math.toIntExact(elements.shape().get(1));
        int width = Math.toIntExact(elements.shape().get(2));
        Projection part = new Projection(region.path().substring(region.path().lastIndexOf('/') + 1), width, height);
        bytes.order(elements.byteOrder().equals("BIG_ENDIAN") ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN);
        boolean small = elements.dtype().equals("U8");
        boolean signed = elements.dtype().equals("I16");
        int size = small ? 1 : 2;
        int pixel = (int) (start / size % part.greatest.length);
        for (int at = 0; at < bytes.limit(); at += size) {
            int value = small ? bytes.get(at) & 0xff : signed ? bytes.getShort(at) : bytes.getShort(at) & 0xffff;
            part.greatest[pixel] = Math.max(part.greatest[pixel], value);
            part.counts[small ? value >> 4 : (signed ? value + 0x8000 : value) >> 12]++;
            pixel = pixel + 1 == part.greatest.length ? 0 : pixel + 1;
        }
        return part;
    }

    /** Returns both parts together. */
    Projection and(Projection other) {
        Projection both = new Projection(name, width, height);
        for (int pixel = 0; pixel < greatest.length; pixel++) {
            both.greatest[pixel] = Math.max(greatest[pixel], other.greatest[pixel]);
        }
        for (int bin = 0; bin < BINS; bin++) {
            both.counts[bin] = counts[bin] + other.counts[bin];
        }
        return both;
    }

    String name() {
        return name;
    }
}
