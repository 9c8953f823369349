// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.kit.ssg;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.CommonOptions;
import io.penstock.FileOption;
import io.penstock.NativeError;
import io.penstock.Target;
import io.penstock.engine.kit.memory.Slabs;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.NativeFile;
import io.penstock.engine.spi.NativeQueue;
import io.penstock.engine.spi.Request;
import io.penstock.engine.testing.Requests;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The queue over a device that moves nothing, and ends a command when the test says so. */
class SsgQueueTest {

    private static final int BLOCK = 512;
    private static final int MOST_TURNS = 20_000; // each of which lasts a millisecond at most
    private static final NativeFailure BROKEN =
            new NativeFailure(new NativeError("driver", 5, "BROKEN"), NativeFailure.Kind.PERMANENT);

    @TempDir
    Path folder;

    private final Requests requests = new Requests();
    private final CardOfPaper device = new CardOfPaper();
    private final SsgPath straight = new SsgPath(device, true);
    private final SsgPath byRing = new SsgPath(device, false);
    private final DeviceMemory memory = Slabs.shared().allocate(1 << 16);
    private NativeFile file;
    private NativeQueue queue;
    private Path path;

    @BeforeEach
    void open() throws IOException {
        device.fillRing();
        path = Files.write(folder.resolve("file"), new byte[4 * BLOCK]);
        file = straight.open(path, EnumSet.of(FileOption.READ, FileOption.WRITE));
        queue = straight.openQueue();
    }

    @AfterEach
    void nothingIsLeft() {
        queue.close();
        file.close();
        device.leave();
        memory.free();
        assertThat(device.closed)
                .as("the queue, and the device when its last user has left")
                .isEqualTo(2);
        assertThat(device.opened).allMatch(seen -> seen.isFreed);
        assertThat(device.ringBuffers)
                .as("buffers of the ring that were not freed")
                .isZero();
    }

    private Request enqueue(int tag, Request.Kind kind, long offset, long bytes) {
        Request request = requests.next(tag).file(kind, file, offset, bytes).memory(memory, 0);
        queue.enqueue(request);
        return request;
    }

    /** Turns until the device has commands, and requests have ended; what is offloaded rings. */
    private void turnUntil(int started, int ended) {
        for (int turn = 0;
                turn < MOST_TURNS && (device.commands.size() < started || requests.ended() < ended);
                turn++) {
            queue.turn(1_000_000);
        }
        assertThat(device.commands).hasSizeGreaterThanOrEqualTo(started);
        assertThat(requests.ended()).isGreaterThanOrEqualTo(ended);
    }

    @Test
    void aReadUpToTheEndOfTheFileIsCounted() {
        enqueue(0, Request.Kind.READ, 3 * BLOCK, 2 * BLOCK);
        turnUntil(1, 0);
        assertThat(device.commands.get(0).wholeBlocks()).isEqualTo(BLOCK);
        device.end(0, null);
        turnUntil(1, 1);
        assertThat(requests.result(0)).isEqualTo(BLOCK);
    }

    @Test
    void aReadBehindTheEndNeedsNoDevice() {
        enqueue(0, Request.Kind.READ, 4 * BLOCK, BLOCK);
        turnUntil(0, 1);
        assertThat(requests.result(0)).isZero();
        assertThat(device.commands).isEmpty();
        assertThat(device.finished)
                .as("the device may have to clear what lies behind")
                .isEqualTo(1);
    }

    @Test
    void required_206_aFileIsMadeLongEnoughBeforeItIsWritten() throws IOException {
        enqueue(0, Request.Kind.WRITE, 6 * BLOCK, BLOCK);
        turnUntil(1, 0);
        assertThat(Files.size(path)).isEqualTo(7 * BLOCK);
        assertThat(((SeenFile) device.commands.get(0).object()).write).isTrue();
        device.end(0, null);
        turnUntil(1, 1);
        assertThat(requests.result(0)).isEqualTo(BLOCK);
    }

    @Test
    void required_206_soIsAFileThatWasCutSinceItWasOpened() throws IOException {
        file.truncate(0);
        enqueue(0, Request.Kind.WRITE, 2 * BLOCK, BLOCK);
        turnUntil(1, 0);
        assertThat(Files.size(path)).isEqualTo(3 * BLOCK);
        device.end(0, null);
        turnUntil(1, 1);
        assertThat(device.opened).as("the driver knew of so much already").hasSize(2);
    }

