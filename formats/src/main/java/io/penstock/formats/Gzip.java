// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.util.zip.GZIPInputStream;

/** gzip, by the JDK: its header and its sum are checked. */
final class Gzip {

    private Gzip() {}

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
