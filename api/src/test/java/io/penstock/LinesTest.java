// SPDX-License-Identifier: Apache-2.0
package io.penstock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.StringReader;
import java.nio.ByteBuffer;
import java.nio.charset.Charset;
import java.nio.charset.MalformedInputException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.Exceptions;
import reactor.core.publisher.Flux;

/** Held against the JDK's BufferedReader. */
class LinesTest {

    private static List<String> lines(byte[] bytes, int piece, Charset charset) {
        Flux<ByteBuffer> pieces = Flux.range(0, (bytes.length + piece - 1) / piece)
                .map(i -> ByteBuffer.wrap(bytes, i * piece, Math.min(piece, bytes.length - i * piece)));
        return new Lines(charset).of(pieces).collectList().block();
    }

    @ParameterizedTest
    @ValueSource(strings = {"UTF-8", "UTF-16", "UTF-32", "ISO-8859-1"})
    void linesAreThoseOfBufferedReader(String name) throws IOException {
        Charset charset = Charset.forName(name);
        String alphabet = charset.equals(StandardCharsets.ISO_8859_1) ? "aé\r\n\n" : "aé\u65e5\u672c\r\n\n";
        Random random = new Random(1);
        for (int round = 0; round < 300; round++) {
            String text = IntStream.range(0, random.nextInt(50))
                    .mapToObj(i -> String.valueOf(alphabet.charAt(random.nextInt(alphabet.length()))))
                    .filter(c -> charset.newEncoder().canEncode(c))
                    .collect(Collectors.joining());
            List<String> expected =
                    new BufferedReader(new StringReader(text)).lines().toList();
            for (int piece : new int[] {1, 2, 3, 7, 1000}) {
                assertThat(lines(text.getBytes(charset), piece, charset))
                        .as("%s in pieces of %d", text, piece)
                        .isEqualTo(expected);
            }
        }
    }

    @Test
    void aLineMayBeLongerThanAnyBuffer() {
        String line = "0123456789".repeat(10_000);
        assertThat(lines((line + "\n" + line).getBytes(StandardCharsets.UTF_8), 4096, StandardCharsets.UTF_8))
                .containsExactly(line, line);
    }

    @ParameterizedTest
    @ValueSource(strings = {"\u00e9\n", "ok\n\u00e9", "\u00c3"})
    void bytesThatAreNoTextAreAnError(String latin) {
        for (int piece : new int[] {1, 1000}) {
            assertThatThrownBy(() -> lines(latin.getBytes(StandardCharsets.ISO_8859_1), piece, StandardCharsets.UTF_8))
                    .satisfies(e -> assertThat(Exceptions.unwrap(e)).isInstanceOf(MalformedInputException.class));
        }
    }
}
