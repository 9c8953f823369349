// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli.serve;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.cli.Penstock;
import io.penstock.tck.Require;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The command as a user starts and ends it, in a process of its own. */
@Tag("slow")
class ServeCommandTest {

    private static final int FILE_BYTES = 32 << 20; // more than two sockets hold
    private static final int TERMINATED = 128 + 15;

    @TempDir
    private Path folder;

    @TempDir
    private Path outside;

    private Path log;
    private byte[] data;
    private Process process;
    private InetSocketAddress address;

    @BeforeEach
    void start() throws IOException {
        data = new byte[FILE_BYTES];
        new Random(1).nextBytes(data);
        Files.write(folder.resolve("big"), data);
        log = outside.resolve("log");
        process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "--enable-native-access=ALL-UNNAMED",
                        "-Dlogback.configurationFile="
                                + Penstock.class.getResource("/logback.xml"), // not the tests' own
                        "-cp",
                        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
                        Penstock.class.getName(),
                        "serve",
                        folder.toString(),
                        "--port",
                        "0")
                .redirectError(log.toFile())
                .start();
        BufferedReader out = process.inputReader(StandardCharsets.UTF_8);
        String said = out.readLine();
        assertThat(said).startsWith("serving " + folder.toRealPath() + " at http://127.0.0.1:");
        URI url = URI.create(said.substring(said.indexOf("http:")));
        address = new InetSocketAddress(InetAddress.getLoopbackAddress(), url.getPort());
    }

    @AfterEach
    void kill() {
        process.destroyForcibly();
    }

    @Test
    void atSigtermResponsesInFlightAreFinishedAndNoNewOnesStarted() throws Exception {
        try (Connection slow = Connection.to(address)) {
            slow.send("GET", "/big");
            assertThat(slow.readHead().status()).isEqualTo(200);
            process.destroy();
            awaitRefusal();
            assertThat(Arrays.equals(slow.read(FILE_BYTES), data))
                    .as("the whole file, most of it read after SIGTERM")
                    .isTrue();
        }
        assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).isEqualTo(TERMINATED);
    }

    @Test
    void noClientCanWriteIntoTheLog() throws Exception {
        StringBuilder many = new StringBuilder("GET /big HTTP/1.1\r\n");
        for (int i = 0; i < 1500; i++) {
            many.append('X').append(i).append(": y\r\n");
        }
        String host = "GET /big HTTP/1.1\r\nHost: localhost\r\n";
        for (String request : new String[] {
            many + "\r\n",
            "GET /" + "a".repeat(10_000) + " HTTP/1.1\r\n\r\n",
            "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
            "\026\003\001\002\000\001\000\001\374\003\003" + "a".repeat(200) + "\r\n\r\n",
            host + "X\r\n\r\n",
            host + "X: a\r\n b\r\n\r\n",
            host + "Content-Length: -5\r\n\r\n",
            host + "Content-Length: 1\r\nContent-Length: 2\r\n\r\n",
            host + "Transfer-Encoding: chunked\r\n\r\nnot a chunk\r\n\r\n",
            "POST /big HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\nExpect: 100-continue\r\n\r\n",
            "GET /big HTTP/1.1\r\nHost: a:b:c\r\n\r\n",
            "GET /big HTTP/1.1\r\nHost: x:99999999999\r\n\r\n",
            "GET http:// HTTP/1.1\r\nHost: localhost\r\n\r\n",
            "GET /%00 HTTP/1.1\r\nHost: localhost\r\n\r\n"
        }) {
            try (Connection connection = Connection.to(address)) {
                connection.sendRaw(request);
                connection.shutDownOutput();
                connection.readAll();
            }
        }
        for (int i = 0; i < 100; i++) { // gone in the headers, before the response and in it
            Connection connection = Connection.to(address);
            connection.sendRaw(host + (i % 3 == 0 ? "X:" : "\r\n"));
            if (i % 3 == 2) {
                connection.read();
            }
            if (i % 2 == 0) {
                connection.abort();
            } else {
                connection.close();
            }
        }
        try (Connection connection = Connection.to(address)) {
            assertThat(connection.ask("HEAD", "/big").status()).isEqualTo(200);
        }
        process.destroy();
        assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
        assertThat(Files.readAllLines(log)).noneMatch(line -> line.matches("\\d\\d:\\d\\d:\\d\\d\\..*"));
    }

    private void awaitRefusal() throws InterruptedException {
        for (int i = 0; i < 10_000; i++) {
            try {
                new Socket(address.getAddress(), address.getPort()).close();
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
            } catch (IOException refused) {
                return;
            }
        }
        throw new AssertionError("it goes on accepting connections after SIGTERM");
    }

    @Test
    void curlGetsRangesAndResumes() throws Exception {
        Require.backend("curl", whyNoCurl());
        String url = "http://127.0.0.1:" + address.getPort() + "/big";
        Path part = folder.resolve("part");
        Files.write(part, Arrays.copyOf(data, 12_345));
        curl("-s", "-f", "-C", "-", "-o", part.toString(), url);
        assertThat(Files.mismatch(part, folder.resolve("big"))).isEqualTo(-1);
        assertThat(curl("-s", "-r", "5-9", "-w", " %{http_code}", "-o", "/dev/null", url))
                .isEqualTo(" 206");
        assertThat(curl("-s", "-r", "99999999-", "-w", "%{http_code}", url)).isEqualTo("416");
        assertThat(curl("-s", "-I", "-w", "%{http_code}", "-o", "/dev/null", url))
                .isEqualTo("200");
        String root = url.substring(0, url.lastIndexOf('/'));
        assertThat(curl("-s", "--path-as-is", "-w", "%{http_code}", root + "/../etc/passwd"))
                .isEqualTo("400");
        Path tag = folder.resolve("tag");
        curl("-s", "--etag-save", tag.toString(), "-o", "/dev/null", url);
        assertThat(curl("-s", "--etag-compare", tag.toString(), "-w", "%{http_code}", "-o", "/dev/null", url))
                .isEqualTo("304");
    }

    private static String whyNoCurl() throws InterruptedException {
        try {
            return new ProcessBuilder("curl", "--version")
                                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                                    .start()
                                    .waitFor()
                            == 0
                    ? null
                    : "curl --version fails";
        } catch (IOException e) {
            return "there is no curl";
        }
    }

    private static String curl(String... arguments) throws Exception {
        List<String> command = new ArrayList<>(List.of("curl"));
        command.addAll(List.of(arguments));
        Process curl = new ProcessBuilder(command).start();
        String said = new String(curl.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(curl.waitFor()).as("%s", command).isZero();
        return said;
    }
}
