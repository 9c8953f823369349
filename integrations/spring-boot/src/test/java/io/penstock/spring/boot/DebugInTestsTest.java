// SPDX-License-Identifier: Apache-2.0
package io.penstock.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Backend;
import io.penstock.Chunk;
import io.penstock.HostView;
import io.penstock.StreamPlan;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.test.context.ContextConfiguration;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;
import org.springframework.test.context.TestContextManager;
import reactor.core.publisher.Mono;

/** The common mistakes are loud in an application's tests. */
class DebugInTestsTest {

    @ContextConfiguration(classes = PenstockAutoConfiguration.class)
    static class OfSpring {}

    @SpringBootTest(classes = PenstockAutoConfiguration.class)
    static class OfBoot {}

    @SpringBootTest(classes = PenstockAutoConfiguration.class, properties = "penstock.debug=false")
    static class SwitchedOff {}

    @SpringBootTest(classes = PenstockAutoConfiguration.class)
    static class SwitchedOffByFile {

        @DynamicPropertySource
        static void file(DynamicPropertyRegistry properties) {
            properties.add("penstock.config", () -> config);
        }
    }

    private static Path config;

    @TempDir
    Path folder;

    /** Keeps the window of a chunk beyond its lease, which is a mistake, and returns its first byte. */
    private byte afterTheLease(Backend backend) throws Exception {
        Path file = Files.writeString(folder.resolve("file"), "a");
        ByteBuffer window = backend.stream(StreamPlan.of(file), chunk -> Mono.fromSupplier(() -> window(chunk)))
                .blockLast();
        return window.get(0);
    }

    private static ByteBuffer window(Chunk chunk) {
        HostView view = chunk.view();
        return view.buffer(0, 1);
    }

    /** Not by JUnit's extension: that is for the next version of JUnit. */
    private static Backend backend(Class<?> test) {
        return new TestContextManager(test)
                .getTestContext()
                .getApplicationContext()
                .getBean(Backend.class);
    }

    @ParameterizedTest
    @ValueSource(classes = {OfSpring.class, OfBoot.class})
    void aWindowThatIsKeptBeyondItsLeaseHasPoison(Class<?> test) throws Exception {
        assertThat(afterTheLease(backend(test))).isEqualTo((byte) 0xDB);
    }

    @Test
    void aTestMaySwitchItOff() throws Exception {
        assertThat(afterTheLease(backend(SwitchedOff.class))).isEqualTo((byte) 'a');
    }

    @Test
    void soMayTheFileThatPenstockConfigNames(@TempDir Path configs) throws Exception {
        config = Files.writeString(configs.resolve("penstock.properties"), "penstock.debug=false");
        assertThat(afterTheLease(backend(SwitchedOffByFile.class))).isEqualTo((byte) 'a');
    }
}
