// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.picture;

import io.penstock.file.PartFile;
import java.awt.image.BufferedImage;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import javax.imageio.IIOImage;
import javax.imageio.ImageIO;
import javax.imageio.ImageWriteParam;
import javax.imageio.ImageWriter;
import javax.imageio.stream.ImageOutputStream;
import javax.imageio.stream.MemoryCacheImageOutputStream;

/** Writes PNG files by javax.imageio: the Java runtime needs the module java.desktop, but no display. */
public final class Png {

    private static final float FAST = 0.9f; // deflate's level 1
    private static final String HEADLESS = "java.awt.headless";

    static {
        // Where DISPLAY is set, libawt would load X11's libraries, which a JDK for servers does not have.
        if (System.getProperty(HEADLESS) == null) {
            System.setProperty(HEADLESS, "true");
        }
    }

    private Png() {}

    /**
     * Writes {@code picture} to {@code path}, replacing the file that was there; never leaves a partial one.
     *
     * @throws java.nio.file.FileSystemException if what is there is no regular file
     */
    public static void write(Picture picture, Path path) throws IOException {
        try (PartFile file = PartFile.create(path, true, null)) {
            file.fill(part -> encode(picture, part));
            file.commit();
        }
    }

    private static BufferedImage image(Picture picture) {
        int width = picture.width();
        int height = picture.height();
        BufferedImage image = new BufferedImage(width, height, BufferedImage.TYPE_3BYTE_BGR);
        image.getRaster()
                .setDataElements(0, 0, width, height, picture.rgb()); // red, green, blue, however it keeps them
        return image;
    }

    private static void encode(Picture picture, Path part) throws IOException {
        // Not a File: ImageIO would report only that it cannot write there, not why.
        try (OutputStream out = Files.newOutputStream(part, StandardOpenOption.WRITE)) {
            encode(picture, "png", FAST, out);
        }
    }

    /** Writes a picture in a format that every JDK has. */
    static void encode(Picture picture, String format, float quality, OutputStream to) throws IOException {
        ImageWriter writer = ImageIO.getImageWritersByFormatName(format).next();
        ImageWriteParam how = writer.getDefaultWriteParam();
        how.setCompressionMode(ImageWriteParam.MODE_EXPLICIT);
        how.setCompressionQuality(quality);
        try (ImageOutputStream out = new MemoryCacheImageOutputStream(to)) {
            writer.setOutput(out);
            writer.write(null, new IIOImage(image(picture), null, null), how);
        } finally {
            writer.dispose();
        }
    }
}
