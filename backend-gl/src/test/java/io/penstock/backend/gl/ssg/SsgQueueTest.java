// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl.ssg;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Backends;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.backend.gl.GlFixture;
import io.penstock.backend.gl.GlSubject;
import io.penstock.backend.gl.SsgSubject;
import io.penstock.backend.gl.context.GlContext;
import io.penstock.backend.gl.fakes.FreshSsg;
import io.penstock.backend.gl.fakes.SsgFake;
import io.penstock.backend.gl.ffi.Gl;
import io.penstock.backend.gl.ffi.GlError;
import io.penstock.backend.gl.ffi.Ssg;
import io.penstock.backend.gl.memory.GlMemory;
import io.penstock.backend.gl.platform.ContextChoice;
import io.penstock.engine.kit.ssg.SsgPath;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.NativeFile;
import io.penstock.engine.spi.NativeQueue;
import io.penstock.engine.spi.Request;
import io.penstock.engine.testing.FakeControl;
import io.penstock.engine.testing.Requests;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumSet;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The queue of AMD's extension, turn by turn. */
@ExtendWith(FreshSsg.class)
class SsgQueueTest {

    private static final String READ = "glReadFileAMD";
    private static final int BYTES = 4096;

    @TempDir
    Path folder;

    private final FakeControl control = SsgFake.control();
    private final Requests requests = new Requests();
    private GlContext context;
    private GlSsg ssg;
    private SsgPath ioPath;
    private NativeFile file;
    private GlMemory memory;
    private NativeQueue queue;

    @BeforeEach
    void open() throws IOException {
        GlSubject.require();
        Options options = SsgSubject.said().resolve(Backends.options());
        assertThat(Ssg.load(SsgFake.file().toString())).isEmpty();
        context = GlContext.start(ContextChoice.of(options));
        ssg = GlSsg.open(context, options);
        ioPath = new SsgPath(ssg, true);
        Path path = Files.write(folder.resolve("turns"), new byte[BYTES]);
        file = ioPath.open(path, EnumSet.of(FileOption.READ));
        memory = context.call("a buffer", () -> ssg.allocate(BYTES));
        queue = ioPath.openQueue();
    }

    @AfterEach
    void close() {
        queue.close();
        memory.free();
        file.close();
        ssg.leave();
        context.leave();
    }

    private void turns(int until) {
        GlFixture.await(() -> {
            queue.turn(0);
            return requests.ended() >= until;
        });
        for (int id = 0; id < until; id++) {
            assertThat(requests.result(id)).isEqualTo(BYTES);
        }
    }

    @Test
    void transfersThatHaveEndedBeforeOnePollAreReportedInTheOrderOfSubmission() {
        control.hold(READ);
        for (int id = 0; id < 4; id++) {
            queue.enqueue(
                    requests.next(id).file(Request.Kind.READ, file, 0, BYTES).memory(memory, 0));
            queue.turn(0);
            assertThat(control.awaitHeld(READ, id + 1)).isEqualTo(id + 1); // so each has a sync of its own
        }
        context.call("their ends, between two looks", () -> {
            control.release(READ);
            return control.awaitLive("operations", 0);
        });
        turns(4);
        assertThat(requests.order()).containsExactly(0, 1, 2, 3);
    }

    /** The write is the last of the group, and ends while the read is under way. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 4})
    void theLastTransferOfAGroupProvesNothingOfTheOthers(int sync) throws IOException {
        control.set("sync", sync);
        control.hold(READ);
        Path path = Files.write(folder.resolve("written"), new byte[BYTES]);
        NativeFile written = ioPath.open(path, EnumSet.of(FileOption.READ, FileOption.WRITE));
        GlMemory source = context.call("a buffer", () -> ssg.allocate(BYTES));
        queue.enqueue(requests.next(0).file(Request.Kind.READ, file, 0, BYTES).memory(memory, 0));
        queue.enqueue(
                requests.next(1).file(Request.Kind.WRITE, written, 0, BYTES).memory(source, 0));
        queue.turn(0);
        assertThat(control.awaitHeld(READ, 1)).isOne();
        assertThat(control.awaitLive("operations", 1)).isOne();
        for (int look = 0; look < 4; look++) {
            assertThat(context.call("what has become signalled", context::resetStatus))
                    .isZero();
            queue.turn(0);
        }
        assertThat(requests.ended()).isZero();
        control.release(READ);
        turns(2);
        source.free();
        written.close();
    }

    @Test
    void copiesThatHaveEndedBeforeOnePollAreReportedInTheOrderOfSubmission() {
        DeviceMemory staging = ioPath.allocateBounceBuffer(BYTES);
        control.fail("glClientWaitSync", 0, Gl.GL_TIMEOUT_EXPIRED);
        for (int id = 0; id < 5; id++) { // the first and the last have a fence of their own behind them
            queue.enqueue(requests.next(id)
                    .copy(Request.Kind.COPY_IN, staging, 0, BYTES)
                    .memory(memory, 0));
        }
        queue.turn(0);
        context.call("their ends, between two looks", () -> {
            Gl.glFinish();
            control.fail("glClientWaitSync", -1, 0);
            return true;
        });
        turns(5);
        assertThat(requests.order()).containsExactly(0, 1, 2, 3, 4);
        staging.free();
    }

    /**
     * The manual requires an initialized sync; the fake refuses another, which must not count as refused by the buffer.
     */
    @Test
    void aTransferForWhichThereIsNoSyncIsAwaitedAndTheNextOneHasASync() {
        control.fail("glFenceSync", 1, GlError.OUT_OF_MEMORY);
        queue.enqueue(requests.next(0).file(Request.Kind.READ, file, 0, BYTES).memory(memory, 0));
        turns(1);
        assertThat(context.call("its syncs", memory::refusesSyncs)).isFalse();
        control.hold(READ);
        queue.enqueue(requests.next(1).file(Request.Kind.READ, file, 0, BYTES).memory(memory, 0));
        queue.turn(0);
        assertThat(control.awaitHeld(READ, 1)).isOne(); // which holds no caller
        control.release(READ);
        turns(2);
    }
}
