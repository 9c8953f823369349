// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.ssg;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.FileOption;
import io.penstock.engine.host.Slabs;
import io.penstock.engine.spi.Command;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.Limits;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Commands on a file of 10,000 bytes. */
class SsgCommandTest {

    private static final long SIZE = 10_000;
    private static final long BLOCK = 4096;

    @TempDir
    Path folder;

    private SsgFiles files;
    private SsgFile file;
    private final DeviceMemory memory = Slabs.shared().allocate(1 << 16);
    private final Command command = new Command();
    private final SsgCommand<SsgFile> task = new SsgCommand<>(7) {};

    @BeforeEach
    void open() throws IOException {
        files = new SsgFiles((path, write) -> new SeenFile(path, write, BLOCK));
        Path path = Files.write(folder.resolve("file"), new byte[(int) SIZE]);
        SsgHandle handle = files.open(path, Set.of(FileOption.READ, FileOption.WRITE));
        file = new SsgFile(files, handle, new Limits(BLOCK, BLOCK, 1 << 20, 1 << 20, false), true);
    }

    @AfterEach
    void close() {
        file.close();
        memory.free();
    }

    private void fill(Command.Kind kind, long offset, long bytes) {
        task.fill(command.file(kind, file, offset, bytes).memory(memory, 512));
    }

    @Test
    void aReadWantsWhatTheFileHas() {
        fill(Command.Kind.READ, BLOCK, 2 * BLOCK);
        assertThat(task.wanted()).as("before the file was looked at").isEqualTo(2 * BLOCK);
        assertThat(task.want(SIZE)).isEqualTo(SIZE - BLOCK);
        assertThat(task.end()).isEqualTo(SIZE);
        assertThat(task.want(Long.MAX_VALUE)).as("of a longer file").isEqualTo(2 * BLOCK);
        assertThat(task.want(10)).as("of a file that ends before").isZero();
        assertThat(task.bytes()).isEqualTo(2 * BLOCK);
    }

    @Test
    void aWriteWantsAllWhateverTheFileHas() {
        fill(Command.Kind.WRITE, 2 * BLOCK, BLOCK);
        assertThat(task.want(10)).isEqualTo(BLOCK);
        assertThat(task.end()).isEqualTo(3 * BLOCK);
    }

    @Test
    void onlyAWriteBehindTheEndHasAFileMadeLonger() {
        fill(Command.Kind.WRITE, 2 * BLOCK, BLOCK);
        assertThat(task.lengthens(SIZE)).isTrue();
        assertThat(task.lengthens(3 * BLOCK)).isFalse();
        fill(Command.Kind.READ, 2 * BLOCK, BLOCK);
        assertThat(task.lengthens(SIZE)).isFalse();
    }

    @Test
    void theDriverIsToldOfWholeBlocks() {
        fill(Command.Kind.READ, 0, 3 * BLOCK);
        assertThat(task.wholeBlocks()).isEqualTo(3 * BLOCK);
        task.want(2 * BLOCK + 1);
        assertThat(task.wholeBlocks()).isEqualTo(3 * BLOCK);
        task.want(2 * BLOCK);
        assertThat(task.wholeBlocks()).isEqualTo(2 * BLOCK);
    }

    @Test
    void aReadHasMovedWhatIsStillThere() throws IOException {
        fill(Command.Kind.READ, 0, 3 * BLOCK);
        task.want(SIZE);
        assertThat(task.moved()).isEqualTo(SIZE);
        file.truncate(100);
        assertThat(task.moved()).as("of a file that was cut meanwhile").isEqualTo(100);
        file.truncate(3 * BLOCK);
        assertThat(task.moved()).as("of a file that has grown meanwhile").isEqualTo(SIZE);
    }

    @Test
    void writesAndCopiesHaveMovedAllThatTheyWanted() throws IOException {
        fill(Command.Kind.WRITE, 0, 2 * BLOCK);
        file.truncate(100);
        assertThat(task.moved()).isEqualTo(2 * BLOCK);
        task.fill(command.copy(Command.Kind.COPY_IN, memory, 3, 77).memory(memory, 5));
        assertThat(task.moved()).isEqualTo(77);
        assertThat(task.slot()).isSameAs(memory);
        assertThat(task.slotOffset()).isEqualTo(3);
        assertThat(task.memoryOffset()).isEqualTo(5);
    }

    @Test
    void aFileIsMadeReadyEightTimesForOneCommand() {
        fill(Command.Kind.READ, 0, BLOCK);
        assertThat(task.isFirstAttempt()).isTrue();
        for (int attempt = 0; attempt < 8; attempt++) {
            assertThat(task.mayTryAgain()).isTrue();
            task.tryAgain();
        }
        assertThat(task.mayTryAgain()).isFalse();
        fill(Command.Kind.READ, 0, BLOCK);
        assertThat(task.mayTryAgain()).as("the next command").isTrue();
        assertThat(task.isFirstAttempt()).isTrue();
    }

    @Test
    void whatIsFilledAgainKeepsNothing() {
        fill(Command.Kind.READ, 0, BLOCK);
        task.want(10);
        task.result(task.failed(new IOException("gone")));
        task.fill(command.sync(file));
        assertThat(task.result()).isZero();
        assertThat(task.thrown()).isNull();
        assertThat(task.wanted()).isZero();
        assertThat(task.kind()).isEqualTo(Command.Kind.SYNC);
        assertThat(task.id()).isEqualTo(7);
        assertThatThrownBy(task::memory).isInstanceOf(NullPointerException.class);
        assertThat(task.sync()).isZero();
    }

    @Test
    void whatHasEndedHoldsNothingOfTheApplications() {
        fill(Command.Kind.WRITE, 0, BLOCK);
        task.forget();
        assertThatThrownBy(task::file).isInstanceOf(NullPointerException.class);
        assertThatThrownBy(task::memory).isInstanceOf(NullPointerException.class);
        assertThatThrownBy(task::slot).isInstanceOf(NullPointerException.class);
    }
}
