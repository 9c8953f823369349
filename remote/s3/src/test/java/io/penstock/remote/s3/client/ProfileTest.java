// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.s3.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.StorageFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** Credentials in a profile, as AWS's tools keep them. */
@Tag("once")
@ExtendWith(Certificates.class)
class ProfileTest {

    @TempDir
    Path home;

    @Test
    void anObjectIsReadWithTheCredentialsOfAProfile() throws Exception {
        Path folder = Files.createDirectory(home.resolve(".aws"));
        Files.writeString(folder.resolve("credentials"), """
                [default]
                aws_access_key_id = nobody
                aws_secret_access_key = nothing
                [work]
                aws_access_key_id = %s
                aws_secret_access_key = %s
                """.formatted(
                        System.getenv("AWS_ACCESS_KEY_ID"), System.getenv("AWS_SECRET_ACCESS_KEY")));
        S3Server server = new S3Server(true);
        try {
            server.put("object", new byte[1000]);
            String output = OtherProcess.output(
                    ProfileTest.class,
                    environment -> {
                        environment.keySet().removeIf(name -> name.startsWith("AWS_"));
                        environment.put("HOME", home.toString());
                        environment.put("AWS_PROFILE", "work");
                    },
                    "-Dpenstock.s3.endpoint=" + server.proxy.uri());
            assertThat(output).contains("1000 bytes");
        } finally {
            server.stop();
        }
    }

    /** Opens an object, and prints its length. */
    public static void main(String[] arguments) {
        try (Backend backend = Backends.open("host");
                StorageFile object = Objects.requireNonNull(
                        backend.openFile(S3Server.uri("object")).block())) {
            System.out.println(object.size() + " bytes");
        }
    }
}
