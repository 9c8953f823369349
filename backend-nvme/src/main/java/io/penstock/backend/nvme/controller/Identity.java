// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.nvme.controller;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * What a controller reports about itself.
 *
 * @param model the model number
 * @param serial the serial number
 * @param firmware the firmware revision
 * @param maxBytes the most bytes of one command
 * @param shadowDoorbells whether it supports Doorbell Buffer Config
 * @param sglAlignment the alignment in bytes of memory in scatter-gather lists; 0 if it does not support them
 */
public record Identity(
        String model, String serial, String firmware, long maxBytes, boolean shadowDoorbells, int sglAlignment) {

    static final int BYTES = 4096;

    private static final long MOST_BYTES = 4L << 20; // a command of an unlimited controller
    private static final int MOST_SHIFT = 16;

    /** Parses the Identify Controller data structure. */
    static Identity of(ByteBuffer data) {
        int shift = data.get(77) & 0xff; // MDTS
        long most = shift == 0 || shift > MOST_SHIFT ? MOST_BYTES : (long) PrpLists.PAGE_BYTES << shift;
        int optional = data.getShort(256); // OACS
        return new Identity(
                text(data, 24, 40),
                text(data, 4, 20),
                text(data, 64, 8),
                Math.min(MOST_BYTES, most),
                (optional & 0x100) != 0,
                switch (data.getInt(536) & 3) { // SGLS
                    case 1 -> 1;
                    case 2 -> Integer.BYTES;
                    default -> 0;
                });
    }

    private static String text(ByteBuffer data, int offset, int length) {
        byte[] bytes = new byte[length];
        data.get(offset, bytes);
        return new String(bytes, StandardCharsets.US_ASCII).strip();
    }

    /** Returns model, firmware and serial number. */
    @Override
    public String toString() {
        return model + ", firmware " + firmware + ", serial number " + serial;
    }
}
