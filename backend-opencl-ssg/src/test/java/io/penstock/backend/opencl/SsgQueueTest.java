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

    @Test
    void aTurnDoesNotSleepOverACommandThatGoesOnWithoutTheFenceThatHasFailed() throws Exception {
        Options options = SsgFixture.OPTIONS.resolve(Backends.options());
        ClContext context = ClContext.open(options);
        assertThat(Ssg.load(context.device().platform().handle())).isEmpty();
        SsgSession session = new SsgSession(context, SsgSizes.of(options));
        SsgRoute route = new SsgRoute(session, true);
        NativeFile file = route.open(SsgFixture.write("turns", new byte[BYTES]), EnumSet.of(FileOption.READ));
        ClMemory memory = session.memory().allocate(BYTES);
        NativeQueue queue = route.openQueue();
        int[] error = new int[1];
        long event = OpenCl.clCreateUserEvent(context.handle(), error);
        ClPoint point = new ClPoint(context, 0, false);
        OpenCl.clRetainEvent(event); // for the point
        assertThat(point.await(event, session.waits(), 1, BYTES)).isTrue();
        List<Long> results = new ArrayList<>();

        Command read = new Command().file(Command.Kind.READ, file, 0, BYTES).memory(memory, 0);
        queue.enqueue(0, read.joins(point, null));
        queue.turn(0, (id, result) -> results.add(result));
        OpenCl.clSetUserEventStatus(event, -7);
        assertThat(control.awaitLive("operations", 0))
                .as("the command has failed")
                .isZero();
        while (results.isEmpty()) {
            queue.turn(-1, (id, result) -> results.add(result)); // for ever, if it sleeps
        }

        assertThat(results).containsExactly((long) BYTES);
        assertThat(control.calls(SsgFixture.READ)).isEqualTo(2);
        point.free();
        OpenCl.clReleaseEvent(event);
        queue.close();
        memory.free();
        file.close();
        session.leave();
        context.leave();
    }
}
