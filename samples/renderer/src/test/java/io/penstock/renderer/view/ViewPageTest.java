// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.view;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Backends;
import io.penstock.renderer.volume.Phantom;
import io.penstock.renderer.volume.VoxelType;
import io.penstock.tck.Require;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.openqa.selenium.Keys;
import org.openqa.selenium.WebElement;
import org.openqa.selenium.interactions.Actions;

/** The page in a browser. One browser for one story: to start it takes longer than all of that. */
@Tag("slow")
class ViewPageTest {

    @TempDir
    Path folder;

    private Chromium chromium;
    private Shown shown;

    @BeforeEach
    void open() throws IOException {
        chromium = new Chromium();
        shown = new Shown(
                folder,
                Phantom.ball(VoxelType.UINT8, ByteOrder.LITTLE_ENDIAN, 64, 48, 40)
                        .spacing(1, 1.5, 1));
        chromium.look(1280, 900, false);
        chromium.driver.get("http://127.0.0.1:" + shown.port() + "/");
    }

    @AfterEach
    void close() {
        if (chromium == null) {
            return; // there is none
        }
        chromium.close();
        shown.assertNothingIsLeft();
        shown.close();
    }

    @Test
    @Timeout(240) // on a machine that has something else to do: it takes a few seconds
    void theVolumeTurnsBackendsChangeErrorsAreExplainedAndTheConnectionComesBack() throws IOException {
        String first = chromium.picture();
        String turned = dragged(first);
        viewsAndKeysChange(turned);
        twoFingersZoom();
        absentBackendsAreExplained();
        aBackendIsSwitched();
        itIsReadable();
        assertThat(chromium.console()).as("console").isEmpty();
        anErrorIsExplained();
        itReconnects();
        theVolumeOfTheNextServerIsShownWithinABudgetThatSuffices();
        aPageThatIsLeftHasNoSocketUntilItIsShownAgain();
        aPageThatGetsNoSocketIsToldWhy();
    }

    private String dragged(String first) throws IOException {
        new Actions(chromium.driver)
                .moveToElement(chromium.find("#canvas"))
                .clickAndHold()
                .moveByOffset(80, 20)
                .release()
                .perform();
        String turned = chromium.picture();
        assertThat(turned).as("after a drag").isNotEqualTo(first);
        assertThat(chromium.find("#at-camera").getText()).doesNotContain("30° around");
        return turned;
    }

    private void viewsAndKeysChange(String turned) throws IOException {
        WebElement stage = chromium.find("#stage");
        stage.sendKeys(Keys.ARROW_LEFT);
        String byKey = chromium.picture();
        assertThat(byKey).as("after a key").isNotEqualTo(turned);
        stage.sendKeys("+");
        assertThat(chromium.find("#at-window").getText()).contains("Zoom 1.10 ×");
        chromium.find("#level").sendKeys(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT);
        assertThat(chromium.find("#at-window").getText()).contains("Level 52 %");
        chromium.find("input[value=z]").sendKeys(Keys.SPACE);
        assertThat(chromium.picture()).as("from above").isNotEqualTo(byKey);
        assertThat(chromium.find("#turn").isEnabled()).as("along an axis").isFalse();
        chromium.find("input[value=shaded]").sendKeys(Keys.SPACE);
        chromium.find("#reset").click();
        assertThat(chromium.find("#at-window").getText()).isEqualTo("Level 50 %, window 100 %\nZoom 1.00 ×");
    }

    private void absentBackendsAreExplained() {
        WebElement folded = chromium.find("#absent summary");
        assertThat(folded.getText()).isEqualTo(absent() + " not usable here");
        assertThat(chromium.find("#absent label").isDisplayed()).as("folded").isFalse();
        folded.click();
        Backends.list().forEach(listing -> {
            WebElement choice = chromium.find("#backends input[value=" + listing.name() + "]");
            assertThat(choice.isEnabled())
                    .as(listing.name())
                    .isEqualTo(listing.availability().available());
            String text = chromium.find("#backends label:has(input[value=" + listing.name() + "])")
                    .getText();
            assertThat(text)
                    .contains(listing.name(), listing.availability().reason())
                    .contains(listing.availability().remedy());
        });
        assertThat(absent()).as("Direct3D at least").isPositive();
    }

    private static long absent() {
        return Backends.list().stream()
                .filter(listing -> !listing.availability().available())
                .count();
    }

    /** Two fingers that part zoom; what one of them does then turns nothing. */
    private void twoFingersZoom() {
        chromium.driver.executeScript("""
                const stage = document.getElementById('stage');
                const at = (type, pointerId, clientX) => stage.dispatchEvent(new PointerEvent(type,
                  {pointerId, clientX, clientY: 300, pointerType: 'touch', bubbles: true}));
                at('pointerdown', 71, 300);
                at('pointerdown', 72, 400);
                at('pointermove', 71, 250);
                at('pointermove', 72, 450);
                at('pointerup', 71, 250);
                at('pointermove', 71, 100);
                at('pointerup', 72, 450);
                """);
        assertThat(chromium.find("#at-window").getText()).contains("Level 50 %", "Zoom 2.00 ×");
        assertThat(chromium.find("#at-camera").getText()).contains("30° around");
        assertThat(chromium.value("document.getElementById('stage').classList.contains('dragging')"))
                .as("after both are up")
                .isEqualTo(false);
        chromium.find("#reset").click();
    }

