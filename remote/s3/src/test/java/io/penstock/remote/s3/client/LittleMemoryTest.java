// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.s3.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.DeviceBuffer;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.remote.s3.S3Options;
import java.io.File;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** Uploads in a process that has less direct memory than they need. */
@Tag("once")
@ExtendWith(Certificates.class)
class LittleMemoryTest {

    @TempDir
    Path folder;

    @Test
    void aPartWithoutMemoryFailsItsWriteAndNothingElse() throws Exception {
        S3Server server = new S3Server(true);
        File output = folder.resolve("output").toFile();
        Path local = Files.writeString(folder.resolve("local"), "local");
        try {
            int status = new ProcessBuilder(
                            Path.of(System.getProperty("java.home"), "bin", "java")
                                    .toString(),
                            "-XX:TieredStopAtLevel=1",
                            "-XX:MaxDirectMemorySize=20m",
                            "-cp",
                            System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
                            LittleMemoryTest.class.getName(),
                            server.proxy.uri().toString(),
                            local.toString())
                    .redirectErrorStream(true)
                    .redirectOutput(output)
                    .start()
                    .waitFor();
            assertThat(output)
                    .content(StandardCharsets.UTF_8)
                    .contains("TransientStorageException", "penstock.s3.part-bytes", "read 5")
                    .doesNotContain("DeviceLostException");
            assertThat(status).isZero();
        } finally {
            server.stop();
        }
    }

    /** Collects more parts than there is memory for, and then reads a file. */
    public static void main(String[] arguments) {
        Options options = Options.none().with(S3Options.ENDPOINT, arguments[0]).with("penstock.close-timeout", "2s");
        try (Backend backend = Backends.open("host", options);
                DeviceBuffer buffer =
                        Objects.requireNonNull(backend.allocate(1000).block());
                StorageFile object = Objects.requireNonNull(backend.openFile(
                                S3Server.uri("object"), FileOption.WRITE, FileOption.CREATE, FileOption.TRUNCATE)
                        .block())) {
            long part = options.get(S3Options.PART_BYTES);
            for (int i = 0; i < 2; i++) { // which wait for the rest of their parts
                backend.submit(Transfer.write(buffer.all(), object.region(i * part, 1000)))
                        .subscribe();
            }
            try {
                backend.submit(Transfer.write(buffer.all(), object.region(2 * part, 1000)))
                        .block();
            } catch (RuntimeException e) {
                System.out.println(e);
            }
            System.out.println("read "
                    + backend.withFile(
                                    Path.of(arguments[1]),
                                    FileOption.READ,
                                    file -> backend.submit(Transfer.read(file.region(0, 1000), buffer.all())))
                            .block()
                            .bytes());
        }
    }
}
