// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Checks of bytes find bytes that were not moved. */
class ChainsTest {

    private static final int BYTES = 512;
    private static final int DEPTH = 4;

    @TempDir
    Path folder;

    private Path path;

    @BeforeEach
    void create() throws IOException {
        path = Files.createFile(folder.resolve("file"));
    }

    private Chains chains(boolean write) {
        return Chains.allocate(new Workload(path, BYTES, DEPTH, false, write));
    }

    @Test
    void aReadThatMovedNothingIsFound() throws IOException {
        Chains chains = chains(false);
        TestFile.fill(chains.block(0), chains.next(0));
        chains.verify();
        chains.next(1);
        assertThatThrownBy(() -> chains.verify())
                .isInstanceOf(IOException.class)
                .hasMessageContaining("wrong bytes");
    }

    @Test
    void aWordAtTheEndOfABlockCounts() {
        Chains chains = chains(false);
        TestFile.fill(chains.block(2), chains.next(2));
        chains.block(2).putLong(BYTES - Long.BYTES, 0);
        assertThatThrownBy(() -> chains.verify()).hasMessageContaining("wrong bytes");
    }

    @Test
    void aRunWithoutAnyOperationIsNotRight() throws IOException {
        Chains chains = chains(false);
        assertThatThrownBy(() -> chains.verify()).hasMessage("nothing was moved");
        TestFile.fill(chains.block(0), chains.next(0));
        chains.verify();
        assertThatThrownBy(() -> chains.verify())
                .as("nor is one after a run that was right")
                .hasMessage("nothing was moved");
    }

    @Test
    void theBytesOfARunAreNotLeftToTheNext() throws IOException {
        Chains chains = chains(false);
        long offset = chains.next(3);
        TestFile.fill(chains.block(3), offset);
        chains.verify();
        for (int at = 0; at < BYTES; at += Long.BYTES) {
            assertThat(chains.block(3).getLong(at)).isNotEqualTo(TestFile.word(offset + at));
        }
    }

    @Test
    void aWriteThatDidNotReachTheFileIsFound() throws IOException {
        Chains chains = chains(true);
        try (FileChannel file = FileChannel.open(path, StandardOpenOption.WRITE)) {
            file.write(chains.block(0).duplicate(), chains.next(0));
            chains.verify();
            file.write(chains.block(0).duplicate(), chains.next(0));
            chains.next(1);
        }
        assertThatThrownBy(() -> chains.verify()).hasMessageContaining("wrong bytes");
    }

    @Test
    void noTwoChainsWriteOneBlock() {
        Workload workload = new Workload(path, BYTES, DEPTH, false, true);
        for (int i = 0; i < 1_000; i++) {
            int chain = i % DEPTH;
            assertThat(workload.offset(chain) / BYTES % DEPTH).isEqualTo(chain);
        }
    }

    @Test
    void aTestFileWithWrongBytesIsWrittenAgain() throws IOException {
        Path data = folder.resolve("data");
        TestFile.prepare(data, 2 << 20);
        long at = (1 << 20) + 3 * 4096;
        try (FileChannel file = FileChannel.open(data, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            file.write(ByteBuffer.allocate(Long.BYTES), at);
            TestFile.prepare(data, 2 << 20);
            ByteBuffer block = ByteBuffer.allocate(4096).order(ByteOrder.LITTLE_ENDIAN);
            file.read(block, at);
            TestFile.verify(block, at);
        }
    }

    @Test
    void aTestFileMayHaveAHeader() throws IOException {
        Path data = folder.resolve("data");
        for (byte[] header : List.of(new byte[] {1, 2, 3}, new byte[] {1, 2, 4})) {
            TestFile.prepare(data, header, 1 << 20);
            ByteBuffer found = ByteBuffer.wrap(Files.readAllBytes(data)).order(ByteOrder.LITTLE_ENDIAN);
            byte[] start = new byte[header.length];
            found.get(start);
            assertThat(start).isEqualTo(header);
            TestFile.verify(found.slice().order(ByteOrder.LITTLE_ENDIAN), 0);
            assertThat(found.remaining()).isEqualTo(1 << 20);
        }
    }
}
