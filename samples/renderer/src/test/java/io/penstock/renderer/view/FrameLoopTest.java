// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.view;

import static org.assertj.core.api.Assertions.assertThatCode;

import io.penstock.Availability;
import io.penstock.Backend;
import io.penstock.Option;
import io.penstock.Options;
import io.penstock.renderer.volume.NiftiFile;
import io.penstock.renderer.volume.Phantom;
import io.penstock.spi.BackendProvider;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.test.StepVerifier;

class FrameLoopTest {

    private static final Map<String, Object> FIELDS = Map.ofEntries(
            Map.entry("backend", Faulty.NAME),
            Map.entry("path", ""),
            Map.entry("view", "mip"),
            Map.entry("azimuth", 30),
            Map.entry("elevation", 15),
            Map.entry("side", 128),
            Map.entry("zoom", 1),
            Map.entry("level", 0.5),
            Map.entry("window", 1),
            Map.entry("budget", 200_000),
            Map.entry("chunk", 1 << 30),
            Map.entry("depth", 4));

    @TempDir
    Path folder;

    /** A backend with a bug. */
    public static final class Faulty implements BackendProvider {

        static final String NAME = "faulty";

        @Override
        public String name() {
            return NAME;
        }

        @Override
        public String description() {
            return "nothing";
        }

        @Override
        public int gpuOrder() {
            return Integer.MAX_VALUE;
        }

        @Override
        public List<Option<?>> options() {
            return List.of();
        }

        @Override
        public Availability probe(Options options) {
            return Availability.available(false, "", List.of());
        }

        @Override
        public Backend open(Options options) {
            throw new AssertionError("a bug");
        }
    }

    @Test
    void closingItTwiceIsClosingItOnce() throws IOException {
        Path file = folder.resolve("phantom.nii");
        Files.write(file, Phantom.noise(16, 16, 16).bytes());
        try (NiftiFile volume = NiftiFile.open(file, (into, done, total) -> {})) {
            FrameLoop loop = new FrameLoop(volume);
            loop.close();
            assertThatCode(loop::close).doesNotThrowAnyException();
        }
    }

    @Test
    void anErrorOfABackendIsAnAnswerToo() throws IOException {
        Path services = Files.createDirectories(folder.resolve("META-INF/services"));
        Files.writeString(services.resolve(BackendProvider.class.getName()), Faulty.class.getName());
        Path file = folder.resolve("phantom.nii");
        Files.write(file, Phantom.noise(16, 16, 16).bytes());
        String query = FIELDS.entrySet().stream()
                .map(field -> field.getKey() + "=" + field.getValue())
                .collect(Collectors.joining("&"));
        ClassLoader before = Thread.currentThread().getContextClassLoader();
        try (URLClassLoader faulty =
                        new URLClassLoader(new URL[] {folder.toUri().toURL()}, before);
                NiftiFile volume = NiftiFile.open(file, (into, done, total) -> {});
                FrameLoop loop = new FrameLoop(volume)) {
            Thread.currentThread().setContextClassLoader(faulty); // the loop's thread inherits it
            StepVerifier.create(loop.draw(new Viewer(), FrameRequest.parse(query, Long.MAX_VALUE)))
                    .expectErrorMessage("a bug")
                    .verify(Duration.ofSeconds(20));
        } finally {
            Thread.currentThread().setContextClassLoader(before);
        }
    }
}
