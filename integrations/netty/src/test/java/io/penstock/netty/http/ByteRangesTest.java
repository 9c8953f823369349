// SPDX-License-Identifier: Apache-2.0
package io.penstock.netty.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ByteRangesTest {

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "bytes=0-0         | 0-0",
                "bytes=0-9         | 0-9",
                "bytes=5-          | 5-9",
                "bytes=5-99        | 5-9",
                "bytes=-1          | 9-9",
                "bytes=-99         | 0-9",
                "BYTES=1-2         | 1-2",
                "bytes= 1-2 ,, 4-4 | 1-2 4-4",
                "bytes=7-8,0-1     | 7-8 0-1",
                "bytes=0-1,20-30   | 0-1",
                "bytes=9-99999999999999999999999 | 9-9"
            })
    void rangesOfAFileOfTenBytes(String header, String spans) {
        assertThat(parse(header)).contains(spans);
    }

    @ParameterizedTest
    @ValueSource(strings = {"bytes=10-", "bytes=10-20", "bytes=-0", "bytes=99999999999999999999-", "bytes=10-,-0"})
    void noByteOfThemIsThere(String header) {
        assertThat(parse(header)).contains("");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "bytes=",
                "bytes=,",
                "bytes=-",
                "bytes=1",
                "bytes=2-1",
                "bytes=a-b",
                "bytes=1-2-3",
                "bytes=+1-2",
                "bytes=0-1,x",
                "bytes=1 - 2",
                "bytes 0-1",
                "lines=0-1",
                "0-1",
                "bytes=٣-٤"
            })
    void malformedRangesAreIgnored(String header) {
        assertThat(parse(header)).isEmpty();
    }

    @Test
    void askingForMoreThanTheWholeFileInSegmentsIsIgnored() {
        assertThat(parse("bytes=0-9,0-9")).isEmpty();
        String many = IntStream.range(0, 65).mapToObj(i -> i + "-" + i).collect(Collectors.joining(",", "bytes=", ""));
        assertThat(ByteRanges.parse(many, 1000)).isEmpty();
    }

    @Test
    void anEmptyFileHasNoRanges() {
        assertThat(ByteRanges.parse("bytes=0-", 0)).contains(List.of());
        assertThat(ByteRanges.parse("bytes=-0", 0)).contains(List.of());
    }

    /** Which is satisfiable, whatever the length (RFC 9110, 14.1.2); it is all of the file, for which 200 is. */
    @Test
    void aSuffixOfAnEmptyFileIsAllOfIt() {
        assertThat(ByteRanges.parse("bytes=-5", 0)).isEmpty();
    }

    private static Optional<String> parse(String header) {
        return ByteRanges.parse(header, 10)
                .map(spans -> spans.stream()
                        .map(span -> span.first() + "-" + span.last())
                        .collect(Collectors.joining(" ")));
    }
}
