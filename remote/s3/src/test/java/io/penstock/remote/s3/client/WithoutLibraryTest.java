// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.s3.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.remote.s3.S3Options;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.Exceptions;

/** A process whose temporary folder takes no library of the AWS Common Runtime, as one that is mounted noexec. */
@Tag("once")
class WithoutLibraryTest {

    private static final S3Options.Credentials[] BOTH = S3Options.Credentials.values();

    @Test
    void aLibraryThatCannotBeLoadedIsAnErrorOfStorageThatNamesTheRemedy(@TempDir Path folder) throws Exception {
        Path file = Files.createFile(folder.resolve("no-folder"));
        String output = OtherProcess.output(
                WithoutLibraryTest.class, environment -> {}, "-Daws.crt.lib.dir=" + file, "-Djava.io.tmpdir=" + file);
        for (int i = 0; i < BOTH.length; i++) {
            assertThat(output)
                    .containsSubsequence(
                            BOTH[i]
                                    + ": io.penstock.engine.spi.NativeException: opening s3://bucket/object failed: AWS Common Runtime -> not loaded",
                            "Invalid directory: " + file,
                            "set -Daws.crt.lib.dir or -Djava.io.tmpdir to a folder");
        }
        assertThat(output).doesNotContain("jvm fatal").doesNotContain("UnsatisfiedLinkError");
    }

    /** Opens an object to write it, signed and not. */
    public static void main(String[] arguments) {
        for (S3Options.Credentials credentials : BOTH) {
            Options options = Options.none()
                    .with(S3Options.ENDPOINT, "http://localhost:1")
                    .with("penstock.remote.attempts", "1")
                    .with(S3Options.CREDENTIALS, credentials);
            try (Backend backend = Backends.open("host", options)) {
                backend.openFile(S3Server.uri("object"), FileOption.WRITE, FileOption.CREATE, FileOption.TRUNCATE)
                        .block();
            } catch (RuntimeException e) {
                System.out.println(credentials + ": " + Exceptions.unwrap(e));
            }
        }
    }
}
