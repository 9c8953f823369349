// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.s3.client;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Base64;
import java.util.Locale;
import java.util.zip.CRC32C;
import java.util.zip.Checksum;

/**
 * The cyclic redundancy checks that S3 keeps of objects. All begin and end with inverted bits, and take the lowest bit
 * of a byte first. The sums of neighbours combine to the sum of both.
 */
enum Crc {
    CRC32("CRC-32", 0xedb88320L, Integer.SIZE),
    CRC32C("CRC-32C", 0x82f63b78L, Integer.SIZE),
    CRC64NVME("CRC-64/NVME", 0x9a6c9329ac4bc9b5L, Long.SIZE);

    private static final int STEP = Long.BYTES;

    private final String title;
    private final long polynomial; // the bit of x^0 is the highest of its width
    private final int width;

    // Of a byte, and the same with 1 to 7 bytes behind it; none where the JDK has the sum.
    @SuppressWarnings("ImmutableEnumChecker") // filled by the constructor, and only read since then
    private final long[][] tables;

    Crc(String title, long polynomial, int width) {
        this.title = title;
        this.polynomial = polynomial;
        this.width = width;
        this.tables = new long[width == Long.SIZE ? STEP : 0][1 << Byte.SIZE];
        for (int table = 0; table < tables.length; table++) {
            for (int value = 0; value < 1 << Byte.SIZE; value++) {
                long sum = table == 0 ? value : tables[table - 1][value];
                for (int bit = 0; bit < Byte.SIZE; bit++) {
                    sum = timesX(sum);
                }
                tables[table][value] = sum;
            }
        }
    }

    /** Returns the header that has it. */
    String header() {
        return "x-amz-checksum-" + name().toLowerCase(Locale.ROOT);
    }

    /** Returns the element of a document that has it. */
    String element() {
        return "Checksum" + name();
    }

    /** Returns the sum of the bytes from position to limit. */
    long of(ByteBuffer bytes) {
        if (width == Long.SIZE) {
            return byTables(bytes.duplicate().order(ByteOrder.LITTLE_ENDIAN));
        }
        Checksum sum = this == CRC32C ? new CRC32C() : new java.util.zip.CRC32();
        sum.update(bytes.duplicate());
        return sum.getValue();
    }

    private long byTables(ByteBuffer bytes) {
        long sum = -1;
        int at = bytes.position();
        for (int whole = bytes.limit() - STEP + 1; at < whole; at += STEP) {
            long next = sum ^ bytes.getLong(at);
            sum = tables[7][(int) next & 0xff]
                    ^ tables[6][(int) (next >>> 8) & 0xff]
                    ^ tables[5][(int) (next >>> 16) & 0xff]
                    ^ tables[4][(int) (next >>> 24) & 0xff]
                    ^ tables[3][(int) (next >>> 32) & 0xff]
                    ^ tables[2][(int) (next >>> 40) & 0xff]
                    ^ tables[1][(int) (next >>> 48) & 0xff]
                    ^ tables[0][(int) (next >>> 56)];
        }
        for (; at < bytes.limit(); at++) {
            sum = tables[0][(int) (sum ^ bytes.get(at)) & 0xff] ^ (sum >>> Byte.SIZE);
        }
        return ~sum;
    }

    /** Returns the sum of two neighbours: of the first times x to the bits of the second, and of the second. */
    long combined(long first, long second, long secondBytes) {
        long power = 1L << (width - 1 - Byte.SIZE); // x^8
        long shifted = first;
        for (long bytes = secondBytes; bytes > 0; bytes >>= 1) {
            shifted = (bytes & 1) == 0 ? shifted : product(shifted, power);
            power = product(power, power);
        }
        return shifted ^ second;
    }

    private long product(long one, long other) {
        long product = 0;
        long shifted = other;
        for (int bit = width - 1; bit >= 0; bit--) {
            product ^= (one >>> bit & 1) == 0 ? 0 : shifted;
            shifted = timesX(shifted);
        }
        return product;
    }

    private long timesX(long value) {
        return (value & 1) == 0 ? value >>> 1 : value >>> 1 ^ polynomial;
    }

    /** Returns a sum as headers and documents have it. */
    String text(long sum) {
        byte[] bytes = ByteBuffer.allocate(Long.BYTES)
                .putLong(sum << (Long.SIZE - width))
                .array();
        return Base64.getEncoder().encodeToString(Arrays.copyOf(bytes, width / Byte.SIZE));
    }

    @Override
    public String toString() {
        return title;
    }
}
