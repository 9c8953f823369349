// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.picture;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import javax.imageio.IIOImage;
import javax.imageio.ImageIO;
import javax.imageio.ImageWriteParam;
import javax.imageio.ImageWriter;
import javax.imageio.stream.ImageOutputStream;
import javax.imageio.stream.MemoryCacheImageOutputStream;

/** Encodes pictures as JPEG, for frames that are looked at once: several times faster than PNG, and smaller. */
public final class Jpeg {

    private static final float QUALITY = 0.9f;
    private static final int LIKELY_BYTES = 1 << 16;

    private Jpeg() {}

    /** Returns a picture as a file of JPEG. */
    public static byte[] of(Picture picture) throws IOException {
        ImageWriter writer = ImageIO.getImageWritersByFormatName("jpeg").next(); // every JDK has one
        ImageWriteParam how = writer.getDefaultWriteParam();
        how.setCompressionMode(ImageWriteParam.MODE_EXPLICIT);
        how.setCompressionQuality(QUALITY);
        ByteArrayOutputStream bytes = new ByteArrayOutputStream(LIKELY_BYTES);
        try (ImageOutputStream out = new MemoryCacheImageOutputStream(bytes)) {
            writer.setOutput(out);
            writer.write(null, new IIOImage(Png.image(picture), null, null), how);
        } finally {
            writer.dispose();
        }
        return bytes.toByteArray();
    }
}
