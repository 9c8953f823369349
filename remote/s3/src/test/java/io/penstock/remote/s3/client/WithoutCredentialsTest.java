// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.s3.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.Options;
import io.penstock.remote.s3.S3Options;
import java.net.URI;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** A process that has no credentials: nothing in its environment, no profile, no instance that could lend some. */
@Tag("once")
@ExtendWith(Certificates.class)
class WithoutCredentialsTest {

    private static final String OBJECT = "s3://models/folder/llm.bin";

    @TempDir
    Path home;

    @Test
    void theObjectAndTheRemedyAreNamed() throws Exception {
        String output = OtherProcess.output(WithoutCredentialsTest.class, environment -> {
            environment.keySet().removeIf(name -> name.startsWith("AWS_"));
            environment.put("HOME", home.toString());
            environment.put("AWS_EC2_METADATA_DISABLED", "true");
        });
        assertThat(output)
                .contains("signing a request of " + OBJECT + " failed: ")
                .contains("AWS_AUTH_SIGNING_NO_CREDENTIALS")
                .contains("set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY or a profile, or for public objects"
                        + " penstock.s3.credentials=none");
    }

    /** Opens an object, and prints why that fails. */
    public static void main(String[] arguments) {
        try (Backend backend = Backends.open("host", Options.none().with(S3Options.ENDPOINT, "http://127.0.0.1:1"))) {
            backend.openFile(URI.create(OBJECT)).block();
        } catch (RuntimeException e) {
            System.out.println(e.getMessage());
        }
    }
}
