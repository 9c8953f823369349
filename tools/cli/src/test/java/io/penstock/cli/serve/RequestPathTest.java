// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli.serve;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RequestPathTest {

    @Test
    void segmentsAreDecodedOnceAndAfterSplitting() {
        assertThat(segments("/a%20b/c%2541?q=/x")).containsExactly("a b", "c%41");
        assertThat(segments("/a+b")).as("no form").containsExactly("a+b");
        assertThat(segments("/%C3%A9.txt#part")).containsExactly("é.txt");
    }

    @Test
    void absoluteFormNamesTheSamePath() {
        assertThat(segments("http://example.com/a/b?x")).containsExactly("a", "b");
        assertThat(segments("http://example.com")).containsExactly("");
        assertThat(segments("http://example.com?q=/a")).containsExactly("");
        assertThat(segments("http://example.com#/a")).containsExactly("");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/..",
                "/../a",
                "/a/../../b",
                "/a/./b",
                "/%2e%2e/a",
                "/%2E./a",
                "/..%2fa",
                "/a%2f..%2fb",
                "/..\\a",
                "/..%5ca",
                "/a%00.txt",
                "/%c0%ae%c0%ae/a",
                "/%e0%80%af",
                "/%",
                "/%4",
                "/%zz",
                "*",
                "a",
                ""
            })
    void anInvalidPathIsRefused(String target) {
        assertThat(RequestPath.parse(target)).isEmpty();
    }

    private static List<String> segments(String target) {
        return RequestPath.parse(target).orElseThrow().segments();
    }
}