    private void aBackendIsSwitched() throws IOException {
        Backends.list().stream()
                .filter(listing -> listing.name().equals("opencl-ssg"))
                .forEach(listing -> Require.backend("opencl", listing.availability()));
        chromium.find("#backends input[value=opencl-ssg]").click();
        chromium.find("#path").sendKeys("staged");
        chromium.find("#depth").sendKeys(Keys.ARROW_LEFT);
        Shown.await(() -> chromium.find("#plan").getText().contains("3 in memory, by path STAGED"));
        chromium.picture();
        Shown.await(() -> chromium.find("#queues").getText().matches("Queue 1: \\d+ buffers, \\d+ busy now"));
        assertThat(chromium.find("#states").getText()).contains("waiting for a fence");
        Shown.await(() -> !chromium.find("#rate b").getText().equals("0"));
        chromium.find("#backends input[value=host]").click();
        Shown.await(() -> chromium.find("#plan").getText().contains("by path HOST"));
    }

    private void itIsReadable() {
        for (boolean dark : new boolean[] {false, true}) {
            chromium.look(400, 900, dark);
            assertFits();
            assertThat(chromium.value("getComputedStyle(document.body).backgroundColor"))
                    .isEqualTo(dark ? "rgb(14, 17, 21)" : "rgb(243, 245, 247)");
        }
        chromium.look(1280, 900, false);
        assertFits();
    }

    private void assertFits() {
        assertThat(chromium.value("document.documentElement.scrollWidth"))
                .as("no scrolling sideways")
                .isEqualTo(chromium.value("document.documentElement.clientWidth"));
    }

    private void anErrorIsExplained() throws IOException {
        try (FileChannel volume = FileChannel.open(shown.file, StandardOpenOption.WRITE)) {
            volume.truncate(50_000);
            Shown.await(() -> chromium.find("#error").isDisplayed());
            assertThat(chromium.find("#error p").getText()).contains("the volume was truncated while it was read");
            volume.write(ByteBuffer.allocate(100_000), 50_000); // what is missing is dark
        }
        chromium.find("#again").click();
        chromium.picture();
        assertThat(chromium.find("#error").isDisplayed()).isFalse();
    }

    private void itReconnects() throws IOException {
        assertThat(chromium.find("body").getAttribute("class")).isEmpty();
        shown.restart(() -> {
            Shown.await(() -> chromium.find("#connection").getText().equals("connection lost, trying again"));
            assertThat(chromium.find("body").getAttribute("class")).isEqualTo("stale");
            assertThat(chromium.find("#since").getText()).startsWith("stopped at ");
        });
        chromium.picture();
        Shown.await(() -> chromium.find("#connection").getText().equals("connected"));
        assertThat(chromium.find("body").getAttribute("class")).isEmpty();
        assertThat(chromium.find("#since").getText()).isEqualTo("last 30 s");
    }

    private void theVolumeOfTheNextServerIsShownWithinABudgetThatSuffices() throws IOException {
        int port = shown.port();
        shown.close();
        shown = new Shown(
                Files.createDirectory(folder.resolve("next")),
                Phantom.ball(VoxelType.UINT8, ByteOrder.LITTLE_ENDIAN, 64, 64, 64),
                port,
                2000);
        Shown.await(() -> chromium.find("#volume").getText().contains("64 × 64 × 64"));
        chromium.picture();
        assertThat(chromium.find("#error").isDisplayed()).isFalse();
    }

    private void aPageThatIsLeftHasNoSocketUntilItIsShownAgain() throws IOException {
        chromium.driver.get("about:blank");
        Shown.await(() -> shown.server.viewers() == 0);
        chromium.driver.navigate().back();
        chromium.picture();
        assertThat(chromium.find("#connection").getText()).isEqualTo("connected");
    }

    private void aPageThatGetsNoSocketIsToldWhy() {
        chromium.driver.get("http://view.localhost:" + shown.port() + "/");
        Shown.await(() -> chromium.find("#error p")
                .getText()
                .endsWith("start it with --origin http://view.localhost:" + shown.port()));
        List<Page> pages = new ArrayList<>();
        Shown.await(() -> shown.server.viewers() == 0);
        for (int i = 0; i < 16; i++) {
            pages.add(shown.connect());
        }
        chromium.driver.get("http://127.0.0.1:" + shown.port() + "/");
        Shown.await(() -> chromium.find("#error p").getText().equals("The server has as many pages as it takes, 16."));
        pages.forEach(Page::close);
        Shown.await(() -> chromium.find("#connection").getText().equals("connected"));
        assertThat(chromium.find("#error").isDisplayed()).isFalse();
    }
}
