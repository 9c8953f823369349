// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.view;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.tck.Require;
import java.awt.image.BufferedImage;
import java.io.ByteArrayInputStream;
import java.io.File;
import java.io.IOException;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.logging.Level;
import java.util.logging.Logger;
import javax.imageio.ImageIO;
import org.openqa.selenium.By;
import org.openqa.selenium.WebElement;
import org.openqa.selenium.chrome.ChromeDriver;
import org.openqa.selenium.chrome.ChromeOptions;
import org.openqa.selenium.logging.LogEntry;
import org.openqa.selenium.logging.LogType;
import org.openqa.selenium.logging.LoggingPreferences;

/** Debian's Chromium, without a screen. */
final class Chromium implements AutoCloseable {

    private static final File BROWSER = new File("/usr/bin/chromium");
    private static final File DRIVER = new File("/usr/bin/chromedriver");

    /** It warns of a browser that is newer than itself. */
    private static final Logger SELENIUM = Logger.getLogger("org.openqa.selenium");

    final ChromeDriver driver;

    /** Starts it, or skips the test with the reason. */
    Chromium() {
        Require.backend(
                "chromium",
                BROWSER.canExecute() && DRIVER.canExecute() ? null : "no " + BROWSER + " and " + DRIVER + " here");
        SELENIUM.setLevel(Level.SEVERE);
        LoggingPreferences logs = new LoggingPreferences();
        logs.enable(LogType.BROWSER, Level.ALL);
        ChromeOptions options = new ChromeOptions();
        options.setBinary(BROWSER);
        options.addArguments("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage");
        options.setCapability("goog:loggingPrefs", logs);
        System.setProperty("webdriver.chrome.driver", DRIVER.getPath());
        driver = new ChromeDriver(options);
    }

    /** Sets the width of the window, and whether it prefers dark colours. */
    void look(int width, int height, boolean dark) {
        driver.executeCdpCommand(
                "Emulation.setDeviceMetricsOverride",
                Map.of("width", width, "height", height, "deviceScaleFactor", 1, "mobile", false));
        Map<String, String> colours = Map.of("name", "prefers-color-scheme", "value", dark ? "dark" : "light");
        driver.executeCdpCommand("Emulation.setEmulatedMedia", Map.of("features", List.of(colours)));
    }

    WebElement find(String selector) {
        return driver.findElement(By.cssSelector(selector));
    }

    /** Returns the value of an expression on the page. */
    Object value(String expression) {
        Object value = driver.executeScript("return " + expression);
        return value == null ? "null" : value;
    }

    /** Returns the text of the console. */
    List<String> console() {
        return driver.manage().logs().get(LogType.BROWSER).getAll().stream()
                .map(LogEntry::toString)
                .toList();
    }

    /**
     * Returns the picture, once it has been drawn with all that was asked for before this call, and asserts that it has
     * dark and bright pixels.
     */
    String picture() throws IOException {
        long before = frames();
        // Of two frames the second was asked for after the first had come.
        Shown.await(() -> frames() >= before + 2);
        String url = String.valueOf(value("document.getElementById('canvas').toDataURL()"));
        byte[] png = Base64.getDecoder().decode(url.substring(url.indexOf(',') + 1));
        BufferedImage image = ImageIO.read(new ByteArrayInputStream(png));
        int darkest = 255;
        int brightest = 0;
        for (int y = 0; y < image.getHeight(); y++) {
            for (int x = 0; x < image.getWidth(); x++) {
                int green = image.getRGB(x, y) >> 8 & 0xff;
                darkest = Math.min(darkest, green);
                brightest = Math.max(brightest, green);
            }
        }
        assertThat(brightest - darkest)
                .as("levels between the darkest and the brightest pixel")
                .isGreaterThan(100);
        return url;
    }

    private long frames() {
        return ((Number) value("Number(document.getElementById('canvas').dataset.frames || 0)")).longValue();
    }

    @Override
    public void close() {
        driver.quit();
    }
}