    @Test
    void aFileThatHasGrownIsOpenedAnewByTheDevicesThread() throws IOException {
        Files.write(path, new byte[8 * BLOCK]);
        enqueue(0, Request.Kind.READ, 6 * BLOCK, BLOCK);
        turnUntil(1, 0);
        assertThat(device.executed).hasValue(1);
        assertThat(device.opened).as("reader, writer, and the new reader").hasSize(3);
        device.end(0, null);
        turnUntil(1, 1);
        assertThat(requests.result(0)).isEqualTo(BLOCK);
    }

    @Test
    void aDriverThatNeverSeesTheFileGrowFailsTheReadAtLast() throws IOException {
        device.isBlind = true;
        Files.write(path, new byte[8 * BLOCK]);
        enqueue(0, Request.Kind.READ, 6 * BLOCK, BLOCK);
        turnUntil(0, 1);
        assertThat(String.valueOf(requests.failure(0).orElseThrow()))
                .contains("does not report a length of at least 3584");
        assertThat(device.executed).hasValue(8);
    }

    @Test
    void aReadThatFailsSinceItsFileWasCutIsTriedAgainUpToTheNewEnd() throws IOException {
        enqueue(0, Request.Kind.READ, 0, 4 * BLOCK);
        turnUntil(1, 0);
        file.truncate(BLOCK);
        device.end(0, BROKEN);
        turnUntil(2, 0);
        assertThat(device.commands.get(1).wholeBlocks()).isEqualTo(BLOCK);
        device.end(1, null);
        turnUntil(2, 1);
        assertThat(requests.result(0)).isEqualTo(BLOCK);
    }

    @Test
    void theDriversResultIsTheFailure() {
        enqueue(0, Request.Kind.WRITE, 0, BLOCK);
        turnUntil(1, 0);
        device.end(0, BROKEN);
        turnUntil(1, 1);
        assertThat(requests.failure(0)).contains(BROKEN);
    }

    @Test
    void required_201_aCommandIsAUserOfItsFileUntilItHasEnded() {
        enqueue(0, Request.Kind.READ, 0, BLOCK);
        turnUntil(1, 0);
        SeenFile reader = device.opened.get(0);
        assertThat(reader.users).isEqualTo(2);
        device.end(0, null);
        turnUntil(1, 1);
        assertThat(reader.users).isEqualTo(1);
    }

    @Test
    void required_204_whatFindsTheRingInUseWaitsForItsTurn() throws IOException {
        file.close();
        device.isReachable = false;
        file = byRing.open(path, EnumSet.of(FileOption.READ));
        for (int tag = 0; tag < 3; tag++) {
            enqueue(tag, Request.Kind.READ, 0, BLOCK);
        }
        queue.turn(0);
        assertThat(device.commands).as("the ring has two buffers").hasSize(2);
        assertThat(device.commands.get(0).ring())
                .isNotNull()
                .isNotSameAs(device.commands.get(1).ring());
        device.end(0, null);
        turnUntil(3, 1);
        assertThat(device.commands.get(2).ring()).isSameAs(device.ringOfFirst);
        device.end(1, null);
        device.end(2, null);
        turnUntil(3, 3);
        assertThat(requests.order()).containsExactly(0, 1, 2);
    }

    @Test
    void onlyWhatTheDeviceHasNotCanBeCancelled() {
        Request first = enqueue(0, Request.Kind.READ, 0, BLOCK);
        turnUntil(1, 0);
        Request second = enqueue(1, Request.Kind.READ, 0, BLOCK);
        queue.cancel(first);
        queue.cancel(second);
        queue.turn(0);
        assertThat(requests.order()).containsExactly(1);
        assertThat(requests.failure(1).orElseThrow().kind()).isEqualTo(NativeFailure.Kind.CANCELLED);
        device.end(0, null);
        turnUntil(1, 2);
        assertThat(requests.result(0)).isEqualTo(BLOCK);
    }

    @Test
    void commandsThatTheDeviceHasNoRoomForAreRetriedInTheNextTurn() {
        device.isFull = true;
        enqueue(0, Request.Kind.READ, 0, BLOCK);
        queue.turn(0);
        assertThat(device.opened.get(0).users).as("while it waits").isEqualTo(1);
        device.isFull = false;
        turnUntil(1, 0);
        device.end(0, null);
        turnUntil(1, 1);
        assertThat(requests.result(0)).isEqualTo(BLOCK);
    }

