// SPDX-License-Identifier: Apache-2.0
import java.awt.image.BufferedImage;
import java.io.File;
import javax.imageio.ImageIO;

/**
 * Says whether a picture shows a head on a dark ground; exit code 1 and the reason if not.
 * {@code java CheckHead.java PNG}.
 */
final class CheckHead {

    private static final int SIDE = 512;
    private static final int MARGIN = 4;
    private static final int DARK = 64;
    /** How much brighter than the ground beside it a pixel of the head is, of 255. */
    private static final int CONTRAST = 20;

    private final int[][] light = new int[SIDE][SIDE];
    private final boolean[][] head = new boolean[SIDE][SIDE];

    private CheckHead(BufferedImage picture) {
        for (int y = 0; y < SIDE; y++) {
            for (int x = 0; x < SIDE; x++) {
                int rgb = picture.getRGB(x, y);
                light[y][x] = (3 * (rgb >> 16 & 255) + 6 * (rgb >> 8 & 255) + (rgb & 255)) / 10;
            }
        }
        for (int y = 0; y < SIDE; y++) {
            // The ground may have a gradient: each row is compared with its own ends.
            int ground = Math.min(light[y][0], light[y][SIDE - 1]);
            for (int x = 0; x < SIDE; x++) {
                head[y][x] = light[y][x] > ground + CONTRAST;
            }
        }
    }

    public static void main(String[] args) throws Exception {
        System.setProperty("java.awt.headless", "true");
        BufferedImage picture = ImageIO.read(new File(args[0]));
        require(picture != null, "not a picture");
        require(
                picture.getWidth() == SIDE && picture.getHeight() == SIDE,
                picture.getWidth() + "x" + picture.getHeight() + ", not " + SIDE + "x" + SIDE);
        new CheckHead(picture).check();
    }

    private void check() {
        int bright = brightestOfBorder();
        require(bright < DARK, "the border is not background: " + bright);
        long centre = meanOfCentre();
        require(centre > DARK, "the centre is dark: " + centre);
        long pixels = 0;
        long sumX = 0;
        for (int y = 0; y < SIDE; y++) {
            for (int x = 0; x < SIDE; x++) {
                if (head[y][x]) {
                    pixels++;
                    sumX += x;
                }
            }
        }
        long percent = 100 * pixels / (SIDE * SIDE);
        require(percent >= 20 && percent <= 70, "the silhouette covers " + percent + " %, not 20 to 70");
        long symmetric = symmetryPercent((int) (2 * sumX / pixels));
        require(symmetric >= 75, "the silhouette is " + symmetric + " % symmetric, not 75");
        System.out.println("a head: " + percent + " % of the picture, " + symmetric + " % symmetric");
    }

    private int brightestOfBorder() {
        int brightest = 0;
        for (int i = 0; i < SIDE; i++) {
            for (int j = 0; j < MARGIN; j++) {
                brightest = Math.max(brightest, Math.max(light[i][j], light[i][SIDE - 1 - j]));
                // The neck may leave the picture at the bottom.
                brightest = Math.max(brightest, light[j][i]);
            }
        }
        return brightest;
    }

    private long meanOfCentre() {
        long sum = 0;
        int half = SIDE / 8;
        for (int y = SIDE / 2 - half; y < SIDE / 2 + half; y++) {
            for (int x = SIDE / 2 - half; x < SIDE / 2 + half; x++) {
                sum += light[y][x];
            }
        }
        return sum / (4L * half * half);
    }

    /** Returns how much of silhouette and mirror image, folded at {@code twiceAxis / 2}, they have in common. */
    private long symmetryPercent(int twiceAxis) {
        long both = 0;
        long either = 0;
        for (int y = 0; y < SIDE; y++) {
            for (int x = 0; x < SIDE; x++) {
                int mirrored = twiceAxis - x;
                boolean there = mirrored >= 0 && mirrored < SIDE && head[y][mirrored];
                both += head[y][x] && there ? 1 : 0;
                either += head[y][x] || there ? 1 : 0;
            }
        }
        return 100 * both / Math.max(1, either);
    }

    private static void require(boolean condition, String otherwise) {
        if (!condition) {
            System.err.println("not a head: " + otherwise);
            System.exit(1);
        }
    }
}
