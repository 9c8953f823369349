// SPDX-License-Identifier: Apache-2.0
package io.penstock;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.Charset;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CoderResult;
import java.util.ArrayList;
import java.util.List;
import reactor.core.Exceptions;
import reactor.core.publisher.Flux;

/** Divides a text into lines: {@link Backend#lines}. For one subscriber. */
final class Lines {

    private static final int CHARS = 8192;

    private final CharsetDecoder decoder; // reports what is no text
    private final CharBuffer chars = CharBuffer.allocate(CHARS);
    private final StringBuilder line = new StringBuilder();
    private ByteBuffer rest = ByteBuffer.allocate(0); // the first bytes of a character
    private boolean afterReturn; // a newline would belong to the line before

    Lines(Charset charset) {
        this.decoder = charset.newDecoder();
    }

    Flux<String> of(Flux<ByteBuffer> bytes) {
        return bytes.concatMapIterable(this::decode).concatWith(Flux.defer(() -> Flux.fromIterable(end())));
    }

    private List<String> decode(ByteBuffer more) {
        ByteBuffer all = more;
        if (rest.hasRemaining()) {
            all = ByteBuffer.allocate(rest.remaining() + more.remaining())
                    .put(rest)
                    .put(more)
                    .flip();
        }
        List<String> lines = new ArrayList<>();
        decode(all, false, lines);
        rest = ByteBuffer.allocate(all.remaining()).put(all).flip();
        return lines;
    }

    private List<String> end() {
        List<String> lines = new ArrayList<>();
        decode(rest, true, lines);
        check(decoder.flush(chars));
        divide(lines);
        if (line.length() > 0) {
            lines.add(line.toString());
        }
        return lines;
    }

    private void decode(ByteBuffer bytes, boolean last, List<String> lines) {
        CoderResult result;
        do {
            result = decoder.decode(bytes, chars, last);
            check(result);
            divide(lines);
        } while (result.isOverflow());
    }

    private static void check(CoderResult result) {
        if (result.isError()) {
            try {
                result.throwException();
            } catch (CharacterCodingException e) {
                throw Exceptions.propagate(e);
            }
        }
    }

    private void divide(List<String> lines) {
        chars.flip();
        while (chars.hasRemaining()) {
            char next = chars.get();
            if (next == '\n' && afterReturn) {
                afterReturn = false;
                continue;
            }
            afterReturn = next == '\r';
            if (next == '\n' || next == '\r') {
                lines.add(line.toString());
                line.setLength(0);
            } else {
                line.append(next);
            }
        }
        chars.clear();
    }
}
