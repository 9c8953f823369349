// SPDX-License-Identifier: Apache-2.0
import java.awt.image.BufferedImage;
import java.io.File;
import javax.imageio.ImageIO;

/** Says by how many grey levels two pictures differ, and where they do. {@code java ComparePictures.java PNG PNG}. */
final class ComparePictures {

    private ComparePictures() {}

    public static void main(String[] args) throws Exception {
        System.setProperty("java.awt.headless", "true");
        BufferedImage one = ImageIO.read(new File(args[0]));
        BufferedImage other = ImageIO.read(new File(args[1]));
        if (one.getWidth() != other.getWidth() || one.getHeight() != other.getHeight()) {
            System.out.println("of different sizes");
            System.exit(1);
        }
        int most = 0;
        long differ = 0;
        for (int y = 0; y < one.getHeight(); y++) {
            for (int x = 0; x < one.getWidth(); x++) {
                for (int shift = 0; shift <= 16; shift += 8) {
                    int apart = Math.abs((one.getRGB(x, y) >> shift & 255) - (other.getRGB(x, y) >> shift & 255));
                    most = Math.max(most, apart);
                    differ += apart > 0 ? 1 : 0;
                }
            }
        }
        double percent = 100.0 * differ / (3L * one.getWidth() * one.getHeight());
        System.out.printf("at most %d grey levels; %.4f %% of the values differ%n", most, percent);
    }
}
