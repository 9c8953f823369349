// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.view;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpHeaders;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class OriginsTest {

    private final Origins origins = new Origins(Set.of("https://view.example"));

    private static HttpHeaders headers(String host, String origin) {
        return new DefaultHttpHeaders().set("Host", host).set("Origin", origin);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "https://view.example",
                "http://view.example:8090",
                "http://[2001:db8::1]:8090",
                "chrome-extension://abc"
            })
    void anOriginAsABrowserSendsItIsAccepted(String origin) {
        assertThat(new Origins(Set.of(origin)).allow(headers("anything", origin)))
                .isTrue();
    }

    @ParameterizedTest
    @CsvSource({
        "localhost:8090, http://localhost:8090",
        "127.0.0.1:8090, http://127.0.0.1:8090",
        "192.0.2.7, http://192.0.2.7",
        "[::1]:8090, http://[::1]:8090",
        "anything, https://view.example"
    })
    void aPageOfThisServerOrOfANamedOriginMayConnect(String host, String origin) {
        assertThat(origins.allow(headers(host, origin))).isTrue();
    }

    @ParameterizedTest
    @CsvSource({
        "localhost:8090, http://evil.example",
        "localhost:8090, http://localhost:80",
        "localhost:8090, https://localhost:8090",
        "localhost:8090, null",
        "evil.example:8090, http://evil.example:8090",
        "view.example, http://view.example",
        "'127.0.0.1:8090 ', http://127.0.0.1:8090/",
        "localhost.evil.example, http://localhost.evil.example",
        "127.0.0.1.evil.example, http://127.0.0.1.evil.example",
        "'a b', 'http://a b'"
    })
    void anyOtherMayNot(String host, String origin) {
        assertThat(origins.allow(headers(host, origin))).isFalse();
    }

    @Test
    void aRequestWithoutAnOriginIsNotAPage() {
        assertThat(origins.allow(new DefaultHttpHeaders().set("Host", "localhost:8090")))
                .isFalse();
        assertThat(origins.allow(new DefaultHttpHeaders())).isFalse();
    }
}
