// SPDX-License-Identifier: Apache-2.0
package io.penstock.tck;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ContentTest {

    private static final int BYTES = 1000;
    private static final int[] PLACES = {0, 1, 500, BYTES - 1};

    @TempDir
    Path folder;

    private static byte[] content(Pattern pattern, long offset) {
        byte[] bytes = new byte[BYTES];
        pattern.fill(ByteBuffer.wrap(bytes), offset);
        return bytes;
    }

    @Test
    void oneWrongByteIsSeen() {
        Pattern pattern = new Pattern(7);
        byte[] bytes = content(pattern, 77);
        assertThatCode(() -> Content.assertHolds(ByteBuffer.wrap(bytes), pattern, 77, BYTES))
                .doesNotThrowAnyException();
        for (int wrong : PLACES) {
            bytes[wrong] ^= 0x10;
            assertThatThrownBy(() -> Content.assertHolds(ByteBuffer.wrap(bytes), pattern, 77, BYTES))
                    .isInstanceOf(AssertionError.class)
                    .hasMessageContaining(String.valueOf(wrong));
            bytes[wrong] ^= 0x10;
        }
    }

    @Test
    void oneByteThatWasWrittenToPoisonIsSeen() {
        byte[] memory = new byte[BYTES];
        Arrays.fill(memory, Pattern.POISON);
        assertThatCode(() -> Content.assertAll(ByteBuffer.wrap(memory), Pattern.POISON))
                .doesNotThrowAnyException();
        for (int written : PLACES) {
            memory[written] = 0;
            assertThatThrownBy(() -> Content.assertAll(ByteBuffer.wrap(memory), Pattern.POISON))
                    .isInstanceOf(AssertionError.class)
                    .hasMessageContaining(String.valueOf(written));
            memory[written] = Pattern.POISON;
        }
    }

    @Test
    void anotherLengthIsSeen() throws IOException {
        Path path = folder.resolve("file");
        Pattern pattern = Pattern.of(path);
        byte[] bytes = content(pattern, 0);
        Files.write(path, bytes);
        assertThatThrownBy(() -> Content.assertHolds(path, pattern, 0, BYTES + 1))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("bytes to compare");
        assertThatThrownBy(() -> Content.assertHolds(ByteBuffer.wrap(bytes), pattern, 0, BYTES - 1))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("bytes to compare");
    }

    @Test
    void theContentOfAnotherPlaceOrFileIsSeen() throws IOException {
        Path path = folder.resolve("file");
        Pattern pattern = Pattern.of(path);
        Files.write(path, content(pattern, 0));
        assertThatCode(() -> Content.assertHolds(path, pattern, 0, BYTES)).doesNotThrowAnyException();
        assertThatThrownBy(() -> Content.assertHolds(ByteBuffer.wrap(content(pattern, 512)), pattern, 0, BYTES))
                .isInstanceOf(AssertionError.class);
        assertThatThrownBy(() -> Content.assertHolds(path, Pattern.of(folder.resolve("other")), 0, BYTES))
                .isInstanceOf(AssertionError.class);
    }
}
