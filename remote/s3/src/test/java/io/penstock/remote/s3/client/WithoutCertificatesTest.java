// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.s3.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.Options;
import io.penstock.remote.s3.S3Options;
import io.penstock.tck.Require;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.Exceptions;

/** A process that sees no certificates of authorities, as in a container without them. */
@Tag("once")
class WithoutCertificatesTest {

    /** A namespace of mounts for one process, which ends with it. */
    private static final List<String> HIDDEN =
            List.of("unshare", "--mount", "sh", "-c", "mount -t tmpfs none /etc/ssl && exec \"$@\"", "sh");

    @TempDir
    Path folder;

    @Test
    void anObjectThatCannotBeSignedForIsAnErrorOfStorage() throws Exception {
        Require.backend("mount", run("true") == 0 ? null : "no mounts of one's own: " + output());
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        String classPath = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
        int status = run(java, "-XX:TieredStopAtLevel=1", "-cp", classPath, WithoutCertificatesTest.class.getName());
        assertThat(output())
                .contains("NativeException: opening s3://bucket/object failed: AWS Common Runtime -> "
                        + "AWS_IO_TLS_ERROR_DEFAULT_TRUST_STORE_NOT_FOUND (1173)")
                .contains("CA certificates must be installed");
        assertThat(status).isZero();
    }

    private int run(String... command) throws InterruptedException {
        List<String> all = new ArrayList<>(HIDDEN);
        all.addAll(List.of(command));
        try {
            return new ProcessBuilder(all)
                    .redirectErrorStream(true)
                    .redirectOutput(file())
                    .start()
                    .waitFor();
        } catch (IOException e) { // no such program
            return -1;
        }
    }

    private File file() {
        return folder.resolve("output").toFile();
    }

    private String output() throws IOException {
        return file().exists() ? Files.readString(file().toPath(), StandardCharsets.UTF_8) : "no unshare";
    }

    /** Opens an object. */
    public static void main(String[] arguments) {
        Options options = Options.none().with(S3Options.ENDPOINT, "http://localhost:1");
        try (Backend backend = Backends.open("host", options)) {
            backend.openFile(S3Server.uri("object")).block();
        } catch (RuntimeException e) {
            System.out.println(Exceptions.unwrap(e));
        }
    }
}
