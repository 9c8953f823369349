// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli.serve;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class HostsTest {

    private static InetSocketAddress address(String name, int... bytes) throws IOException {
        byte[] address = new byte[bytes.length];
        for (int i = 0; i < bytes.length; i++) {
            address[i] = (byte) bytes[i];
        }
        return new InetSocketAddress(InetAddress.getByAddress(name, address), 8080);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", "localhost", "LocalHost:8080", "127.0.0.1:1", "[::1]:8080", "192.0.2.7", "mine.example:8080"
            })
    void aServerOnLoopbackAnswersForAddressesLocalhostAndItsOwnName(String host) throws IOException {
        assertThat(new Hosts(address("mine.example", 127, 0, 0, 1), List.of()).answer(host))
                .isTrue();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "evil.example",
                "evil.example:8080",
                "localhost.evil.example",
                "127.0.0.1.evil.example",
                "a b",
                "localhost:x@evil.example",
                "1.2.3"
            })
    void itAnswersForNoOtherName(String host) throws IOException {
        assertThat(new Hosts(address("mine.example", 127, 0, 0, 1), List.of()).answer(host))
                .isFalse();
    }

    @Test
    void aServerOnANetworkAnswersForAnyName() throws IOException {
        assertThat(new Hosts(address("", 192, 0, 2, 1), List.of()).answer("files.example"))
                .isTrue();
        assertThat(new Hosts(address("", 0, 0, 0, 0), List.of()).answer("files.example"))
                .isTrue();
    }

    /** As of a proxy in front, which passes its own name on. */
    @ParameterizedTest
    @CsvSource({
        "127.0.0.1, files.example, true",
        "127.0.0.1, FILES.example:8443, true",
        "127.0.0.1, other.example, true",
        "127.0.0.1, localhost, true",
        "127.0.0.1, evil.example, false",
        "127.0.0.1, files.example.evil.example, false",
        "192.0.2.1, files.example, true",
        "192.0.2.1, 192.0.2.1:80, true",
        "192.0.2.1, evil.example, false"
    })
    void aServerThatWasGivenNamesAnswersForTheseToo(String listening, String host, boolean answers) throws IOException {
        InetSocketAddress address = new InetSocketAddress(InetAddress.getByName(listening), 8080);
        assertThat(new Hosts(address, List.of("files.example", "other.example")).answer(host))
                .isEqualTo(answers);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", "files.example:8080", "http://files.example", "a b", "files.example/", "x@files.example"})
    void whatCanBeInNoHostIsNoName(String name) throws IOException {
        InetSocketAddress address = address("", 127, 0, 0, 1);
        assertThatThrownBy(() -> new Hosts(address, List.of(name)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("a host name must be one without a port, such as files.example, was '" + name + "'");
    }

    @Test
    void aServerAnswersRequestsForANameThatItWasGiven(@TempDir Path folder) throws IOException {
        try (Served served = new Served(new ServedDirectory(folder), Limits.DEFAULT, "files.example")) {
            served.file("file", 10);
            for (String host : List.of("files.example", "evil.example")) {
                try (Connection connection = served.connect()) {
                    connection.sendRaw("GET /file HTTP/1.1\r\nHost: " + host + "\r\n\r\n");
                    assertThat(connection.readAnswer().status()).isEqualTo(host.equals("files.example") ? 200 : 421);
                }
            }
        }
    }

    /** As where a page's name is made to resolve to this machine. */
    @Test
    void aPageOfAnotherNameReadsNoFile(@TempDir Path folder) throws IOException {
        try (Served served = new Served(folder)) {
            served.file("secret", 10);
            for (String host : new String[] {
                "evil.example", "evil.example:" + served.address().getPort()
            }) {
                try (Connection connection = served.connect()) {
                    connection.sendRaw("GET /secret HTTP/1.1\r\nHost: " + host + "\r\n\r\n");
                    Connection.Answer refused = connection.readAnswer();
                    assertThat(refused.status()).isEqualTo(421);
                    assertThat(refused.body()).isEmpty();
                    assertThat(connection.read()).as("closed").isEqualTo(-1);
                }
            }
            assertThat(served.ask("GET", "/secret").status()).isEqualTo(200);
        }
    }

    @Test
    void anEntityTagTellsNothingOfTheFileAndOutlastsARestart(@TempDir Path folder) throws IOException {
        String tag;
        try (Served served = new Served(folder)) {
            served.file("file", 0xABC);
            tag = served.ask("GET", "/file").header("etag");
        }
        Object key = Files.readAttributes(folder.resolve("file"), BasicFileAttributes.class)
                .fileKey();
        assertThat(tag).matches("\"[0-9a-f]{32}\"").doesNotContain(Integer.toHexString(key.hashCode()));
        try (Served served = new Served(folder)) {
            assertThat(served.ask("GET", "/file").header("etag")).isEqualTo(tag);
            served.file("file", 0xABD);
            assertThat(served.ask("GET", "/file").header("etag")).isNotEqualTo(tag);
        }
    }
}
