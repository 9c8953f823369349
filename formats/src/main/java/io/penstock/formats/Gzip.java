// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.util.zip.GZIPInputStream;

/** gzip, by the JDK: its header and its sum are checked. */
final class Gzip {

    /** The complaint about a compressed file, whose arrays would have no place in it. */
    static final String WHOLE = "it is compressed by gzip as a whole, and must be decompressed first";

    private Gzip() {}

    /** Returns whether a file of these first bytes is compressed. */
    static boolean starts(byte[] start) {
        return start.length > 2 && start[0] == 0x1f && start[1] == (byte) 0x8b;
    }

    static byte[] decode(byte[] stored, int mostBytes) throws Codecs.Malformed {
        try (GZIPInputStream in = new GZIPInputStream(new ByteArrayInputStream(stored))) {
            byte[] bytes = in.readNBytes(mostBytes);
            if (in.read() >= 0) {
                throw new Codecs.Malformed("there are more than " + mostBytes + " bytes");
            }
            return bytes;
        } catch (IOException e) { // of the format only: the bytes are in memory
            throw new Codecs.Malformed(String.valueOf(e.getMessage()));
        }
    }
}
