// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.DeviceBuffer;
import io.penstock.PenstockException;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.backend.opencl.fakes.FreshSsg;
import io.penstock.backend.opencl.fakes.SsgFake;
import io.penstock.engine.testing.BackendFixture;
import io.penstock.engine.testing.FakeControl;
import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Failures of copies between staging buffers and the device. */
@ExtendWith(FreshSsg.class)
class StagedErrorsTest {

    private static final int BYTES = 8192;
    private static final String COPY_IN = "clEnqueueWriteBuffer";
    private static final String FLUSH = "clFlush";
    private static final String FINISH = "clFinish";
    private static final String QUERY = "clGetEventInfo";
    private static final String WAIT = "clWaitForEvents";

    private final FakeControl control = SsgFake.control();

    /** The device may read the staging buffer: it goes to the next transfer only when the copy has ended. */
    @Test
    void required_204_aCopyThatCannotBeFlushedEndsBeforeItsTransfer() throws IOException {
        try (SsgFixture device = SsgFixture.open(OpenClFixture.options(OpenClPath.STAGED))) {
            StorageFile file = device.file("flushed", BackendFixture.random(BYTES, 1));
            DeviceBuffer buffer = device.filled(new byte[BYTES]);
            long finishes = control.calls(FINISH);
            control.hold(COPY_IN);
            control.fail(FLUSH, 1, -5);
            var read = device.backend()
                    .submit(Transfer.read(file.all(), buffer.all()))
                    .toFuture();
            assertThat(control.awaitHeld(COPY_IN, 1)).isEqualTo(1);
            long finished = control.awaitCalls(FINISH, finishes + 1);
            boolean early = read.isDone();
            control.release(COPY_IN);
            assertThat(finished).as("nobody waits for the copy").isGreaterThan(finishes);
            assertThat(early).as("it has ended before its copy").isFalse();
            assertThat(read)
                    .failsWithin(SsgFixture.LONG)
                    .withThrowableThat()
                    .withCauseInstanceOf(PenstockException.class)
                    .withMessageContaining("clFlush");
            assertThat(BackendFixture.content(buffer)).isEqualTo(BackendFixture.random(BYTES, 1));
        }
    }

    /** The answer is the question's, and not the copy's, which may still run. */
    @Test
    void required_204_aCopyWhoseStateCannotBeAskedForEndsBeforeItsTransfer() throws IOException {
        try (SsgFixture device = SsgFixture.open(OpenClFixture.options(OpenClPath.STAGED))) {
            StorageFile file = device.file("asked", BackendFixture.random(BYTES, 1));
            DeviceBuffer buffer = device.filled(new byte[BYTES]);
            control.hold(COPY_IN);
            var read = device.backend()
                    .submit(Transfer.read(file.all(), buffer.all()))
                    .toFuture();
            assertThat(control.awaitHeld(COPY_IN, 1)).isEqualTo(1);
            long waits = control.calls(WAIT);
            control.fail(QUERY, 1, -6);
            long waited = control.awaitCalls(WAIT, waits + 1);
            boolean early = read.isDone();
            control.release(COPY_IN);
            assertThat(waited).as("nobody waits for the copy").isGreaterThan(waits);
            assertThat(early).as("it has ended before its copy").isFalse();
            assertThat(read)
                    .failsWithin(SsgFixture.LONG)
                    .withThrowableThat()
                    .withCauseInstanceOf(PenstockException.class)
                    .withMessageContaining(QUERY);
            assertThat(BackendFixture.content(buffer)).isEqualTo(BackendFixture.random(BYTES, 1));
        }
    }
}
