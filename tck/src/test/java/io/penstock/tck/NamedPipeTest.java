// SPDX-License-Identifier: Apache-2.0
package io.penstock.tck;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Optional;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class NamedPipeTest {

    @TempDir
    Path folder;

    @Test
    void readsGetThePatternAndHeldWritesComeThroughWhenTheyMay() throws IOException {
        Optional<Gate> made = Gate.namedPipe(folder);
        Assumptions.assumeTrue(made.isPresent(), "no named pipes here");
        try (Gate gate = made.orElseThrow();
                FileChannel out = FileChannel.open(gate.path(), StandardOpenOption.WRITE);
                FileChannel in = FileChannel.open(gate.path(), StandardOpenOption.READ)) {
            gate.letReadsEnd(4096);
            ByteBuffer bytes = ByteBuffer.allocate(4096);
            assertThat(in.read(bytes)).isEqualTo(4096);
            assertThat(Pattern.of(gate.path()).difference(bytes.flip(), 0)).isEqualTo(-1);

            gate.holdWrites();
            Thread writer = new Thread(() -> {
                try {
                    out.write(ByteBuffer.allocate(4096));
                } catch (IOException e) {
                    throw new IllegalStateException(e);
                }
            });
            writer.start();
            gate.letWritesEnd(4096);
            writer.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        assertThat(folder.resolve("gate")).doesNotExist();
    }
}