    @Test
    void repeatedCommandsAreSubmittedBeforeLaterOnes() {
        enqueue(0, Request.Kind.READ, 0, BLOCK);
        enqueue(1, Request.Kind.READ, 0, BLOCK);
        turnUntil(2, 0);
        device.queue.again(device.commands.get(0));
        device.queue.again(device.commands.get(1));
        enqueue(2, Request.Kind.READ, 0, BLOCK);
        turnUntil(5, 0);
        assertThat(device.commands.subList(2, 5))
                .extracting(command -> command.request.tag())
                .containsExactly(0, 1, 2);
        for (int i = 2; i < 5; i++) {
            device.end(i, null);
        }
        turnUntil(5, 3);
    }

    @Test
    void aSyncIsOffloaded() {
        queue.enqueue(requests.next(0).sync(file));
        turnUntil(0, 1);
        assertThat(requests.result(0)).isZero();
        assertThat(device.commands).isEmpty();
    }

    @Test
    void aCopyIsExecutedByTheDeviceAndEndsWithItsResult() {
        queue.enqueue(requests.next(0).copy(Request.Kind.COPY_IN, memory, 0, 77).memory(memory, 0));
        queue.turn(0);
        SsgCommand copy = device.commands.get(0);
        copy.ends(77, null);
        device.queue.returned(copy);
        turnUntil(1, 1);
        assertThat(requests.result(0)).isEqualTo(77);
        assertThat(device.finished).isZero();
    }

    /** A device that only takes notes. */
    private static final class CardOfPaper extends SsgDevice<SsgCommand> implements SsgCommands<SsgCommand> {

        final List<SeenFile> opened = new ArrayList<>();
        final List<SsgCommand> commands = new ArrayList<>();
        DeviceMemory ringOfFirst;
        SsgQueue<SsgCommand> queue;
        boolean isReachable = true;
        boolean isBlind;
        boolean isFull;
        int closed;
        int finished;
        final AtomicInteger executed = new AtomicInteger();
        int ringBuffers;

        CardOfPaper() {
            super(new SsgSizes(4096, 8192, 16, CommonOptions.SEGMENT_BYTES), new SsgTexts("", "", "", "", ""));
        }

        @Override
        public SsgFileObject open(Path path, boolean write) throws IOException {
            SeenFile seen = new SeenFile(path, write, BLOCK);
            seen.isBlind = isBlind;
            opened.add(seen);
            return seen;
        }

        @Override
        protected void execute(Runnable opening) {
            executed.incrementAndGet();
            opening.run();
        }

        @Override
        protected String refusal(Target target, DeviceMemory memory) {
            return "";
        }

        @Override
        protected boolean isReachable(DeviceMemory memory) {
            return isReachable;
        }

        @Override
        protected DeviceMemory allocateReachable(long bytes) {
            ringBuffers++;
            DeviceMemory slab = Slabs.shared().allocate(bytes);
            return new DeviceMemory() {
                @Override
                public long bytes() {
                    return bytes;
                }

                @Override
                public long nativeHandle() {
                    return slab.nativeHandle();
                }

                @Override
                public long hostAddress() {
                    return slab.hostAddress();
                }

                @Override
                public void free() {
                    ringBuffers--;
                    slab.free();
                }
            };
        }

        @Override
        protected DeviceMemory allocateBounceBuffer(long bytes) {
            return Slabs.shared().allocate(bytes);
        }

        @Override
        protected SsgCommands<SsgCommand> openQueue(SsgQueue<SsgCommand> taking) {
            queue = taking;
            return this;
        }

        @Override
        public SsgCommand command(Request request) {
            return new SsgCommand(request);
        }

        @Override
        public boolean start(SsgCommand command) {
            if (isFull) {
                return false;
            }
            if (commands.isEmpty()) {
                ringOfFirst = command.ring();
            }
            return commands.add(command);
        }

        @Override
        public void copy(SsgCommand command) {
            commands.add(command);
        }

        @Override
        public void flush() {}

        @Override
        public boolean finish(SsgCommand command) {
            finished++;
            return true;
        }

        /** Ends a command on this thread, between two turns. */
        void end(int index, NativeFailure failure) {
            SsgCommand command = commands.get(index);
            if (failure != null) {
                command.fails(failure);
            }
            queue.returned(command);
        }

        /** Twice: as the device, and as its part of the queue. */
        @Override
        public void close() {
            closed++;
        }
    }
}
