// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.kit.ssg;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.FileOption;
import io.penstock.NativeError;
import io.penstock.engine.kit.memory.Slabs;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.Limits;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.Request;
import io.penstock.engine.testing.Requests;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
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
    private final Requests requests = new Requests();
    private final Request request = requests.of(7);
    private final SsgCommand task = new SsgCommand(request);

    @BeforeEach
    void open() throws IOException {
        files = new SsgFiles();
        Path path = Files.write(folder.resolve("file"), new byte[(int) SIZE]);
        SsgHandle handle = files.open(
                (opened, write) -> new SeenFile(opened, write, BLOCK), path, Set.of(FileOption.READ, FileOption.WRITE));
        file = new SsgFile(files, handle, new Limits(BLOCK, BLOCK, 1 << 20, 1 << 20, false));
    }

    @AfterEach
    void close() {
        file.close();
        memory.free();
    }

    private void fill(Request.Kind kind, long offset, long bytes) {
        request.file(kind, file, offset, bytes).memory(memory, 512);
        task.begin();
    }

    @Test
    void aReadIsLimitedToTheFilesSize() {
        fill(Request.Kind.READ, BLOCK, 2 * BLOCK);
        assertThat(task.requestedBytes()).as("before the size was queried").isEqualTo(2 * BLOCK);
        assertThat(task.limitTo(SIZE)).isEqualTo(SIZE - BLOCK);
        assertThat(task.end()).isEqualTo(SIZE);
        assertThat(task.limitTo(Long.MAX_VALUE)).as("of a longer file").isEqualTo(2 * BLOCK);
        assertThat(task.limitTo(10)).as("of a file that ends before").isZero();
        assertThat(task.request.bytes()).isEqualTo(2 * BLOCK);
    }

    @Test
    void aWriteIsNotLimitedToTheFilesSize() {
        fill(Request.Kind.WRITE, 2 * BLOCK, BLOCK);
        assertThat(task.limitTo(10)).isEqualTo(BLOCK);
        assertThat(task.end()).isEqualTo(3 * BLOCK);
    }

    @Test
    void onlyAWriteBeyondTheEndExtendsTheFile() {
        fill(Request.Kind.WRITE, 2 * BLOCK, BLOCK);
        assertThat(task.lengthens(SIZE)).isTrue();
        assertThat(task.lengthens(3 * BLOCK)).isFalse();
        fill(Request.Kind.READ, 2 * BLOCK, BLOCK);
        assertThat(task.lengthens(SIZE)).isFalse();
    }

    @Test
    void theDriverGetsWholeBlocks() {
        fill(Request.Kind.READ, 0, 3 * BLOCK);
        assertThat(task.wholeBlocks()).isEqualTo(3 * BLOCK);
        task.limitTo(2 * BLOCK + 1);
        assertThat(task.wholeBlocks()).isEqualTo(3 * BLOCK);
        task.limitTo(2 * BLOCK);
        assertThat(task.wholeBlocks()).isEqualTo(2 * BLOCK);
    }

    private long counted() {
        task.ends();
        assertThat(task.failure()).isNull();
        return task.moved();
    }

    @Test
    void aReadHasMovedWhatIsStillThere() throws IOException {
        fill(Request.Kind.READ, 0, 3 * BLOCK);
        task.limitTo(SIZE);
        assertThat(counted()).isEqualTo(SIZE);
        file.truncate(100);
        assertThat(counted()).as("of a file that was cut meanwhile").isEqualTo(100);
        file.truncate(3 * BLOCK);
        assertThat(counted()).as("of a file that has grown meanwhile").isEqualTo(SIZE);
    }

    @Test
    void writesAndCopiesHaveMovedAllThatTheyWanted() throws IOException {
        fill(Request.Kind.WRITE, 0, 2 * BLOCK);
        file.truncate(100);
        assertThat(counted()).isEqualTo(2 * BLOCK);
        request.copy(Request.Kind.COPY_IN, memory, 3, 77).memory(memory, 5);
        task.begin();
        assertThat(counted()).isEqualTo(77);
        assertThat(task.request.staging()).isSameAs(memory);
        assertThat(task.request.stagingOffset()).isEqualTo(3);
        assertThat(task.request.memoryOffset()).isEqualTo(5);
    }

    @Test
    void aFileIsPreparedEightTimesForOneCommand() {
        fill(Request.Kind.READ, 0, BLOCK);
        assertThat(task.isFirstAttempt()).isTrue();
        for (int attempt = 0; attempt < 8; attempt++) {
            assertThat(task.mayTryAgain()).isTrue();
            task.tryAgain();
        }
        assertThat(task.mayTryAgain()).isFalse();
        fill(Request.Kind.READ, 0, BLOCK);
        assertThat(task.mayTryAgain()).as("the next command").isTrue();
        assertThat(task.isFirstAttempt()).isTrue();
    }

    @Test
    void aReusedSegmentKeepsNothing() throws IOException {
        fill(Request.Kind.READ, 0, BLOCK);
        task.limitTo(10);
        task.ends(10);
        task.fails(new IOException("gone"));
        request.sync(file);
        task.begin();
        assertThat(task.moved()).isZero();
        assertThat(task.hasFailed()).isFalse();
        assertThat(task.requestedBytes()).isZero();
        assertThat(task.request.kind()).isEqualTo(Request.Kind.SYNC);
        task.sync();
        assertThat(task.failure()).isNull();
    }

    @Test
    void required_401_eachFailureIsThatOfItsOwnCommand() {
        List<SsgCommand> commands = new ArrayList<>();
        for (int tag = 0; tag < 300; tag++) {
            SsgCommand command = new SsgCommand(requests.next(tag));
            command.fails(new SsgRefusal("refusal " + tag));
            commands.add(command);
        }
        commands.forEach(SsgCommand::report);
        for (int tag = 0; tag < 300; tag++) {
            assertThat(requests.failure(tag).orElseThrow().error().symbol())
                    .isEqualTo("io.penstock.engine.kit.ssg.SsgRefusal: refusal " + tag);
        }
    }

    @Test
    void theDriversResultIsReportedUnchanged() {
        NativeFailure answer = new NativeFailure(new NativeError("driver", -16516, "NO"), NativeFailure.Kind.TRANSIENT);
        fill(Request.Kind.READ, 0, BLOCK);
        task.fails(answer);
        task.report();
        assertThat(requests.failure(7)).containsSame(answer);
    }

    @Test
    void aCommandThatEndsAfterAllHasNotFailed() {
        fill(Request.Kind.READ, 0, BLOCK);
        task.fails(SsgCommand.CANCELLED);
        task.ends(5);
        task.report();
        assertThat(requests.failure(7)).isEmpty();
        assertThat(requests.result(7)).isEqualTo(5);
    }

    @Test
    void aRefusalRepeatsTheDriversResult() {
        NativeError answer = new NativeError("open", 7, "SEVEN");
        task.fails(new SsgRefusal("a file", answer));
        assertThat(task.failure()).isEqualTo(new NativeFailure(answer, NativeFailure.Kind.PERMANENT));
    }

    @Test
    void otherExceptionsAreReportedWithTheirReason() {
        task.fails(new SsgRefusal("another file"));
        assertThat(String.valueOf(task.failure())).contains("another file");
        task.fails(new IllegalStateException("shut"));
        assertThat(String.valueOf(task.failure())).contains("shut");
    }

    @Test
    void exceptionsOfHostIoHaveTheNumbersThatTheyName() {
        request.sync(file);
        task.fails(new IOException("No space left on device"));
        NativeFailure failure = Objects.requireNonNull(task.failure());
        assertThat(failure.error()).isEqualTo(new NativeError("fdatasync", 28, "ENOSPC"));
    }

    @Test
    void aCommandHasTheFactsOfItsRequest() {
        fill(Request.Kind.READ, BLOCK, 2 * BLOCK);
        assertThat(task.request).isSameAs(request);
        assertThat(task.request.fileOffset()).isEqualTo(BLOCK);
        assertThat(task.request.memory()).isSameAs(memory);
        assertThat(task.isFirstAttempt()).isTrue();
        task.tryAgain();
        assertThat(task.isFirstAttempt()).isFalse();
    }

    @Test
    void onlyAReadOfAFileThatHasBecomeShorterIsCut() throws IOException {
        fill(Request.Kind.WRITE, 0, 3 * BLOCK);
        assertThat(task.isCut()).as("a write makes the file longer").isFalse();
        fill(Request.Kind.READ, SIZE - 100, 100);
        assertThat(task.isCut()).as("it ends where the file does").isFalse();
        file.truncate(SIZE - 1);
        assertThat(task.isCut()).isTrue();
        for (int attempt = 0; attempt < 8; attempt++) {
            task.tryAgain();
        }
        assertThat(task.isCut()).as("tried often enough").isFalse();
    }

    @Test
    void aFileWhoseSizeCannotBeReadFailsTheCommandAndIsNotTruncated() throws IOException {
        fill(Request.Kind.READ, 0, BLOCK);
        file.host().close();
        assertThat(task.isCut()).isFalse();
        task.ends();
        assertThat(task.hasFailed()).isTrue();
    }

    @Test
    @DisabledOnOs(value = OS.WINDOWS, disabledReason = "a sync of a closed channel throws there")
    void aSyncThatFailsFailsTheCommand() throws IOException {
        file.host().close();
        request.sync(file);
        task.begin();
        task.sync();
        assertThat(task.hasFailed()).isTrue();
    }

    @Test
    void aCommandDropsItsReferencesBeforeItsRequestEnds() {
        List<Boolean> ended = new ArrayList<>();
        SsgCommand keeping = new SsgCommand(request) {
            @Override
            protected void clear() {
                ended.add(requests.hasEnded(7));
            }
        };
        keeping.report();
        assertThat(ended).containsExactly(false);
        assertThat(requests.hasEnded(7)).isTrue();
    }

    @Test
    void aFileOfTheDriverIsReadInWholeBlocksAndGivesItsHandleBack() throws IOException {
        List<SeenFile> opened = new ArrayList<>();
        SsgHandle handle = files.open(
                (path, write) -> {
                    SeenFile seen = new SeenFile(path, write, BLOCK);
                    opened.add(seen);
                    return seen;
                },
                file.host().path(),
                Set.of(FileOption.READ));
        SsgFile another = new SsgFile(files, handle, new Limits(BLOCK, BLOCK, 1 << 20, 1 << 20, false));
        assertThat(another.handle()).isSameAs(handle);
        assertThat(another.blockBytes()).isEqualTo(BLOCK);
        assertThat(another.readsIntoSlack()).isTrue();
        another.close();
        assertThat(opened).extracting(seen -> seen.users).containsExactly(0);
        assertThatThrownBy(another::size).isInstanceOf(IOException.class);
    }
}
