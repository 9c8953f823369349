// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.picture;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.AtomicMoveNotSupportedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.zip.CRC32;
import java.util.zip.Deflater;
import java.util.zip.DeflaterOutputStream;

/** Writes PNG files (ISO/IEC 15948), without java.desktop. */
public final class Png {

    private static final byte[] SIGNATURE = {(byte) 0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
    private static final int BITS = 8;
    private static final int TRUECOLOUR = 2;
    private static final int FILTER_UP = 2;

    private Png() {}

    /** Writes {@code picture} to {@code path}, replacing what was there; at no time is there half a file. */
    public static void write(Picture picture, Path path) throws IOException {
        Path whole = path.toAbsolutePath();
        String unique = Long.toHexString(System.nanoTime());
        Path part = whole.resolveSibling("." + whole.getFileName() + "." + unique + ".part");
        try {
            Files.write(part, encode(picture), StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
            move(part, whole);
        } finally {
            Files.deleteIfExists(part);
        }
    }

    /** Returns the bytes of the file. */
    public static byte[] encode(Picture picture) throws IOException {
        ByteArrayOutputStream png = new ByteArrayOutputStream();
        png.write(SIGNATURE);
        chunk(png, "IHDR", header(picture));
        chunk(png, "IDAT", deflated(picture));
        chunk(png, "IEND", new byte[0]);
        return png.toByteArray();
    }

    private static byte[] header(Picture picture) {
        ByteBuffer header = ByteBuffer.allocate(13).putInt(picture.width()).putInt(picture.height());
        return header.put((byte) BITS).put((byte) TRUECOLOUR).array(); // then deflate, adaptive filters, no interlace
    }

    private static byte[] deflated(Picture picture) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        Deflater deflater = new Deflater(Deflater.BEST_SPEED);
        try (DeflaterOutputStream out = new DeflaterOutputStream(bytes, deflater)) {
            int stride = 3 * picture.width();
            byte[] line = new byte[1 + stride];
            line[0] = FILTER_UP;
            for (int y = 0; y < picture.height(); y++) {
                for (int i = 0; i < stride; i++) {
                    int above = y == 0 ? 0 : picture.rgb()[(y - 1) * stride + i];
                    line[1 + i] = (byte) (picture.rgb()[y * stride + i] - above);
                }
                out.write(line);
            }
        } finally {
            deflater.end();
        }
        return bytes.toByteArray();
    }

    private static void chunk(ByteArrayOutputStream png, String type, byte[] data) throws IOException {
        byte[] name = type.getBytes(StandardCharsets.US_ASCII);
        CRC32 crc = new CRC32();
        crc.update(name);
        crc.update(data);
        png.write(ByteBuffer.allocate(4).putInt(data.length).array());
        png.write(name);
        png.write(data);
        png.write(ByteBuffer.allocate(4).putInt((int) crc.getValue()).array());
    }

    private static void move(Path part, Path whole) throws IOException {
        try {
            Files.move(part, whole, StandardCopyOption.ATOMIC_MOVE);
        } catch (AtomicMoveNotSupportedException e) {
            Files.move(part, whole, StandardCopyOption.REPLACE_EXISTING);
        }
    }
}
