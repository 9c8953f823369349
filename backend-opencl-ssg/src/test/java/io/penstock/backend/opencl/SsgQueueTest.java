// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Backends;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.backend.opencl.doubles.FreshSsg;
import io.penstock.backend.opencl.doubles.SsgDouble;
import io.penstock.backend.opencl.ffi.OpenCl;
import io.penstock.backend.opencl.ffi.Ssg;
import io.penstock.engine.spi.Command;
import io.penstock.engine.spi.NativeFile;
import io.penstock.engine.spi.NativeQueue;
import io.penstock.engine.testing.DoubleControl;
import java.io.IOException;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The queue of AMD's extension, turn by turn. */
@ExtendWith(FreshSsg.class)
class SsgQueueTest {

    private static final int BYTES = 4096;

    private final DoubleControl control = SsgDouble.control();

    private final List<Long> results = new ArrayList<>();
    private final List<Integer> ended = new ArrayList<>();
    private ClContext context;
    private SsgSession session;
    private NativeFile file;
    private ClMemory memory;
    private NativeQueue queue;

    private void open(Options wanted) throws IOException {
        Options options = wanted.resolve(Backends.options());
        context = ClContext.open(options);
        assertThat(Ssg.load(context.device().platform().handle())).isEmpty();
        session = new SsgSession(context, SsgSizes.of(options));
        SsgRoute route = new SsgRoute(session, true);
        file = route.open(SsgFixture.write("turns", new byte[BYTES]), EnumSet.of(FileOption.READ));
        memory = session.memory().allocate(BYTES);
        queue = route.openQueue();
    }

    private void close() {
        queue.close();
        memory.free();
        file.close();
        session.leave();
        context.leave();
    }

    private Command read() {
        return new Command().file(Command.Kind.READ, file, 0, BYTES).memory(memory, 0);
    }

    private void turn(long waitNanos) {
        queue.turn(waitNanos, (id, result) -> {
            ended.add(id);
            results.add(result);
        });
    }

    private void turns(int until) {
        long start = System.nanoTime();
        while (results.size() < until && System.nanoTime() - start < SsgFixture.LONG.toNanos()) {
            turn(1_000_000);
        }
    }

    /** A driver need not start what is not flushed. */
    @Test
    void commandsAreFlushed() throws IOException {
        open(SsgFixture.OPTIONS);
        queue.enqueue(0, read());
        queue.enqueue(1, read());
        turns(2);
        assertThat(results).containsExactly((long) BYTES, (long) BYTES);
        close();
    }

    @Test
    void mapsOfSlotsAreFlushed() throws IOException {
        open(SsgFixture.OPTIONS);
        SsgSlot slot = SsgSlot.allocate(session, 2 * BYTES);
        queue.enqueue(
                0, new Command().file(Command.Kind.READ, file, 0, 2 * BYTES).memory(slot, 0));
        turns(1);
        assertThat(results).containsExactly((long) BYTES);
        slot.free();
        close();
    }

    /** Both end between the look at the one and the look at the other. */
    @Test
    void aCommandDoesNotSeemToHaveEndedBeforeOneThatItMayHaveWaitedFor() throws IOException {
        open(SsgFixture.OPTIONS);
        control.hold(SsgFixture.READ);
        queue.enqueue(0, read());
        queue.enqueue(1, read());
        turn(0);
        assertThat(control.awaitHeld(SsgFixture.READ, 2)).isEqualTo(2);
        control.set("ends_behind_a_look", 1);
        turns(2);
        assertThat(ended).containsExactly(0, 1);
        close();
    }

    @Test
    void whatHasEndedBeforeOneLookIsReportedInTheOrderOfSubmission() throws IOException {
        open(SsgFixture.OPTIONS);
        control.hold(SsgFixture.READ);
        for (int id = 0; id < 4; id++) {
            queue.enqueue(id, read());
        }
        turn(0);
        assertThat(control.awaitHeld(SsgFixture.READ, 4)).isEqualTo(4);
        control.release(SsgFixture.READ);
        assertThat(control.awaitLive("operations", 0)).isZero();
        turns(4);
        assertThat(ended).containsExactly(0, 1, 2, 3);
        close();
    }

    @Test
    void aTurnDoesNotSleepOverACommandThatGoesOnWithoutTheFenceThatHasFailed() throws Exception {
        open(SsgFixture.OPTIONS);
        int[] error = new int[1];
        long event = OpenCl.clCreateUserEvent(context.handle(), error);
        ClPoint point = new ClPoint(context, 0, false);
        OpenCl.clRetainEvent(event); // for the point
        assertThat(point.await(event, session.waits(), 1, BYTES)).isTrue();

        queue.enqueue(0, read().joins(point, null));
        turn(0);
        OpenCl.clSetUserEventStatus(event, -7);
        assertThat(control.awaitLive("operations", 0))
                .as("the command has failed")
                .isZero();
        while (results.isEmpty()) {
            turn(-1); // for ever, if it sleeps
        }

        assertThat(results).containsExactly((long) BYTES);
        assertThat(control.calls(SsgFixture.READ)).isEqualTo(2);
        point.free();
        OpenCl.clReleaseEvent(event);
        close();
    }
}
