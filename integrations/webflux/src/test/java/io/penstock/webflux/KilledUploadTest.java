// SPDX-License-Identifier: Apache-2.0
package io.penstock.webflux;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Backend;
import io.penstock.Backends;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.DefaultDataBufferFactory;
import reactor.core.publisher.Flux;

/** A server that receives one file again and again, and is killed at any moment. */
@Tag("slow")
class KilledUploadTest {

    private static final int BYTES = 300_000;

    @TempDir
    Path folder;

    private static void receive(HttpFiles files, Path target, byte value) {
        byte[] bytes = new byte[BYTES / 3];
        Arrays.fill(bytes, value);
        Flux<DataBuffer> body = Flux.range(0, 3).map(i -> DefaultDataBufferFactory.sharedInstance.wrap(bytes));
        files.receive(body, target).block();
    }

    /** Receives until it is killed; prints a dot for each file. */
    static final class Receiving {
        private Receiving() {}

        public static void main(String[] arguments) {
            try (Backend host = Backends.open("host")) {
                for (int i = 0; ; i++) {
                    receive(new HttpFiles(host), Path.of(arguments[0]), (byte) i);
                    System.out.print('.');
                    System.out.flush();
                }
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"false", "true"})
    void theFileIsWholeAndTheNextUploadRemovesWhatIsLeft(String named) throws IOException, InterruptedException {
        Path target = folder.resolve("target");
        Random random = new Random();
        for (int kill = 0; kill < 6; kill++) {
            Process server = new ProcessBuilder(
                            Path.of(System.getProperty("java.home"), "bin", "java")
                                    .toString(),
                            "-XX:TieredStopAtLevel=1",
                            "-Djna.nosys=" + named, // without native access there are no files without a name
                            "-Djna.noclasspath=" + named,
                            "-cp",
                            System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
                            Receiving.class.getName(),
                            target.toString())
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            int files = 1 + random.nextInt(20);
            assertThat(server.getInputStream().readNBytes(files)).hasSize(files);
            server.destroyForcibly().waitFor();
            byte[] whole = new byte[BYTES];
            Arrays.fill(whole, Files.readAllBytes(target)[0]);
            assertThat(target).hasBinaryContent(whole);
            try (Backend host = Backends.open("host")) {
                receive(new HttpFiles(host), target, (byte) -1);
            }
            assertThat(folder.toFile().list()).containsExactly("target");
        }
    }
}
