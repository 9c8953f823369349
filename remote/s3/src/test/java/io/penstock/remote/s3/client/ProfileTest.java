// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.s3.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.StorageFile;
import io.penstock.tck.Require;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.gaul.s3proxy.S3Proxy;
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

    /** As in a pod of Kubernetes: a token in a file is exchanged for credentials, at AWS's name for that. */
    @Test
    void anObjectIsReadWithCredentialsThatATokenIsExchangedFor() throws Exception {
        Path token = Files.writeString(home.resolve("token"), "token-of-the-pod");
        Path hosts = Files.writeString(
                home.resolve("hosts"),
                "127.0.0.1 localhost\n" + TokenService.ADDRESS + " sts.eu-north-1.amazonaws.com\n");
        List<String> named =
                List.of("unshare", "--mount", "sh", "-c", "mount --bind " + hosts + " /etc/hosts && exec \"$@\"", "sh");
        Require.backend("mount", runs(named) ? null : "no mounts of one's own");
        S3Server server = new S3Server(true, S3Proxy.builder().ignoreUnknownHeaders(true));
        try (TokenService service = new TokenService(home)) {
            server.put("object", new byte[1000]);
            String output = OtherProcess.output(
                    named,
                    ProfileTest.class,
                    environment -> {
                        environment.keySet().removeIf(name -> name.startsWith("AWS_"));
                        environment.put("HOME", home.toString());
                        environment.put("AWS_REGION", "eu-north-1");
                        environment.put("AWS_WEB_IDENTITY_TOKEN_FILE", token.toString());
                        environment.put("AWS_ROLE_ARN", "arn:aws:iam::1:role/reader");
                        environment.put("SSL_CERT_FILE", service.certificate().toString());
                    },
                    "-Dpenstock.s3.endpoint=" + server.proxy.uri());
            assertThat(output).contains("1000 bytes");
            assertThat(service.requests)
                    .isNotEmpty()
                    .allSatisfy(request -> assertThat(request)
                            .contains("AssumeRoleWithWebIdentity", "token-of-the-pod", "role%2Freader"));
        } finally {
            server.stop();
        }
    }

    private static boolean runs(List<String> by) throws InterruptedException {
        List<String> command = new ArrayList<>(by);
        command.add("true");
        try {
            return new ProcessBuilder(command).start().waitFor() == 0;
        } catch (IOException e) { // no such program
            return false;
        }
    }

    @Test
    void theRegionIsTheProfilesUnlessTheEnvironmentHasOne() throws Exception {
        Path folder = Files.createDirectory(home.resolve(".aws"));
        Files.writeString(folder.resolve("config"), """
                # region = commented
                [default]
                region = us-west-1
                [profile work] ; at work
                s3 =
                  region = of-s3
                output = json
                region=eu-north-1 # the nearest
                [profile other]
                """);
        Files.writeString(folder.resolve("credentials"), "[other]\nregion = ap-south-1\n");
        String none = home.resolve("none").toString();
        assertThat(Profile.region(Map.of(), home.toString())).isEqualTo("us-west-1");
        Map<String, String> there = Map.of("HOME", home.toString());
        assertThat(Profile.region(there, none)).isEqualTo("us-west-1");
        Map<String, String> work = Map.of("AWS_PROFILE", "work", "HOME", home.toString());
        assertThat(Profile.region(work, none)).isEqualTo("eu-north-1");
        assertThat(Profile.region(Map.of("AWS_PROFILE", "other"), home.toString()))
                .isEqualTo("ap-south-1");
        assertThat(Profile.region(Map.of("AWS_PROFILE", "absent"), home.toString()))
                .isEmpty();
        String config = folder.resolve("config").toString();
        assertThat(Profile.region(Map.of("AWS_CONFIG_FILE", config), none)).isEqualTo("us-west-1");
        assertThat(Profile.region(Map.of(), none)).isEmpty();
    }

    @Test
    void requestsAreSignedForTheRegionOfTheProfile() throws Exception {
        Path folder = Files.createDirectory(home.resolve(".aws"));
        Files.writeString(folder.resolve("config"), "[profile work]\nregion = eu-north-1\n");
        S3Server server = new S3Server(true);
        try {
            server.put("object", new byte[1000]);
            OtherProcess.output(
                    ProfileTest.class,
                    environment -> {
                        environment.keySet().removeIf(name -> name.matches("AWS_.*(REGION|PROFILE|FILE)"));
                        environment.put("HOME", home.toString());
                        environment.put("AWS_PROFILE", "work");
                    },
                    "-Dpenstock.s3.endpoint=" + server.proxy.uri());
            assertThat(server.proxy.requests)
                    .isNotEmpty()
                    .allSatisfy(request ->
                            assertThat(request.headers.get("authorization")).contains("/eu-north-1/s3/"));
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
