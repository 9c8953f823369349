// SPDX-License-Identifier: Apache-2.0
package io.penstock.readme;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.samples.HostProbe;
import io.penstock.tck.LeakProbe;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Random;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import java.util.zip.CRC32;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Compiles and runs the Java blocks of README.md as they are, to the end and cancelled, and looks for leaks. */
class ReadmeTest {

    private static final Path README =
            Path.of(System.getProperty("basedir", "")).toAbsolutePath().resolve("../../README.md");
    private static final int CHUNK = 8 << 20; // of the sample
    private static final int BYTES = 2 * CHUNK + 12_345;

    @TempDir
    Path directory;

    private Path data;
    private long sum;

    /** The blocks that stream chunks to a renderer. */
    static Stream<String> streams() throws IOException {
        return blocks().filter(block -> block.contains("renderer"));
    }

    /** The blocks that load a model. */
    static Stream<String> loads() throws IOException {
        return blocks().filter(block -> !block.contains("renderer"));
    }

    private static Stream<String> blocks() throws IOException {
        return Pattern.compile("^```java\n(.*?)^```$", Pattern.DOTALL | Pattern.MULTILINE)
                .matcher(Files.readString(README))
                .results()
                .map((MatchResult block) -> block.group(1));
    }

    @BeforeEach
    void write() throws IOException {
        byte[] bytes = new byte[BYTES];
        new Random(1).nextBytes(bytes);
        data = Files.write(directory.resolve("data"), bytes);
        CRC32 crc = new CRC32();
        crc.update(bytes);
        sum = crc.getValue();
    }

    @Test
    void theReadmeHasSamples() throws IOException {
        assertThat(streams()).isNotEmpty();
        assertThat(loads()).isNotEmpty();
    }

    @ParameterizedTest
    @MethodSource("streams")
    void everySampleRunsToItsEndAndLeavesNothing(String block) throws Exception {
        Sample sample = CompiledSample.of(block, directory);
        LeakProbe probe = HostProbe.of(directory);
        Map<String, Long> before = warmUp(probe);
        try (Renderer renderer = new Renderer(3, null)) {
            sample.run(data, renderer);
            assertThat(renderer.frames()).isEqualTo(3);
            assertThat(renderer.sum())
                    .as("of the bytes that the device has read")
                    .isEqualTo(sum);
        }
        probe.awaitNoMoreThan(before, Duration.ofSeconds(20));
    }

    @ParameterizedTest
    @MethodSource("streams")
    void everySampleCanBeCancelledInTheMiddleAndLeavesNothing(String block) throws Exception {
        Sample sample = CompiledSample.of(block, directory);
        LeakProbe probe = HostProbe.of(directory);
        Map<String, Long> before = warmUp(probe);
        Thread caller = Thread.currentThread();
        // An interrupt is how a blocking caller cancels: Reactor then cancels the stream.
        try (Renderer renderer = new Renderer(3, caller::interrupt)) {
            assertThatThrownBy(() -> sample.run(data, renderer)).hasRootCauseInstanceOf(InterruptedException.class);
            assertThat(renderer.frames()).isLessThanOrEqualTo(3);
            renderer.sum(); // throws what the device met
        } finally {
            Thread.interrupted(); // the sample is over, and the interrupt was for it
        }
        probe.awaitNoMoreThan(before, Duration.ofSeconds(20));
    }

    @ParameterizedTest
    @MethodSource("loads")
    void everyLoadRunsToItsEndAndLeavesNothing(String block) throws Exception {
        byte[] header = "{\"lm_head.weight\":{\"dtype\":\"BF16\",\"shape\":[3,500],\"data_offsets\":[0,3000]}}"
                .getBytes(StandardCharsets.UTF_8);
        ByteBuffer bytes = ByteBuffer.allocate(8 + header.length + 3000).order(ByteOrder.LITTLE_ENDIAN);
        Files.write(data, bytes.putLong(header.length).put(header).array());
        Sample sample = CompiledSample.of(block, directory);
        LeakProbe probe = HostProbe.of(directory);
        Map<String, Long> before = warmUp(probe);
        try (Renderer renderer = new Renderer(3, null)) {
            sample.run(data, renderer);
        }
        probe.awaitNoMoreThan(before, Duration.ofSeconds(20));
    }

    /** What a process keeps once a backend was open is no leak of the sample. */
    private static Map<String, Long> warmUp(LeakProbe probe) {
        try (Backend backend = Backends.open()) {
            assertThat(backend.name()).isEqualTo("host");
        }
        return probe.count();
    }
}
