// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.picture;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.awt.image.BufferedImage;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Random;
import java.util.stream.Stream;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PngTest {

    @TempDir
    Path folder;

    private static Picture noise(int width, int height) {
        byte[] rgb = new byte[3 * width * height];
        new Random(7).nextBytes(rgb);
        return new Picture(width, height, rgb);
    }

    @Test
    void writtenBytesAreReadBackByOthers() throws IOException {
        Picture picture = noise(37, 21);
        Path path = folder.resolve("noise.png");
        Files.writeString(path, "an older file");
        Png.write(picture, path);

        BufferedImage image = ImageIO.read(path.toFile());
        assertThat(image.getWidth()).isEqualTo(37);
        assertThat(image.getHeight()).isEqualTo(21);
        for (int i = 0; i < 37 * 21; i++) {
            int expected = (picture.rgb()[3 * i] & 0xff) << 16
                    | (picture.rgb()[3 * i + 1] & 0xff) << 8
                    | picture.rgb()[3 * i + 2] & 0xff;
            assertThat(image.getRGB(i % 37, i / 37) & 0xffffff).isEqualTo(expected);
        }
        assertThat(names()).containsExactly("noise.png");
    }

    @Test
    void aNameMayBeAsLongAsAny() throws IOException {
        String longest = "x".repeat(251) + ".png";
        Png.write(noise(2, 2), folder.resolve(longest));
        assertThat(names()).containsExactly(longest);
    }

    @Test
    void aPictureThatCannotBeWrittenLeavesNothingBehind() throws IOException {
        Path taken = Files.createDirectories(folder.resolve("taken.png/inside")).getParent();
        assertThatThrownBy(() -> Png.write(noise(2, 2), taken)).isInstanceOf(IOException.class);
        assertThat(names()).containsExactly("taken.png");
    }

    @Test
    void whatIsNoRegularFileIsNotReplaced() throws IOException {
        Path path = folder.resolve("picture.png");
        try (ServerSocketChannel socket = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            socket.bind(UnixDomainSocketAddress.of(path)); // as /dev/null, which only root can lose
            assertThatThrownBy(() -> Png.write(noise(2, 2), path))
                    .hasMessageContaining("only a regular file is replaced");
            assertThat(Files.readAttributes(path, BasicFileAttributes.class).isOther())
                    .isTrue();
        }
        assertThat(names()).containsExactly("picture.png");
    }

    private Stream<String> names() throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.map(path -> path.getFileName().toString()).toList().stream();
        }
    }
}
